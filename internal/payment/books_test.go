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
		w.clock.Advance(24 * time.Hour) // 1 February
		at := w.clock.Now()
		w.bank.change(func(c *held) { c.payments[0].Refunded, c.payments[0].RefundedAt = 3500, at })
		for range 3 { // however often it is reported
			w.later(t, 24*time.Hour)
		}
		if w.received(t, "2026-02-01") != -3500 {
			t.Error("the money did not go back on the day on which it did")
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

func TestPartsThatAGatewayGivesBackCountOnceEach(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		w.bank.pay(t, p.PixCode, 3500)
		w.later(t, time.Minute)
		for _, back := range []money.Cents{500, 500, 1200, 500, 99999} { // told again, lower again, and more than there was
			w.bank.change(func(c *held) { c.payments[0].Refunded = back })
			w.exec(t, `UPDATE charges SET next_check_at = 0, checks = 0`)
			w.later(t, 24*time.Hour)
			w.wantOpen(t, i)
			want := 3500 - min(back, 3500)
			if back == 500 && w.count(t, `SELECT COUNT(*) FROM payment_refunds`) > 1 {
				want = 3500 - 1200
			}
			if got := w.find(t, i.ID).Received; got != want {
				t.Errorf("%s given back: %s are left, want %s", back, got, want)
			}
		}
		if n := w.count(t, `SELECT COUNT(*) FROM payment_refunds`); n != 3 {
			t.Errorf("%d refunds", n)
		}
		if n := w.count(t, `SELECT COUNT(*) FROM payments WHERE status = 'refunded' AND refunded_cents = 3500`); n != 1 {
			t.Errorf("%d payments are given back", n)
		}
		w.wantReviews(t)
	})
}

func TestPayersDataReachTheGateway(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		_, err := w.customers.Update(t.Context(), w.actor, i.Customer.ID, customer.ReadChanges(values(
			"cpf_cnpj", "529.982.247-25", "whatsapp", "(11) 98765-4321")))
		must(t, err)
		w.charged(t, i.ID)
		w.bank.change(func(c *held) {
			if p := c.payer; p.TaxID != "52998224725" || p.Phone != "5511987654321" || p.Email != "ana@example.com" || p.Name != "Ana Lima" {
				t.Errorf("the gateway got %+v", p)
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
