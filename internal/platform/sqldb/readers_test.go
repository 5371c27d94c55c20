package sqldb_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// reading keeps a connection of the read side until release is called, and
// returns how the reading ended.
func reading(t *testing.T, db *sqldb.DB) (release func() error) {
	t.Helper()
	begun, let, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- sqldb.Each(sqldb.WithoutDeadline(t.Context()), db, "SELECT 1", nil, func(sqldb.Row) error {
			close(begun)
			<-let
			return nil
		})
	}()
	<-begun
	return func() error {
		close(let)
		return <-ended
	}
}

func wantOneFile(t *testing.T, dir, file string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || !slices.Equal(left, []string{file}) {
		t.Errorf("%v are left, %v; want %s", left, err, file)
	}
}

func TestCloseWaitsForThoseWhoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		db, file := fileOf(t, dir)
		run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one')")
		release := reading(t, db)
		closed := make(chan error, 1)
		go func() { closed <- db.Close() }()
		synctest.Wait()
		select {
		case err := <-closed:
			t.Fatalf("closed while a read was running: %v", err)
		default:
		}
		if err := errors.Join(release(), <-closed); err != nil {
			t.Error(err)
		}
		wantOneFile(t, dir, file)
	})
}

func TestReaderWhoOutlivesCloseIsTheLastToClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		db, file := fileOf(t, dir)
		run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one')")
		release := reading(t, db)
		if err := db.Close(); err != nil { // in the time of the bubble
			t.Error(err)
		}
		if _, err := sqldb.Value[int](t.Context(), db, "SELECT 1"); !errors.Is(err, sqldb.ErrClosed) {
			t.Errorf("a new read: %v, want ErrClosed", err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		wantOneFile(t, dir, file)
	})
}

// busy has all connections of the read side at work.
func busy(t *testing.T, db *sqldb.DB) (release func()) {
	t.Helper()
	var releases []func() error
	for range db.Pools()["read"].MaxOpenConnections {
		releases = append(releases, reading(t, db))
	}
	return func() {
		for _, release := range releases {
			if err := release(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestReadWaitsForAConnectionUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sqldbtest.New(t, sqldb.SQLite)
		release := busy(t, db)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := sqldb.Value[int](ctx, db, "SELECT 2"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sqldb.ErrUnavailable) {
			t.Errorf("got %v, want the caller's deadline", err)
		}
		if _, err := sqldb.Value[int](context.Background(), db, "SELECT 2"); !errors.Is(err, sqldb.ErrUnavailable) {
			t.Errorf("without a deadline: %v, want ErrUnavailable", err)
		}
		pool := db.Pools()["read"]
		if pool.WaitCount != 2 || pool.WaitDuration < time.Second || pool.InUse != pool.MaxOpenConnections || pool.Idle != 0 {
			t.Errorf("the pool says %+v", pool)
		}
		release()
		if _, err := sqldb.Value[int](t.Context(), db, "SELECT 2"); err != nil {
			t.Error(err)
		}
		if pool := db.Pools()["read"]; pool.InUse != 0 || pool.Idle != pool.OpenConnections || pool.Idle == 0 {
			t.Errorf("afterwards the pool says %+v", pool)
		}
	})
}

func TestReadThatWaitsGetsTheNextFreeConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sqldbtest.New(t, sqldb.SQLite)
		release := busy(t, db)
		var waiting sync.WaitGroup
		for range 10 {
			waiting.Go(func() {
				if got, err := sqldb.Value[int](t.Context(), db, "SELECT 2"); err != nil || got != 2 {
					t.Errorf("%d, %v", got, err)
				}
			})
		}
		synctest.Wait()
		release()
		waiting.Wait()
	})
}

func TestReaderThatPanicsGivesItsConnectionBack(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	func() {
		defer func() { _ = recover() }()
		_ = sqldb.Each(t.Context(), db, "SELECT 1", nil, func(sqldb.Row) error { panic("oops") })
	}()
	if pool := db.Pools()["read"]; pool.InUse != 0 {
		t.Errorf("the pool says %+v", pool)
	}
}
