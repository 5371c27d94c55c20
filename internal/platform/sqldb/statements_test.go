package sqldb_test

import (
	"fmt"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestCompiledStatementsAreBounded(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one'), (2, 'two'), (3, 'three')")
	// Past the bound several rows are still to be read correctly.
	varied := func(querier sqldb.Querier, n int) {
		sum := 0
		err := sqldb.Each(t.Context(), querier, fmt.Sprintf("SELECT id + %d FROM notes WHERE id > ? ORDER BY id", n), []any{1}, func(row sqldb.Row) error {
			var id int
			err := row.Scan(&id)
			sum += id
			return err
		})
		if want := 2 + 3 + 2*n; err != nil || sum != want {
			t.Fatalf("statement %d: %d, %v; want %d", n, sum, err, want)
		}
	}
	const statements = sqldb.MaxCompiled + 50
	for n := range statements {
		varied(db, n)
	}
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		for n := range statements {
			varied(tx, n)
		}
		n, err := tx.Exec(t.Context(), "UPDATE notes SET parent = ?", 1)
		if n != 3 {
			t.Errorf("%d rows changed, want 3", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if reading, writing := db.Compiled(); reading != sqldb.MaxCompiled || writing != sqldb.MaxCompiled {
		t.Errorf("%d and %d statements are kept, want %d each", reading, writing, sqldb.MaxCompiled)
	}
}
