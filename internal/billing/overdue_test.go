package billing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carteira/internal/customer"
)

// dues are the due dates of a customer's open invoices, the first first.
func (w *world) dues(t *testing.T, customerID int64) (dues []string) {
	t.Helper()
	list, err := ofCustomer(t.Context(), w.db, w.actor.Company.ID, customerID)
	must(t, err)
	for _, invoice := range list {
		if invoice.Status == Open {
			dues = append(dues, invoice.DueOn.String())
		}
	}
	slices.Sort(dues)
	return dues
}

func (w *world) wantDues(t *testing.T, customerID int64, want ...string) {
	t.Helper()
	if got := w.dues(t, customerID); !slices.Equal(got, want) {
		t.Errorf("open invoices of %v, want %v", got, want)
	}
}

func (w *world) customerByID(t *testing.T, id int64) customer.Customer {
	t.Helper()
	record, err := w.customers.Find(t.Context(), w.actor, id)
	must(t, err)
	return record
}

// until lives day by day up to a day.
func (w *world) until(t *testing.T, on string) {
	t.Helper()
	for w.actor.Today(w.clock.Now()).Before(day(on)) {
		w.clock.Advance(24 * time.Hour)
		w.dayWork(t)
	}
}

func TestLateCustomersAreBilledOnUpToANumber(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record := world.customer(t, 1, "2026-01-31")
		world.until(t, "2026-04-15")
		world.wantDues(t, record.ID, "2026-01-31") // off unless the company chooses it
		world.configure(t, "overdue_invoices", "2")
		world.dayWork(t)
		world.wantDues(t, record.ID, "2026-01-31") // past dates are not billed
		world.until(t, "2026-04-25")
		world.wantDues(t, record.ID, "2026-01-31", "2026-04-30")
		world.until(t, "2026-07-20")
		world.wantDues(t, record.ID, "2026-01-31", "2026-04-30", "2026-05-31") // no more than two
		if late := world.customerByID(t, record.ID); late.DueOn != day("2026-01-31") || late.Status(day("2026-07-20")) != customer.Expired {
			t.Errorf("due on %v, %v", late.DueOn, late.Status(day("2026-07-20")))
		}
	})
}

// However a late customer pays, each payment buys a period.
func TestLateInvoicesRenewInWhateverOrderTheyArePaid(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			ledger(t, func(t *testing.T, world *world) {
				world.configure(t, "overdue_invoices", "2")
				record := world.customer(t, 1, "2026-01-31")
				world.until(t, "2026-03-27")
				world.wantDues(t, record.ID, "2026-01-31", "2026-02-28", "2026-03-31")
				list, err := ofCustomer(t.Context(), world.db, world.actor.Company.ID, record.ID)
				must(t, err)
				slices.Reverse(list)
				for n, want := range []string{"2026-02-28", "2026-03-31", "2026-04-30"} {
					world.set(t, list[order[n]].ID, Paid)
					if got := world.customerByID(t, record.ID).DueOn; got != day(want) {
						t.Fatalf("payment %d leads to %v, want %s", n+1, got, want)
					}
				}
				world.set(t, list[order[2]].ID, Open) // the last is undone, and paid again
				world.wantDues(t, record.ID, list[order[2]].DueOn.String())
				world.set(t, list[order[2]].ID, Paid)
				if got := world.customerByID(t, record.ID).DueOn; got != day("2026-04-30") {
					t.Errorf("paid again, it leads to %v", got)
				}
			})
		})
	}
}

func TestFurtherInvoicesFollowTheirCustomer(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.configure(t, "overdue_invoices", "2")
		record := world.customer(t, 1, "2026-01-31")
		world.until(t, "2026-03-27")
		world.update(t, record.ID, "price", "50.00")
		var amounts []string
		list, err := ofCustomer(t.Context(), world.db, world.actor.Company.ID, record.ID)
		must(t, err)
		for _, invoice := range list {
			amounts = append(amounts, invoice.Amount.String())
		}
		if !slices.Equal(amounts, []string{"50.00", "35.00", "35.00"}) { // only the one that is not due yet
			t.Errorf("they cost %v", amounts)
		}
		world.update(t, record.ID, "data_de_vencimento", "2026-03-20")
		world.wantDues(t, record.ID, "2026-03-20") // the dates that follow are others
		world.until(t, "2026-04-16")
		world.wantDues(t, record.ID, "2026-03-20", "2026-04-20")
	})
}
