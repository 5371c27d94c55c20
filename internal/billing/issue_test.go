package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

func TestNewCustomerIsBilledAtOnceForItsFirstDueDate(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		monthly, dear, free := w.plan(t, "1month", "35.00"), w.plan(t, "1year", "99999999.99"), w.plan(t, "1week", "0.00")
		for _, c := range []struct {
			name   string
			planID int64
			dueOn  string
			want   string // due date of the invoice, "": none
			amount money.Cents
		}{
			{"plan and date", monthly, "2026-03-10", "2026-03-10", 3500},
			{"plan and a date that is past", monthly, "2025-03-10", "2025-03-10", 3500},
			{"plan alone", monthly, "", "2026-02-28", 3500},
			{"the greatest amount", dear, "2026-02-01", "2026-02-01", money.Max},
			{"a plan that costs nothing", free, "2026-02-01", "", 0},
			{"no plan", 0, "2026-02-01", "", 0},
			{"neither", 0, "", "", 0},
		} {
			known := len(w.bodies(t))
			made := w.customer(t, c.planID, c.dueOn)
			if c.want == "" {
				w.wantDue(t, made.ID)
				w.wantEvents(t, known, event.CustomerCreated)
				continue
			}
			w.wantEvents(t, known, event.CustomerCreated, event.InvoiceCreated)
			want := Invoice{
				Customer: Customer{made.ID, made.UUID, made.Name}, Generated: true, Status: Open, Amount: c.amount,
				Description: made.Plan.Name, DueOn: day(c.want), Plan: made.Plan, Product: made.Product, CreatedAt: noon,
			}
			got := plainly(w.only(t, made.ID))
			plan, err := w.catalog.Plan(t.Context(), w.actor, c.planID)
			must(t, err)
			want.ID, want.Period = got.ID, plan.Period
			if got != want {
				t.Errorf("%s: got  %+v\nwant %+v", c.name, got, want)
			}
		}
		if n := w.dayWork(t); n != 0 {
			t.Errorf("%d were issued a second time", n)
		}
		w.wantTrueBooks(t)
	})
}

// The lead is counted in the company's days: the day begins at its midnight,
// which is not always a day after the one before.
func TestNextInvoiceIsIssuedLeadDaysAheadAtTheCompanysMidnight(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for _, c := range []struct {
			zone, dueOn string
			lead        int
			at          string // the first instant at which it is issued
		}{
			{"America/Sao_Paulo", "2026-03-10", 5, "2026-03-05T03:00:00Z"},
			{"America/Sao_Paulo", "2026-03-10", 0, "2026-03-10T03:00:00Z"},
			{"America/Sao_Paulo", "2026-03-10", 60, "2026-01-09T03:00:00Z"},
			{"America/Sao_Paulo", "2018-11-09", 5, "2018-11-04T03:00:00Z"}, // no midnight: the day began at one
			{"America/Sao_Paulo", "2019-02-22", 5, "2019-02-17T03:00:00Z"}, // eleven struck twice on the eve
			{"America/Noronha", "2026-03-10", 5, "2026-03-05T02:00:00Z"},
			{"America/Rio_Branco", "2026-03-10", 5, "2026-03-05T05:00:00Z"},
			{"UTC", "2026-03-10", 5, "2026-03-05T00:00:00Z"},
			{"Pacific/Auckland", "2026-04-10", 5, "2026-04-04T11:00:00Z"}, // +13:00, the day that has 25 hours
			{"Pacific/Auckland", "2026-04-11", 5, "2026-04-05T12:00:00Z"}, // +12:00
		} {
			first, err := time.Parse(time.RFC3339, c.at)
			must(t, err)
			w := openWorld(t, sqldbtest.URL(t, engine), sqldbtest.NewClock(first.AddDate(0, 0, -90)))
			w.actor = w.newCompany(t, c.zone)
			w.actor.Company.Settings.LeadDays = c.lead
			w.plan(t, "1month", "35.00")
			id := w.customer(t, 1, "2017-01-01").ID
			w.redate(t, id, c.dueOn)
			for _, before := range []time.Duration{48 * time.Hour, time.Hour, time.Second} {
				w.clock.Set(first.Add(-before))
				if n := w.dayWork(t); n != 0 {
					t.Errorf("%s, due %s: issued %v too early", c.zone, c.dueOn, before)
				}
			}
			w.clock.Set(first)
			if n := w.dayWork(t); n != 1 {
				t.Errorf("%s, due %s: %d issued at %s, want 1", c.zone, c.dueOn, n, c.at)
			}
			w.wantDue(t, id, "2017-01-01", c.dueOn)
			w.wantNothingToIssue(t)
		}
	})
}

func (w *world) wantNothingToIssue(t *testing.T) {
	t.Helper()
	known := len(w.bodies(t))
	for range 2 {
		if n := w.dayWork(t); n != 0 {
			t.Errorf("%d were issued again", n)
		}
	}
	if slices.Contains(w.recorded(t, known), event.InvoiceCreated) {
		t.Error("an invoice was told of again")
	}
}

func TestLongerLeadIsCaughtUpAtOnce(t *testing.T) {
	w := newWorld(t, sqldb.SQLite)
	w.plan(t, "1month", "35.00")
	id := w.customer(t, 1, "2026-01-31").ID
	w.redate(t, id, "2026-02-20")
	w.wantNothingToIssue(t)
	w.actor.Company.Settings.LeadDays = 20
	if n := w.dayWork(t); n != 1 {
		t.Errorf("%d issued, want 1", n)
	}
}

func TestInvoiceMissedDuringDowntimeIsCaughtUp(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1week", "12.34")
		id := w.customer(t, 1, "2026-02-07").ID
		w.set(t, w.only(t, id).ID, Paid)
		w.clock.Advance(40 * 24 * time.Hour) // nothing ran until 12 March
		want := []string{"2026-02-07"}
		for due := day("2026-02-14"); !due.After(day("2026-03-17")); due = due.AddDays(7) {
			if n := w.dayWork(t); n != 1 {
				t.Fatalf("%d issued, want the one due %v", n, due)
			}
			want = append(want, due.String())
			w.wantDue(t, id, want...)
			w.set(t, w.invoices(t, id)[len(want)-1].ID, Paid)
		}
		w.wantNothingToIssue(t)
		w.wantTrueBooks(t)
	})
}

func TestDateThatMovesBackAndForthIsBilledOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		id := w.customer(t, 1, "2026-02-01").ID
		for range 3 {
			for _, due := range []string{"2026-02-02", "2026-12-31", "2026-02-01", "2026-02-03"} {
				w.update(t, id, "data_de_vencimento", due)
				w.dayWork(t)
			}
		}
		w.wantDue(t, id, "2026-02-03")
		w.wantNothingToIssue(t)
		created := slices.DeleteFunc(w.recorded(t, 0), func(n event.Name) bool { return n != event.InvoiceCreated })
		if len(created) != 1 {
			t.Errorf("%d events, want one for the invoice", len(created))
		}
		w.wantTrueBooks(t)
	})
}

func TestInvoiceBearsThePlanOfTheDayItIsIssued(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		w.plan(t, "1year", "300.00")
		free := w.plan(t, "1week", "0.00")
		id := w.customer(t, 1, "2026-01-31").ID
		first := plainly(w.only(t, id))
		w.update(t, id, "plan_id", "2", "product_id", "2")
		w.wantNothingToIssue(t) // the invoice of that date has been issued, at the old value
		w.redate(t, id, "2026-02-01")
		_, err := w.catalog.UpdatePlan(t.Context(), w.actor, 2, catalog.ReadPlanChanges(values("value", "310.50")))
		must(t, err)
		w.dayWork(t)
		second := w.invoices(t, id)[1]
		if second.Amount != 31050 || second.Plan.ID != 2 || second.Product.ID != 2 || second.Description != "Plano 1year" {
			t.Errorf("second %+v", second)
		}
		_, err = w.catalog.UpdatePlan(t.Context(), w.actor, 1, catalog.ReadPlanChanges(values("value", "99.00")))
		must(t, err)
		if got := w.find(t, first.ID); got.Amount != 3500 || got.Plan.ID != 1 {
			t.Errorf("the first became %+v", got)
		}
		w.update(t, id, "plan_id", fmt.Sprint(free), "data_de_vencimento", "2026-02-02")
		w.wantNothingToIssue(t)
		w.update(t, id, "plan_id", "1", "data_de_vencimento", "2026-02-03")
		w.update(t, id, "plan_id", "")
		w.wantNothingToIssue(t)
		w.wantDue(t, id, "2026-01-31", "2026-02-02")
		w.wantTrueBooks(t)
	})
}

func TestCustomerWhoGetsAPlanOrADateLaterIsBilled(t *testing.T) {
	w := newWorld(t, sqldb.SQLite)
	w.plan(t, "1month", "35.00")
	planless, dateless := w.customer(t, 0, "2026-02-03").ID, w.customer(t, 1, "2026-01-31").ID
	w.update(t, dateless, "data_de_vencimento", "")
	w.wantNothingToIssue(t)
	w.update(t, planless, "plan_id", "1")
	w.update(t, dateless, "data_de_vencimento", "2026-02-04")
	if n := w.dayWork(t); n != 2 {
		t.Errorf("%d issued, want 2", n)
	}
	w.wantDue(t, planless, "2026-02-03")
	w.wantDue(t, dateless, "2026-01-31", "2026-02-04")
}

// What fell due before an import is not billed, what falls due after it is.
func TestImportedCustomersAreBilledInTime(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		quiet := customer.New(w.db, w.events) // nobody watches
		var list []customer.Customer
		for _, dueOn := range []string{"2026-01-30", "2026-01-31", "2026-02-05", "2026-02-06", ""} {
			for _, plan := range []string{"1", ""} {
				c, err := quiet.Create(t.Context(), w.actor, customer.ReadNew(values("name", "Ana", "plan_id", plan, "data_de_vencimento", dueOn)))
				must(t, err)
				list = append(list, c)
			}
		}
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error { return w.customersImported(t.Context(), tx, w.actor, list) }))
		due := func(want ...string) {
			t.Helper()
			w.dayWork(t)
			if got := texts(t, w.db, `SELECT due_on FROM invoices ORDER BY due_on`); !slices.Equal(got, want) {
				t.Errorf("invoices due %v, want %v", got, want)
			}
		}
		due("2026-01-31", "2026-02-05")
		w.clock.Advance(24 * time.Hour)
		due("2026-01-31", "2026-02-05", "2026-02-06")
		w.clock.Advance(22 * 24 * time.Hour) // the one without a date was given 28 February
		due("2026-01-31", "2026-02-05", "2026-02-06", "2026-02-28")
		w.wantTrueBooks(t)
	})
}

func TestThreeProcessesIssueOneInvoiceEach(t *testing.T) {
	const customers = 2*issueBatch + 50
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		for range customers {
			w.customer(t, 1, "2026-01-31")
		}
		processes := []*world{w, w.process(t), w.process(t)}
		for round, jump := range []int{25, 31, 40} { // the last two with all that was missed
			for id := range int64(customers) {
				_, err := w.customers.Renew(t.Context(), w.actor, id+1)
				must(t, err)
			}
			w.clock.Advance(time.Duration(jump) * 24 * time.Hour)
			issued := make([]int, 6)
			for _, err := range atOnce(len(issued), processes, func(p *world, i int) (err error) {
				issued[i], err = p.Issue(t.Context(), w.actor)
				return err
			}) {
				t.Error(err)
			}
			if total := sum(issued); total != customers {
				t.Errorf("round %d: %v issued, want %d in all", round, issued, customers)
			}
			w.wantNothingToIssue(t)
		}
		twice := texts(t, w.db, `SELECT due_on FROM invoices GROUP BY customer_id, due_on HAVING count(*) <> 1`)
		all := texts(t, w.db, `SELECT due_on FROM invoices`)
		if len(twice) > 0 || len(all) != 4*customers {
			t.Errorf("%d invoices, want %d; not one each: %v", len(all), 4*customers, twice)
		}
		told := map[string]int{}
		for _, body := range w.bodies(t) {
			if strings.HasPrefix(body, `{"event":"invoice.created"`) {
				_, rest, _ := strings.Cut(body, `"data":{"invoice":{"id":`)
				id, _, _ := strings.Cut(rest, ",")
				told[id]++
			}
		}
		for id, n := range told {
			if n != 1 {
				t.Errorf("invoice %s was told of %d times", id, n)
			}
		}
		if len(told) != len(all) {
			t.Errorf("%d invoices were told of, want %d", len(told), len(all))
		}
		w.wantTrueBooks(t)
	})
}

func sum(list []int) (total int) {
	for _, n := range list {
		total += n
	}
	return total
}

// A process that waited for somebody's change while holding the schedule would
// be waited for by that change. It passes over instead, and comes back.
func TestIssuePassesOverACustomerThatIsBeingChanged(t *testing.T) {
	w := newWorld(t, sqldb.Postgres) // SQLite has one writer
	w.plan(t, "1month", "35.00")
	busy, idle := w.customer(t, 1, "2026-01-31").ID, w.customer(t, 1, "2026-01-31").ID
	for _, id := range []int64{busy, idle} {
		w.redate(t, id, "2026-02-02")
	}
	other := w.process(t)
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := customer.LockTx(t.Context(), tx, w.actor, busy); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // only a failure takes so long
		defer cancel()
		if n, err := other.Issue(ctx, w.actor); err != nil || n != 1 {
			t.Errorf("%d issued, %v; want the one that is idle", n, err)
		}
		return nil
	}))
	w.wantDue(t, idle, "2026-01-31", "2026-02-02")
	w.wantDue(t, busy, "2026-01-31")
	w.dayWork(t)
	w.wantDue(t, busy, "2026-01-31", "2026-02-02")
}

func TestDeletedCustomerLeavesNothingButWhatItPaid(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		id, other := w.customer(t, 1, "2026-01-31").ID, w.customer(t, 1, "2026-01-31").ID
		w.set(t, w.only(t, id).ID, Paid) // and renewed, so scheduled
		w.redate(t, id, "2026-02-01")
		w.dayWork(t)
		w.set(t, w.invoices(t, id)[1].ID, Cancelled)
		_, err := w.CreateExtra(t.Context(), w.actor, id, ReadExtra(values("amount", "10.00")))
		must(t, err)
		w.redate(t, id, "2026-05-05") // scheduled once more
		must(t, tally.Compact(t.Context(), w.db))
		must(t, w.customers.Delete(t.Context(), w.actor, id))
		w.wantDue(t, id)
		w.wantTrueBooks(t)
		if left := texts(t, w.db, `SELECT due_on FROM invoice_schedule`); len(left) != 0 {
			t.Errorf("still scheduled: %v", left)
		}
		w.clock.Advance(300 * 24 * time.Hour)
		w.wantDue(t, other, "2026-01-31")
		must(t, w.customers.Delete(t.Context(), w.actor, other))
		must(t, tally.Compact(t.Context(), w.db))
		for _, b := range []tally.Counter{counter, tally.Customers} {
			if n, cents, err := b.Sum(t.Context(), w.db, w.actor.Company.ID, sqldb.Where{}); err != nil || n != 0 || cents != 0 {
				t.Errorf("%s: %d, %d cents, %v; want nothing", b, n, cents, err)
			}
			if total, err := b.Total(t.Context(), w.db, w.actor.Company.ID); err != nil || total != 0 {
				t.Errorf("%s: %d in all, %v; want none", b, total, err)
			}
		}
		left := texts(t, w.db, `SELECT book || ' ' || day || ' ' || state || ' ' || n || ' ' || cents FROM tally_sums WHERE book <> 'renewals' ORDER BY 1`)
		if want := []string{
			"created 2026-01-31 gone 2 0", "paid 2026-01-31 on_time_gone 1 3500", "receipts 2026-01-31 manual 1 3500",
			"recurring 2026-01 new 1 3500", "recurring 2026-11 lost_gone 1 3500",
		}; !slices.Equal(left, want) {
			t.Errorf("sums are left: %v, want %v", left, want)
		}
		if n := w.dayWork(t); n != 0 {
			t.Errorf("%d issued for nobody", n)
		}
	})
}

func TestExtraInvoiceTakesItsDefaultsFromPlanAndDay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		w.clock.Set(time.Date(2026, 2, 1, 2, 59, 59, 0, time.UTC)) // still 31 January in São Paulo
		c := w.customer(t, 1, "2026-02-10")
		bare := w.customer(t, 0, "")
		for _, e := range []struct {
			customer    int64
			fields      []string
			amount      money.Cents
			dueOn       string
			description string
		}{
			{c.ID, nil, 3500, "2026-01-31", ""},
			{c.ID, []string{"amount", "99999999.99", "due", "2027-01-31", "description", "Visita técnica"}, money.Max, "2027-01-31", "Visita técnica"},
			{c.ID, []string{"due", "2026-02-10"}, 3500, "2026-02-10", ""}, // beside the generated one of that day
			{c.ID, []string{"due", "2026-02-10"}, 3500, "2026-02-10", ""}, // and again
			{bare.ID, []string{"amount", "0.01"}, 1, "2026-01-31", ""},
		} {
			made, err := w.CreateExtra(t.Context(), w.actor, e.customer, ReadExtra(values(e.fields...)))
			must(t, err)
			got := w.find(t, made.ID)
			if got.Generated || got.Status != Open || got.Amount != e.amount || got.DueOn.String() != e.dueOn || got.Description != e.description || got.Customer.ID != e.customer {
				t.Errorf("%+v became %+v", e, got)
			}
		}
		for _, e := range []struct {
			customer int64
			want     string
			fields   []string
		}{
			{bare.ID, "amount: is required: the customer has no plan that costs something", nil},
			{c.ID, "amount: must be more than zero", []string{"amount", "0"}},
			{c.ID, "amount: must not be negative", []string{"amount", "-1"}},
			{c.ID, "amount: must not be greater than 99999999.99", []string{"amount", "100000000.00"}},
			{c.ID, "due: must be a date in the form YYYY-MM-DD", []string{"due", "31/01/2027"}},
			{c.ID, "description: must have at most 255 characters", []string{"description", strings.Repeat("x", 256)}},
		} {
			_, err := w.CreateExtra(t.Context(), w.actor, e.customer, ReadExtra(values(e.fields...)))
			if got := fault.Public(err); got != e.want {
				t.Errorf("%v: %q, want %q", e.fields, got, e.want)
			}
		}
		want := []event.Name{event.CustomerCreated, event.InvoiceCreated, event.CustomerCreated}
		w.wantEvents(t, 0, append(want, slices.Repeat([]event.Name{event.InvoiceCreated}, 5)...)...)
		w.wantTrueBooks(t)
	})
}

var errUnlucky = errors.New("the subscriber could not")

// An event that cannot be recorded leaves the due date on the schedule, for the
// next run.
func TestInvoiceAndItsEventStandOrFallTogether(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		id := w.customer(t, 1, "2026-01-31").ID
		w.redate(t, id, "2026-02-01")
		before := w.snapshot(t)
		failing := w.process(t)
		failing.events.Watch(func(_ context.Context, _ *sqldb.Tx, e event.Event) error {
			if e.Name == event.InvoiceCreated {
				return errUnlucky
			}
			return nil
		})
		if n, err := failing.Issue(t.Context(), w.actor); !errors.Is(err, errUnlucky) || n != 0 {
			t.Errorf("%d issued, %v; want the subscriber's error", n, err)
		}
		if _, err := failing.customers.Create(t.Context(), w.actor, customer.ReadNew(values("name", "Bia", "plan_id", "1"))); !errors.Is(err, errUnlucky) {
			t.Errorf("created: %v; want the subscriber's error", err)
		}
		if _, err := failing.CreateExtra(t.Context(), w.actor, id, ReadExtra(values())); !errors.Is(err, errUnlucky) {
			t.Errorf("extra: %v; want the subscriber's error", err)
		}
		w.wantSnapshot(t, before)
		w.dayWork(t)
		w.wantDue(t, id, "2026-01-31", "2026-02-01")
	})
}
