package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func notes(ctx context.Context, t *testing.T, db *sqldb.DB) int {
	t.Helper()
	n, err := sqldb.Value[int](ctx, db, "SELECT count(*) FROM notes")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReadsOfASnapshotAreOfOneMoment(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one')")
	ctx, end := db.Snapshot(t.Context())
	before := notes(ctx, t, db)
	run(t, db, "INSERT INTO notes (id, body) VALUES (2, 'two')")
	if within, outside := notes(ctx, t, db), notes(t.Context(), t, db); before != 1 || within != 1 || outside != 2 {
		t.Errorf("%d, then %d within and %d outside; want 1, 1 and 2", before, within, outside)
	}
	end()
	end()
	if after := notes(ctx, t, db); after != 2 {
		t.Errorf("%d after its end, want 2", after)
	}
}

func TestAWriteEndsTheSnapshotOfItsRequest(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		ctx, end := db.Snapshot(t.Context())
		defer end()
		if n := notes(ctx, t, db); n != 0 {
			t.Fatalf("%d notes", n)
		}
		if err := db.Write(ctx, insert(t, 1)); err != nil {
			t.Fatal(err)
		}
		if n := notes(ctx, t, db); n != 1 {
			t.Errorf("%d notes after the write, want 1", n)
		}
	})
}

func TestAReadWithinAReadHasItsOwnConnection(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one'), (2, 'two')")
	ctx, end := db.Snapshot(t.Context())
	defer end()
	err := sqldb.Each(ctx, db, "SELECT id FROM notes", nil, func(sqldb.Row) error {
		if n := notes(ctx, t, db); n != 2 {
			return fmt.Errorf("%d notes", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSnapshotsGiveTheirConnectionsBack(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
	for n := range 100 {
		ctx, end := db.Snapshot(t.Context())
		switch n % 4 {
		case 0: // it reads nothing
		case 1:
			notes(ctx, t, db)
		case 2:
			if _, err := sqldb.Value[int](ctx, db, "SELECT nothing FROM nowhere"); err == nil {
				t.Fatal("read from nowhere")
			}
		case 3:
			ended, cancel := context.WithCancel(ctx)
			notes(ended, t, db)
			cancel()
			if _, err := sqldb.Value[int](ended, db, "SELECT 1"); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		end()
	}
	if pool := db.Pools()["read"]; pool.InUse != 0 || pool.OpenConnections > pool.MaxOpenConnections {
		t.Errorf("the pool is %+v", pool)
	}
}

// A read that is interrupted leaves the rest of the snapshot as it was.
func TestASnapshotOutlivesAReadThatTookTooLong(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
	ctx, end := db.Snapshot(t.Context())
	defer end()
	before := notes(ctx, t, db)
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one')")
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`
	if _, err := sqldb.Value[int](short, db, endless); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an endless statement: %v", err)
	}
	if after := notes(ctx, t, db); after != before {
		t.Errorf("%d, and %d after it", before, after)
	}
}
