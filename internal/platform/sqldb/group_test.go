package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// together runs the transactions in one group and in that order: the first does
// not begin before the others are in the queue. The caller is in a bubble of
// synctest.
func together(t *testing.T, db *sqldb.DB, first func(*sqldb.Tx) error, others ...func(*sqldb.Tx) error) []error {
	t.Helper()
	errs := make([]error, 1+len(others))
	var queued sync.WaitGroup
	queue := sync.OnceFunc(func() {
		for i, other := range others {
			queued.Go(func() { errs[1+i] = caught(t, db, other) })
			synctest.Wait()
		}
	})
	errs[0] = caught(t, db, func(tx *sqldb.Tx) error {
		queue()
		return first(tx)
	})
	queued.Wait()
	return errs
}

// caught is Write with a panic in it as its error.
func caught(t *testing.T, db *sqldb.DB, fn func(*sqldb.Tx) error) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	return db.Write(t.Context(), fn)
}

func TestWaitingWritesShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		errs := together(t, db, insert(t, 1), func(tx *sqldb.Tx) error {
			wantNotes(t, tx, 1)
			wantNotes(t, db)
			return insert(t, 2)(tx)
		})
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		wantNotes(t, db, 1, 2)
	})
}

func TestFailureInAGroupUndoesOnlyItself(t *testing.T) {
	ends := map[string]func() error{
		"refusal": func() error { return errRefused },
		"panic":   func() error { panic(errRefused) },
	}
	for name, end := range ends {
		for offender := range 3 {
			t.Run(fmt.Sprint(name, " of ", offender), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
					writes := []func(*sqldb.Tx) error{insert(t, 0), insert(t, 1), insert(t, 2)}
					writes[offender] = func(tx *sqldb.Tx) error {
						if err := insert(t, int64(offender))(tx); err != nil {
							return err
						}
						return end()
					}
					for i, err := range together(t, db, writes[0], writes[1:]...) {
						if i == offender && !errors.Is(err, errRefused) || i != offender && err != nil {
							t.Errorf("write %d: %v", i, err)
						}
					}
					wantNotes(t, db, slices.Delete([]int64{0, 1, 2}, offender, offender+1)...)
				})
			})
		}
	}
}

func TestRefusalThatWroteNothingCostsItsNeighboursNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		runs := 0
		neighbour := func(id int64) func(*sqldb.Tx) error {
			return func(tx *sqldb.Tx) error {
				runs++
				return insert(t, id)(tx)
			}
		}
		errs := together(t, db, neighbour(1), func(*sqldb.Tx) error { return errRefused }, neighbour(2),
			func(*sqldb.Tx) error { panic(errRefused) })
		if errs[0] != nil || !errors.Is(errs[1], errRefused) || errs[2] != nil || !errors.Is(errs[3], errRefused) || runs != 2 {
			t.Errorf("errors %v, neighbours ran %d times, want 2", errs, runs)
		}
		wantNotes(t, db, 1, 2)
	})
}

// SQLite ends a transaction by itself when the disk is full, for one.
func TestGroupSurvivesTheEndOfItsTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		ended := func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), "ROLLBACK")
			return errors.Join(err, errRefused)
		}
		errs := together(t, db, insert(t, 1), ended, insert(t, 2))
		if errs[0] != nil || !errors.Is(errs[1], errRefused) || errs[2] != nil {
			t.Errorf("errors %v, want only the second refused", errs)
		}
		wantNotes(t, db, 1, 2)
	})
}

func TestRefusalForWorkThatIsTakenBackIsTakenBackToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		seen := func(tx *sqldb.Tx) (bool, error) {
			n, err := sqldb.Value[int64](t.Context(), tx, "SELECT COUNT(*) FROM notes")
			return n > 0, err
		}
		runs := 0
		errs := together(t, db,
			func(tx *sqldb.Tx) error { // is there at first, and not in the end
				if runs++; runs > 1 {
					return errRefused
				}
				return insert(t, 1)(tx)
			},
			func(tx *sqldb.Tx) error { // sees it in the group
				if taken, err := seen(tx); taken || err != nil {
					return errors.Join(err, errRefused)
				}
				return insert(t, 2)(tx)
			},
			func(tx *sqldb.Tx) error { // undoes the group
				return errors.Join(insert(t, 3)(tx), errRefused)
			})
		if errs[1] != nil {
			t.Errorf("refused for a note that is not there: %v", errs[1])
		}
		wantNotes(t, db, 2)
	})
}

func TestThoseWhoRunAgainDoSoAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		errs := together(t, db, insert(t, 1),
			func(tx *sqldb.Tx) error { return errors.Join(insert(t, 2)(tx), errRefused) },
			func(tx *sqldb.Tx) error {
				synctest.Wait() // the other two are back in the queue, behind this one
				wantNotes(t, tx)
				return insert(t, 3)(tx)
			},
			func(tx *sqldb.Tx) error {
				wantNotes(t, tx, 3)
				wantNotes(t, db)
				return insert(t, 4)(tx)
			})
		if errs[0] != nil || !errors.Is(errs[1], errRefused) || errs[2] != nil || errs[3] != nil {
			t.Errorf("errors %v, want only the second refused", errs)
		}
		wantNotes(t, db, 1, 3, 4)
	})
}

func TestCancellationInAGroupDoesNoHarmToItsNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled error
		errs := together(t, db, insert(t, 1),
			func(tx *sqldb.Tx) error {
				cancel()
				_, cancelled = tx.Exec(ctx, "INSERT INTO notes (id, body) VALUES (2, 'of a caller who left')")
				return ctx.Err()
			},
			insert(t, 3))
		if cancelled != nil {
			t.Errorf("a statement was interrupted, and SQLite undoes the whole group then: %v", cancelled)
		}
		if errs[0] != nil || !errors.Is(errs[1], context.Canceled) || errs[2] != nil {
			t.Errorf("errors %v, want only the second cancelled", errs)
		}
		wantNotes(t, db, 1, 3)
	})
}

func TestCallerWhoGivesUpWaitingIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		ctx, cancel := context.WithCancel(t.Context())
		var impatient error
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			go func() { impatient = db.Write(ctx, insert(t, 2)) }()
			synctest.Wait()
			cancel()
			synctest.Wait()
			return insert(t, 1)(tx)
		})
		if err != nil || !errors.Is(impatient, context.Canceled) {
			t.Errorf("errors %v and %v, want the second cancelled", err, impatient)
		}
		wantNotes(t, db, 1)
	})
}

// A deferred foreign key is what makes a commit fail here; in life it is the disk.
func TestWhenACommitFailsEverybodyTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		run(t, db, "CREATE TABLE replies (note BIGINT REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)")
		offences := 1
		acknowledged := 0
		neighbour := func(tx *sqldb.Tx) error {
			tx.OnCommit(func() { acknowledged++ })
			return insert(t, 1)(tx)
		}
		offender := func(tx *sqldb.Tx) error {
			if offences == 0 {
				return insert(t, 2)(tx)
			}
			offences--
			_, err := tx.Exec(t.Context(), "INSERT INTO replies VALUES (404)")
			return err
		}
		errs := together(t, db, neighbour, offender)
		if err := errors.Join(errs...); err != nil || acknowledged != 1 {
			t.Errorf("%v: acknowledged %d times, want once", err, acknowledged)
		}
		wantNotes(t, db, 1, 2)
	})
}

func TestAllAcknowledgedParallelWritesAreThere(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		const writers = 300 // more than fit into one group
		errs := make([]error, writers)
		want := make([]int64, writers)
		var running sync.WaitGroup
		for i := range writers {
			want[i] = int64(i)
			running.Go(func() { errs[i] = db.Write(t.Context(), insert(t, int64(i))) })
		}
		running.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantNotes(t, db, want...)
	})
}

// A test that fails in its transaction ends its own goroutine, and not the writer.
func TestEndOfAGoroutineInATransactionIsItsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
		var callers sync.WaitGroup
		returned := false
		callers.Go(func() {
			_ = db.Write(t.Context(), func(tx *sqldb.Tx) error {
				if err := insert(t, 1)(tx); err != nil {
					return err
				}
				runtime.Goexit()
				return nil
			})
			returned = true
		})
		callers.Wait()
		if err := db.Write(t.Context(), insert(t, 2)); err != nil || returned {
			t.Errorf("%v; the caller went on: %v", err, returned)
		}
		wantNotes(t, db, 2)
	})
}

// Whatever it does, a trigger on an INSERT makes SQLite copy every page that the
// new row touches.
func TestNoTriggerOnRowsThatAreWrittenOneByOne(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	found, err := sqldb.Values[string](t.Context(), db, `
		SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('customers', 'invoices') AND sql LIKE '% INSERT ON %'`)
	if err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
}
