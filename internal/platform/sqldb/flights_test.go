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

func scanBody(row sqldb.Row) (body string, err error) {
	err = row.Scan(&body)
	return body, err
}

func briefly(ctx context.Context, querier sqldb.Querier, id int) (string, error) {
	return sqldb.Brief(ctx, querier, scanBody, "SELECT body FROM notes WHERE id = ?", id)
}

func TestEveryoneWhoSharesAFlightGetsTheirOwnRow(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		const readers, rounds = 40, 20
		for n := range readers {
			if n%5 != 0 {
				run(t, db, fmt.Sprintf("INSERT INTO notes (id, body) VALUES (%d, 'n%d')", n, n))
			}
		}
		var wait sync.WaitGroup
		for n := range readers {
			wait.Go(func() {
				for range rounds {
					body, err := briefly(t.Context(), db, n)
					missing := n%5 == 0 && errors.Is(err, sqldb.ErrNotFound)
					if !missing && (err != nil || body != fmt.Sprint("n", n)) {
						t.Errorf("reader %d: %q, %v", n, body, err)
					}
				}
			})
		}
		wait.Wait()
	})
}

func TestAStatementThatFailsDoesNotFailThoseOfItsFlight(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one')")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		var wait sync.WaitGroup
		for n := range 60 {
			wait.Go(func() {
				switch n % 6 {
				case 0:
					if _, err := sqldb.Brief(t.Context(), db, scanBody, "SELECT missing FROM notes"); err == nil {
						t.Error("a column that does not exist was read")
					}
				case 1:
					if _, err := briefly(gone, db, 1); !errors.Is(err, context.Canceled) {
						t.Errorf("a caller who is gone: %v", err)
					}
				default:
					if body, err := briefly(t.Context(), db, 1); err != nil || body != "one" {
						t.Errorf("%q, %v", body, err)
					}
				}
			})
		}
		wait.Wait()
	})
}

func TestAReaderInASharedFlightSeesWhatWasCommittedBefore(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		var wait sync.WaitGroup
		for n := range 20 {
			wait.Go(func() {
				for round := range 10 {
					id := n*100 + round
					err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
						_, err := tx.Exec(t.Context(), "INSERT INTO notes (id, body) VALUES (?, ?)", id, fmt.Sprint("note ", id))
						return err
					})
					if err != nil {
						t.Error(err)
					}
					if _, err := briefly(t.Context(), db, id); err != nil {
						t.Errorf("note %d was committed and is not seen: %v", id, err)
					}
				}
			})
		}
		wait.Wait()
	})
}
