package sqldb_test

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqlite"
	"carteira/test/kit/sqldbtest"
)

func TestStartersAtOnceMigrateOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.Empty(t, engine)
		errs := make([]error, 4)
		var starters sync.WaitGroup
		for i := range errs {
			starters.Go(func() {
				db, err := sqldb.Open(t.Context(), url, sqldb.Options{})
				if err != nil {
					errs[i] = err
					return
				}
				errs[i] = errors.Join(db.Migrate(t.Context()), db.Close())
			})
		}
		starters.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if schema := columns(t, sqldbtest.Open(t, url)); schema["companies.name"] == "" {
			t.Errorf("no companies in %v", schema)
		}
	})
}

func TestNewerSchemaIsRefused(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		run(t, db, "INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'of tomorrow', 0)")
		err := db.Migrate(t.Context())
		if !errors.Is(err, sqldb.ErrNewer) || !strings.Contains(err.Error(), "schema 9999") {
			t.Errorf("got %v, want ErrNewer and the number", err)
		}
	})
}

// different names what is in one folder of migrations only, and why.
var different = map[string]string{
	"token_calls": "SQLite has one process, which counts calls in memory",
}

func TestBothFoldersOfMigrationsGiveTheSameTables(t *testing.T) {
	sqlite := columns(t, sqldbtest.New(t, sqldb.SQLite))
	postgres := columns(t, sqldbtest.New(t, sqldb.Postgres))
	met := map[string]bool{}
	for _, column := range slices.Sorted(maps.Keys(union(sqlite, postgres))) {
		table, _, _ := strings.Cut(column, ".")
		if _, ok := different[table]; ok {
			met[table] = true
			if sqlite[column] != "" && postgres[column] != "" {
				t.Errorf("%s stands in both folders: it is no exception", column)
			}
			continue
		}
		if sqlite[column] != postgres[column] {
			t.Errorf("%s is %q on SQLite and %q on PostgreSQL", column, sqlite[column], postgres[column])
		}
	}
	for table := range different {
		if !met[table] {
			t.Errorf("%s is an exception that does not exist", table)
		}
	}
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// kinds maps the engines' types to what the program may rely on. SQLite has no
// booleans and keeps them in INTEGER.
var kinds = map[string]string{
	"INTEGER": "number", "BIGINT": "number", "bigint": "number", "boolean": "number",
	"TEXT": "text", "text": "text", "BLOB": "bytes", "bytea": "bytes",
}

var schemaQueries = map[sqldb.Engine]string{
	sqldb.SQLite: `
		SELECT t.name || '.' || c.name, c.type, c."notnull" OR c.pk > 0
		FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c
		WHERE t.type = 'table' AND c.hidden <> 1 AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!'`,
	sqldb.Postgres: `
		SELECT table_name || '.' || column_name, data_type, is_nullable = 'NO'
		FROM information_schema.columns WHERE table_schema = current_schema()`,
}

// columns maps table.column to its kind and whether it may be null.
func columns(t *testing.T, db *sqldb.DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := sqldb.Each(t.Context(), db, schemaQueries[db.Engine()], nil, func(row sqldb.Row) error {
		var column, kind string
		var required bool
		err := row.Scan(&column, &kind, &required)
		if all[column] = kinds[kind]; all[column] == "" {
			all[column] = kind
		}
		if required {
			all[column] += ", required"
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d columns: %v", len(all), err)
	}
	return all
}

func TestAStarterWaitsForAnotherThatIsMakingTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "carteira.db")
	other, err := sqlite.Open(path, sqlite.Options{Pragmas: []string{"busy_timeout(10000)"}}) // the starter looks again and again
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if err := other.Script(t.Context(), "CREATE TABLE made (a INTEGER); BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error)
	go func() {
		db, err := sqldb.Open(t.Context(), "sqlite:"+path, sqldb.Options{})
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := other.Script(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestNewDatabaseNeedsNoExtension(t *testing.T) {
	left, err := sqldb.Values[string](t.Context(), sqldbtest.New(t, sqldb.Postgres), `SELECT extname FROM pg_extension WHERE extname <> 'plpgsql'`)
	if err != nil || len(left) != 0 {
		t.Errorf("there are %q, %v", left, err)
	}
}

func TestDatabaseFromBeforeTheFirstReleaseIsRefusedInWords(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		run(t, db, "DELETE FROM schema_migrations")
		run(t, db, "INSERT INTO schema_migrations (version, name, applied_at, hash) VALUES (1, '0001_foundation.sql', 0, 'old')")
		run(t, db, "INSERT INTO schema_migrations (version, name, applied_at, hash) VALUES (2, '0002_invoices.sql', 0, 'old')")
		if err := db.Migrate(t.Context()); !errors.Is(err, sqldb.ErrOlder) {
			t.Errorf("got %v, want ErrOlder", err)
		}
	})
}

// A release adds a migration to the baseline: the database of the release before
// gets it with what it has, and the program of that release refuses it from then on.
func TestMigrationOfALaterReleaseIsAddedToTheBaseline(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		var lines bytes.Buffer
		db, err := sqldb.Open(t.Context(), sqldbtest.URL(t, engine), sqldb.Options{Log: slog.New(slog.NewTextHandler(&lines, nil))})
		must(t, err)
		defer func() { _ = db.Close() }()
		t.Run("the later release", func(t *testing.T) {
			sqldb.Release(t, "0002_later.sql", "ALTER TABLE customer_staging ADD COLUMN later TEXT NOT NULL DEFAULT 'yes'")
			if n, err := db.Pending(t.Context()); err != nil || n != 1 {
				t.Errorf("%d pending, %v", n, err)
			}
			must(t, db.Migrate(t.Context()))
			if later, err := sqldb.Value[string](t.Context(), db, "SELECT later FROM customer_staging WHERE id = 1"); err != nil || later != "yes" {
				t.Errorf("%q, %v", later, err)
			}
			if !strings.Contains(lines.String(), `msg="migrating the database" migration=0002_later.sql number=1 of=1`) {
				t.Errorf("the log does not say it:\n%s", lines.String())
			}
		})
		if err := db.Migrate(t.Context()); !errors.Is(err, sqldb.ErrNewer) {
			t.Errorf("the release before: %v, want ErrNewer", err)
		}
	})
}

const schemaFile = "../../../docs/schema.sql"

// docs/schema.sql is for reading: what the migrations have made of the tables, as
// SQLite keeps it. -update writes it anew.
func TestSchemaForReadersIsThatOfTheMigrations(t *testing.T) {
	statements, err := sqldb.Values[string](t.Context(), sqldbtest.New(t, sqldb.SQLite), `SELECT sql FROM sqlite_schema
		WHERE sql IS NOT NULL AND tbl_name <> 'schema_migrations' ORDER BY tbl_name, type <> 'table', name`)
	must(t, err)
	want := "-- The tables of a SQLite database of this version, made by its migrations; PostgreSQL has the same columns.\n" +
		"-- go test ./internal/platform/sqldb -run TestSchemaForReaders -update writes this file.\n"
	for _, statement := range statements {
		if strings.HasPrefix(statement, "CREATE TABLE") {
			want += "\n"
		}
		want += statement + ";\n"
	}
	if *update {
		must(t, os.WriteFile(schemaFile, []byte(want), 0o600))
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil || string(got) != want {
		t.Errorf("docs/schema.sql is not what the migrations make, %v; write it anew with -update", err)
	}
}
