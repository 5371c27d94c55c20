package dashboard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/figures"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// whoJoins are changes that bring a customer into a plan, or make one of the
// plan worth something, each of a customer that is prepared before.
var whoJoins = map[string]struct {
	before []string // of the customer; nil: there is none yet
	do     func(t *testing.T, w *world, id int64) error
}{
	"create": {nil, func(t *testing.T, w *world, _ int64) error {
		_, err := w.Customers.Create(t.Context(), w.Actor, customer.ReadNew(housetest.Form("name", "Ana", "plan_id", "1", "due_date", "2026-02-10")))
		return err
	}},
	"import": {nil, func(t *testing.T, w *world, _ int64) error {
		return w.Import(t, "nome;plan_id;vencimento\nAna;1;10/02/2026\n")
	}},
	"move": {[]string{"due_date", "2026-02-10"}, func(t *testing.T, w *world, id int64) error {
		return w.changes(t, id, "plan_id", "1")
	}},
	"new date": {[]string{"plan_id", "1", "due_date", "2026-01-10"}, func(t *testing.T, w *world, id int64) error {
		return w.changes(t, id, "due_date", "2026-02-10")
	}},
	"restore": {[]string{"plan_id", "1", "due_date", "2026-02-10", "cancelled", "true"}, func(t *testing.T, w *world, id int64) error {
		return w.changes(t, id, "cancelled", "false")
	}},
	"renew": {[]string{"plan_id", "1", "due_date", "2026-01-10"}, func(t *testing.T, w *world, id int64) error {
		_, err := w.Customers.Renew(t.Context(), w.Actor, id)
		return err
	}},
	"member": {[]string{"plan_id", "1", "due_date", "2026-02-10"}, func(t *testing.T, w *world, id int64) error {
		return w.changes(t, id, "name", "Bia")
	}},
}

func (w *world) changes(t *testing.T, id int64, fields ...string) error {
	t.Helper()
	_, err := w.Customers.Update(t.Context(), w.Actor, id, customer.ReadChanges(housetest.Form(fields...)))
	return err
}

// A customer comes to a plan while its value is being changed, in the moment
// between the change and its commit: it is worth the new value, and is billed
// when the old one was nothing.
func TestWhoComesToAPlanThatIsBeingRepricedIsWorthItsNewValue(t *testing.T) {
	for name, joins := range whoJoins {
		for _, value := range []string{"35.00", "0.00"} {
			t.Run(name+" "+value, func(t *testing.T) { repriceBeside(t, value, joins.before, joins.do) })
		}
	}
}

func repriceBeside(t *testing.T, value string, before []string, do func(*testing.T, *world, int64) error) {
	t.Helper()
	w := newWorld(t, sqldb.Postgres)
	_, err := w.Catalog.UpdatePlan(t.Context(), w.Actor, 1, catalog.ReadPlanChanges(housetest.Form("value", value)))
	housetest.Must(t, err)
	var id int64
	if before != nil {
		record, err := w.Customers.Create(t.Context(), w.Actor, customer.ReadNew(housetest.Form(append([]string{"name", "Ana"}, before...)...)))
		housetest.Must(t, err)
		id = record.ID
	}
	joined := make(chan error, 1)
	w.Catalog.WatchPlans(func(ctx context.Context, _ *sqldb.Tx, _ catalog.PlanChanges) error {
		go func() { joined <- do(t, w, id) }()
		w.awaitLock(ctx, t, joined)
		return nil
	})
	_, err = w.Catalog.UpdatePlan(t.Context(), w.Actor, 1, catalog.ReadPlanChanges(housetest.Form("value", "50.00")))
	housetest.Must(t, err)
	housetest.Must(t, <-joined)
	people := w.everybody(t)
	worth, err := sqldb.Value[int64](t.Context(), w.DB, `SELECT mrr_cents FROM customers WHERE company_id = ?`, w.Actor.Company.ID)
	if want := figures.Monthly(people[0].Price(), people[0].Period()); err != nil || len(people) != 1 || money.Cents(worth) != want {
		t.Errorf("worth %d, want %d, %v", worth, want, err)
	}
	w.wantRecounted(t)
	if _, err := w.billing.Issue(t.Context(), w.Actor); err != nil {
		t.Error(err)
	}
	w.Clock.Advance(30 * 24 * time.Hour)
	if _, err := w.billing.Issue(t.Context(), w.Actor); err != nil {
		t.Error(err)
	}
	for _, invoice := range w.everything(t) {
		if invoice.DueOn == people[0].DueOn {
			return
		}
	}
	t.Errorf("nobody bills %v: %s", people[0].DueOn, fmt.Sprint(w.everything(t)))
}

// awaitLock waits until a transaction waits for another, or the work is done.
func (w *world) awaitLock(ctx context.Context, t *testing.T, done chan error) {
	t.Helper()
	for {
		select {
		case err := <-done:
			done <- err
			return
		default:
		}
		waiting, err := sqldb.Value[int64](ctx, w.DB, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`)
		housetest.Must(t, err)
		if waiting > 0 {
			return
		}
	}
}

// A plan of many customers is counted again a batch at a time, by any process,
// also when it changes again before the end.
func TestPlanOfManyCustomersIsCountedAnewInBatches(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.planCosts(t, "0.00")
		file := strings.Builder{}
		file.WriteString("nome;plan_id;vencimento;price\n")
		const many = 700
		for n := range many {
			fmt.Fprintf(&file, "Ana %d;1;10/02/2026;%s\n", n, map[bool]string{true: "12,00"}[n%10 == 0])
		}
		housetest.Must(t, w.Import(t, file.String()))
		w.planCosts(t, "35.00")
		w.wantRecounted(t) // at every moment each counter is what its records are
		if worth := w.month(t, "2026-01-01").Recurring; worth.Customers == many {
			t.Error("all of them were counted in one transaction")
		}
		w.planCosts(t, "36.00") // before the end of the first change
		processes := []*world{w, w.process(t)}
		errs := make([]error, 4)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() { errs[n] = processes[n%2].Customers.ContinueRepricing(t.Context()) })
		}
		all.Wait()
		housetest.Must(t, errors.Join(errs...))
		w.wantRecounted(t)
		if worth := w.month(t, "2026-01-01").Recurring; worth.Customers != many || worth.Amount != many/10*12_00+many*9/10*36_00 {
			t.Errorf("worth %+v", worth)
		}
		w.Clock.Advance(6 * 24 * time.Hour)
		if issued, err := w.billing.Issue(t.Context(), w.Actor); err != nil || issued != many {
			t.Errorf("%d issued, %v", issued, err)
		}
	})
}

func (w *world) planCosts(t *testing.T, value string) {
	t.Helper()
	_, err := w.Catalog.UpdatePlan(t.Context(), w.Actor, 1, catalog.ReadPlanChanges(housetest.Form("value", value)))
	housetest.Must(t, err)
}

// process is the same world in another process.
func (w *world) process(t *testing.T) *world {
	t.Helper()
	other := w.World.Process(t)
	there := &world{World: other, Service: New(other.DB), billing: billing.New(other.DB, other.Events, other.Customers)}
	there.Catalog.WatchPlans(there.Customers.PlansChanged)
	return there
}
