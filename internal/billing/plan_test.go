package billing

import (
	"strings"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// A run with nothing due looks at the end of an index, however many due dates
// are on the schedule.
func TestScheduleIsReadFromItsIndex(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.fillSchedule(t, 5000)
		horizon := world.actor.Today(noon).AddDays(world.actor.Company.Settings.LeadDays)
		for _, statistics := range []string{`SELECT 1`, `ANALYZE`} { // without any, and with true ones
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), statistics)
				return err
			}))
			sqldbtest.WantIndex(t, world.db, "invoice_schedule_due", anyScheduledText, world.actor.Company.ID, horizon)
			sqldbtest.WantIndex(t, world.db, "invoice_schedule_due", scheduledText, world.actor.Company.ID, horizon, issueBatch)
		}
	})
}

// fillSchedule makes customers who are due from a month on.
func (w *world) fillSchedule(t *testing.T, count int) {
	t.Helper()
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		for _, statement := range []string{
			`INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, due_on, own_day,
				notes, name_key, created_at, updated_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
			SELECT 1, 'u' || i, 'Ana', '', '', '', '', '', '2026-' || (10 + i % 3) || '-' || (10 + i % 18), 1, '', '', 1, 1 FROM n`,
			`INSERT INTO invoice_schedule (company_id, customer_id, due_on) SELECT company_id, id, due_on FROM customers`,
		} {
			if _, err := tx.Exec(t.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	}))
	if made := texts(t, w.db, `SELECT due_on FROM invoice_schedule WHERE due_on > '2026-02-28'`); len(made) != count {
		t.Fatalf("%d on the schedule, want %d", len(made), count)
	}
}

// A page of a sorted list costs what it holds and what it passes over in one
// index, as in lists of customers.
func TestSortedPagesAreReadFromOneIndex(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.fillSchedule(t, 5000)
		world.exec(t, `UPDATE customers SET name_key = 'ana ' || (id * 7919 % 5000) WHERE company_id = 1`)
		world.exec(t, `INSERT INTO invoices (company_id, customer_id, generated, status, amount_cents, description, due_on, paid_via, note,
				renewed_day, created_at, created_on, updated_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
			SELECT c.company_id, c.id, FALSE, CASE WHEN n.i = 1 THEN 'open' ELSE 'paid' END, 100, '', c.due_on, '', '',
				0, c.id * n.i, c.due_on, c.id * n.i FROM customers c CROSS JOIN n`)
		statistics := []string{`SELECT 1`, `ANALYZE`} // without any, and with true ones
		if engine == sqldb.Postgres {
			statistics = statistics[1:] // it collects them by itself
		}
		for _, statistics := range statistics {
			world.exec(t, statistics)
			for field, index := range map[input.Sort]string{
				input.ByDueDate: "invoices_due", input.ByUpdated: "invoices_updated", input.ByName: "customers_name",
			} {
				for _, filter := range []Filter{{}, {Status: Paid}, {UpdatedSince: 2}, {Overdue: "false", UpdatedSince: 2}} {
					world.wantWalk(t, index, filter, field)
					world.wantWalk(t, index, filter, field.Turned())
				}
			}
			world.wantWalk(t, "invoices_owed", Filter{Status: Open}, input.ByDueDate)
			for _, sort := range everySort {
				text, args := pageAt(world.listing(world.actor, Filter{UpdatedSince: 24_900}).few(sort), sort, 0)
				sqldbtest.WantIndex(t, world.db, "invoices_updated", text, args...)
			}
		}
	})
}

// pageAt finds the ids of a page.
func pageAt(window sqldb.Window, sort input.Sort, offset int64) (text string, args []any) {
	window.Ascending, window.Offset, window.Limit = !sort.Descending(), offset, 50
	return window.IDs()
}

// wantWalk wants the ids along an index, without a sort of all of them: invoices
// of customers of one name are sorted among themselves. PostgreSQL may weigh for
// itself what a page in the middle of so few costs.
func (w *world) wantWalk(t *testing.T, index string, filter Filter, sort input.Sort) {
	t.Helper()
	named := strings.NewReplacer("Incremental Sort", "", "Presorted Key", "", "Sort Key", "", "USE TEMP B-TREE FOR LAST TERM OF ORDER BY", "")
	for _, offset := range []int64{0, 10_000} {
		if offset > 0 && w.db.Engine() == sqldb.Postgres {
			continue
		}
		text, args := pageAt(w.listing(w.actor, filter).walk(sort), sort, offset)
		sqldbtest.WantIndex(t, w.db, index, text, args...)
		plan := sqldbtest.Explain(t, w.db, text, args...)
		if rest := named.Replace(plan); strings.Contains(rest, "Sort") || strings.Contains(rest, "B-TREE") {
			t.Errorf("%+v by %s is sorted:\n%s", filter, sort, plan)
		}
	}
}

func (w *world) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text, args...)
		return err
	}))
}
