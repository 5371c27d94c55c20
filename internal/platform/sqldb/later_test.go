package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

var laterNotes = &sqldb.Appending{
	Table: "notes",
	Into:  `INSERT INTO notes (id, body, parent) VALUES `,
	Row:   `(?, ?, ?)`,
}

func putOff(ctx context.Context, tx *sqldb.Tx, id int, body string, parent any) error {
	return tx.Append(ctx, laterNotes, id, body, parent)
}

func bodies(t *testing.T, querier sqldb.Querier) []string {
	t.Helper()
	list, err := sqldb.Values[string](t.Context(), querier, "SELECT body FROM notes ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func wantBodies(t *testing.T, querier sqldb.Querier, want ...string) {
	t.Helper()
	if got := bodies(t, querier); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the notes are %q, want %q", got, want)
	}
}

func TestRowsThatWerePutOffAreWrittenWithTheTransaction(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		for _, fails := range []bool{true, false} {
			err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				for n := range 5 {
					if err := putOff(t.Context(), tx, n, fmt.Sprint("n", n), nil); err != nil {
						return err
					}
				}
				if fails {
					return errRefused
				}
				return nil
			})
			if fails != errors.Is(err, errRefused) {
				t.Fatal(err)
			}
			if fails {
				wantBodies(t, db)
			}
		}
		wantBodies(t, db, "n0", "n1", "n2", "n3", "n4")
	})
}

func TestAStatementSeesTheRowsThatWerePutOffBeforeIt(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if err := putOff(t.Context(), tx, 1, "one", nil); err != nil {
				return err
			}
			wantBodies(t, tx, "one")
			if err := putOff(t.Context(), tx, 2, "two", nil); err != nil {
				return err
			}
			n, err := tx.Exec(t.Context(), "UPDATE notes SET body = body || '!'")
			if n != 2 {
				t.Errorf("%d rows were changed, want 2", n)
			}
			if err != nil {
				return err
			}
			return putOff(t.Context(), tx, 3, "three", 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		wantBodies(t, db, "one!", "two!", "three")
	})
}

func TestAFailureOfWhatWasPutOffFailsTheTransaction(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		run(t, db, "INSERT INTO notes (id, body) VALUES (7, 'seven')")
		for name, c := range map[string]struct {
			id     int
			parent any
			want   error
		}{
			"a key that is taken":       {7, nil, sqldb.ErrUnique},
			"a row that does not exist": {8, 99, sqldb.ErrForeignKey},
		} {
			runs, committed := 0, false
			err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				runs++
				tx.OnCommit(func() { committed = true })
				if _, err := tx.Exec(t.Context(), "INSERT INTO notes (id, body) VALUES (1, 'not kept')"); err != nil {
					return err
				}
				return putOff(t.Context(), tx, c.id, "late", c.parent)
			})
			if !errors.Is(err, c.want) || committed {
				t.Errorf("%s: %v, committed %t; want %v", name, err, committed, c.want)
			}
			if want := map[bool]int{true: 2, false: 1}[errors.Is(c.want, sqldb.ErrUnique)]; runs != want {
				t.Errorf("%s: it ran %d times, want %d", name, runs, want)
			}
		}
		wantBodies(t, db, "seven")
	})
}

func TestATransactionThatRunsAgainWritesItsLateRowsOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		runs := 0
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			runs++
			if err := putOff(t.Context(), tx, runs, fmt.Sprint("run ", runs), nil); err != nil {
				return err
			}
			if runs == 1 {
				return fmt.Errorf("lost against another: %w", sqldb.ErrBusy)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		wantBodies(t, db, "run 2")
	})
}

// More rows than are put off at once, from several writers who share commits.
func TestManyRowsThatWerePutOffAreAllThere(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		const writers, rows = 4, 1300
		var all sync.WaitGroup
		for writer := range writers {
			all.Go(func() {
				err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
					for n := range rows {
						if err := putOff(t.Context(), tx, writer*rows+n, fmt.Sprint("many ", writer*rows+n), nil); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		n, err := sqldb.Value[int](t.Context(), db, "SELECT count(*) FROM notes WHERE body LIKE 'many %'")
		if err != nil || n != writers*rows {
			t.Errorf("%d rows, %v; want %d", n, err, writers*rows)
		}
	})
}

// counting is late work whose second statement depends on the first.
type counting struct {
	changed int
	merged  int
	skipped bool
}

func (c *counting) Merge(sqldb.Late) { c.merged++ }

func (c *counting) Tables() []string { return []string{"notes"} }

func (c *counting) Statements() []sqldb.Statement {
	return []sqldb.Statement{
		{
			Text: "UPDATE notes SET body = body || ' changed' WHERE id {in ?} RETURNING id",
			Args: []any{[]int64{1, 2}},
			Scan: func(row sqldb.Row) error {
				c.changed++
				return row.Scan(new(int64))
			},
		},
		{
			Text: "UPDATE notes SET parent = 1 WHERE body LIKE '% changed'",
			Needless: func() bool {
				c.skipped = c.changed == 0
				return c.skipped
			},
		},
	}
}

func TestLateWorkReadsWhatItsStatementsReturn(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		for _, want := range []int{0, 2} {
			var work, again *counting
			err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				work = sqldb.Later(tx, "count", func() *counting { return &counting{} })
				again = sqldb.Later(tx, "count", func() *counting { return &counting{} })
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if work != again || work.changed != want || work.skipped != (want == 0 && engine == sqldb.SQLite) {
				t.Errorf("%+v, the same %t; want %d changed", work, work == again, want)
			}
			run(t, db, "DELETE FROM notes")
			run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one'), (2, 'two')")
		}
	})
}

// The statements of a transaction find its connection as any would: BEGIN goes
// out with the first of them, whatever that is.
func TestATransactionBeginsWithItsFirstStatement(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		first := map[string]func(tx *sqldb.Tx) error{
			"none": func(*sqldb.Tx) error { return nil },
			"one that writes": func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), "INSERT INTO notes (id, body) VALUES (?, ?)", 1, "one")
				return err
			},
			"one that returns": func(tx *sqldb.Tx) error {
				_, err := sqldb.Value[int](t.Context(), tx, "INSERT INTO notes (id, body) VALUES (?, ?) RETURNING id", 2, "two")
				return err
			},
			"one that was put off": func(tx *sqldb.Tx) error { return putOff(t.Context(), tx, 3, "three", nil) },
		}
		for name, begin := range first {
			for _, fails := range []bool{true, false} {
				err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
					if err := begin(tx); err != nil || !fails {
						return err
					}
					return errRefused
				})
				if fails != errors.Is(err, errRefused) || !fails && err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		wantBodies(t, db, "one", "two", "three")
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO notes (id, body) VALUES (?, ?)", 1, "taken")
			return err
		})
		if !errors.Is(err, sqldb.ErrUnique) {
			t.Errorf("a first statement that fails: %v", err)
		}
		wantBodies(t, db, "one", "two", "three")
	})
}
