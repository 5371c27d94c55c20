package sqldbtest

import (
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

// Explain is how the database means to run a statement, in its own words.
func Explain(tb testing.TB, db *sqldb.DB, text string, args ...any) string {
	tb.Helper()
	prefix, columns := "EXPLAIN ", 1
	if db.Engine() == sqldb.SQLite {
		prefix, columns = "EXPLAIN QUERY PLAN ", 4
	}
	lines, err := sqldb.All(tb.Context(), db, func(row sqldb.Row) (line string, err error) {
		into := make([]any, columns)
		for i := range into {
			into[i] = new(any)
		}
		into[columns-1] = &line
		err = row.Scan(into...)
		return line, err
	}, prefix+text, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// WantIndex wants a statement to find its rows through an index, and no table
// to be read from end to end.
func WantIndex(tb testing.TB, db *sqldb.DB, index, text string, args ...any) {
	tb.Helper()
	plan := Explain(tb, db, text, args...)
	if !strings.Contains(plan, index) {
		tb.Errorf("%s is not used:\n%s", index, plan)
	}
	for line := range strings.Lines(plan) {
		// SQLite reads what a subquery has found under the subquery's name, and the
		// list of {in ?} as json_each.
		if strings.Contains(line, "Seq Scan") ||
			strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN due") && !strings.HasPrefix(line, "SCAN json_each") {
			tb.Errorf("a whole table is read:\n%s", plan)
		}
	}
}
