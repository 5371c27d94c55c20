package customer

import (
	"strings"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// A page of a sorted list costs what it holds and what it passes over in one
// index, however many customers there are: many matches are met along the index
// of the order, none is sorted; few are found by what they are filtered by.
func TestSortedPagesAreReadFromOneIndex(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.fill(t)
		today := world.actor.Today(noon)
		manyOf := []Filter{{}, {Status: Active}, {PlanID: 1}, {UpdatedSince: 2}, {Status: Active, PlanID: 1}}
		for _, statistics := range statisticsOf[engine] {
			world.exec(t, statistics)
			for sort, index := range map[input.Sort]string{
				"name": "customers_name", "-name": "customers_name", "due_date": "customers_due", "-due_date": "customers_due",
				"updated_at": "customers_updated", "-updated_at": "customers_updated",
			} {
				for _, filter := range manyOf {
					l := world.listing(world.actor, filter)
					world.wantWalk(t, index, l, sort)
					if sort.Field() == input.ByDueDate {
						world.wantWalk(t, index, l.withDate(), sort)
						world.wantWalk(t, index, l.withoutDate(), sort)
					}
				}
			}
			for index, filter := range map[string]Filter{
				"customers_updated": {UpdatedSince: 29_990}, "customers_due": {DueFrom: today, DueTo: today}, "customers_plan": {PlanID: 2},
				"customers_cancelled": {Status: Cancelled},
			} {
				for _, sort := range everySort {
					l := world.fewOf(t, filter)
					text, args := world.statement(l, sort)
					sqldbtest.WantIndex(t, world.db, index, text, args...)
					if l.due.none { // as in the order of due dates
						text, args = world.statement(l.withDate(), sort)
						sqldbtest.WantIndex(t, world.db, index, text, args...)
					}
				}
			}
		}
	})
}

// Those whom a search has found are looked up, and not met along an index of all.
func TestFoundCustomersAreSortedByTheirRows(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	world := newWorld(t, sqldb.SQLite)
	world.fill(t)
	for _, statistics := range statisticsOf[sqldb.SQLite] {
		world.exec(t, statistics)
		for _, sort := range everySort {
			l := world.fewOf(t, Filter{Search: "ana"})
			l.found = []int64{1, 2, 3}
			for _, l := range []listing{l, l.withDate()} {
				text, args := world.statement(l, sort)
				if plan := sqldbtest.Explain(t, world.db, text, args...); !strings.Contains(plan, "AND id=?") {
					t.Errorf("%s:\n%s", sort, plan)
				}
			}
		}
	}
}

// A page that is planned once is found between the ids of its bucket, or along those of
// its day.
func TestPlannedPagesOfPostgresAreFoundByIDs(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	world := newWorld(t, sqldb.Postgres)
	world.fill(t)
	world.exec(t, `ANALYZE`)
	page := input.Page{Number: 5, Size: 50}
	for _, filter := range []Filter{{}, {PlanID: 1}, {ProductID: 1}, {PlanID: 1, ProductID: 1}, {Status: Active}, {Status: Cancelled}, {Status: Expired}} {
		window := world.listing(world.actor, filter).pageOf(page)
		window.Where.And("c.id < ? AND c.id >= ?", 2*tally.BucketSize, tally.BucketSize)
		text, args := window.IDs()
		plan := sqldbtest.ExplainPlanned(t, world.db, text, len(args))
		if !strings.Contains(plan, "(id < $") || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%+v:\n%s", filter, plan)
		}
	}
	window, err := world.window(t.Context(), world.listing(world.actor, Filter{Status: DueToday}), numbers{company: filled, matches: 1000}, page)
	must(t, err)
	text, args := window.IDs()
	if plan := sqldbtest.ExplainPlanned(t, world.db, text, len(args)); !window.Planned ||
		!strings.Contains(plan, "customers_due") || strings.Contains(plan, "Sort") {
		t.Errorf("those of one day:\n%s", plan)
	}
}

// fewOf is a listing that has few of the filled ones.
func (w *world) fewOf(t *testing.T, filter Filter) (l listing) {
	t.Helper()
	l, few := w.listing(w.actor, filter), int64(20)
	byDate, err := w.allByDate(t.Context(), l, filled, few)
	must(t, err)
	l.few, l.byDate = true, byDate
	return l
}

// statisticsOf are without which statistics an engine has to find its way, and
// with which: PostgreSQL collects them by itself.
var statisticsOf = map[sqldb.Engine][]string{sqldb.SQLite: {`SELECT 1`, `ANALYZE`}, sqldb.Postgres: {`ANALYZE`}}

// statement finds the ids of a page: for SQLite one deep in the listing, for
// PostgreSQL the first, since it may weigh for itself what the middle of so few
// costs.
func (w *world) statement(l listing, sort input.Sort) (text string, args []any) {
	window := sorting{service: w.Service, listing: l, sort: sort}.window(l)
	window.Ascending, window.Limit = !sort.Descending(), 50
	if w.db.Engine() == sqldb.SQLite {
		window.Offset = 10_000
	}
	return window.IDs()
}

// wantWalk wants the ids along an index, without a sort.
func (w *world) wantWalk(t *testing.T, index string, l listing, sort input.Sort) {
	t.Helper()
	text, args := w.statement(l, sort)
	sqldbtest.WantIndex(t, w.db, index, text, args...)
	plan := sqldbtest.Explain(t, w.db, text, args...)
	if strings.Contains(plan, "Sort") || strings.Contains(plan, "B-TREE") {
		t.Errorf("%+v by %s is sorted:\n%s", l.filter, sort, plan)
	}
}

const filled = 30_000

// fill makes customers, a tenth of them without a due date, a hundredth of them
// of another plan.
func (w *world) fill(t *testing.T) {
	t.Helper()
	w.offers(t, w.actor, "1month", "1year")
	w.exec(t, `INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, due_on, own_day,
			notes, search, created_at, updated_at, plan_id)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
		SELECT 1, 'u' || i, 'Ana', '', '', '', '', '', CASE WHEN i % 10 > 0 THEN '2026-' || (10 + i % 3) || '-' || (10 + i % 18) END,
			1, '', 'ana ' || (i * 7919 % 30000) || ?, 1, i,
			CASE WHEN i % 100 > 0 THEN 1 ELSE 2 END FROM n`, "\n")
}

func (w *world) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text, args...)
		return err
	}))
}
