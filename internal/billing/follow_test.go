package billing

import (
	"testing"
	"time"

	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// wantInvoice compares what following changes.
func (w *world) wantInvoice(t *testing.T, id int64, status Status, amount money.Cents, dueOn string) {
	t.Helper()
	if invoice := w.find(t, id); invoice.Status != status || invoice.Amount != amount || invoice.DueOn != day(dueOn) {
		t.Errorf("invoice %d is %s, %s, due %s (withdrawn %q); want %s, %s, due %s",
			id, invoice.Status, invoice.Amount, invoice.DueOn, invoice.Withdrawn, status, amount, dueOn)
	}
}

func TestOpenInvoiceGoesWithItsCustomersDueDate(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 1, "2026-02-10")
		invoice := world.only(t, customer.ID)
		for _, due := range []string{"2026-02-20", "2026-01-05", "2026-12-31", "2026-02-10"} {
			known := len(world.bodies(t))
			world.update(t, customer.ID, "data_de_vencimento", due)
			world.wantInvoice(t, invoice.ID, Open, 3500, due)
			world.wantEvents(t, known, event.CustomerUpdated)
			if left := texts(t, world.db, `SELECT due_on FROM invoice_schedule`); len(left) != 0 {
				t.Errorf("%v is on the schedule and has an invoice", left)
			}
			world.wantNothingToIssue(t)
		}
		world.update(t, customer.ID, "data_de_vencimento", "")
		world.wantInvoice(t, invoice.ID, Open, 3500, "2026-02-10")
	})
}

// An overdue invoice that is left stays owed, is no longer asked about, and the new
// due date gets its own; the payment of the old one renews nothing.
func TestOverdueInvoiceIsLeftWhenItsCustomersDueDateMoves(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record := world.customer(t, 1, "2026-02-10")
		invoice := world.only(t, record.ID)
		wantLate := func(want bool) {
			t.Helper()
			now, err := world.customers.Find(t.Context(), world.actor, record.ID)
			must(t, err)
			late, found, err := world.OverdueOf(t.Context(), world.actor, now)
			must(t, err)
			if found != want || want && late.ID != invoice.ID {
				t.Errorf("asked about %v %d, want %v", found, late.ID, want)
			}
		}
		move := func(due string) {
			t.Helper()
			draft := customer.ReadChanges(values("data_de_vencimento", due))
			draft.LeaveOverdue = true
			_, err := world.customers.Update(t.Context(), world.actor, record.ID, draft)
			must(t, err)
		}
		wantLate(false)
		move("2026-02-12") // it is not overdue, and goes along
		world.wantInvoice(t, invoice.ID, Open, 3500, "2026-02-12")

		world.clock.Set(noon.AddDate(0, 0, 35))
		world.dayWork(t)
		wantLate(true)
		move("2026-03-10")
		world.dayWork(t)
		world.wantInvoice(t, invoice.ID, Open, 3500, "2026-02-12")
		wantLate(false)
		world.wantDue(t, record.ID, "2026-02-12", "2026-03-10")
		world.set(t, invoice.ID, Paid)
		if due := world.dueOn(t, record.ID); due != "2026-03-10" {
			t.Errorf("the old debt renewed until %s", due)
		}
	})
}

func TestInvoiceWhoseNewDateHasOneIsWithdrawnAndComesBack(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 1, "2026-02-10")
		old := world.only(t, customer.ID)
		_, err := world.customers.Renew(t.Context(), world.actor, customer.ID) // the invoice of February stays open
		must(t, err)
		world.clock.Set(noon.AddDate(0, 0, 35))
		world.dayWork(t)
		next := world.invoices(t, customer.ID)[1]
		world.update(t, customer.ID, "data_de_vencimento", "2026-02-10")
		world.wantInvoice(t, old.ID, Open, 3500, "2026-02-10")
		world.wantInvoice(t, next.ID, Cancelled, 3500, "2026-03-10")
		world.update(t, customer.ID, "data_de_vencimento", "2026-03-10")
		world.dayWork(t)
		world.wantInvoice(t, old.ID, Cancelled, 3500, "2026-02-10") // one due date, one invoice
		world.wantInvoice(t, next.ID, Open, 3500, "2026-03-10")
		world.wantNothingToIssue(t)
	})
}

func TestInvoiceStaysWhereNobodyCanSayWhatItIsFor(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		for _, status := range []Status{Paid, Cancelled} {
			customer := world.customer(t, 1, "2026-02-10")
			world.set(t, world.only(t, customer.ID).ID, status, "renew", "false")
			world.redate(t, customer.ID, "2026-02-03")
			world.dayWork(t)
			invoice := world.invoices(t, customer.ID)[1]
			world.update(t, customer.ID, "data_de_vencimento", "2026-02-10", "price", "20.00")
			world.wantInvoice(t, invoice.ID, Open, 3500, "2026-02-03")
			world.dayWork(t)
			world.wantDue(t, customer.ID, "2026-02-10", "2026-02-03")
		}
	})
}

func TestOpenInvoiceTakesTheNewPriceAndPeriodBeforeItsDueDate(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.plan(t, "1year", "350.00")
		free := world.plan(t, "1week", "0.00")
		early, late := world.customer(t, 1, "2026-02-01"), world.customer(t, 1, "2026-01-31")
		for _, id := range []int64{early.ID, late.ID} {
			world.update(t, id, "plan_id", "2", "product_id", "2")
		}
		invoice, kept := world.only(t, early.ID), world.only(t, late.ID)
		world.wantInvoice(t, invoice.ID, Open, 35000, "2026-02-01")
		if invoice.Plan.ID != 2 || invoice.Product.ID != 2 || invoice.Period != (civil.Period{Unit: civil.Year, Count: 1}) || invoice.Description != "Plano 1year" {
			t.Errorf("it is for %+v, %v, %q", invoice.Plan, invoice.Period, invoice.Description)
		}
		world.wantInvoice(t, kept.ID, Open, 3500, "2026-01-31") // due today: it keeps what it was issued for
		world.update(t, early.ID, "price", "299.90")
		world.wantInvoice(t, invoice.ID, Open, 29990, "2026-02-01")
		for _, nothing := range [][]string{{"price", "0.00"}, {"price", "", "plan_id", orEmpty(free)}, {"plan_id", ""}} {
			world.update(t, early.ID, nothing...)
			world.dayWork(t)
			if got := world.find(t, invoice.ID); got.Status != Cancelled || got.Withdrawn != withdrawnFree {
				t.Errorf("%v: %s, withdrawn %q", nothing, got.Status, got.Withdrawn)
			}
			known := len(world.bodies(t))
			world.update(t, early.ID, "plan_id", "1", "price", "12.00")
			world.dayWork(t)
			world.wantInvoice(t, invoice.ID, Open, 1200, "2026-02-01")
			world.wantEvents(t, known, event.CustomerUpdated) // it was announced when it was issued
		}
		world.set(t, invoice.ID, Cancelled) // by a person: it stays so
		world.update(t, early.ID, "price", "13.00")
		world.dayWork(t)
		world.wantInvoice(t, invoice.ID, Cancelled, 1200, "2026-02-01")
	})
}

// Killed mutants: an invoice with money on it follows; an edited one does.
func TestInvoiceWithMoneyOnItFollowsNobody(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 1, "2026-02-10")
		invoice := world.only(t, customer.ID)
		world.set(t, invoice.ID, Paid, "amount", "20.00", "difference", "partial")
		world.update(t, customer.ID, "price", "50.00")
		world.update(t, customer.ID, "data_de_vencimento", "2026-02-05")
		world.dayWork(t)
		world.wantInvoice(t, invoice.ID, Open, 3500, "2026-02-10")
		world.wantDue(t, customer.ID, "2026-02-10", "2026-02-05")
	})
}

func TestRenewalDoesNotMoveWhatIsOwed(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 1, "2026-02-10")
		invoice := world.only(t, customer.ID)
		_, err := world.customers.Renew(t.Context(), world.actor, customer.ID)
		must(t, err)
		world.wantInvoice(t, invoice.ID, Open, 3500, "2026-02-10")
	})
}

func TestUndonePaymentWithdrawsTheInvoiceOfTheDateItBrought(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 1, "2026-01-31")
		invoice := world.only(t, customer.ID)
		world.set(t, invoice.ID, Paid)
		world.clock.Set(noon.AddDate(0, 0, 25))
		world.dayWork(t)
		next := world.invoices(t, customer.ID)[1]
		world.set(t, invoice.ID, Open)
		world.wantInvoice(t, next.ID, Cancelled, 3500, "2026-02-28")
		world.wantInvoice(t, invoice.ID, Open, 3500, "2026-01-31")
		world.wantNothingToIssue(t)
		world.set(t, invoice.ID, Paid)
		world.dayWork(t)
		world.wantInvoice(t, next.ID, Open, 3500, "2026-02-28")
		world.refund(t, Refund{PaymentID: world.paymentOf(t, invoice.ID), RefundID: "r"})
		world.wantInvoice(t, next.ID, Cancelled, 3500, "2026-02-28")
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
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 1, "2026-02-10")
		invoice := world.only(t, customer.ID)
		_, err := world.customers.Renew(t.Context(), world.actor, customer.ID)
		must(t, err)
		world.clock.Set(noon.AddDate(0, 0, 35))
		world.dayWork(t)
		present := world.invoices(t, customer.ID)[1]
		extra, err := world.CreateExtra(t.Context(), world.actor, customer.ID, ReadExtra(values("amount", "10.00", "due", "2026-04-01")))
		must(t, err)
		byHand, err := world.CreateExtra(t.Context(), world.actor, customer.ID, ReadExtra(values("amount", "11.00", "due", "2026-04-01")))
		must(t, err)
		world.set(t, byHand.ID, Cancelled)
		world.update(t, customer.ID, "cancelled", "true")
		for _, id := range []int64{invoice.ID, present.ID, extra.ID} {
			if got := world.find(t, id); got.Status != Cancelled || got.Withdrawn != withdrawnCustomer {
				t.Errorf("invoice %d is %s, withdrawn %q", id, got.Status, got.Withdrawn)
			}
		}
		world.update(t, customer.ID, "price", "40.00") // it follows, though nothing is owed
		world.update(t, customer.ID, "cancelled", "false")
		world.wantInvoice(t, invoice.ID, Open, 3500, "2026-02-10") // of a period that has passed
		world.wantInvoice(t, present.ID, Open, 4000, "2026-03-10")
		world.wantInvoice(t, extra.ID, Open, 1000, "2026-04-01")
		world.wantInvoice(t, byHand.ID, Cancelled, 1100, "2026-04-01")
		world.wantNothingToIssue(t)
	})
}

// Killed mutant: a cancelled customer who pays is renewed.
func TestCancelledCustomerWhoPaysIsRecordedAndNotRenewed(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 1, "2026-01-31")
		invoice := world.only(t, customer.ID)
		world.update(t, customer.ID, "cancelled", "true", "keep_invoices", "true")
		known := len(world.bodies(t))
		out := world.set(t, invoice.ID, Paid, "renew", "true")
		world.wantMoney(t, invoice.ID, Paid, 3500, 0)
		world.wantEvents(t, known, event.InvoicePaid)
		if out.Renewed || world.dueOn(t, customer.ID) != "2026-01-31" {
			t.Errorf("renewed %t until %s", out.Renewed, world.dueOn(t, customer.ID))
		}
		if n, cents := world.day(t, "2026-01-31"); n != 1 || cents != 3500 {
			t.Errorf("the day has %d, %d", n, cents)
		}
		world.clock.Advance(60 * 24 * time.Hour)
		world.wantNothingToIssue(t)
	})
}

// Killed mutant: a cancelled customer is billed, who was put on the schedule by
// whatever means.
func TestCancelledCustomerOnTheScheduleIsNotBilled(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 0, "2026-02-03")
		world.update(t, customer.ID, "plan_id", "1", "cancelled", "true")
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			customer.DueOn = day("2026-02-03")
			return schedule(t.Context(), world.actor.In(tx), customer)
		}))
		world.dayWork(t)
		world.wantDue(t, customer.ID)
	})
}
