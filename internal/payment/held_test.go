package payment

import (
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/tally"
)

// Saturday, 7 February: banks debit it on Monday.
const saturday, monday = "2026-02-07", "2026-02-09"

// wantStanding wants customer, invoice, lists, totals and events to agree about
// whether who is debited is on time.
func (w *world) wantStanding(t *testing.T, invoice billing.Invoice, status customer.Status, late bool) {
	t.Helper()
	_, err := w.customers.Expire(t.Context(), w.actor)
	must(t, err)
	today, one := w.actor.Today(w.clock.Now()), input.Page{Number: 1, Size: 100}
	record, err := w.customers.Find(t.Context(), w.actor, invoice.Customer.ID)
	must(t, err)
	if got := record.Status(today); got != status || record.DueOn != invoice.IssuedFor {
		t.Errorf("%s, due on %s; want %s and %s", got, record.DueOn, status, invoice.IssuedFor)
	}
	if w.find(t, invoice.ID).Overdue(today) != late {
		t.Errorf("overdue is %t, want %t", !late, late)
	}
	for _, asked := range []customer.Status{customer.Active, customer.DueToday, customer.Expired} {
		for _, filter := range []customer.Filter{
			{Status: asked}, {Status: asked, DueFrom: record.DueOn, DueTo: record.DueOn},
		} {
			list, total, err := w.customers.List(t.Context(), w.actor, filter, one)
			must(t, err)
			listed := false
			for _, found := range list {
				listed = listed || found.ID == record.ID
			}
			if listed != (asked == status) || total != int64(len(list)) {
				t.Errorf("%+v has %d of %d, among them the customer: %t; it is %s", filter, len(list), total, listed, status)
			}
		}
	}
	if n := w.count(t, `SELECT COUNT(*) FROM customer_expiries WHERE customer_id = ?`, record.ID); (n == 1) != late {
		t.Errorf("expired %d times, overdue is %t", n, late)
	}
	w.wantCounts(t)
}

// wantCounts wants the counters of customers and invoices to be what a recount says.
func (w *world) wantCounts(t *testing.T) {
	t.Helper()
	scope := tally.Scope{CompanyID: w.actor.Company.ID, Today: w.actor.Today(w.clock.Now())}
	for _, recount := range slices.Concat(customer.Recounts(), billing.Recounts()) {
		found, err := recount.Differences(t.Context(), w.db, scope)
		must(t, err)
		if len(found) > 0 {
			t.Errorf("%s differs from its records: %+v", recount.Counter, found)
		}
	}
}

func TestCustomerIsOnTimeWhileADebitIsArranged(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		company, err := world.accounts.SetCompany(t.Context(), world.actor, account.ReadCompanyDraft(values("renew_from", "today")))
		must(t, err)
		world.actor.Company = company
		invoice := world.authorised(t, saturday)
		world.wantStanding(t, invoice, customer.Active, false)
		world.toward(t, "2026-02-08")
		world.wantStanding(t, invoice, customer.Active, false)
		world.later(t, 15*time.Hour) // Monday, before banks begin
		world.wantStanding(t, invoice, customer.DueToday, false)
		world.toward(t, monday)
		record, err := world.customers.Find(t.Context(), world.actor, invoice.Customer.ID)
		must(t, err)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || record.DueOn != civil.MustParse("2026-03-07") {
			t.Errorf("%s, and the customer is due on %s; want 7 March", got.Status, record.DueOn)
		}
		world.wantCounts(t)
	})
}

func TestDebitThatFailsLeavesTheDueDateAsItWas(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.bank.withoutMoney(true)
		invoice := world.authorised(t, saturday)
		world.toward(t, "2026-02-08")
		world.wantStanding(t, invoice, customer.Active, false)
		world.toward(t, monday)
		world.wantStanding(t, invoice, customer.Expired, true)
		if got := world.find(t, invoice.ID); got.DueOn.String() != saturday {
			t.Errorf("due on %s", got.DueOn)
		}
	})
}

func TestDebitThatIsCancelledLeavesTheDueDateAsItWas(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, saturday)
		world.toward(t, "2026-02-08")
		world.charged(t, invoice.ID) // a code in place of the debit
		world.later(t, 0)
		world.wantStanding(t, invoice, customer.Expired, true)
	})
}
