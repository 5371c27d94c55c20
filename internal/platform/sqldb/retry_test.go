package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestUniqueViolationIsTriedOnceMore(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		runs := 0
		duplicate := func(tx *sqldb.Tx) error {
			runs++
			return insert(t, 1)(tx)
		}
		if err := db.Write(t.Context(), duplicate); err != nil || runs != 1 {
			t.Fatalf("%v in %d runs, want success in 1", err, runs)
		}
		runs = 0
		if err := db.Write(t.Context(), duplicate); !errors.Is(err, sqldb.ErrUnique) || runs != 2 {
			t.Errorf("%v in %d runs, want ErrUnique in 2", err, runs)
		}
	})
}

func TestBusyTransactionIsTriedABoundedNumberOfTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sqldbtest.New(t, sqldb.SQLite)
		runs := 0
		err := db.Write(t.Context(), func(*sqldb.Tx) error {
			runs++
			return fmt.Errorf("always: %w", sqldb.ErrBusy)
		})
		if !errors.Is(err, sqldb.ErrBusy) || runs != sqldb.Retries {
			t.Errorf("%v in %d runs, want ErrBusy in %d", err, runs, sqldb.Retries)
		}
	})
}

func TestRetriesEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sqldbtest.New(t, sqldb.SQLite)
		const patience = 20 * time.Millisecond
		began := time.Now() // of the bubble, in which time passes only in pauses
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		err := db.Write(ctx, func(*sqldb.Tx) error { return sqldb.ErrBusy })
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != patience {
			t.Errorf("got %v after %v, want the end of the context after %v", err, took, patience)
		}
	})
}

// twoProcesses opens one SQLite file twice; ours does not wait for a lock
// inside SQLite, which would be in real time.
func twoProcesses(t *testing.T) (ours, theirs *sqldb.DB) {
	t.Helper()
	url := sqldbtest.URL(t, sqldb.SQLite)
	ours, theirs = withNotes(t, sqldbtest.Open(t, url)), sqldbtest.Open(t, url)
	run(t, ours, "PRAGMA busy_timeout = 0")
	return ours, theirs
}

// hold keeps the write lock of db until release is called.
func hold(t *testing.T, db *sqldb.DB) (release func()) {
	t.Helper()
	held, let := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- db.Write(t.Context(), func(tx *sqldb.Tx) error {
			close(held)
			<-let
			return insert(t, 1)(tx)
		})
	}()
	<-held
	return func() {
		close(let)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestWriteIsRepeatedWhileAnotherProcessHoldsTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := twoProcesses(t)
		release := hold(t, theirs)
		done := make(chan error, 1)
		go func() { done <- ours.Write(t.Context(), insert(t, 2)) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("ended while the lock was held: %v", err)
		default: // it has been refused at least once
		}
		release()
		if err := <-done; err != nil {
			t.Error(err)
		}
		wantNotes(t, ours, 1, 2)
	})
}

func TestWriteGivesUpOnALockThatIsNeverReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := twoProcesses(t)
		release := hold(t, theirs)
		if err := ours.Write(t.Context(), insert(t, 2)); !errors.Is(err, sqldb.ErrBusy) {
			t.Errorf("got %v, want ErrBusy", err)
		}
		release()
		wantNotes(t, ours, 1)
	})
}

func TestSerializationFailureIsRunAgain(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.Postgres))
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'contested')")
	runs := 0
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		runs++
		if _, err := tx.Exec(t.Context(), "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
			return err
		}
		wantNotes(t, tx, 1)
		if runs == 1 {
			run(t, db, "UPDATE notes SET body = body || '.'")
		}
		return touch(t, tx, 1)
	})
	if err != nil || runs != 2 {
		t.Errorf("%v in %d runs, want success in 2", err, runs)
	}
}

func TestDeadlockIsRunAgain(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.Postgres))
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one'), (2, 'two')")
	var runs atomic.Int64
	var errs [2]error
	var met, running sync.WaitGroup
	met.Add(2)
	for i := range errs {
		meet := sync.OnceFunc(func() { met.Done(); met.Wait() })
		running.Go(func() {
			errs[i] = db.Write(t.Context(), func(tx *sqldb.Tx) error {
				runs.Add(1)
				if _, err := tx.Exec(t.Context(), "SET LOCAL deadlock_timeout = '10ms'"); err != nil {
					return err
				}
				if err := touch(t, tx, 1+i); err != nil {
					return err
				}
				meet() // each now holds the row that the other wants
				return touch(t, tx, 2-i)
			})
		})
	}
	running.Wait()
	if err := errors.Join(errs[:]...); err != nil || runs.Load() < 3 {
		t.Errorf("%v in %d runs, want success, and one that was run again", err, runs.Load())
	}
}

func touch(t *testing.T, tx *sqldb.Tx, id int) error {
	t.Helper()
	_, err := tx.Exec(t.Context(), "UPDATE notes SET body = body || '.' WHERE id = ?", id)
	return err
}
