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
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

func TestNewCustomerIsBilledAtOnceForItsFirstDueDate(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		monthly, dear, free := world.plan(t, "1month", "35.00"), world.plan(t, "1year", "99999999.99"), world.plan(t, "1week", "0.00")
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
			known := len(world.bodies(t))
			made := world.customer(t, c.planID, c.dueOn)
			if c.want == "" {
				world.wantDue(t, made.ID)
				world.wantEvents(t, known, event.CustomerCreated)
				continue
			}
			world.wantEvents(t, known, event.CustomerCreated, event.InvoiceCreated)
			want := Invoice{
				Customer: ownedBy(made), Generated: true, Status: Open, Amount: c.amount,
				Description: made.Plan.Name, DueOn: day(c.want), Plan: made.Plan, Product: made.Product, CreatedAt: noon, UpdatedAt: noon,
			}
			got := plainly(world.only(t, made.ID))
			plan, err := world.catalog.Plan(t.Context(), world.actor, c.planID)
			must(t, err)
			want.ID, want.Period, want.IssuedFor = got.ID, plan.Period, want.DueOn
			if got != want {
				t.Errorf("%s: got  %+v\nwant %+v", c.name, got, want)
			}
		}
		if n := world.dayWork(t); n != 0 {
			t.Errorf("%d were issued a second time", n)
		}
		world.wantTrueBooks(t)
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
			world := openWorld(t, sqldbtest.URL(t, engine), sqldbtest.NewClock(first.AddDate(0, 0, -90)))
			world.actor = world.newCompany(t, c.zone)
			world.actor.Company.Settings.LeadDays = c.lead
			world.plan(t, "1month", "35.00")
			id := world.customer(t, 1, "2017-01-01").ID
			world.redate(t, id, c.dueOn)
			for _, before := range []time.Duration{48 * time.Hour, time.Hour, time.Second} {
				world.clock.Set(first.Add(-before))
				if n := world.dayWork(t); n != 0 {
					t.Errorf("%s, due %s: issued %v too early", c.zone, c.dueOn, before)
				}
			}
			world.clock.Set(first)
			if n := world.dayWork(t); n != 1 {
				t.Errorf("%s, due %s: %d issued at %s, want 1", c.zone, c.dueOn, n, c.at)
			}
			world.wantDue(t, id, "2017-01-01", c.dueOn)
			world.wantNothingToIssue(t)
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
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	id := world.customer(t, 1, "2026-01-31").ID
	world.redate(t, id, "2026-02-20")
	world.wantNothingToIssue(t)
	world.actor.Company.Settings.LeadDays = 20
	if n := world.dayWork(t); n != 1 {
		t.Errorf("%d issued, want 1", n)
	}
}

func TestInvoiceMissedDuringDowntimeIsCaughtUp(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1week", "12.34")
		id := world.customer(t, 1, "2026-02-07").ID
		world.set(t, world.only(t, id).ID, Paid)
		world.clock.Advance(40 * 24 * time.Hour) // nothing ran until 12 March
		want := []string{"2026-02-07"}
		for due := day("2026-02-14"); !due.After(day("2026-03-17")); due = due.AddDays(7) {
			if n := world.dayWork(t); n != 1 {
				t.Fatalf("%d issued, want the one due %v", n, due)
			}
			want = append(want, due.String())
			world.wantDue(t, id, want...)
			world.set(t, world.invoices(t, id)[len(want)-1].ID, Paid)
		}
		world.wantNothingToIssue(t)
		world.wantTrueBooks(t)
	})
}

func TestDateThatMovesBackAndForthIsBilledOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		id := world.customer(t, 1, "2026-02-01").ID
		for range 3 {
			for _, due := range []string{"2026-02-02", "2026-12-31", "2026-02-01", "2026-02-03"} {
				world.update(t, id, "data_de_vencimento", due)
				world.dayWork(t)
			}
		}
		world.wantDue(t, id, "2026-02-03")
		world.wantNothingToIssue(t)
		created := slices.DeleteFunc(world.recorded(t, 0), func(name event.Name) bool { return name != event.InvoiceCreated })
		if len(created) != 1 {
			t.Errorf("%d events, want one for the invoice", len(created))
		}
		world.wantTrueBooks(t)
	})
}

func TestInvoiceBearsThePlanOfTheDayItIsIssued(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		world.plan(t, "1year", "300.00")
		free := world.plan(t, "1week", "0.00")
		id := world.customer(t, 1, "2026-01-31").ID
		first := plainly(world.only(t, id))
		world.update(t, id, "plan_id", "2", "product_id", "2")
		world.wantNothingToIssue(t) // the invoice of that date has been issued, at the old value
		world.redate(t, id, "2026-02-01")
		_, err := world.catalog.UpdatePlan(t.Context(), world.actor, 2, catalog.ReadPlanChanges(values("value", "310.50")))
		must(t, err)
		world.dayWork(t)
		second := world.invoices(t, id)[1]
		if second.Amount != 31050 || second.Plan.ID != 2 || second.Product.ID != 2 || second.Description != "Plano 1year" {
			t.Errorf("second %+v", second)
		}
		_, err = world.catalog.UpdatePlan(t.Context(), world.actor, 1, catalog.ReadPlanChanges(values("value", "99.00")))
		must(t, err)
		if got := world.find(t, first.ID); got.Amount != 3500 || got.Plan.ID != 1 {
			t.Errorf("the first became %+v", got)
		}
		world.update(t, id, "plan_id", fmt.Sprint(free), "data_de_vencimento", "2026-02-02")
		world.wantNothingToIssue(t)
		world.update(t, id, "plan_id", "1", "data_de_vencimento", "2026-02-03")
		world.update(t, id, "plan_id", "")
		world.wantNothingToIssue(t)
		world.wantDue(t, id, "2026-01-31", "2026-02-02")
		world.wantTrueBooks(t)
	})
}

func TestCustomerWhoGetsAPlanOrADateLaterIsBilled(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	planless, dateless := world.customer(t, 0, "2026-02-03").ID, world.customer(t, 1, "2026-01-31").ID
	world.update(t, dateless, "data_de_vencimento", "")
	world.wantNothingToIssue(t)
	world.update(t, planless, "plan_id", "1")
	world.update(t, dateless, "data_de_vencimento", "2026-02-04")
	if n := world.dayWork(t); n != 2 {
		t.Errorf("%d issued, want 2", n)
	}
	world.wantDue(t, planless, "2026-02-03")
	world.wantDue(t, dateless, "2026-01-31", "2026-02-04")
}

// What fell due before an import is not billed, what falls due after it is.
func TestImportedCustomersAreBilledInTime(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		quiet := customer.New(world.db, world.events) // without watchers
		var list []customer.Customer
		for _, dueOn := range []string{"2026-01-30", "2026-01-31", "2026-02-05", "2026-02-06", ""} {
			for _, plan := range []string{"1", ""} {
				record, err := quiet.Create(t.Context(), world.actor, customer.ReadNew(values("name", "Ana", "plan_id", plan, "data_de_vencimento", dueOn)))
				must(t, err)
				list = append(list, record)
			}
		}
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error { return world.customersImported(t.Context(), world.actor.In(tx), list) }))
		due := func(want ...string) {
			t.Helper()
			world.dayWork(t)
			if got := texts(t, world.db, `SELECT due_on FROM invoices ORDER BY due_on`); !slices.Equal(got, want) {
				t.Errorf("invoices due %v, want %v", got, want)
			}
		}
		due("2026-01-31", "2026-02-05")
		world.clock.Advance(24 * time.Hour)
		due("2026-01-31", "2026-02-05", "2026-02-06")
		world.clock.Advance(22 * 24 * time.Hour) // the one without a date was given 28 February
		due("2026-01-31", "2026-02-05", "2026-02-06", "2026-02-28")
		world.wantTrueBooks(t)
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
			for _, err := range atOnce(len(issued), processes, func(world *world, i int) (err error) {
				issued[i], err = world.Issue(t.Context(), w.actor)
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

// A process that waited for a change while holding the schedule would deadlock
// with that change. It skips the row instead, and comes back.
func TestIssuePassesOverACustomerThatIsBeingChanged(t *testing.T) {
	world := newWorld(t, sqldb.Postgres) // SQLite has one writer
	world.plan(t, "1month", "35.00")
	busy, idle := world.customer(t, 1, "2026-01-31").ID, world.customer(t, 1, "2026-01-31").ID
	for _, id := range []int64{busy, idle} {
		world.redate(t, id, "2026-02-02")
	}
	other := world.process(t)
	must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := customer.LockTx(t.Context(), world.actor.In(tx), busy); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // only a failure takes so long
		defer cancel()
		if n, err := other.Issue(ctx, world.actor); err != nil || n != 1 {
			t.Errorf("%d issued, %v; want the one that is idle", n, err)
		}
		return nil
	}))
	world.wantDue(t, idle, "2026-01-31", "2026-02-02")
	world.wantDue(t, busy, "2026-01-31")
	world.dayWork(t)
	world.wantDue(t, busy, "2026-01-31", "2026-02-02")
}

func TestDeletedCustomerLeavesNothingButWhatItPaid(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		id, other := world.customer(t, 1, "2026-01-31").ID, world.customer(t, 1, "2026-01-31").ID
		world.set(t, world.only(t, id).ID, Paid) // and renewed, so scheduled
		world.redate(t, id, "2026-02-01")
		world.dayWork(t)
		world.set(t, world.invoices(t, id)[1].ID, Cancelled)
		_, err := world.CreateExtra(t.Context(), world.actor, id, ReadExtra(values("amount", "10.00")))
		must(t, err)
		world.redate(t, id, "2026-05-05") // scheduled once more
		must(t, tally.Compact(t.Context(), world.db))
		must(t, world.customers.Delete(t.Context(), world.actor, id))
		world.wantDue(t, id)
		world.wantTrueBooks(t)
		if left := texts(t, world.db, `SELECT due_on FROM invoice_schedule`); len(left) != 0 {
			t.Errorf("still scheduled: %v", left)
		}
		world.clock.Advance(300 * 24 * time.Hour)
		world.wantDue(t, other, "2026-01-31")
		must(t, world.customers.Delete(t.Context(), world.actor, other))
		must(t, tally.Compact(t.Context(), world.db))
		for _, b := range []tally.Counter{counter, tally.Customers} {
			if n, cents, err := b.Sum(t.Context(), world.db, world.actor.Company.ID, tally.Filter{}); err != nil || n != 0 || cents != 0 {
				t.Errorf("%s: %d, %d cents, %v; want nothing", b, n, cents, err)
			}
			if total, err := b.Total(t.Context(), world.db, world.actor.Company.ID); err != nil || total != 0 {
				t.Errorf("%s: %d in all, %v; want none", b, total, err)
			}
		}
		left := texts(t, world.db, `SELECT book || ' ' || day || ' ' || state || ' ' || n || ' ' || cents FROM tally_sums WHERE book <> 'renewals' ORDER BY 1`)
		if want := []string{
			"created 2026-01-31 gone 2 0", "paid 2026-01-31 on_time_gone 1 3500", "payments 2026-01-31 applied/manual 1 0", "receipts 2026-01-31 manual 1 3500",
			"recurring 2026-01 new 1 3500", "recurring 2026-11 lost_gone 1 3500",
		}; !slices.Equal(left, want) {
			t.Errorf("sums are left: %v, want %v", left, want)
		}
		if n := world.dayWork(t); n != 0 {
			t.Errorf("%d issued for nobody", n)
		}
	})
}

func TestExtraInvoiceTakesItsDefaultsFromPlanAndDay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		world.clock.Set(time.Date(2026, 2, 1, 2, 59, 59, 0, time.UTC)) // still 31 January in São Paulo
		record := world.customer(t, 1, "2026-02-10")
		bare := world.customer(t, 0, "")
		for _, e := range []struct {
			customer    int64
			fields      []string
			amount      money.Cents
			dueOn       string
			description string
		}{
			{record.ID, nil, 3500, "2026-01-31", ""},
			{record.ID, []string{"amount", "99999999.99", "due", "2027-01-31", "description", "Visita técnica"}, money.Max, "2027-01-31", "Visita técnica"},
			{record.ID, []string{"due", "2026-02-10"}, 3500, "2026-02-10", ""}, // in addition to the generated one of that day
			{record.ID, []string{"due", "2026-02-10"}, 3500, "2026-02-10", ""}, // and again
			{bare.ID, []string{"amount", "0.01"}, 1, "2026-01-31", ""},
		} {
			made, err := world.CreateExtra(t.Context(), world.actor, e.customer, ReadExtra(values(e.fields...)))
			must(t, err)
			got := world.find(t, made.ID)
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
			{record.ID, "amount: must be more than zero", []string{"amount", "0"}},
			{record.ID, "amount: must not be negative", []string{"amount", "-1"}},
			{record.ID, "amount: must not be greater than 99999999.99", []string{"amount", "100000000.00"}},
			{record.ID, "due: must be a date in the form YYYY-MM-DD", []string{"due", "31/01/2027"}},
			{record.ID, "description: must have at most 255 characters", []string{"description", strings.Repeat("x", 256)}},
		} {
			_, err := world.CreateExtra(t.Context(), world.actor, e.customer, ReadExtra(values(e.fields...)))
			if got := fault.Public(err); got != e.want {
				t.Errorf("%v: %q, want %q", e.fields, got, e.want)
			}
		}
		want := []event.Name{event.CustomerCreated, event.InvoiceCreated, event.CustomerCreated}
		world.wantEvents(t, 0, append(want, slices.Repeat([]event.Name{event.InvoiceCreated}, 5)...)...)
		world.wantTrueBooks(t)
	})
}

var errUnlucky = errors.New("the subscriber could not")

// An event that cannot be recorded leaves the due date on the schedule, for the
// next run.
func TestInvoiceAndItsEventStandOrFallTogether(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		id := world.customer(t, 1, "2026-01-31").ID
		world.redate(t, id, "2026-02-01")
		before := world.snapshot(t)
		failing := world.process(t)
		failing.events.Watch(func(_ context.Context, _ *sqldb.Tx, recorded event.Event) error {
			if recorded.Name == event.InvoiceCreated {
				return errUnlucky
			}
			return nil
		})
		if n, err := failing.Issue(t.Context(), world.actor); !errors.Is(err, errUnlucky) || n != 0 {
			t.Errorf("%d issued, %v; want the subscriber's error", n, err)
		}
		if _, err := failing.customers.Create(t.Context(), world.actor, customer.ReadNew(values("name", "Bia", "plan_id", "1"))); !errors.Is(err, errUnlucky) {
			t.Errorf("created: %v; want the subscriber's error", err)
		}
		if _, err := failing.CreateExtra(t.Context(), world.actor, id, ReadExtra(values())); !errors.Is(err, errUnlucky) {
			t.Errorf("extra: %v; want the subscriber's error", err)
		}
		world.wantSnapshot(t, before)
		world.dayWork(t)
		world.wantDue(t, id, "2026-01-31", "2026-02-01")
	})
}
