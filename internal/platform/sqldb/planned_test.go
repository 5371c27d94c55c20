package sqldb_test

import (
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// A planned statement reads what any other does, and its plan is that of any values from
// the first call on. Those after it, on the same connection, are planned as ever.
func TestAPlannedStatementIsPlannedOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine, func(options *sqldb.Options) { options.MaxConns = 1 }))
		run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one'), (2, 'two')")
		read := func(querier sqldb.Querier, id int) (found []string) {
			must(t, sqldb.Planned(t.Context(), querier, "SELECT body FROM notes WHERE id = ?", []any{id}, func(row sqldb.Row) error {
				body, err := scanBody(row)
				found = append(found, body)
				return err
			}))
			return found
		}
		for id, want := range map[int]string{1: "one", 2: "two"} {
			if got := read(db, id); len(got) != 1 || got[0] != want {
				t.Errorf("note %d: %v", id, got)
			}
		}
		if got := read(db, 3); got != nil {
			t.Errorf("note 3: %v", got)
		}
		must(t, db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if got := read(tx, 2); len(got) != 1 || got[0] != "two" {
				t.Errorf("in a transaction: %v", got)
			}
			return nil
		}))
		if engine == sqldb.SQLite {
			return
		}
		const plans = `SELECT generic_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT body FROM notes WHERE id =%'`
		if n, err := sqldb.Value[int64](t.Context(), db, plans); err != nil || n != 3 {
			t.Errorf("%d of 3 were planned once: %v", n, err)
		}
		if mode, err := sqldb.Value[string](t.Context(), db, `SELECT current_setting('plan_cache_mode')`); err != nil || mode != "auto" {
			t.Errorf("the connection is left with %s: %v", mode, err)
		}
	})
}
