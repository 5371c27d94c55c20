package payment

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/fault"
)

func TestChargeIsWhatAPayerNeeds(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		if payable.Provider != "fake" || payable.Flow != FlowPix || payable.Amount != 3500 || !strings.HasPrefix(payable.PixCode, "pix-") || payable.CheckoutURL != "" ||
			!payable.ExpiresAt.Equal(noon.Add(24*time.Hour)) || payable.Invoice.ID != invoice.ID {
			t.Errorf("got %+v", payable)
		}
		picture, err := payable.QR()
		must(t, err)
		if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
			t.Errorf("the QR code is no PNG: %v", err)
		}
		order := world.bank.charges[strings.TrimPrefix(payable.PixCode, "pix-")]
		if len(order.reference) != 32 || order.amount != 3500 {
			t.Errorf("ordered %+v", order)
		}
		world.gateway(t, "provider", "other", "secret", "x")
		payable = world.charged(t, world.invoice(t).ID)
		if payable.Flow != FlowRedirect || payable.PixCode != "" || payable.CheckoutURL == "" {
			t.Errorf("redirect: %+v", payable)
		}
		if picture, err = payable.QR(); err != nil || len(picture) == 0 {
			t.Errorf("no QR code of the page: %v", err)
		}
	})
}

func TestManyAtOnceGetOneCharge(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		invoice := w.invoice(t)
		processes := []*world{w, w.process(t), w.process(t)}
		codes := make([]string, 50)
		errs := make([]error, 50)
		var all sync.WaitGroup
		for n := range codes {
			all.Go(func() {
				payable, err := processes[n%3].Charge(t.Context(), w.actor, invoice.ID, "https://example.com/hook")
				codes[n], errs[n] = payable.PixCode, err
			})
		}
		all.Wait()
		must(t, errors.Join(errs...))
		if slices.Sort(codes); codes[0] == "" || codes[0] != codes[49] {
			t.Errorf("different codes: %s, %s", codes[0], codes[49])
		}
		if w.bank.made != 1 || w.bank.called("create") != 1 {
			t.Errorf("%d charges by %d calls", w.bank.made, w.bank.called("create"))
		}
		if n := w.count(t, `SELECT COUNT(*) FROM invoice_notifications`); n != 1 {
			t.Errorf("%d notifications remembered, want one", n)
		}
		w.wantStates(t, invoice.ID, "pending")
	})
}

func TestOnlyAnOpenInvoiceIsCharged(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		for _, status := range []billing.Status{billing.Cancelled, billing.Open, billing.Paid} {
			_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", status.String())))
			must(t, err)
			_, err = world.Charge(t.Context(), world.actor, invoice.ID, "https://example.com/hook")
			if status == billing.Open {
				must(t, err)
				continue
			}
			wantField(t, err, "invoice")
		}
		_, err := world.Charge(t.Context(), world.newCompany(t), invoice.ID, "")
		wantKind(t, err, fault.KindNotFound)
		_, err = world.Charge(t.Context(), world.actor, invoice.ID+100, "")
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestWithoutAGatewayNothingIsDone(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		must(t, world.ClearGateway(t.Context(), world.actor))
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "https://example.com/hook")
		wantField(t, err, "gateway")
		wantField(t, world.ClearGateway(t.Context(), world.actor), "gateway")
		if n := world.count(t, `SELECT (SELECT COUNT(*) FROM charges) + (SELECT COUNT(*) FROM invoice_notifications)`); n != 0 || world.bank.made != 0 {
			t.Errorf("%d rows, %d charges", n, world.bank.made)
		}
	})
}

func TestChangedAmountCancelsThenCreates(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		first := world.charged(t, invoice.ID)
		world.exec(t, `UPDATE invoices SET amount_cents = 4000 WHERE id = ?`, invoice.ID)
		second := world.charged(t, invoice.ID)
		if second.PixCode == first.PixCode || second.Amount != 4000 || world.bank.payableNow() != 1 {
			t.Errorf("got %+v, %d can be paid", second, world.bank.payableNow())
		}
		world.wantStates(t, invoice.ID, "cancelled", "pending")
		// While the old one cannot be cancelled, no second one is made.
		world.exec(t, `UPDATE invoices SET amount_cents = 4500 WHERE id = ?`, invoice.ID)
		world.bank.fail("cancel", errBank)
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantKind(t, err, fault.KindUpstream)
		world.wantStates(t, invoice.ID, "cancelled", "cancelling")
		if world.bank.payableNow() != 1 {
			t.Errorf("%d can be paid", world.bank.payableNow())
		}
		world.bank.fail("cancel", nil)
		if third := world.charged(t, invoice.ID); third.Amount != 4500 || world.bank.payableNow() != 1 {
			t.Errorf("got %+v, %d can be paid", third, world.bank.payableNow())
		}
		world.wantStates(t, invoice.ID, "cancelled", "cancelled", "pending")
	})
}

func TestExpiredChargeIsCancelledBeforeANewOne(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		first := world.charged(t, invoice.ID)
		world.clock.Advance(24*time.Hour - time.Second)
		if payable := world.charged(t, invoice.ID); payable.PixCode != first.PixCode {
			t.Error("replaced a second before its end")
		}
		world.clock.Advance(time.Second)
		if payable := world.charged(t, invoice.ID); payable.PixCode == first.PixCode || !payable.ExpiresAt.After(world.clock.Now()) {
			t.Errorf("got %+v", payable)
		}
		world.wantStates(t, invoice.ID, "expired", "pending")
		if world.bank.called("cancel") != 1 || world.bank.payableNow() != 1 {
			t.Errorf("%d cancelled, %d can be paid", world.bank.called("cancel"), world.bank.payableNow())
		}
	})
}

func TestAnotherGatewayTakesOver(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice, other := world.invoice(t), world.invoice(t)
		first := world.charged(t, invoice.ID)
		world.charged(t, other.ID)
		world.gateway(t, "provider", "other", "secret", "x")
		if payable := world.charged(t, invoice.ID); payable.Provider != "other" {
			t.Errorf("got %+v", payable)
		}
		world.wantStates(t, invoice.ID, "cancelled", "pending")
		_ = first
		// One that does not answer any more does not block for ever.
		world.bank.fail("cancel", errBank)
		if payable := world.charged(t, other.ID); payable.Provider != "other" {
			t.Errorf("got %+v", payable)
		}
		world.wantStates(t, other.ID, "cancelling", "pending")
		world.bank.fail("cancel", nil)
		world.later(t, time.Hour)
		world.wantStates(t, other.ID, "cancelled", "pending")
	})
}

// Whatever a gateway does instead of answering, the caller gets a message fit
// to show, and what was made at the gateway is found.
func TestGatewayThatFails(t *testing.T) {
	cases := map[string]struct {
		misbehave func(b *bank)
		made      int
		then      string // the state that reconciliation brings about
	}{
		"500":              {func(bank *bank) { bank.fail("create", errBank) }, 0, "cancelled"},
		"answer lost":      {func(bank *bank) { bank.loseAnswers("create", errBank) }, 1, "pending"},
		"garbage":          {func(bank *bank) { bank.loseAnswers("create", errors.New("invalid character '<'")) }, 1, "pending"},
		"panics":           {func(bank *bank) { bank.before = func(context.Context, string) error { panic("wire") } }, 0, "cancelled"},
		"refuses":          {func(bank *bank) { bank.fail("create", &Refusal{"the minimum is R$ 50"}) }, 0, "refused"},
		"refuses silently": {func(bank *bank) { bank.fail("create", ErrRefused) }, 0, "refused"},
		"hangs": {func(bank *bank) {
			bank.before = func(ctx context.Context, o string) error {
				if o != "create" {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
		}, 0, "cancelled"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, world *world) {
				invoice := world.invoice(t)
				c.misbehave(world.bank)
				if name == "hangs" {
					world.options.Timeout = 3 * time.Second // the time it is let hang
				}
				_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
				world.options.Timeout = unhurried
				wantKind(t, err, fault.KindUpstream)
				if text := fault.Public(err); text == "" || strings.Contains(text, "power cut") || strings.Contains(text, "wire") {
					t.Errorf("told %q", text)
				}
				if world.bank.made != c.made {
					t.Errorf("%d charges made", world.bank.made)
				}
				world.bank.before, world.bank.after = nil, nil
				for range 12 {
					world.later(t, 20*time.Minute)
				}
				world.wantStates(t, invoice.ID, c.then)
				if world.bank.payableNow() > 0 && c.then != "pending" {
					t.Error("something can be paid unseen")
				}
				// The next request gets one charge that can be paid.
				payable := world.charged(t, invoice.ID)
				if world.bank.payableNow() != 1 {
					t.Errorf("%d can be paid", world.bank.payableNow())
				}
				world.bank.pay(t, payable.PixCode, 3500)
				world.later(t, time.Hour)
				world.wantPaid(t, invoice)
			})
		})
	}
}

func TestRetryAfterALostAnswerMakesNoSecondCharge(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.loseAnswers("create", errBank)
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantKind(t, err, fault.KindUpstream)
		world.wantStates(t, invoice.ID, "reserved")
		world.bank.loseAnswers("create", nil)
		world.charged(t, invoice.ID)
		if world.bank.made != 1 || world.bank.called("create") != 2 {
			t.Errorf("%d charges by %d calls", world.bank.made, world.bank.called("create"))
		}
		world.wantStates(t, invoice.ID, "pending")
	})
}

// Some gateways return the code of a charge only when it is made.
func TestChargeIsNotAdoptedWithoutItsCode(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice, other := world.invoice(t), world.invoice(t)
		world.bank.terse = true
		world.bank.loseAnswers("create", errBank)
		for _, id := range []int64{invoice.ID, other.ID} {
			_, err := world.Charge(t.Context(), world.actor, id, "")
			wantKind(t, err, fault.KindUpstream)
		}
		world.bank.loseAnswers("create", nil)
		world.later(t, time.Hour)
		world.wantStates(t, invoice.ID, "reserved")
		if payable := world.charged(t, invoice.ID); payable.PixCode == "" || payable.Flow != FlowPix || world.bank.made != 2 {
			t.Errorf("got %+v, %d made", payable, world.bank.made)
		}
		world.later(t, 25*time.Hour) // the other one was not requested again
		world.wantStates(t, other.ID, "expired")
		if world.bank.payableNow() != 0 {
			t.Errorf("%d can be paid", world.bank.payableNow())
		}
	})
}

func TestPaidUnderALostAnswerIsFound(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.loseAnswers("create", errBank)
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantKind(t, err, fault.KindUpstream)
		world.bank.change(world.bank.paid)
		world.later(t, time.Minute)
		world.wantPaid(t, invoice)
		world.wantStates(t, invoice.ID, "paid")
	})
}

// paid pays a charge; the bank is locked.
func (b *bank) paid(order *held) {
	order.state = StatePaid
	order.payments = append(order.payments, Received{ID: "E2E-" + order.reference, Amount: order.amount, Currency: "BRL", At: b.clock.Now()})
}

func TestFailingGatewayIsLeftInPeaceForAWhile(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.fail("", errBank)
		for range 10 {
			_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
			wantKind(t, err, fault.KindUpstream)
		}
		if n := world.bank.called("create"); n != breakerAt {
			t.Errorf("called %d times, want %d", n, breakerAt)
		}
		setup, err := world.Gateway(t.Context(), world.actor)
		must(t, err)
		if setup.Failures != breakerAt || setup.Problem == "" {
			t.Errorf("the company is told %d, %q", setup.Failures, setup.Problem)
		}
		world.bank.fail("", nil)
		_, err = world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantKind(t, err, fault.KindUpstream)
		world.clock.Advance(breakerPause)
		world.charged(t, invoice.ID)
		if setup, err = world.Gateway(t.Context(), world.actor); err != nil || setup.Failures != 0 || setup.Problem != "" {
			t.Errorf("after it works: %d, %q, %v", setup.Failures, setup.Problem, err)
		}
	})
}

// Closing an invoice while its charge is being made cancels the charge.
func TestInvoiceClosedWhileItsChargeIsBeingMade(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.before = func(ctx context.Context, o string) error {
			if o != "create" {
				return nil
			}
			_, err := world.invoices.SetStatus(ctx, world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Cancelado")))
			if err == nil {
				_, err = world.Reconcile(ctx) // which leaves to the maker what is being made
			}
			return err
		}
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantField(t, err, "invoice")
		world.work(t)
		world.wantStates(t, invoice.ID, "cancelled")
		if world.bank.made != 1 || world.bank.payableNow() != 0 {
			t.Errorf("%d made, %d can be paid", world.bank.made, world.bank.payableNow())
		}
	})
}

// A maker that took longer than its claim lasts may find its charge cancelled:
// what it made is cancelled too.
func TestMakerThatOutlivedItsClaim(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.before = func(ctx context.Context, o string) error {
			if o != "create" {
				return nil
			}
			_, err := world.invoices.SetStatus(ctx, world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Cancelado")))
			must(t, err)
			world.later(t, world.lease()+time.Second)
			world.wantStates(t, invoice.ID, "cancelled")
			return nil
		}
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantField(t, err, "invoice")
		world.bank.before = nil
		world.work(t)
		world.wantStates(t, invoice.ID, "cancelled")
		if world.bank.made != 1 || world.bank.payableNow() != 0 {
			t.Errorf("%d made, %d can be paid", world.bank.made, world.bank.payableNow())
		}
	})
}

func TestClosedOrDeletedInvoiceHasItsChargeCancelledUntilItIsDone(t *testing.T) {
	closings := map[string]func(t *testing.T, w *world, invoice billing.Invoice) error{
		"cancelled": func(t *testing.T, world *world, invoice billing.Invoice) error {
			_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Cancelado")))
			return err
		},
		"paid by hand": func(t *testing.T, world *world, invoice billing.Invoice) error {
			_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Pago")))
			return err
		},
		"customer deleted": func(t *testing.T, world *world, invoice billing.Invoice) error {
			return world.customers.Delete(t.Context(), world.actor, invoice.Customer.ID)
		},
	}
	for name, close := range closings {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, world *world) {
				invoice := world.invoice(t)
				world.charged(t, invoice.ID)
				world.bank.fail("cancel", errBank)
				must(t, close(t, world, invoice))
				world.work(t)
				world.wantStates(t, invoice.ID, "cancelling")
				for range 8 { // past the breaker
					world.later(t, 10*time.Minute)
				}
				if world.bank.payableNow() != 1 || world.bank.called("cancel") < 3 {
					t.Errorf("%d can be paid after %d calls", world.bank.payableNow(), world.bank.called("cancel"))
				}
				world.bank.fail("cancel", nil)
				world.later(t, 2*time.Hour)
				world.wantStates(t, invoice.ID, "cancelled")
				if world.bank.payableNow() != 0 {
					t.Error("it can still be paid")
				}
			})
		})
	}
}

// The process that was making a charge died, and another one goes on.
func TestAbandonedReservationIsTakenOver(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		job := &charging{service: world.Service, actor: world.actor, invoiceID: invoice.ID, skipped: map[int64]bool{}}
		_, err := job.decide(t.Context())
		must(t, err)
		world.options.Timeout = 200 * time.Millisecond
		_, err = world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantKind(t, err, fault.KindUpstream) // it may still be alive
		world.options.Timeout = unhurried
		world.clock.Advance(world.lease() + time.Minute)
		payable := world.charged(t, invoice.ID)
		if payable.PixCode != "pix-"+job.charge.order.Reference || world.bank.made != 1 {
			t.Errorf("got %+v, %d made", payable, world.bank.made)
		}
		world.wantStates(t, invoice.ID, "pending")
	})
}
