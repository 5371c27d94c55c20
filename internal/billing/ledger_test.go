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
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

// ledger runs a test with a plan of 35.00 a month on both databases.
func ledger(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		test(t, world)
		world.wantTrueBooks(t)
	})
}

func (w *world) wantMoney(t *testing.T, id int64, status Status, received, forgiven money.Cents) {
	t.Helper()
	if invoice := w.find(t, id); invoice.Status != status || invoice.Received != received || invoice.Forgiven != forgiven {
		t.Errorf("%s, received %s, forgiven %s; want %s, %s, %s", invoice.Status, invoice.Received, invoice.Forgiven, status, received, forgiven)
	}
}

func (w *world) day(t *testing.T, on string) (n, cents int64) {
	t.Helper()
	n, cents, err := receipts.Sum(t.Context(), w.db, w.actor.Company.ID, tally.Filter{Days: []tally.Days{tally.On(on)}})
	must(t, err)
	return n, cents
}

func TestPartialPaymentsLeaveTheInvoiceOpenUntilItIsPaid(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record := world.customer(t, 1, "2026-01-31")
		invoice := world.only(t, record.ID)
		_, err := world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values("status", "Pago", "amount", "20.00")))
		wantField(t, err, "difference")
		_, err = world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values("status", "Pago", "paid_via", "shells")))
		wantField(t, err, "paid_via")
		_, err = world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values("status", "Pago", "amount", "0.00", "difference", "partial")))
		wantField(t, err, "amount")
		world.set(t, invoice.ID, Paid, "amount", "20.00", "difference", "partial", "paid_via", "cash", "paid_at", "2026-01-30")
		world.wantMoney(t, invoice.ID, Open, 2000, 0)
		if world.dueOn(t, record.ID) != "2026-01-31" {
			t.Error("a part renews")
		}
		out := world.set(t, invoice.ID, Paid, "paid_via", "pix")
		world.wantMoney(t, invoice.ID, Paid, 3500, 0)
		if !out.Renewed || out.PaidVia != "pix" || out.PaidOn != day("2026-01-31") {
			t.Errorf("renewed %t, via %s, on %s", out.Renewed, out.PaidVia, out.PaidOn)
		}
		if n, cents := world.day(t, "2026-01-30"); n != 1 || cents != 2000 {
			t.Errorf("30 January has %d, %d", n, cents)
		}
		if n, cents := world.day(t, "2026-01-31"); n != 1 || cents != 1500 {
			t.Errorf("31 January has %d, %d", n, cents)
		}
		out = world.set(t, invoice.ID, Open) // the payment that completed it never happened; the part did
		world.wantMoney(t, invoice.ID, Open, 2000, 0)
		if n, cents := world.day(t, "2026-01-30"); n != 1 || cents != 2000 || !out.MovedBack {
			t.Errorf("30 January has %d, %d; moved back %t", n, cents, out.MovedBack)
		}
		if n, cents := world.day(t, "2026-01-31"); n != 0 || cents != 0 {
			t.Errorf("31 January has %d, %d after undoing", n, cents)
		}
	})
}

func TestLessMoneyMayBeEnoughAndMoreIsWhatItIs(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		invoice, other := world.only(t, world.customer(t, 1, "2026-01-31").ID), world.only(t, world.customer(t, 1, "2026-01-31").ID)
		world.set(t, invoice.ID, Paid, "amount", "20.00", "difference", "discount")
		world.wantMoney(t, invoice.ID, Paid, 2000, 1500)
		world.set(t, other.ID, Paid, "amount", "40.00")
		world.wantMoney(t, other.ID, Paid, 4000, 0)
		if n, cents := world.day(t, "2026-01-31"); n != 2 || cents != 6000 {
			t.Errorf("the day has %d, %d", n, cents)
		}
		world.set(t, invoice.ID, Open)
		world.wantMoney(t, invoice.ID, Open, 0, 0)
	})
}

func (w *world) refund(t *testing.T, refund Refund) Outcome {
	t.Helper()
	var out Outcome
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		out, err = w.RefundTx(t.Context(), w.actor.In(tx), refund)
		return err
	}))
	return out
}

func TestRefundIsAMinusInItsOwnMonthAndOpensWhatItUncovers(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record := world.customer(t, 1, "2026-01-31")
		invoice := world.only(t, record.ID)
		world.set(t, invoice.ID, Paid, "amount", "40.00")
		world.clock.Advance(24 * time.Hour)
		for range 2 { // known the second time
			world.refund(t, Refund{PaymentID: 1, Amount: 500, RefundID: "r1"})
		}
		world.wantMoney(t, invoice.ID, Paid, 3500, 0) // still covered
		_, err := world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values("status", "Em aberto")))
		wantField(t, err, "status") // a part went back: it did happen
		out := world.refund(t, Refund{PaymentID: 1, RefundID: "r2"})
		world.wantMoney(t, invoice.ID, Open, 0, 0)
		if !out.MovedBack || world.dueOn(t, record.ID) != "2026-01-31" {
			t.Errorf("moved back %t, due on %s", out.MovedBack, world.dueOn(t, record.ID))
		}
		if n, cents := world.day(t, "2026-01-31"); n != 1 || cents != 4000 {
			t.Errorf("January has %d, %d", n, cents)
		}
		if n, cents := world.day(t, "2026-02-01"); n != 0 || cents != -4000 {
			t.Errorf("February has %d, %d", n, cents)
		}
		world.set(t, invoice.ID, Paid)
		world.wantMoney(t, invoice.ID, Paid, 3500, 0)
		must(t, world.customers.Delete(t.Context(), world.actor, record.ID))
		world.refund(t, Refund{PaymentID: 2, RefundID: "r3"}) // of an invoice that is gone
	})
}

func TestPaymentRenewsByThePeriodThatWasBilled(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.plan(t, "1year", "350.00")
		record := world.customer(t, 1, "2026-01-31") // due today: the invoice keeps what it was issued for
		world.update(t, record.ID, "plan_id", "2")
		world.set(t, world.only(t, record.ID).ID, Paid)
		if got := world.dueOn(t, record.ID); got != "2026-02-28" {
			t.Errorf("35.00 renewed until %s", got)
		}
	})
}

func TestRenewalFromTodayCountsFromTheDayOfThePayment(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.configure(t, "renew_from", string(account.FromToday))
		byHand, byGateway := world.customer(t, 1, "2026-01-31"), world.customer(t, 1, "2026-01-31")
		paid := world.clock.Now()
		world.clock.Advance(24 * time.Hour) // it is found on 1 February
		world.set(t, world.only(t, byHand.ID).ID, Paid, "paid_at", "2026-01-31")
		r := gatewayReceipt(world, world.only(t, byGateway.ID), "woovi")
		r.PaidAt = paid
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := world.ReceiveTx(t.Context(), world.actor.In(tx), r)
			return err
		}))
		for _, id := range []int64{byHand.ID, byGateway.ID} {
			record, err := world.customers.Find(t.Context(), world.actor, id)
			if err != nil || record.DueOn != day("2026-02-28") || record.OwnDay != 31 {
				t.Errorf("due on %s, own day %d, %v", record.DueOn, record.OwnDay, err)
			}
		}
	})
}

func TestRenewalThatCannotBeDoesNotTakeTheMoneyBack(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record := world.customer(t, 1, "9999-12-31")
		invoice := world.only(t, record.ID)
		known := len(world.bodies(t))
		out := world.set(t, invoice.ID, Paid)
		if out.Renewed || out.RenewalProblem == "" {
			t.Errorf("renewed %t, problem %q", out.Renewed, out.RenewalProblem)
		}
		world.wantMoney(t, invoice.ID, Paid, 3500, 0)
		world.wantEvents(t, known, event.InvoicePaid)
	})
}

func TestPlanOrPriceThatBeginsToCostBillsThePresentDueDates(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.catalog.WatchPlans(world.customers.PlansChanged)
		free := world.plan(t, "1month", "0.00")
		near, past := world.customer(t, free, "2026-02-03"), world.customer(t, free, "2026-01-20")
		own := world.customer(t, free, "2026-02-03")
		if n := world.dayWork(t); n != 0 {
			t.Fatalf("%d issued for nothing", n)
		}
		world.update(t, own.ID, "price", "12.00")
		if n := world.dayWork(t); n != 1 || world.only(t, own.ID).Amount != 1200 {
			t.Errorf("%d issued", n)
		}
		_, err := world.catalog.UpdatePlan(t.Context(), world.actor, free, catalog.ReadPlanChanges(values("value", "35.00")))
		must(t, err)
		if n := world.dayWork(t); n != 2 || world.only(t, near.ID).Amount != 3500 || world.only(t, past.ID).DueOn != day("2026-01-20") {
			t.Errorf("%d issued", n)
		}
	})
}

// A process that has locked a customer for another reason must get it from the
// schedule itself, although a second process has just passed over it.
func TestProcessesInStepLeaveNobodyBehind(t *testing.T) {
	world := newWorld(t, sqldb.Postgres)
	world.plan(t, "1month", "35.00")
	record := world.customer(t, 1, "2026-06-30")
	world.redate(t, record.ID, "2026-02-01")
	until := day("2026-03-01")
	must(t, world.db.Write(t.Context(), func(first *sqldb.Tx) error {
		if _, err := customer.LockTx(t.Context(), world.actor.In(first), record.ID); err != nil {
			return err
		}
		return world.process(t).db.Write(t.Context(), func(second *sqldb.Tx) error {
			passed, err := scheduled(t.Context(), world.actor.In(second), until, issueBatch)
			if err != nil || len(passed) != 0 {
				t.Errorf("the second process got %v, %v", passed, err)
			}
			got, err := scheduled(t.Context(), world.actor.In(first), until, issueBatch)
			if err != nil || len(got) != 1 {
				t.Errorf("the first process got %v, %v", got, err)
			}
			return nil
		})
	}))
}

func TestRestOfAnInvoiceIsWrittenOffWithAReason(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		nothing, part, both := world.only(t, world.customer(t, 1, "2026-01-31").ID),
			world.only(t, world.customer(t, 1, "2026-01-31").ID), world.only(t, world.customer(t, 1, "2026-01-31").ID)
		_, err := world.SetStatus(t.Context(), world.actor, part.ID, ReadStatusChange(values("status", "Pago", "difference", "write_off")))
		wantField(t, err, "note")
		world.set(t, part.ID, Paid, "amount", "20.00", "difference", "partial")
		off := []string{"difference", "write_off", "note", "mudou-se", "amount"}
		world.set(t, nothing.ID, Paid, append(off, "0.00")...)
		world.wantMoney(t, nothing.ID, Cancelled, 0, 0)
		world.set(t, part.ID, Paid, append(off, "0.00")...)
		world.wantMoney(t, part.ID, Paid, 2000, 1500)
		world.set(t, both.ID, Paid, append(off, "5.00")...)
		world.wantMoney(t, both.ID, Paid, 500, 3000)
		world.set(t, part.ID, Open) // the decision goes back, the money stays
		world.wantMoney(t, part.ID, Open, 2000, 0)
		if n, cents := world.day(t, "2026-01-31"); n != 2 || cents != 2500 {
			t.Errorf("the day has %d, %d", n, cents)
		}
		world.wantTrueBooks(t)
	})
}

func TestRefundOfAPartIsADiscountUnlessItIsSaidOtherwise(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		for n, c := range []struct {
			effect   string
			amount   string
			status   Status
			received money.Cents
			forgiven money.Cents
			dueOn    string
		}{
			{"", "5.00", Paid, 3000, 500, "2026-02-28"},
			{"reopen", "5.00", Open, 3000, 0, "2026-01-31"},
			{"", "35.00", Open, 0, 0, "2026-01-31"},
			{"discount", "35.00", Paid, 0, 3500, "2026-02-28"},
		} {
			owner := world.customer(t, 1, "2026-01-31")
			invoice := world.only(t, owner.ID)
			world.set(t, invoice.ID, Paid)
			record, err := world.RefundPayment(t.Context(), world.actor, int64(n+1), ReadRefund(values("amount", c.amount, "effect", c.effect, "note", "desculpas")))
			must(t, err)
			world.wantMoney(t, invoice.ID, c.status, c.received, c.forgiven)
			if due := world.dueOn(t, owner.ID); due != c.dueOn {
				t.Errorf("%+v: due on %s", c, due)
			}
			refunds, err := world.RefundsOf(t.Context(), world.actor, record)
			must(t, err)
			if of := refunds[record.ID]; len(of) != 1 || of[0].Amount != record.Refunded || of[0].On != day("2026-01-31") || of[0].Note != "desculpas" {
				t.Errorf("%+v", of)
			}
		}
		world.wantTrueBooks(t)
	})
}

func TestInvoiceWithMoneyOnItIsCancelledWhenTheMoneyWentBack(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		invoice := world.only(t, world.customer(t, 1, "2026-01-31").ID)
		world.set(t, invoice.ID, Paid, "amount", "20.00", "difference", "partial")
		_, err := world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values("status", "Cancelado")))
		wantField(t, err, "money")
		world.set(t, invoice.ID, Cancelled, "money", "refund", "note", "engano")
		world.wantMoney(t, invoice.ID, Cancelled, 0, 0)
		if n, cents := world.day(t, "2026-01-31"); n != 1 || cents != 0 {
			t.Errorf("the day has %d, %d", n, cents)
		}
		world.wantTrueBooks(t)
	})
}
