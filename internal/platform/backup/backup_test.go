package backup_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"carteira/internal/platform/backup"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func nights(t *testing.T, folder backup.Folder) []string {
	t.Helper()
	list, err := folder.List()
	must(t, err)
	var found []string
	for _, file := range list {
		found = append(found, file.Night)
	}
	return found
}

func TestOneCopyANight(t *testing.T) {
	db := sqldbtest.Open(t, sqldbtest.URL(t, sqldb.SQLite))
	folder := backup.Folder{Path: filepath.Join(t.TempDir(), "deep", "backups"), Days: 3}
	at := func(day, hour int) time.Time { return time.Date(2027, 1, day, hour, 30, 0, 0, time.Local) }
	for _, step := range []struct {
		now time.Time
		due bool
	}{
		{at(10, 12), true},  // the first start
		{at(10, 23), false}, // made
		{at(11, 2), false},  // still the same night
		{at(11, 3), true},
		{at(14, 9), true}, // after three days of downtime
	} {
		due, err := folder.Due(step.now)
		must(t, err)
		if due != step.due {
			t.Errorf("%v: due is %v", step.now, due)
		}
		if !due {
			continue
		}
		made, err := folder.Make(t.Context(), db, step.now)
		must(t, err)
		must(t, os.Chtimes(made.Path, step.now, step.now))
		must(t, folder.Prune(step.now))
		if made.Size == 0 || backup.Check(t.Context(), made.Path) != nil {
			t.Errorf("%+v cannot be read", made)
		}
	}
	if got := nights(t, folder); len(got) != 2 || got[0] != "2027-01-11" || got[1] != "2027-01-14" {
		t.Errorf("kept %v", got)
	}
}

func TestPruningKeepsTheNewestCopyAndWhatIsNotOurs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"carteira-2020-01-01.db", "carteira-2020-01-02.db", "carteira.db", "carteira-2020-01-01.db.gpg", "notes.txt"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	old := time.Date(2020, 1, 1, 4, 0, 0, 0, time.Local)
	must(t, os.Chtimes(filepath.Join(dir, "carteira-2020-01-01.db"), old, old))
	folder := backup.Folder{Path: dir, Days: 1}
	must(t, folder.Prune(time.Now()))
	if got := nights(t, folder); len(got) != 1 || got[0] != "2020-01-02" {
		t.Errorf("kept %v", got)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 4 {
		t.Errorf("%d files are left", len(entries))
	}
}

func TestFolderThatIsNotThereHasNoCopies(t *testing.T) {
	folder := backup.Folder{Path: filepath.Join(t.TempDir(), "none"), Days: 1}
	if list, err := folder.List(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	must(t, folder.Prune(time.Now()))
}

func TestDamagedCopyIsFound(t *testing.T) {
	db := sqldbtest.Open(t, sqldbtest.URL(t, sqldb.SQLite))
	folder := backup.Folder{Path: t.TempDir(), Days: 1}
	made, err := folder.Make(t.Context(), db, time.Now())
	must(t, err)
	content, err := os.ReadFile(made.Path)
	must(t, err)
	for i := len(content) / 2; i < len(content)/2+8192; i++ {
		content[i] ^= 0xff
	}
	must(t, os.WriteFile(made.Path, content, 0o600))
	if err := backup.Check(t.Context(), made.Path); err == nil {
		t.Error("a damaged copy passes")
	}
}
