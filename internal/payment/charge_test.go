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
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		if p.Provider != "fake" || p.Flow != FlowPix || p.Amount != 3500 || !strings.HasPrefix(p.PixCode, "pix-") || p.CheckoutURL != "" ||
			!p.ExpiresAt.Equal(noon.Add(24*time.Hour)) || p.Invoice.ID != i.ID {
			t.Errorf("got %+v", p)
		}
		picture, err := p.QR()
		must(t, err)
		if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
			t.Errorf("the QR code is no PNG: %v", err)
		}
		order := w.bank.charges[strings.TrimPrefix(p.PixCode, "pix-")]
		if len(order.reference) != 32 || order.amount != 3500 {
			t.Errorf("ordered %+v", order)
		}
		w.gateway(t, "provider", "other", "secret", "x")
		p = w.charged(t, w.invoice(t).ID)
		if p.Flow != FlowRedirect || p.PixCode != "" || p.CheckoutURL == "" {
			t.Errorf("redirect: %+v", p)
		}
		if picture, err = p.QR(); err != nil || len(picture) == 0 {
			t.Errorf("no QR code of the page: %v", err)
		}
	})
}

func TestManyAtOnceGetOneCharge(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		processes := []*world{w, w.process(t), w.process(t)}
		codes := make([]string, 50)
		errs := make([]error, 50)
		var all sync.WaitGroup
		for n := range codes {
			all.Go(func() {
				p, err := processes[n%3].Charge(t.Context(), w.actor, i.ID, "https://example.com/hook")
				codes[n], errs[n] = p.PixCode, err
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
		w.wantStates(t, i.ID, "pending")
	})
}

func TestOnlyAnOpenInvoiceIsCharged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		for _, status := range []billing.Status{billing.Cancelled, billing.Open, billing.Paid} {
			_, err := w.invoices.SetStatus(t.Context(), w.actor, i.ID, billing.ReadStatusChange(values("status", status.String())))
			must(t, err)
			_, err = w.Charge(t.Context(), w.actor, i.ID, "https://example.com/hook")
			if status == billing.Open {
				must(t, err)
				continue
			}
			wantField(t, err, "invoice")
		}
		_, err := w.Charge(t.Context(), w.newCompany(t), i.ID, "")
		wantKind(t, err, fault.KindNotFound)
		_, err = w.Charge(t.Context(), w.actor, i.ID+100, "")
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestWithoutAGatewayNothingIsDone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		must(t, w.ClearGateway(t.Context(), w.actor))
		_, err := w.Charge(t.Context(), w.actor, i.ID, "https://example.com/hook")
		wantField(t, err, "gateway")
		wantField(t, w.ClearGateway(t.Context(), w.actor), "gateway")
		if n := w.count(t, `SELECT (SELECT COUNT(*) FROM charges) + (SELECT COUNT(*) FROM invoice_notifications)`); n != 0 || w.bank.made != 0 {
			t.Errorf("%d rows, %d charges", n, w.bank.made)
		}
	})
}

func TestChangedAmountCancelsThenCreates(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		first := w.charged(t, i.ID)
		w.exec(t, `UPDATE invoices SET amount_cents = 4000 WHERE id = ?`, i.ID)
		second := w.charged(t, i.ID)
		if second.PixCode == first.PixCode || second.Amount != 4000 || w.bank.payableNow() != 1 {
			t.Errorf("got %+v, %d can be paid", second, w.bank.payableNow())
		}
		w.wantStates(t, i.ID, "cancelled", "pending")
		// While the old one cannot be cancelled, there is no new one beside it.
		w.exec(t, `UPDATE invoices SET amount_cents = 4500 WHERE id = ?`, i.ID)
		w.bank.fail("cancel", errBank)
		_, err := w.Charge(t.Context(), w.actor, i.ID, "")
		wantKind(t, err, fault.KindUpstream)
		w.wantStates(t, i.ID, "cancelled", "cancelling")
		if w.bank.payableNow() != 1 {
			t.Errorf("%d can be paid", w.bank.payableNow())
		}
		w.bank.fail("cancel", nil)
		if third := w.charged(t, i.ID); third.Amount != 4500 || w.bank.payableNow() != 1 {
			t.Errorf("got %+v, %d can be paid", third, w.bank.payableNow())
		}
		w.wantStates(t, i.ID, "cancelled", "cancelled", "pending")
	})
}

func TestExpiredChargeIsCancelledBeforeANewOne(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		first := w.charged(t, i.ID)
		w.clock.Advance(24*time.Hour - time.Second)
		if p := w.charged(t, i.ID); p.PixCode != first.PixCode {
			t.Error("replaced a second before its end")
		}
		w.clock.Advance(time.Second)
		if p := w.charged(t, i.ID); p.PixCode == first.PixCode || !p.ExpiresAt.After(w.clock.Now()) {
			t.Errorf("got %+v", p)
		}
		w.wantStates(t, i.ID, "expired", "pending")
		if w.bank.called("cancel") != 1 || w.bank.payableNow() != 1 {
			t.Errorf("%d cancelled, %d can be paid", w.bank.called("cancel"), w.bank.payableNow())
		}
	})
}

func TestAnotherGatewayTakesOver(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i, j := w.invoice(t), w.invoice(t)
		first := w.charged(t, i.ID)
		w.charged(t, j.ID)
		w.gateway(t, "provider", "other", "secret", "x")
		if p := w.charged(t, i.ID); p.Provider != "other" {
			t.Errorf("got %+v", p)
		}
		w.wantStates(t, i.ID, "cancelled", "pending")
		_ = first
		// One that does not answer any more does not block for ever.
		w.bank.fail("cancel", errBank)
		if p := w.charged(t, j.ID); p.Provider != "other" {
			t.Errorf("got %+v", p)
		}
		w.wantStates(t, j.ID, "cancelling", "pending")
		w.bank.fail("cancel", nil)
		w.later(t, time.Hour)
		w.wantStates(t, j.ID, "cancelled", "pending")
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
		"500":              {func(b *bank) { b.fail("create", errBank) }, 0, "cancelled"},
		"answer lost":      {func(b *bank) { b.loseAnswers("create", errBank) }, 1, "pending"},
		"garbage":          {func(b *bank) { b.loseAnswers("create", errors.New("invalid character '<'")) }, 1, "pending"},
		"panics":           {func(b *bank) { b.before = func(context.Context, string) error { panic("wire") } }, 0, "cancelled"},
		"refuses":          {func(b *bank) { b.fail("create", &Refusal{"the minimum is R$ 50"}) }, 0, "refused"},
		"refuses silently": {func(b *bank) { b.fail("create", ErrRefused) }, 0, "refused"},
		"hangs": {func(b *bank) {
			b.before = func(ctx context.Context, o string) error {
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
			each(t, func(t *testing.T, w *world) {
				i := w.invoice(t)
				c.misbehave(w.bank)
				if name == "hangs" {
					w.options.Timeout = 3 * time.Second // the time it is let hang
				}
				_, err := w.Charge(t.Context(), w.actor, i.ID, "")
				w.options.Timeout = unhurried
				wantKind(t, err, fault.KindUpstream)
				if text := fault.Public(err); text == "" || strings.Contains(text, "power cut") || strings.Contains(text, "wire") {
					t.Errorf("told %q", text)
				}
				if w.bank.made != c.made {
					t.Errorf("%d charges made", w.bank.made)
				}
				w.bank.before, w.bank.after = nil, nil
				for range 12 {
					w.later(t, 20*time.Minute)
				}
				w.wantStates(t, i.ID, c.then)
				if w.bank.payableNow() > 0 && c.then != "pending" {
					t.Error("something can be paid unseen")
				}
				// Whoever asks now gets one charge that can be paid.
				p := w.charged(t, i.ID)
				if w.bank.payableNow() != 1 {
					t.Errorf("%d can be paid", w.bank.payableNow())
				}
				w.bank.pay(t, p.PixCode, 3500)
				w.later(t, time.Hour)
				w.wantPaid(t, i)
			})
		})
	}
}

func TestRetryAfterALostAnswerMakesNoSecondCharge(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.bank.loseAnswers("create", errBank)
		_, err := w.Charge(t.Context(), w.actor, i.ID, "")
		wantKind(t, err, fault.KindUpstream)
		w.wantStates(t, i.ID, "reserved")
		w.bank.loseAnswers("create", nil)
		w.charged(t, i.ID)
		if w.bank.made != 1 || w.bank.called("create") != 2 {
			t.Errorf("%d charges by %d calls", w.bank.made, w.bank.called("create"))
		}
		w.wantStates(t, i.ID, "pending")
	})
}

// Some gateways return the code of a charge only when it is made.
func TestChargeIsNotAdoptedWithoutItsCode(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i, j := w.invoice(t), w.invoice(t)
		w.bank.terse = true
		w.bank.loseAnswers("create", errBank)
		for _, id := range []int64{i.ID, j.ID} {
			_, err := w.Charge(t.Context(), w.actor, id, "")
			wantKind(t, err, fault.KindUpstream)
		}
		w.bank.loseAnswers("create", nil)
		w.later(t, time.Hour)
		w.wantStates(t, i.ID, "reserved")
		if p := w.charged(t, i.ID); p.PixCode == "" || p.Flow != FlowPix || w.bank.made != 2 {
			t.Errorf("got %+v, %d made", p, w.bank.made)
		}
		w.later(t, 25*time.Hour) // nobody asked for the other one again
		w.wantStates(t, j.ID, "expired")
		if w.bank.payableNow() != 0 {
			t.Errorf("%d can be paid", w.bank.payableNow())
		}
	})
}

func TestPaidUnderALostAnswerIsFound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.bank.loseAnswers("create", errBank)
		_, err := w.Charge(t.Context(), w.actor, i.ID, "")
		wantKind(t, err, fault.KindUpstream)
		w.bank.change(w.bank.paid)
		w.later(t, time.Minute)
		w.wantPaid(t, i)
		w.wantStates(t, i.ID, "paid")
	})
}

// paid pays a charge; the bank is locked.
func (b *bank) paid(c *held) {
	c.state = StatePaid
	c.payments = append(c.payments, Received{ID: "E2E-" + c.reference, Amount: c.amount, Currency: "BRL", At: b.clock.Now()})
}

func TestFailingGatewayIsLeftInPeaceForAWhile(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.bank.fail("", errBank)
		for range 10 {
			_, err := w.Charge(t.Context(), w.actor, i.ID, "")
			wantKind(t, err, fault.KindUpstream)
		}
		if n := w.bank.called("create"); n != breakerAt {
			t.Errorf("called %d times, want %d", n, breakerAt)
		}
		u, err := w.Gateway(t.Context(), w.actor)
		must(t, err)
		if u.Failures != breakerAt || u.Problem == "" {
			t.Errorf("the company is told %d, %q", u.Failures, u.Problem)
		}
		w.bank.fail("", nil)
		_, err = w.Charge(t.Context(), w.actor, i.ID, "")
		wantKind(t, err, fault.KindUpstream)
		w.clock.Advance(breakerPause)
		w.charged(t, i.ID)
		if u, err = w.Gateway(t.Context(), w.actor); err != nil || u.Failures != 0 || u.Problem != "" {
			t.Errorf("after it works: %d, %q, %v", u.Failures, u.Problem, err)
		}
	})
}

// Whoever closes an invoice while its charge is being made has it cancelled.
func TestInvoiceClosedWhileItsChargeIsBeingMade(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.bank.before = func(ctx context.Context, o string) error {
			if o != "create" {
				return nil
			}
			_, err := w.invoices.SetStatus(ctx, w.actor, i.ID, billing.ReadStatusChange(values("status", "Cancelado")))
			if err == nil {
				_, err = w.Reconcile(ctx) // which leaves to the maker what is being made
			}
			return err
		}
		_, err := w.Charge(t.Context(), w.actor, i.ID, "")
		wantField(t, err, "invoice")
		w.work(t)
		w.wantStates(t, i.ID, "cancelled")
		if w.bank.made != 1 || w.bank.payableNow() != 0 {
			t.Errorf("%d made, %d can be paid", w.bank.made, w.bank.payableNow())
		}
	})
}

// A maker that took longer than its claim lasts may find its charge cancelled:
// what it made is cancelled too.
func TestMakerThatOutlivedItsClaim(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.bank.before = func(ctx context.Context, o string) error {
			if o != "create" {
				return nil
			}
			_, err := w.invoices.SetStatus(ctx, w.actor, i.ID, billing.ReadStatusChange(values("status", "Cancelado")))
			must(t, err)
			w.later(t, w.lease()+time.Second)
			w.wantStates(t, i.ID, "cancelled")
			return nil
		}
		_, err := w.Charge(t.Context(), w.actor, i.ID, "")
		wantField(t, err, "invoice")
		w.bank.before = nil
		w.work(t)
		w.wantStates(t, i.ID, "cancelled")
		if w.bank.made != 1 || w.bank.payableNow() != 0 {
			t.Errorf("%d made, %d can be paid", w.bank.made, w.bank.payableNow())
		}
	})
}

func TestClosedOrDeletedInvoiceHasItsChargeCancelledUntilItIsDone(t *testing.T) {
	closings := map[string]func(t *testing.T, w *world, i billing.Invoice) error{
		"cancelled": func(t *testing.T, w *world, i billing.Invoice) error {
			_, err := w.invoices.SetStatus(t.Context(), w.actor, i.ID, billing.ReadStatusChange(values("status", "Cancelado")))
			return err
		},
		"paid by hand": func(t *testing.T, w *world, i billing.Invoice) error {
			_, err := w.invoices.SetStatus(t.Context(), w.actor, i.ID, billing.ReadStatusChange(values("status", "Pago")))
			return err
		},
		"customer deleted": func(t *testing.T, w *world, i billing.Invoice) error {
			return w.customers.Delete(t.Context(), w.actor, i.Customer.ID)
		},
	}
	for name, close := range closings {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				i := w.invoice(t)
				w.charged(t, i.ID)
				w.bank.fail("cancel", errBank)
				must(t, close(t, w, i))
				w.work(t)
				w.wantStates(t, i.ID, "cancelling")
				for range 8 { // past the breaker
					w.later(t, 10*time.Minute)
				}
				if w.bank.payableNow() != 1 || w.bank.called("cancel") < 3 {
					t.Errorf("%d can be paid after %d calls", w.bank.payableNow(), w.bank.called("cancel"))
				}
				w.bank.fail("cancel", nil)
				w.later(t, 2*time.Hour)
				w.wantStates(t, i.ID, "cancelled")
				if w.bank.payableNow() != 0 {
					t.Error("it can still be paid")
				}
			})
		})
	}
}

// The process that was making a charge died, and another one goes on.
func TestAbandonedReservationIsTakenOver(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		j := &charging{service: w.Service, actor: w.actor, invoiceID: i.ID, skipped: map[int64]bool{}}
		_, err := j.decide(t.Context())
		must(t, err)
		w.options.Timeout = 200 * time.Millisecond
		_, err = w.Charge(t.Context(), w.actor, i.ID, "")
		wantKind(t, err, fault.KindUpstream) // it may still be alive
		w.options.Timeout = unhurried
		w.clock.Advance(w.lease() + time.Minute)
		p := w.charged(t, i.ID)
		if p.PixCode != "pix-"+j.charge.order.Reference || w.bank.made != 1 {
			t.Errorf("got %+v, %d made", p, w.bank.made)
		}
		w.wantStates(t, i.ID, "pending")
	})
}
