package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

var errRefused = errors.New("refused")

func TestWriteKeepsWhatSucceedsAndUndoesWhatFails(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		if err := db.Write(t.Context(), insert(t, 1)); err != nil {
			t.Fatal(err)
		}
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if err := insert(t, 2)(tx); err != nil {
				return err
			}
			wantNotes(t, tx, 1, 2)
			wantNotes(t, db, 1)
			return errRefused
		})
		if !errors.Is(err, errRefused) {
			t.Errorf("got %v, want the error of the transaction", err)
		}
		wantNotes(t, db, 1)
	})
}

func TestPanicInWriteReachesItsCallerAndUndoesItsWork(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		func() {
			defer func() {
				if p := recover(); p != "oops" {
					t.Errorf("recovered %v, want the value of the panic", p)
				}
			}()
			_ = db.Write(t.Context(), func(tx *sqldb.Tx) error {
				if err := insert(t, 1)(tx); err != nil {
					return err
				}
				panic("oops")
			})
		}()
		if err := db.Write(t.Context(), insert(t, 2)); err != nil {
			t.Errorf("the next write: %v", err)
		}
		wantNotes(t, db, 2)
	})
}

func TestTransactionBearsOneInstantInWholeMicroseconds(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		began := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
		now := began
		clock := func(options *sqldb.Options) { options.Now = func() time.Time { return now } }
		db := sqldbtest.New(t, engine, clock)
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			now = now.Add(time.Hour)
			if want := began.Truncate(time.Microsecond); !tx.Now().Equal(want) {
				t.Errorf("the transaction says %v, want %v", tx.Now(), want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := now.Truncate(time.Microsecond); !db.Now().Equal(want) {
			t.Errorf("the database says %v, want %v", db.Now(), want)
		}
	})
}

func TestOnCommitRunsOnceAndOnlyAfterTheCommit(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		runs, calls := 0, 0
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			runs++
			tx.OnCommit(func() {
				calls++
				wantNotes(t, db, 1)
			})
			if runs == 1 {
				return fmt.Errorf("another was in the way: %w", sqldb.ErrBusy)
			}
			return insert(t, 1)(tx)
		})
		if err != nil || runs != 2 || calls != 1 {
			t.Errorf("%v: %d runs, %d calls; want 2 and 1", err, runs, calls)
		}

		err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
			tx.OnCommit(func() { t.Error("called for a transaction that failed") })
			return errRefused
		})
		if !errors.Is(err, errRefused) {
			t.Error(err)
		}
	})
}

func TestCancelledContextWritesNothing(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.Write(ctx, insert(t, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the cancellation", err)
		}
		wantNotes(t, db)
	})
}

func TestReadSideOfSQLiteRefusesWrites(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
	id, err := sqldb.Value[int64](t.Context(), db, "INSERT INTO notes (id, body) VALUES (1, 'sneaked in') RETURNING id")
	if err == nil {
		t.Errorf("inserted note %d without a transaction", id)
	}
	wantNotes(t, db)
}

func TestClosedDatabaseRefusesWork(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if err := errors.Join(db.Close(), db.Close()); err != nil {
			t.Errorf("closing twice: %v", err)
		}
		if err := db.Write(t.Context(), func(*sqldb.Tx) error { return nil }); err == nil {
			t.Error("a write was accepted")
		}
		if err := db.Ping(t.Context()); err == nil {
			t.Error("a ping was answered")
		}
	})
}

func TestLongWorkPausesByTheTimeThatItTakesAndNotByItsSteps(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	longAgo, recently := time.Now().Add(-time.Second), time.Now().Add(time.Hour)
	for _, before := range []time.Time{{}, longAgo, recently} {
		last := before
		if err := db.Yield(t.Context(), &last); err != nil {
			t.Fatal(err)
		}
		if paused := last != before; paused != (before != recently) {
			t.Errorf("paused %t, when others could write last at %s", paused, before)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, last := range []time.Time{longAgo, recently} {
		if err := db.Yield(ended, &last); !errors.Is(err, context.Canceled) {
			t.Errorf("yielded with %v when the work is over", err)
		}
	}
}
