package dashboard

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/figures"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
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
		_, err := w.Customers.Import(t.Context(), w.Actor, func() iter.Seq2[sheet.Row, error] {
			file, err := sheet.Open(strings.NewReader("nome;plan_id;vencimento\nAna;1;10/02/2026\n"))
			housetest.Must(t, err)
			return file.All()
		}, customer.ImportOptions{})
		return err
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
		w.awaitLock(t, ctx, joined)
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
func (w *world) awaitLock(t *testing.T, ctx context.Context, done chan error) {
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
