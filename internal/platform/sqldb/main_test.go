package sqldb_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
)

// descriptorsVariable turns this test program into one that has no descriptors
// left for the database file that it names.
const descriptorsVariable = "SQLDB_TEST_DESCRIPTORS"

func TestMain(m *testing.M) {
	if url := os.Getenv(crashVariable); url != "" {
		writeUntilKilled(url)
	}
	if file := os.Getenv(descriptorsVariable); file != "" {
		runOutOfDescriptors(file)
	}
	m.Run()
}

// withNotes makes the table that most tests here write to.
func withNotes(t *testing.T, db *sqldb.DB) *sqldb.DB {
	t.Helper()
	run(t, db, `CREATE TABLE notes (
		id     BIGINT PRIMARY KEY,
		body   TEXT   NOT NULL UNIQUE CHECK (body <> ''),
		parent BIGINT REFERENCES notes (id))`)
	return db
}

// insert is a transaction that adds a note with a unique body.
func insert(t *testing.T, id int64) func(*sqldb.Tx) error {
	t.Helper()
	return func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO notes (id, body) VALUES (?, ?)", id, fmt.Sprint("note ", id))
		return err
	}
}

func run(t *testing.T, db *sqldb.DB, text string, args ...any) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// wantNotes compares what the read side, or a transaction, sees in the table.
func wantNotes(t *testing.T, querier sqldb.Querier, want ...int64) {
	t.Helper()
	got, err := sqldb.Values[int64](t.Context(), querier, "SELECT id FROM notes ORDER BY id")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("notes %v, %v; want %v", got, err, want)
	}
}
