package payment

import (
	"fmt"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/tally"
)

// received is what the company received on a day.
func (w *world) received(t *testing.T, day string) money.Cents {
	t.Helper()
	_, cents, err := tally.Receipts.Sum(t.Context(), w.db, w.actor.Company.ID, tally.Filter{Days: []tally.Days{tally.On(day)}})
	must(t, err)
	return money.Cents(cents)
}

func TestMoneyCountsOnTheDayOnWhichItWasPaid(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		at := time.Date(2026, 2, 1, 2, 50, 0, 0, time.UTC) // 31 January, 23:50, in São Paulo
		world.clock.Advance(at.Add(30 * time.Minute).Sub(world.clock.Now()))
		world.bank.payAt(t, payable.PixCode, 3500, at)
		world.work(t)
		got := world.find(t, invoice.ID)
		if got.Status != billing.Paid || got.PaidOn != civil.MustParse("2026-01-31") || !got.PaidAt.Equal(at) {
			t.Errorf("%s on %s at %s", got.Status, got.PaidOn, got.PaidAt)
		}
		if world.received(t, "2026-01-31") != 3500 || world.received(t, "2026-02-01") != 0 {
			t.Error("January's money is in February")
		}
	})
}

func TestInstantThatCannotBeTrueIsNow(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, off := range []time.Duration{time.Hour, -26 * time.Hour} {
			invoice := world.invoice(t)
			payable := world.charged(t, invoice.ID)
			world.bank.payAt(t, payable.PixCode, 3500, world.clock.Now().Add(off))
			world.later(t, time.Minute)
			if got := world.find(t, invoice.ID); !got.PaidAt.Equal(world.clock.Now()) {
				t.Errorf("paid at %s, now is %s", got.PaidAt, world.clock.Now())
			}
		}
	})
}

func TestReviewBringsItsOwnAmount(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		total := money.Cents(0)
		for _, came := range []money.Cents{2000, 4000} {
			invoice := world.invoice(t)
			world.bank.pay(t, world.charged(t, invoice.ID).PixCode, came)
			world.later(t, time.Minute)
			list := world.wantOpenReviews(t)
			_, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: list[0].ID, Resolution: Applied, Difference: billing.DifferenceDiscount})
			must(t, err)
			total += came
			got := world.find(t, invoice.ID)
			if got.Status != billing.Paid || got.Received != came || got.Forgiven != max(0, 3500-came) {
				t.Errorf("%s came: %s, received %s, forgiven %s", came, got.Status, got.Received, got.Forgiven)
			}
			if day := world.received(t, got.PaidOn.String()); day != total {
				t.Errorf("the day received %s, want %s", day, total)
			}
		}
	})
}

func TestReviewMayBeAPartialPayment(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 2000)
		world.later(t, time.Minute)
		list := world.wantOpenReviews(t)
		_, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: list[0].ID, Resolution: Applied, Difference: billing.DifferencePartial})
		must(t, err)
		if got := world.find(t, invoice.ID); got.Status != billing.Open || got.Received != 2000 {
			t.Errorf("%s with %s", got.Status, got.Received)
		}
		payable := world.charged(t, invoice.ID)
		if payable.Amount != 1500 {
			t.Errorf("the next charge is for %s, want the rest", payable.Amount)
		}
		world.bank.pay(t, payable.PixCode, 1500)
		world.later(t, time.Minute)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || got.Received != 3500 {
			t.Errorf("%s with %s", got.Status, got.Received)
		}
	})
}

// A part that went back before the payment was seen is a minus on its own day, once a
// person has the payment count.
func TestPartThatWentBackBeforeItWasSeenIsAMinusOnItsDay(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3500)
		world.clock.Advance(48 * time.Hour) // 2 February
		at := world.clock.Now()
		world.bank.change(func(order *held) { order.payments[0].Refunded, order.payments[0].RefundedAt = 1000, at })
		world.later(t, 24*time.Hour)
		reviews := world.wantReviews(t, ReasonRefunded)
		_, err := world.Decide(t.Context(), world.actor,
			Decision{ReviewID: reviews[0].ID, Resolution: Applied, Difference: billing.DifferencePartial})
		must(t, err)
		for on, want := range map[string]money.Cents{"2026-01-31": 3500, "2026-02-02": -1000, "2026-02-03": 0} {
			if got := world.received(t, on); got != want {
				t.Errorf("%s were received on %s, want %s", got, on, want)
			}
		}
	})
}

func TestRefundThatAGatewayReportsTakesThePaymentBack(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, time.Minute)
		paidOn := world.find(t, invoice.ID).PaidOn.String()
		world.clock.Advance(24 * time.Hour) // 1 February
		at := world.clock.Now()
		world.bank.change(func(order *held) { order.payments[0].Refunded, order.payments[0].RefundedAt = 3500, at })
		for range 3 { // however often it is reported
			world.later(t, 24*time.Hour)
		}
		if world.received(t, "2026-02-01") != -3500 {
			t.Error("the money did not go back on the day on which it did")
		}
		world.wantReviews(t)
		world.wantOpen(t, invoice)
		if world.received(t, paidOn) != 3500 {
			t.Error("the day of the payment has lost it")
		}
		n, cents, err := tally.Receipts.Sum(t.Context(), world.db, world.actor.Company.ID, tally.Filter{})
		if err != nil || n != 1 || cents != 0 {
			t.Errorf("%d payments, %d in all, %v", n, cents, err)
		}
		if q := world.charged(t, invoice.ID); q.PixCode == payable.PixCode || q.Amount != 3500 {
			t.Errorf("charged again: %+v", q)
		}
	})
}

func TestPartsThatAGatewayGivesBackCountOnceEach(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, time.Minute)
		for _, back := range []money.Cents{500, 500, 1200, 500, 99999} { // reported again, lower again, and more than there was
			world.bank.change(func(order *held) { order.payments[0].Refunded = back })
			world.exec(t, `UPDATE charges SET next_check_at = 0, checks = 0`)
			world.later(t, 24*time.Hour)
			want := 3500 - min(back, 3500)
			if want == 0 {
				world.wantOpen(t, invoice)
			} else if status := world.find(t, invoice.ID).Status; status != billing.Paid { // a part that goes back is a discount
				t.Errorf("%s given back: the invoice is %s", back, status)
			}
			if back == 500 && world.count(t, `SELECT COUNT(*) FROM payment_refunds`) > 1 {
				want = 3500 - 1200
			}
			if got := world.find(t, invoice.ID).Received; got != want {
				t.Errorf("%s given back: %s are left, want %s", back, got, want)
			}
		}
		if n := world.count(t, `SELECT COUNT(*) FROM payment_refunds`); n != 3 {
			t.Errorf("%d refunds", n)
		}
		if n := world.count(t, `SELECT COUNT(*) FROM payments WHERE status = 'refunded' AND refunded_cents = 3500`); n != 1 {
			t.Errorf("%d payments are given back", n)
		}
		world.wantReviews(t)
	})
}

// A gateway says how much of a payment it has given back in all. What a person
// has recorded of that is the same money; what is more than that is new.
func TestRefundByHandAndByTheGatewayAreOneUnlessTheGatewaysIsMore(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3500)
		world.later(t, time.Minute)
		id := world.count(t, `SELECT MAX(id) FROM payments`)
		for _, step := range []struct {
			byHand, reported money.Cents
			back             money.Cents // of the payment, in all
			refunds          int64
			why              string
		}{
			{1000, 0, 1000, 1, "a person records it"},
			{0, 1000, 1000, 1, "the gateway reports the same"},
			{0, 1500, 1500, 2, "the gateway gives back 5.00 more"},
			{500, 1500, 2000, 3, "a person records more, which the gateway does not know yet"},
			{0, 2000, 2000, 3, "and then it does"},
			{1500, 3500, 3500, 4, "both give back the rest"},
			{0, 3500, 3500, 4, "told again"},
		} {
			if step.byHand > 0 {
				_, err := world.billing.RefundPayment(t.Context(), world.actor, id, billing.ReadRefund(values("amount", step.byHand.String())))
				must(t, err)
			}
			world.bank.change(func(order *held) { order.payments[0].Refunded = step.reported })
			world.exec(t, `UPDATE charges SET next_check_at = 0, checks = 0`)
			world.later(t, 24*time.Hour)
			if left := world.find(t, invoice.ID).Received; left != 3500-step.back {
				t.Errorf("%s: %s are left of the payment, want %s", step.why, left, 3500-step.back)
			}
			if n := world.count(t, `SELECT COUNT(*) FROM payment_refunds`); n != step.refunds {
				t.Errorf("%s: %d refunds, want %d", step.why, n, step.refunds)
			}
		}
		world.wantReviews(t)
		if _, cents, err := tally.Receipts.Sum(t.Context(), world.db, world.actor.Company.ID, tally.Filter{}); err != nil || cents != 0 {
			t.Errorf("%d were received in all, %v", cents, err)
		}
	})
}

func TestPayersDataReachTheGateway(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		_, err := world.customers.Update(t.Context(), world.actor, invoice.Customer.ID, customer.ReadChanges(values(
			"cpf_cnpj", "529.982.247-25", "whatsapp", "(11) 98765-4321")))
		must(t, err)
		world.charged(t, invoice.ID)
		world.bank.change(func(order *held) {
			if payer := order.payer; payer.TaxID != "52998224725" || payer.Phone != "5511987654321" || payer.Email != "ana@example.com" || payer.Name != "Ana Lima" {
				t.Errorf("the gateway got %+v", payer)
			}
		})
	})
}

// wantOpenReviews lists the reviews that are to be decided: one.
func (w *world) wantOpenReviews(t *testing.T) []Review {
	t.Helper()
	list, _, err := w.Reviews(t.Context(), w.actor, ReviewFilter{Open: true}, input.Page{Number: 1, Size: 10})
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d reviews are open, want one", len(list))
	}
	return list
}

func TestMoneyOnAChargeThatWasClosedLongAgoIsSeenWithoutACallback(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		for range 4 {
			world.later(t, 24*time.Hour)
		}
		world.wantStates(t, invoice.ID, "expired")
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, 4*24*time.Hour)
		world.wantReviews(t, ReasonLate)
		world.wantOpen(t, invoice)
	})
}

// An open invoice follows its customer; the code for the old date must not be
// paid any more.
func TestInvoiceThatMovesWithItsCustomerLosesItsCharge(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.charged(t, invoice.ID)
		_, err := world.customers.Update(t.Context(), world.actor, invoice.Customer.ID, customer.ReadChanges(values("data_de_vencimento", "2026-02-20")))
		must(t, err)
		world.later(t, time.Minute)
		world.wantStates(t, invoice.ID, "cancelled")
		if n := world.bank.payableNow(); n != 0 {
			t.Errorf("%d codes can still be paid", n)
		}
		world.charged(t, invoice.ID)
		world.wantStates(t, invoice.ID, "cancelled", "pending")
	})
}

func TestMoneyThatCameTwicePaysAnotherInvoiceOrIsCredit(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3500)
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, time.Hour)
		double := world.wantOpenReviews(t)[0]
		decide := func(more ...string) error {
			_, err := world.Decide(t.Context(), world.actor, ReadDecision(values(more...), double.ID))
			return err
		}
		stranger := world.invoice(t)
		wantField(t, decide("resolution", "applied", "invoice_id", fmt.Sprint(stranger.ID)), "invoice_id")
		wantField(t, decide("resolution", "applied", "invoice_id", "99"), "invoice_id")
		other, err := world.invoices.CreateExtra(t.Context(), world.actor, invoice.Customer.ID, billing.ReadExtra(values("amount", "20.00")))
		must(t, err)
		must(t, decide("resolution", "applied", "invoice_id", fmt.Sprint(other.ID)))
		if got := world.find(t, other.ID); got.Status != billing.Paid || got.Received != 3500 {
			t.Errorf("the other invoice is %s with %s", got.Status, got.Received)
		}
		if got := world.received(t, "2026-01-31"); got != 7000 {
			t.Errorf("the day received %s", got)
		}
		world.wantReviews(t, ReasonDouble) // which is decided
	})
}

func TestPartThatIsLeftAfterARefundAtTheBankCanBeApplied(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 5000)
		world.later(t, time.Minute)
		world.wantOpenReviews(t)
		world.bank.change(func(order *held) { order.payments[0].Refunded = 1500 })
		world.later(t, time.Hour)
		list, _, err := world.Reviews(t.Context(), world.actor, ReviewFilter{Open: true}, input.Page{Number: 1, Size: 10})
		must(t, err)
		_, err = world.Decide(t.Context(), world.actor, Decision{ReviewID: list[0].ID, Resolution: Applied})
		must(t, err)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || got.Received != 3500 {
			t.Errorf("%s with %s", got.Status, got.Received)
		}
		if got := world.received(t, "2026-01-31"); got != 3500 {
			t.Errorf("the day received %s", got)
		}
		if open, err := world.CountReviews(t.Context(), world.actor, ReviewFilter{Open: true}); err != nil || open != 0 {
			t.Errorf("%d reviews are open: %v", open, err)
		}
	})
}

func TestCreditThatTheBankGaveBackLeavesLessThanNothing(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, time.Minute)
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, time.Hour)
		_, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: world.wantOpenReviews(t)[0].ID, Resolution: Credited})
		must(t, err)
		other, err := world.invoices.CreateExtra(t.Context(), world.actor, invoice.Customer.ID, billing.ReadExtra(values("amount", "20.00")))
		must(t, err)
		_, err = world.invoices.UseCredit(t.Context(), world.actor, other.ID)
		must(t, err)
		world.bank.change(func(order *held) { order.payments[1].Refunded = 3500 })
		world.later(t, 24*time.Hour)
		record, err := world.customers.Find(t.Context(), world.actor, invoice.Customer.ID)
		must(t, err)
		if record.Credit != -2000 {
			t.Errorf("the credit is %s", record.Credit)
		}
		world.wantOpenReviews(t) // a person is asked
		world.wantPaid(t, invoice)
	})
}
