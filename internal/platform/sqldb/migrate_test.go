package sqldb_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func TestStartersAtOnceMigrateOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
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

// different names what stands in one folder of migrations only, and why.
var different = map[string]string{
	"token_calls":              "SQLite has one process, which counts calls in memory",
	"customers_search":         "FTS5 is SQLite's index of substrings; PostgreSQL's is an index of customers",
	"customers_unindexed":      "what SQLite's index has still to take in before the commit",
	"customers_search_config":  "belongs to FTS5",
	"customers_search_data":    "belongs to FTS5",
	"customers_search_docsize": "belongs to FTS5",
	"customers_search_idx":     "belongs to FTS5",
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
		FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!'`,
	sqldb.Postgres: `
		SELECT table_name || '.' || column_name, data_type, is_nullable = 'NO'
		FROM information_schema.columns WHERE table_schema = current_schema()`,
}

// columns maps table.column to its kind and whether it may be null.
func columns(t *testing.T, db *sqldb.DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := sqldb.Each(t.Context(), db, schemaQueries[db.Engine()], nil, func(r sqldb.Row) error {
		var column, kind string
		var required bool
		err := r.Scan(&column, &kind, &required)
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
