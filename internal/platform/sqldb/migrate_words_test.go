package sqldb_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// beforeWords is the last migration under which the words of a CHECK were lists.
const beforeWords = 41

// wordChecks are columns of which a CHECK lists the words, in the tables of every
// invoice.
var wordChecks = []struct{ table, column string }{
	{"invoices", "status"}, {"invoices", "period_unit"}, {"charges", "state"}, {"deliveries", "status"}, {"payments", "status"},
}

// An insertion into one of them builds no table of words, the words stay those
// that they were, and the database is whole.
func TestWordsOfChecksAreCompared(t *testing.T) {
	db, err := sqldb.Open(t.Context(), sqldbtest.Empty(t, sqldb.SQLite), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.MigrateTo(t.Context(), beforeWords); err != nil {
		t.Fatal(err)
	}
	var before []string
	for _, check := range wordChecks {
		before = append(before, checkOf(t, db, check.table, check.column))
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, check := range wordChecks {
		after := checkOf(t, db, check.table, check.column)
		words := regexp.MustCompile(`'[^']*'`).FindAllString(before[i], -1)
		if len(words) < 3 {
			t.Fatalf("%s.%s was one of %q", check.table, check.column, words)
		}
		for _, word := range append(words, "'nonsense'", "NULL") {
			query := fmt.Sprintf(`SELECT ((%s) IS (%s)) || '' FROM (SELECT %s AS %s)`, before[i], after, word, check.column)
			if got := texts(t, db, query); got[0] != "1" {
				t.Errorf("%s.%s: %s is judged otherwise by %s", check.table, check.column, word, after)
			}
		}
		if slices.Contains(opcodes(t, db, `INSERT INTO `+check.table+` DEFAULT VALUES`), "OpenEphemeral") {
			t.Errorf("an insertion into %s makes a table", check.table)
		}
	}
	if got := texts(t, db, `PRAGMA integrity_check`); got[0] != "ok" {
		t.Errorf("the database is damaged: %q", got)
	}
}

// checkOf is the expression that a column must fulfil.
func checkOf(t *testing.T, db *sqldb.DB, table, column string) string {
	t.Helper()
	schema := texts(t, db, `SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?`, table)[0]
	found := regexp.MustCompile(`CHECK \((` + column + ` (?:IN \([^)]*\)|= '[^)]*'))\)`).FindStringSubmatch(schema)
	if found == nil {
		t.Fatalf("%s.%s has no CHECK in %s", table, column, schema)
	}
	return found[1]
}

// opcodes are the steps by which SQLite runs a statement.
func opcodes(t *testing.T, db *sqldb.DB, text string) []string {
	t.Helper()
	steps, err := sqldb.All(t.Context(), db, func(row sqldb.Row) (opcode string, err error) {
		var other any
		err = row.Scan(&other, &opcode, &other, &other, &other, &other, &other, &other)
		return opcode, err
	}, "EXPLAIN "+text)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}
