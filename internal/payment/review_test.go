package payment

import (
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
)

// A gateway gives back a part of money that is credit by then. A person who looks at the
// review of that cannot have the money pay an invoice a second time.
func TestMoneyThatIsCreditIsNotAppliedToo(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 4000)
		world.later(t, time.Minute)
		review := world.wantOpenReviews(t)[0]
		_, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: review.ID, Resolution: Credited})
		must(t, err)
		world.bank.change(func(order *held) { order.payments[0].Refunded, order.payments[0].RefundedAt = 500, world.clock.Now() })
		world.later(t, 24*time.Hour)
		again := world.wantOpenReviews(t)[0]
		_, err = world.Decide(t.Context(), world.actor, Decision{ReviewID: again.ID, Resolution: Applied, Difference: billing.DifferenceDiscount})
		if fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("applied, though it is credit: %v", err)
		}
		world.wantOpen(t, invoice)
	})
}

// What goes back of money that waits for a decision is a record like any refund. It
// counts, on its own day, when the money does.
func TestRefundOfMoneyInReviewIsARecord(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 5000)
		world.later(t, time.Minute)
		number := world.wantOpenReviews(t)[0].Payment.Number
		world.later(t, 24*time.Hour)
		back, err := world.invoices.RefundPayment(t.Context(), world.actor, number,
			billing.ReadRefund(values("amount", "10.00", "note", "veio a mais", "refunded_on", "2026-02-01")))
		must(t, err)
		refunds, err := world.invoices.RefundsOf(t.Context(), world.actor, back)
		must(t, err)
		want := billing.RefundRecord{ID: 1, Amount: 1000, On: civil.MustParse("2026-02-01"), By: world.actor.By(), Note: "veio a mais"}
		if got := refunds[number]; len(got) != 1 || got[0] != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		world.bank.change(func(order *held) { order.payments[0].Refunded, order.payments[0].RefundedAt = 1500, world.clock.Now() })
		for range 3 { // ten of it were known
			world.later(t, 24*time.Hour)
		}
		if world.received(t, "2026-01-31") != 0 || world.received(t, "2026-02-01") != 0 {
			t.Error("a refund of money that does not count counts")
		}
		world.configure(t, "books_closed_through", "2026-01-31")
		review := world.wantReviews(t, ReasonWrongAmount, ReasonRefunded)[0]
		_, err = world.Decide(t.Context(), world.actor, Decision{ReviewID: review.ID, Resolution: Applied})
		must(t, err)
		if world.received(t, "2026-01-31") != 0 || world.received(t, "2026-02-01") != 3500 {
			t.Errorf("%s on the day, %s on the next", world.received(t, "2026-01-31"), world.received(t, "2026-02-01"))
		}
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || got.Received != 3500 {
			t.Errorf("%+v", got)
		}
	})
}
