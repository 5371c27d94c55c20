package payment

import (
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// received is what the company received on a day.
func (w *world) received(t *testing.T, day string) money.Cents {
	t.Helper()
	var where sqldb.Where
	where.And("day = ?", day)
	_, cents, err := tally.Receipts.Sum(t.Context(), w.db, w.actor.Company.ID, where)
	must(t, err)
	return money.Cents(cents)
}

func TestMoneyCountsOnTheDayOnWhichItWasPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		at := time.Date(2026, 2, 1, 2, 50, 0, 0, time.UTC) // 31 January, 23:50, in São Paulo
		w.clock.Advance(at.Add(30 * time.Minute).Sub(w.clock.Now()))
		w.bank.payAt(t, p.PixCode, 3500, at)
		w.work(t)
		got := w.find(t, i.ID)
		if got.Status != billing.Paid || got.PaidOn != civil.MustParse("2026-01-31") || !got.PaidAt.Equal(at) {
			t.Errorf("%s on %s at %s", got.Status, got.PaidOn, got.PaidAt)
		}
		if w.received(t, "2026-01-31") != 3500 || w.received(t, "2026-02-01") != 0 {
			t.Error("January's money is in February")
		}
	})
}

func TestInstantThatCannotBeTrueIsNow(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, off := range []time.Duration{time.Hour, -26 * time.Hour} {
			i := w.invoice(t)
			p := w.charged(t, i.ID)
			w.bank.payAt(t, p.PixCode, 3500, w.clock.Now().Add(off))
			w.later(t, time.Minute)
			if got := w.find(t, i.ID); !got.PaidAt.Equal(w.clock.Now()) {
				t.Errorf("paid at %s, now is %s", got.PaidAt, w.clock.Now())
			}
		}
	})
}

func TestReviewBringsItsOwnAmount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		total := money.Cents(0)
		for _, came := range []money.Cents{2000, 4000} {
			i := w.invoice(t)
			w.bank.pay(t, w.charged(t, i.ID).PixCode, came)
			w.later(t, time.Minute)
			list := w.wantOpenReviews(t)
			_, err := w.Decide(t.Context(), w.actor, Decision{ReviewID: list[0].ID, Resolution: Applied, Difference: billing.DifferenceDiscount})
			must(t, err)
			total += came
			got := w.find(t, i.ID)
			if got.Status != billing.Paid || got.Received != came || got.Forgiven != max(0, 3500-came) {
				t.Errorf("%s came: %s, received %s, forgiven %s", came, got.Status, got.Received, got.Forgiven)
			}
			if day := w.received(t, got.PaidOn.String()); day != total {
				t.Errorf("the day received %s, want %s", day, total)
			}
		}
	})
}

func TestReviewMayBeAPartialPayment(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.bank.pay(t, w.charged(t, i.ID).PixCode, 2000)
		w.later(t, time.Minute)
		list := w.wantOpenReviews(t)
		_, err := w.Decide(t.Context(), w.actor, Decision{ReviewID: list[0].ID, Resolution: Applied, Difference: billing.DifferencePartial})
		must(t, err)
		if got := w.find(t, i.ID); got.Status != billing.Open || got.Received != 2000 {
			t.Errorf("%s with %s", got.Status, got.Received)
		}
		p := w.charged(t, i.ID)
		if p.Amount != 1500 {
			t.Errorf("the next charge is for %s, want the rest", p.Amount)
		}
		w.bank.pay(t, p.PixCode, 1500)
		w.later(t, time.Minute)
		if got := w.find(t, i.ID); got.Status != billing.Paid || got.Received != 3500 {
			t.Errorf("%s with %s", got.Status, got.Received)
		}
	})
}

func TestRefundThatAGatewayReportsTakesThePaymentBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		w.bank.pay(t, p.PixCode, 3500)
		w.later(t, time.Minute)
		paidOn := w.find(t, i.ID).PaidOn.String()
		w.bank.change(func(c *held) { c.payments[0].Refunded = true })
		for range 3 { // however often it is reported
			w.later(t, 24*time.Hour)
		}
		w.wantReviews(t)
		w.wantOpen(t, i)
		if w.received(t, paidOn) != 3500 {
			t.Error("the day of the payment has lost it")
		}
		n, cents, err := tally.Receipts.Sum(t.Context(), w.db, w.actor.Company.ID, sqldb.Where{})
		if err != nil || n != 1 || cents != 0 {
			t.Errorf("%d payments, %d in all, %v", n, cents, err)
		}
		if q := w.charged(t, i.ID); q.PixCode == p.PixCode || q.Amount != 3500 {
			t.Errorf("charged again: %+v", q)
		}
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
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		for range 4 {
			w.later(t, 24*time.Hour)
		}
		w.wantStates(t, i.ID, "expired")
		w.bank.pay(t, p.PixCode, 3500)
		w.later(t, 4*24*time.Hour)
		w.wantReviews(t, ReasonLate)
		w.wantOpen(t, i)
	})
}

// An open invoice follows its customer; the code for the old date must not be
// paid any more.
func TestInvoiceThatMovesWithItsCustomerLosesItsCharge(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.charged(t, i.ID)
		_, err := w.customers.Update(t.Context(), w.actor, i.Customer.ID, customer.ReadChanges(values("data_de_vencimento", "2026-02-20")))
		must(t, err)
		w.later(t, time.Minute)
		w.wantStates(t, i.ID, "cancelled")
		if n := w.bank.payableNow(); n != 0 {
			t.Errorf("%d codes can still be paid", n)
		}
		w.charged(t, i.ID)
		w.wantStates(t, i.ID, "cancelled", "pending")
	})
}
