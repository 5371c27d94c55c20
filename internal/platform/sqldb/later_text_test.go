package sqldb_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func TestLateTextsAreWrittenWithTheirRows(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		made := 0
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			for n := range 2 {
				late := tx.LateText(func() (string, error) {
					made++
					return fmt.Sprint("late ", n), nil
				})
				if err := tx.Append(t.Context(), laterNotes, n, late, nil); err != nil {
					return err
				}
			}
			if made != 0 {
				t.Errorf("%d texts were made while the transaction had its turn", made)
			}
			return nil
		})
		if err != nil || made != 2 {
			t.Errorf("%d texts were made, %v; want 2", made, err)
		}
		wantBodies(t, db, "late 0", "late 1")
	})
}

func TestAStatementSeesALateTextThatWasPutOffBeforeIt(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			late := tx.LateText(func() (string, error) { return "late", nil })
			if err := tx.Append(t.Context(), laterNotes, 1, late, nil); err != nil {
				return err
			}
			wantBodies(t, tx, "late")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		wantBodies(t, db, "late")
	})
}

// Those who share a commit with a transaction whose text cannot be made are
// written all the same.
func TestALateTextThatCannotBeMadeFailsItsOwnTransactionAlone(t *testing.T) {
	errUnreadable := errors.New("it cannot be encoded")
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		const writers = 40
		var wait sync.WaitGroup
		outcomes := make([]error, writers)
		for n := range writers {
			wait.Go(func() {
				outcomes[n] = db.Write(t.Context(), func(tx *sqldb.Tx) error {
					late := tx.LateText(func() (string, error) {
						switch n {
						case 7:
							return "", errUnreadable
						case 9:
							panic("it has no form")
						}
						return fmt.Sprint("n", n), nil
					})
					return tx.Append(t.Context(), laterNotes, n, late, nil)
				})
			})
		}
		wait.Wait()
		for n, err := range outcomes {
			switch {
			case n == 7 && errors.Is(err, errUnreadable):
			case n == 9 && err != nil && strings.Contains(err.Error(), "it has no form"):
			case n != 7 && n != 9 && err == nil:
			default:
				t.Errorf("writer %d: %v", n, err)
			}
		}
		if list := bodies(t, db); len(list) != writers-2 {
			t.Errorf("%d notes, want %d: %q", len(list), writers-2, list)
		}
	})
}
