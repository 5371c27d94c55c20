package sqldb_test

import (
	"crypto/rand"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// setting reads a setting of the connection that writes.
func setting(t *testing.T, db *sqldb.DB, text string) (value string) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		value, err = sqldb.Value[string](t.Context(), tx, text)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func TestSQLiteFlushesEveryCommit(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	for pragma, want := range map[string]string{
		"journal_mode": "wal",
		"synchronous":  "2", // FULL
		"foreign_keys": "1",
		"query_only":   "0",
	} {
		if got := setting(t, db, "PRAGMA "+pragma); got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
}

func TestClosedDatabaseIsOneFile(t *testing.T) {
	dir := t.TempDir()
	db, file := fileOf(t, dir)
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'one')")
	wantNotes(t, db, 1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || !slices.Equal(left, []string{file}) {
		t.Errorf("%v are left, %v; want %s", left, err, file)
	}
}

func TestPostgresFlushesEveryCommitWhateverTheRoleSays(t *testing.T) {
	address := sqldbtest.URL(t, sqldb.Postgres)
	admin := sqldbtest.Open(t, address)
	for given, want := range map[string]string{"off": "on", "on": "on", "remote_apply": "remote_apply"} {
		t.Run(given, func(t *testing.T) {
			role := "test_" + strings.ToLower(rand.Text())
			run(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'secret'")
			defer run(t, admin, "DROP ROLE "+role)
			run(t, admin, "ALTER ROLE "+role+" SET synchronous_commit = "+given)

			db, err := sqldb.Open(t.Context(), as(t, role, address), sqldb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if got := setting(t, db, "SELECT current_setting('synchronous_commit')"); got != want {
				t.Errorf("synchronous_commit is %s, want %s", got, want)
			}
		})
	}
}

func as(t *testing.T, role, address string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	target.User = url.UserPassword(role, "secret")
	return target.String()
}
