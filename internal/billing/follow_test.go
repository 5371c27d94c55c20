package billing

import (
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// wantInvoice compares what following changes.
func (w *world) wantInvoice(t *testing.T, id int64, status Status, amount money.Cents, dueOn string) {
	t.Helper()
	if i := w.find(t, id); i.Status != status || i.Amount != amount || i.DueOn != day(dueOn) {
		t.Errorf("invoice %d is %s, %s, due %s (withdrawn %q); want %s, %s, due %s",
			id, i.Status, i.Amount, i.DueOn, i.Withdrawn, status, amount, dueOn)
	}
}

func TestOpenInvoiceGoesWithItsCustomersDueDate(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-02-10")
		i := w.only(t, c.ID)
		for _, due := range []string{"2026-02-20", "2026-01-05", "2026-12-31", "2026-02-10"} {
			known := len(w.bodies(t))
			w.update(t, c.ID, "data_de_vencimento", due)
			w.wantInvoice(t, i.ID, Open, 3500, due)
			w.wantEvents(t, known, event.CustomerUpdated)
			if left := texts(t, w.db, `SELECT due_on FROM invoice_schedule`); len(left) != 0 {
				t.Errorf("%v is on the schedule and has an invoice", left)
			}
			w.wantNothingToIssue(t)
		}
		w.update(t, c.ID, "data_de_vencimento", "")
		w.wantInvoice(t, i.ID, Open, 3500, "2026-02-10")
	})
}

func TestInvoiceWhoseNewDateHasOneIsWithdrawnAndComesBack(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-02-10")
		old := w.only(t, c.ID)
		_, err := w.customers.Renew(t.Context(), w.actor, c.ID) // the invoice of February stays open
		must(t, err)
		w.clock.Set(noon.AddDate(0, 0, 35))
		w.dayWork(t)
		next := w.invoices(t, c.ID)[1]
		w.update(t, c.ID, "data_de_vencimento", "2026-02-10")
		w.wantInvoice(t, old.ID, Open, 3500, "2026-02-10")
		w.wantInvoice(t, next.ID, Cancelled, 3500, "2026-03-10")
		w.update(t, c.ID, "data_de_vencimento", "2026-03-10")
		w.dayWork(t)
		w.wantInvoice(t, old.ID, Cancelled, 3500, "2026-02-10") // one due date, one invoice
		w.wantInvoice(t, next.ID, Open, 3500, "2026-03-10")
		w.wantNothingToIssue(t)
	})
}

func TestInvoiceStaysWhereNobodyCanSayWhatItIsFor(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		for _, status := range []Status{Paid, Cancelled} {
			c := w.customer(t, 1, "2026-02-10")
			w.set(t, w.only(t, c.ID).ID, status, "renew", "false")
			w.redate(t, c.ID, "2026-02-03")
			w.dayWork(t)
			i := w.invoices(t, c.ID)[1]
			w.update(t, c.ID, "data_de_vencimento", "2026-02-10", "price", "20.00")
			w.wantInvoice(t, i.ID, Open, 3500, "2026-02-03")
			w.dayWork(t)
			w.wantDue(t, c.ID, "2026-02-10", "2026-02-03")
		}
	})
}

func TestOpenInvoiceTakesTheNewPriceAndPeriodBeforeItsDueDate(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		w.plan(t, "1year", "350.00")
		free := w.plan(t, "1week", "0.00")
		early, late := w.customer(t, 1, "2026-02-01"), w.customer(t, 1, "2026-01-31")
		for _, id := range []int64{early.ID, late.ID} {
			w.update(t, id, "plan_id", "2", "product_id", "2")
		}
		i, kept := w.only(t, early.ID), w.only(t, late.ID)
		w.wantInvoice(t, i.ID, Open, 35000, "2026-02-01")
		if i.Plan.ID != 2 || i.Product.ID != 2 || i.Period != (civil.Period{Unit: civil.Year, Count: 1}) || i.Description != "Plano 1year" {
			t.Errorf("it is for %+v, %v, %q", i.Plan, i.Period, i.Description)
		}
		w.wantInvoice(t, kept.ID, Open, 3500, "2026-01-31") // due today: it keeps what it was issued for
		w.update(t, early.ID, "price", "299.90")
		w.wantInvoice(t, i.ID, Open, 29990, "2026-02-01")
		for _, nothing := range [][]string{{"price", "0.00"}, {"price", "", "plan_id", orEmpty(free)}, {"plan_id", ""}} {
			w.update(t, early.ID, nothing...)
			w.dayWork(t)
			if got := w.find(t, i.ID); got.Status != Cancelled || got.Withdrawn != withdrawnFree {
				t.Errorf("%v: %s, withdrawn %q", nothing, got.Status, got.Withdrawn)
			}
			known := len(w.bodies(t))
			w.update(t, early.ID, "plan_id", "1", "price", "12.00")
			w.dayWork(t)
			w.wantInvoice(t, i.ID, Open, 1200, "2026-02-01")
			w.wantEvents(t, known, event.CustomerUpdated) // it was announced when it was issued
		}
		w.set(t, i.ID, Cancelled) // by a person: it stays so
		w.update(t, early.ID, "price", "13.00")
		w.dayWork(t)
		w.wantInvoice(t, i.ID, Cancelled, 1200, "2026-02-01")
	})
}

// Killed mutants: an invoice with money on it follows; an edited one does.
func TestInvoiceWithMoneyOnItFollowsNobody(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-02-10")
		i := w.only(t, c.ID)
		w.set(t, i.ID, Paid, "amount", "20.00", "difference", "partial")
		w.update(t, c.ID, "price", "50.00")
		w.update(t, c.ID, "data_de_vencimento", "2026-02-05")
		w.dayWork(t)
		w.wantInvoice(t, i.ID, Open, 3500, "2026-02-10")
		w.wantDue(t, c.ID, "2026-02-10", "2026-02-05")
	})
}

func TestRenewalDoesNotMoveWhatIsOwed(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-02-10")
		i := w.only(t, c.ID)
		_, err := w.customers.Renew(t.Context(), w.actor, c.ID)
		must(t, err)
		w.wantInvoice(t, i.ID, Open, 3500, "2026-02-10")
	})
}

func TestUndonePaymentWithdrawsTheInvoiceOfTheDateItBrought(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-01-31")
		i := w.only(t, c.ID)
		w.set(t, i.ID, Paid)
		w.clock.Set(noon.AddDate(0, 0, 25))
		w.dayWork(t)
		next := w.invoices(t, c.ID)[1]
		w.set(t, i.ID, Open)
		w.wantInvoice(t, next.ID, Cancelled, 3500, "2026-02-28")
		w.wantInvoice(t, i.ID, Open, 3500, "2026-01-31")
		w.wantNothingToIssue(t)
		w.set(t, i.ID, Paid)
		w.dayWork(t)
		w.wantInvoice(t, next.ID, Open, 3500, "2026-02-28")
		w.refund(t, Refund{PaymentID: w.paymentOf(t, i.ID), RefundID: "r"})
		w.wantInvoice(t, next.ID, Cancelled, 3500, "2026-02-28")
	})
}

// paymentOf is the newest payment of an invoice.
func (w *world) paymentOf(t *testing.T, invoiceID int64) int64 {
	t.Helper()
	id, err := sqldb.Value[int64](t.Context(), w.db, `SELECT MAX(id) FROM payments WHERE invoice_id = ?`, invoiceID)
	must(t, err)
	return id
}

func TestCustomerTakenBackOwesWhatItOwed(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-02-10")
		i := w.only(t, c.ID)
		_, err := w.customers.Renew(t.Context(), w.actor, c.ID)
		must(t, err)
		w.clock.Set(noon.AddDate(0, 0, 35))
		w.dayWork(t)
		present := w.invoices(t, c.ID)[1]
		extra, err := w.CreateExtra(t.Context(), w.actor, c.ID, ReadExtra(values("amount", "10.00", "due", "2026-04-01")))
		must(t, err)
		byHand, err := w.CreateExtra(t.Context(), w.actor, c.ID, ReadExtra(values("amount", "11.00", "due", "2026-04-01")))
		must(t, err)
		w.set(t, byHand.ID, Cancelled)
		w.update(t, c.ID, "cancelled", "true")
		for _, id := range []int64{i.ID, present.ID, extra.ID} {
			if got := w.find(t, id); got.Status != Cancelled || got.Withdrawn != withdrawnCustomer {
				t.Errorf("invoice %d is %s, withdrawn %q", id, got.Status, got.Withdrawn)
			}
		}
		w.update(t, c.ID, "price", "40.00") // it follows, though nobody owes it
		w.update(t, c.ID, "cancelled", "false")
		w.wantInvoice(t, i.ID, Cancelled, 3500, "2026-02-10") // of a period that has passed: given up
		w.wantInvoice(t, present.ID, Open, 4000, "2026-03-10")
		w.wantInvoice(t, extra.ID, Open, 1000, "2026-04-01")
		w.wantInvoice(t, byHand.ID, Cancelled, 1100, "2026-04-01")
		w.wantNothingToIssue(t)
	})
}

// Killed mutant: a cancelled customer who pays is renewed.
func TestCancelledCustomerWhoPaysIsRecordedAndNotRenewed(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-01-31")
		i := w.only(t, c.ID)
		w.update(t, c.ID, "cancelled", "true", "keep_invoices", "true")
		known := len(w.bodies(t))
		out := w.set(t, i.ID, Paid, "renew", "true")
		w.wantMoney(t, i.ID, Paid, 3500, 0)
		w.wantEvents(t, known, event.InvoicePaid)
		if out.Renewed || w.dueOn(t, c.ID) != "2026-01-31" {
			t.Errorf("renewed %t until %s", out.Renewed, w.dueOn(t, c.ID))
		}
		if n, cents := w.day(t, "2026-01-31"); n != 1 || cents != 3500 {
			t.Errorf("the day has %d, %d", n, cents)
		}
		w.clock.Advance(60 * 24 * time.Hour)
		w.wantNothingToIssue(t)
	})
}

// Killed mutant: a cancelled customer is billed, who was put on the schedule by
// whatever means.
func TestCancelledCustomerOnTheScheduleIsNotBilled(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 0, "2026-02-03")
		w.update(t, c.ID, "plan_id", "1", "cancelled", "true")
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			c.DueOn = day("2026-02-03")
			return schedule(t.Context(), tx, w.actor.Company.ID, c)
		}))
		w.dayWork(t)
		w.wantDue(t, c.ID)
	})
}
