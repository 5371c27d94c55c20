package billing

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// ledger runs a test with a plan of 35.00 a month on both databases.
func ledger(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		test(t, w)
		w.wantTrueBooks(t)
	})
}

func (w *world) wantMoney(t *testing.T, id int64, status Status, received, forgiven money.Cents) {
	t.Helper()
	if i := w.find(t, id); i.Status != status || i.Received != received || i.Forgiven != forgiven {
		t.Errorf("%s, received %s, forgiven %s; want %s, %s, %s", i.Status, i.Received, i.Forgiven, status, received, forgiven)
	}
}

func (w *world) day(t *testing.T, on string) (n, cents int64) {
	t.Helper()
	var where sqldb.Where
	where.And("day = ?", on)
	n, cents, err := receipts.Sum(t.Context(), w.db, w.actor.Company.ID, where)
	must(t, err)
	return n, cents
}

func TestPartialPaymentsLeaveTheInvoiceOpenUntilItIsPaid(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-01-31")
		i := w.only(t, c.ID)
		_, err := w.SetStatus(t.Context(), w.actor, i.ID, ReadStatusChange(values("status", "Pago", "amount", "20.00")))
		wantField(t, err, "difference")
		_, err = w.SetStatus(t.Context(), w.actor, i.ID, ReadStatusChange(values("status", "Pago", "paid_via", "shells")))
		wantField(t, err, "paid_via")
		_, err = w.SetStatus(t.Context(), w.actor, i.ID, ReadStatusChange(values("status", "Pago", "amount", "0.00", "difference", "partial")))
		wantField(t, err, "amount")
		w.set(t, i.ID, Paid, "amount", "20.00", "difference", "partial", "paid_via", "cash", "paid_at", "2026-01-30")
		w.wantMoney(t, i.ID, Open, 2000, 0)
		if w.dueOn(t, c.ID) != "2026-01-31" {
			t.Error("a part renews")
		}
		out := w.set(t, i.ID, Paid, "paid_via", "pix")
		w.wantMoney(t, i.ID, Paid, 3500, 0)
		if !out.Renewed || out.PaidVia != "pix" || out.PaidOn != day("2026-01-31") {
			t.Errorf("renewed %t, via %s, on %s", out.Renewed, out.PaidVia, out.PaidOn)
		}
		if n, cents := w.day(t, "2026-01-30"); n != 1 || cents != 2000 {
			t.Errorf("30 January has %d, %d", n, cents)
		}
		if n, cents := w.day(t, "2026-01-31"); n != 1 || cents != 1500 {
			t.Errorf("31 January has %d, %d", n, cents)
		}
		out = w.set(t, i.ID, Open) // all that persons reported never happened
		w.wantMoney(t, i.ID, Open, 0, 0)
		if n, cents := w.day(t, "2026-01-30"); n != 0 || cents != 0 || !out.MovedBack {
			t.Errorf("30 January has %d, %d; moved back %t", n, cents, out.MovedBack)
		}
	})
}

func TestLessMoneyMayBeEnoughAndMoreIsWhatItIs(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		i, j := w.only(t, w.customer(t, 1, "2026-01-31").ID), w.only(t, w.customer(t, 1, "2026-01-31").ID)
		w.set(t, i.ID, Paid, "amount", "20.00", "difference", "discount")
		w.wantMoney(t, i.ID, Paid, 2000, 1500)
		w.set(t, j.ID, Paid, "amount", "40.00")
		w.wantMoney(t, j.ID, Paid, 4000, 0)
		if n, cents := w.day(t, "2026-01-31"); n != 2 || cents != 6000 {
			t.Errorf("the day has %d, %d", n, cents)
		}
		w.set(t, i.ID, Open)
		w.wantMoney(t, i.ID, Open, 0, 0)
	})
}

func (w *world) refund(t *testing.T, r Refund) Outcome {
	t.Helper()
	var out Outcome
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		out, err = w.RefundTx(t.Context(), tx, w.actor, r)
		return err
	}))
	return out
}

func TestRefundIsAMinusInItsOwnMonthAndOpensWhatItUncovers(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-01-31")
		i := w.only(t, c.ID)
		w.set(t, i.ID, Paid, "amount", "40.00")
		w.clock.Advance(24 * time.Hour)
		for range 2 { // known the second time
			w.refund(t, Refund{PaymentID: 1, Amount: 500, RefundID: "r1"})
		}
		w.wantMoney(t, i.ID, Paid, 3500, 0) // still covered
		_, err := w.SetStatus(t.Context(), w.actor, i.ID, ReadStatusChange(values("status", "Em aberto")))
		wantField(t, err, "status") // a part went back: it did happen
		out := w.refund(t, Refund{PaymentID: 1, RefundID: "r2"})
		w.wantMoney(t, i.ID, Open, 0, 0)
		if !out.MovedBack || w.dueOn(t, c.ID) != "2026-01-31" {
			t.Errorf("moved back %t, due on %s", out.MovedBack, w.dueOn(t, c.ID))
		}
		if n, cents := w.day(t, "2026-01-31"); n != 1 || cents != 4000 {
			t.Errorf("January has %d, %d", n, cents)
		}
		if n, cents := w.day(t, "2026-02-01"); n != 0 || cents != -4000 {
			t.Errorf("February has %d, %d", n, cents)
		}
		w.set(t, i.ID, Paid)
		w.wantMoney(t, i.ID, Paid, 3500, 0)
		must(t, w.customers.Delete(t.Context(), w.actor, c.ID))
		w.refund(t, Refund{PaymentID: 2, RefundID: "r3"}) // of an invoice that is gone
	})
}

func TestPaymentRenewsByThePeriodThatWasBilled(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		w.plan(t, "1year", "350.00")
		c := w.customer(t, 1, "2026-01-31") // due today: the invoice keeps what it was issued for
		w.update(t, c.ID, "plan_id", "2")
		w.set(t, w.only(t, c.ID).ID, Paid)
		if got := w.dueOn(t, c.ID); got != "2026-02-28" {
			t.Errorf("35.00 renewed until %s", got)
		}
	})
}

func TestRenewalFromTodayCountsFromTheDayOfThePayment(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		w.configure(t, "renew_from", string(account.FromToday))
		byHand, byGateway := w.customer(t, 1, "2026-01-31"), w.customer(t, 1, "2026-01-31")
		paid := w.clock.Now()
		w.clock.Advance(24 * time.Hour) // it is found on 1 February
		w.set(t, w.only(t, byHand.ID).ID, Paid, "paid_at", "2026-01-31")
		r := gatewayReceipt(w, w.only(t, byGateway.ID), "woovi")
		r.PaidAt = paid
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := w.ReceiveTx(t.Context(), tx, w.actor, r)
			return err
		}))
		for _, id := range []int64{byHand.ID, byGateway.ID} {
			c, err := w.customers.Find(t.Context(), w.actor, id)
			if err != nil || c.DueOn != day("2026-02-28") || c.OwnDay != 31 {
				t.Errorf("due on %s, own day %d, %v", c.DueOn, c.OwnDay, err)
			}
		}
	})
}

func TestRenewalThatCannotBeDoesNotTakeTheMoneyBack(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "9999-12-31")
		i := w.only(t, c.ID)
		known := len(w.bodies(t))
		out := w.set(t, i.ID, Paid)
		if out.Renewed || out.RenewalProblem == "" {
			t.Errorf("renewed %t, problem %q", out.Renewed, out.RenewalProblem)
		}
		w.wantMoney(t, i.ID, Paid, 3500, 0)
		w.wantEvents(t, known, event.InvoicePaid)
	})
}

func TestPlanOrPriceThatBeginsToCostBillsThePresentDueDates(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		w.catalog.WatchPlans(w.PlansChanged)
		free := w.plan(t, "1month", "0.00")
		near, past := w.customer(t, free, "2026-02-03"), w.customer(t, free, "2026-01-20")
		own := w.customer(t, free, "2026-02-03")
		w.update(t, own.ID, "price", "0.00")
		if n := w.dayWork(t); n != 0 {
			t.Fatalf("%d issued for nothing", n)
		}
		_, err := w.catalog.UpdatePlan(t.Context(), w.actor, free, catalog.ReadPlanChanges(values("value", "35.00")))
		must(t, err)
		if n := w.dayWork(t); n != 2 || w.only(t, near.ID).Amount != 3500 || w.only(t, past.ID).DueOn != day("2026-01-20") {
			t.Errorf("%d issued", n)
		}
		w.update(t, own.ID, "price", "12.00")
		if n := w.dayWork(t); n != 1 || w.only(t, own.ID).Amount != 1200 {
			t.Errorf("%d issued", n)
		}
	})
}

// A process that has locked a customer for another reason must get it from the
// schedule itself, although a second process has just passed over it.
func TestProcessesInStepLeaveNobodyBehind(t *testing.T) {
	w := newWorld(t, sqldb.Postgres)
	w.plan(t, "1month", "35.00")
	c := w.customer(t, 1, "2026-06-30")
	w.redate(t, c.ID, "2026-02-01")
	until := day("2026-03-01")
	must(t, w.db.Write(t.Context(), func(first *sqldb.Tx) error {
		if _, err := customer.LockTx(t.Context(), first, w.actor, c.ID); err != nil {
			return err
		}
		return w.process(t).db.Write(t.Context(), func(second *sqldb.Tx) error {
			passed, err := scheduled(t.Context(), second, w.actor.Company.ID, until, issueBatch)
			if err != nil || len(passed) != 0 {
				t.Errorf("the second process got %v, %v", passed, err)
			}
			got, err := scheduled(t.Context(), first, w.actor.Company.ID, until, issueBatch)
			if err != nil || len(got) != 1 {
				t.Errorf("the first process got %v, %v", got, err)
			}
			return nil
		})
	}))
}
