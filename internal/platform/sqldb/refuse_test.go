package sqldb_test

import (
	"errors"
	"os"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// A process of an older version that is left running next to a newer one.
func TestProcessOfAnOlderSchemaWritesNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		older, newer := sqldbtest.Open(t, url), sqldbtest.Open(t, url)
		withNotes(t, newer)
		run(t, older, "INSERT INTO notes (id, body) VALUES (1, 'before')")
		run(t, newer, "INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'of tomorrow', 0)")
		for _, write := range map[string]func() error{
			"a write":         func() error { return older.Write(t.Context(), insert(t, 2)) },
			"a relaxed write": func() error { return older.WriteRelaxed(t.Context(), insert(t, 3)) },
			"a queued write": func() error {
				return older.Write(t.Context(), func(tx *sqldb.Tx) error {
					return tx.Queue(t.Context(), "INSERT INTO notes (id, body) VALUES (4, 'queued')")
				})
			},
		} {
			if err := write(); !errors.Is(err, sqldb.ErrNewer) || !errors.Is(err, sqldb.ErrUnavailable) {
				t.Errorf("got %v, want ErrNewer", err)
			}
		}
		wantNotes(t, older, 1)
	})
}

// What a failed flush leaves in the log may never reach the disk: nothing is
// acknowledged on top of it.
func TestNothingIsAcknowledgedOnTopOfAFailedFlush(t *testing.T) {
	db, file := fileOf(t, t.TempDir())
	must(t, db.WriteRelaxed(t.Context(), insert(t, 1)))
	if size := logSize(t, file); size == 0 {
		t.Fatal("the relaxed write is not in the log")
	}
	db.FailFlush()
	if err := db.Write(t.Context(), insert(t, 2)); !errors.Is(err, sqldb.ErrDisk) {
		t.Errorf("got %v, want ErrDisk", err)
	}
	before := logSize(t, file)
	must(t, db.Write(t.Context(), insert(t, 3)))
	if after := logSize(t, file); after >= before {
		t.Errorf("the log had %d bytes and has %d: it was not begun anew", before, after)
	}
	wantNotes(t, db, 1, 3)
}

func logSize(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file + "-wal")
	must(t, err)
	return info.Size()
}
