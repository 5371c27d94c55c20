package sqldb_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var must = housetest.Must

// fileOf opens an embedded database with notes and returns its file.
func fileOf(t *testing.T, dir string) (*sqldb.DB, string) {
	t.Helper()
	file := filepath.Join(dir, "carteira.db")
	db, err := sqldb.Open(t.Context(), "sqlite:"+file, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return withNotes(t, db), file
}

func wantTrouble(t *testing.T, db *sqldb.DB, want sqldb.Trouble) {
	t.Helper()
	if err := db.Probe(t.Context(), 0); sqldb.TroubleOf(err) != want {
		t.Errorf("trouble %q, want %q: %v", sqldb.TroubleOf(err), want, err)
	}
}

func TestProbeWritesAndIsGreen(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		wantTrouble(t, db, "")
		if at := probedAt(t, db); at == 0 {
			t.Error("nothing was written")
		}
	})
}

func TestProbeAfterAWriteWritesNothing(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'proof enough')")
		if err := db.Probe(t.Context(), time.Hour); err != nil {
			t.Error(err)
		}
		if at := probedAt(t, db); at != 0 {
			t.Errorf("probed at %d", at)
		}
	})
}

func probedAt(t *testing.T, db *sqldb.DB) int64 {
	t.Helper()
	at, err := sqldb.Value[int64](t.Context(), db, "SELECT MAX(probed_at) FROM schema_migrations")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// A process that is cut off in the middle of its probe holds a lock on the row.
func TestProbesDoNotWaitForEachOther(t *testing.T) {
	url := sqldbtest.URL(t, sqldb.Postgres)
	ours, theirs := sqldbtest.Open(t, url), sqldbtest.Open(t, url)
	err := theirs.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(t.Context(), "UPDATE schema_migrations SET probed_at = 1"); err != nil {
			return err
		}
		wantTrouble(t, ours, "")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLongTransactionIsNoTroubleOfTheEmbeddedDatabase(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.SQLite))
	release := hold(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // only a failure takes so long
	defer cancel()
	if err := db.Probe(ctx, 0); err != nil {
		t.Errorf("while another writes: %v", err)
	}
	release()
}

func TestSchemaThatWasMigratedAwayIsTrouble(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		run(t, db, "INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'of tomorrow', 0)")
		wantTrouble(t, db, "newer_schema")
	})
}

func TestDatabaseThatTakesNoWritesIsTrouble(t *testing.T) {
	embedded := sqldbtest.New(t, sqldb.SQLite)
	run(t, embedded, "PRAGMA query_only = 1")
	wantTrouble(t, embedded, "read_only")

	db := sqldbtest.New(t, sqldb.Postgres, func(options *sqldb.Options) { options.MaxConns = 1 })
	run(t, db, "SET SESSION default_transaction_read_only = on")
	wantTrouble(t, db, "read_only")
	wantTrouble(t, db, "") // by a new connection
}

func TestFilesThatWereTakenAwayAreNoticedAndNothingMoreIsAcknowledged(t *testing.T) {
	ways := map[string]func(t *testing.T, dir, file string){
		"folder removed":  func(t *testing.T, dir, _ string) { must(t, os.RemoveAll(dir)) },
		"file removed":    func(t *testing.T, _, file string) { must(t, os.Remove(file)) },
		"log removed":     func(t *testing.T, _, file string) { must(t, os.Remove(file+"-wal")) },
		"file replaced":   func(t *testing.T, _, file string) { must(t, os.Remove(file)); must(t, os.WriteFile(file, nil, 0o600)) },
		"folder replaced": func(t *testing.T, dir, _ string) { must(t, os.Rename(dir, dir+".old")); must(t, os.Mkdir(dir, 0o700)) },
	}
	for name, takeAway := range ways {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			must(t, os.Mkdir(dir, 0o700))
			db, file := fileOf(t, dir)
			run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'before')")
			wantTrouble(t, db, "")
			takeAway(t, dir, file)
			err := db.Write(t.Context(), insert(t, 2))
			if !errors.Is(err, sqldb.ErrMoved) || !errors.Is(err, sqldb.ErrUnavailable) || !sqldb.TroubleOf(err).NeedsOperator() {
				t.Errorf("a write: %v, want ErrMoved", err)
			}
			wantTrouble(t, db, "moved")
		})
	}
}

func TestFolderThatCameBackIsUsedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o700))
	db, _ := fileOf(t, dir)
	must(t, os.Rename(dir, dir+".elsewhere"))
	wantTrouble(t, db, "moved")
	must(t, os.Rename(dir+".elsewhere", dir))
	wantTrouble(t, db, "")
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'after')")
}

func TestCommitToFilesThatWereTakenAwayIsNotAcknowledged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o700))
	db, _ := fileOf(t, dir)
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		err := insert(t, 1)(tx)
		return errors.Join(err, os.RemoveAll(dir))
	})
	if !errors.Is(err, sqldb.ErrMoved) {
		t.Errorf("got %v, want ErrMoved", err)
	}
}

func TestDamagedPageIsToldApart(t *testing.T) {
	dir := t.TempDir()
	db, file := fileOf(t, dir)
	for id := range int64(500) {
		run(t, db, "INSERT INTO notes (id, body) VALUES (?, ?)", id, strings.Repeat("x", 200)+string(rune('a'+id)))
	}
	page, err := sqldb.Value[int64](t.Context(), db, "SELECT rootpage FROM sqlite_schema WHERE name = 'notes'")
	must(t, err)
	must(t, db.Close())
	damage(t, file, page)

	var log bytes.Buffer
	db, err = sqldb.Open(t.Context(), "sqlite:"+file, sqldb.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	defer func() { _ = db.Close() }()
	_, err = sqldb.Value[int](t.Context(), db, "SELECT count(*) FROM notes NOT INDEXED WHERE body > ''")
	if !errors.Is(err, sqldb.ErrDamaged) {
		t.Errorf("a read: %v, want ErrDamaged", err)
	}
	wantTrouble(t, db, "damaged") // though the probe met none of it
	if err := db.Write(t.Context(), insert(t, 1000)); !errors.Is(err, sqldb.ErrDamaged) {
		t.Errorf("a write: %v, want ErrDamaged", err)
	}
	wantTrouble(t, db, "damaged")
	if n := db.Troubles()["damaged"]; n != 4 {
		t.Errorf("counted %d times, want 4", n)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "trouble=damaged") {
		t.Errorf("logged %d times, want once:\n%s", n, log.String())
	}
}

// damage overwrites one page of a file.
func damage(t *testing.T, file string, page int64) {
	t.Helper()
	const size = 4096
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xA5}, size), (page-1)*size)
	must(t, errors.Join(err, f.Close()))
}
