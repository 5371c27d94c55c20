package sqldb_test

import (
	_ "embed"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// indexes has every index with a statement of a room that is found through it, or
// with what it is for where no plan shows that. An index that no statement needs
// is written at every insert and never read.
//
//go:embed testdata/indexes.txt
var indexes string

// uses are the lines of indexes, by the name of the index.
func uses(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(indexes) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, use, ok := strings.Cut(line, " | ")
		if _, twice := found[name]; !ok || twice {
			t.Errorf("%q is no line of its own with an index and what it is for", line)
		}
		found[name] = use
	}
	return found
}

// madeIndexes are those that migrations make: not those of keys and constraints.
var madeIndexes = map[sqldb.Engine]string{
	sqldb.SQLite: `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`,
	sqldb.Postgres: `SELECT CAST(i.indexrelid AS regclass)::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
		WHERE c.relnamespace = 'public'::regnamespace
			AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid) ORDER BY 1`,
}

func TestEveryIndexHasAStatementThatNeedsIt(t *testing.T) {
	known, there := uses(t), map[string]bool{}
	engines := 0
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		made, err := sqldb.Values[string](t.Context(), db, madeIndexes[db.Engine()])
		if err != nil {
			t.Fatal(err)
		}
		engines++
		for _, name := range made {
			there[name] = true
			use, ok := known[name]
			if !ok {
				t.Errorf("testdata/indexes.txt does not say which statement needs the index %s", name)
			}
			// PostgreSQL reads small tables from end to end, whatever indexes they have.
			if db.Engine() == sqldb.SQLite && isStatement(use) {
				wantUsed(t, db, name, use)
			}
		}
		if db.Engine() == sqldb.SQLite && len(made) < 100 {
			t.Errorf("%d indexes were found", len(made))
		}
	})
	for name := range known {
		if engines == len(madeIndexes) && !there[name] {
			t.Errorf("testdata/indexes.txt has %s, which no migration leaves", name)
		}
	}
}

// wantUsed wants an index in the plan of a statement, whatever its arguments.
func wantUsed(t *testing.T, db *sqldb.DB, index, text string) {
	t.Helper()
	args := make([]any, strings.Count(text, "?"))
	for i := range args {
		args[i] = ""
	}
	if plan := sqldbtest.Explain(t, db, text, args...); !strings.Contains(plan, " INDEX "+index) {
		t.Errorf("%s is not used by %s:\n%s", index, text, plan)
	}
}

func isStatement(use string) bool {
	verb, _, _ := strings.Cut(use, " ")
	return verb == "SELECT" || verb == "UPDATE" || verb == "DELETE" || verb == "WITH" || verb == "INSERT"
}
