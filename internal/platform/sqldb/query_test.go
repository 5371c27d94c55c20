package sqldb_test

import (
	"errors"
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestQueriesReturnWhatScanReads(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		scan := func(row sqldb.Row) (body string, err error) {
			err = row.Scan(&body)
			return body, err
		}
		const bodies = "SELECT body FROM notes ORDER BY id"
		if none, err := sqldb.All(t.Context(), db, scan, bodies); err != nil || none == nil || len(none) > 0 {
			t.Errorf("no rows are %#v, %v; want an empty slice", none, err)
		}
		run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one'), (2, 'two')")
		if all, err := sqldb.All(t.Context(), db, scan, bodies); err != nil || !slices.Equal(all, []string{"one", "two"}) {
			t.Errorf("All: %q, %v", all, err)
		}
		if first, err := sqldb.One(t.Context(), db, scan, bodies); err != nil || first != "one" {
			t.Errorf("One: %q, %v", first, err)
		}
		refuse := func(sqldb.Row) (string, error) { return "", errRefused }
		if _, err := sqldb.All(t.Context(), db, refuse, bodies); !errors.Is(err, errRefused) {
			t.Errorf("the error of scan became %v", err)
		}
	})
}

func TestExecTellsHowManyRowsItChanged(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			n, err := tx.Exec(t.Context(), "INSERT INTO notes (id, body) VALUES (1, 'one'), (2, 'two')")
			if n != 2 {
				t.Errorf("%d rows, want 2", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestRefOfZeroIsNull(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		for _, parent := range []int64{0, 1} {
			run(t, db, "INSERT INTO notes (id, body, parent) VALUES (?, ?, ?)", parent+1, string(rune('a'+parent)), sqldb.RefTo(parent))
			got, err := sqldb.Value[sqldb.Ref](t.Context(), db, "SELECT parent FROM notes WHERE id = ?", parent+1)
			if err != nil || got.V != parent || got.Valid != (parent != 0) {
				t.Errorf("reference to %d came back as %v, %v", parent, got, err)
			}
		}
	})
}

func TestWhereJoinsOptionalConditions(t *testing.T) {
	var where sqldb.Where
	if where.String() != "" {
		t.Errorf("no condition is %q", where.String())
	}
	where.And("a = ?", 1)
	where.And("b IN (?,?)", 2, 3)
	where.And("c IS NULL")
	if want := " WHERE a = ? AND b IN (?,?) AND c IS NULL"; where.String() != want || !slices.Equal(where.Args, []any{1, 2, 3}) {
		t.Errorf("%q %v, want %q", where.String(), where.Args, want)
	}
}
