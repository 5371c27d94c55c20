package sqldb_test

import (
	"context"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

type noteCount struct{}

// remembered counts the notes of a snapshot of its own, and reports whether it knew
// their number already.
func remembered(t *testing.T, db *sqldb.DB) (n int, known bool) {
	t.Helper()
	ctx, end := db.Snapshot(t.Context())
	defer end()
	if n, known = sqldb.Recall[int](ctx, noteCount{}); !known {
		n = notes(ctx, t, db)
		sqldb.Remember(ctx, noteCount{}, n)
	}
	return n, known
}

func TestWhatIsRememberedIsForgottenWithTheNextCommit(t *testing.T) {
	url := sqldbtest.URL(t, sqldb.SQLite)
	db, other := withNotes(t, sqldbtest.Open(t, url)), sqldbtest.Open(t, url) // as two processes have it
	for id, writer := range []*sqldb.DB{db, other, db, other} {
		if err := writer.Write(t.Context(), insert(t, int64(id))); err != nil {
			t.Fatal(err)
		}
		for again := range 3 {
			if n, known := remembered(t, db); n != id+1 || known != (again > 0) {
				t.Errorf("after %d writes, look %d: %d notes, known %t", id+1, again, n, known)
			}
		}
	}
}

func TestNothingIsRememberedOutsideOfASnapshot(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := withNotes(t, sqldbtest.New(t, engine))
		ctx, end := db.Snapshot(t.Context())
		if engine == sqldb.SQLite {
			end()
		}
		defer end()
		for _, ctx := range []context.Context{t.Context(), ctx} {
			sqldb.Remember(ctx, noteCount{}, 1)
			if n, known := sqldb.Recall[int](ctx, noteCount{}); known {
				t.Errorf("%d notes are known", n)
			}
		}
	})
}

func TestASnapshotKeepsWhatItRemembersThroughACommit(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
	ctx, end := db.Snapshot(t.Context())
	defer end()
	sqldb.Remember(ctx, noteCount{}, notes(ctx, t, db))
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one')")
	if n, known := sqldb.Recall[int](ctx, noteCount{}); n != 0 || !known {
		t.Errorf("%d notes, known %t; the snapshot is from before the commit", n, known)
	}
	if n, known := remembered(t, db); n != 1 || known {
		t.Errorf("%d notes in a new snapshot, known %t", n, known)
	}
}
