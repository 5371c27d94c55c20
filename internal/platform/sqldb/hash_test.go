package sqldb_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const released = "testdata/released_migrations.sha256"

// released_migrations.sha256 has a line for each migration that was ever
// released; -update adds those that are new, and never changes a line.
func TestReleasedMigrationsAreAsTheyWereReleased(t *testing.T) {
	golden, err := os.ReadFile(released)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("migrations/*/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations: %v", len(files), err)
	}
	now := map[string]string{}
	var added strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		now[file] = fmt.Sprintf("%x", sha256.Sum256(text))
		if !strings.Contains(string(golden), "  "+file+"\n") {
			fmt.Fprintf(&added, "%s  %s\n", now[file], file)
		}
	}
	for line := range strings.Lines(string(golden)) {
		hash, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if now[file] != hash {
			t.Errorf("%s was released and is now another: databases have the old one; write a new migration instead", file)
		}
	}
	if *update && added.Len() > 0 {
		if err := os.WriteFile(released, append(golden, added.String()...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDatabaseWithAnotherMigrationIsRefusedInWords(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		run(t, db, "UPDATE schema_migrations SET hash = 'of a fork' WHERE version = 1")
		err := db.Migrate(t.Context())
		if !errors.Is(err, sqldb.ErrAltered) || !strings.Contains(err.Error(), "0001_baseline.sql") {
			t.Errorf("got %v, want ErrAltered and the name", err)
		}
	})
}
