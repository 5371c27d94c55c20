package program

import (
	"os"
	"path/filepath"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestBackupIsWholeWhileWritesGoOn(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	token := in.token(in.company())
	writing := startWriting(in.serve().client(token))
	defer writing.stop()
	before := writing.names(t, 100)

	restored := installBare(t, sqldb.SQLite)
	if err := os.Mkdir(restored.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(restored.dir, "carteira.db")
	in.run("backup", file)
	writing.names(t, len(writing.names(t, 0))+writers) // they went on
	writing.stop()

	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	db := sqldbtest.Open(t, restored.url)
	if sound, err := sqldb.Value[string](t.Context(), db, "PRAGMA integrity_check"); err != nil || sound != "ok" {
		t.Errorf("integrity_check: %s, %v", sound, err)
	}
	key, err := os.ReadFile(filepath.Join(in.dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(restored.dir, "secret.key"), string(key))
	copied, there := map[string]bool{}, map[int64]string{}
	for _, customer := range restored.serve().client(token).customers() {
		copied[customer.Name], there[customer.ID] = true, customer.Name
	}
	for _, name := range before {
		if !copied[name] {
			t.Errorf("%s was acknowledged before the backup and is not in it", name)
		}
	}
	wantOneEventEach(t, db, there)
}

func TestBackupOverwritesNothing(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	in.run("migrate")
	file := filepath.Join(t.TempDir(), "copy.db")
	write(t, file, "precious")
	wantRefusal(t, in.try(nil, "backup", file), 1, file, "exists already")
	if kept, err := os.ReadFile(file); string(kept) != "precious" {
		t.Errorf("the file is now %q, %v", kept, err)
	}
	wantRefusal(t, in.try(nil, "backup", filepath.Join(file, "below")), 1, "backup")
	if left := namesIn(t, filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBackupOfPostgresNamesTheTool(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	wantRefusal(t, in.try(nil, "backup", filepath.Join(t.TempDir(), "copy.db")), 1, "pg_dump")
}
