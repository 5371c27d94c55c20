package sqldb_test

import (
	"errors"
	"fmt"
	"maps"
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

// What waited to be sent before the queue stood apart still does, in its place.
func TestDeliveriesKeepTheirPlaceInTheQueue(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db, err := sqldb.Open(t.Context(), sqldbtest.Empty(t, engine), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.MigrateTo(t.Context(), 9); err != nil {
			t.Fatal(err)
		}
		schema := columns(t, db)
		insertRow(t, db, schema, "companies", map[string]any{"level": "user", "renew_from": "today", "renew_on_payment": false})
		insertRow(t, db, schema, "webhooks", map[string]any{"company_id": 1, "active": true})
		for i, one := range []map[string]any{
			{"status": "pending", "attempts": 0, "step": 0, "run_at": 11},
			{"status": "pending", "attempts": 2, "step": 2, "run_at": 12, "claim": "somebody"},
			{"status": "parked", "attempts": 1, "step": 1, "run_at": 13},
			{"status": "delivered", "attempts": 1, "step": 0, "run_at": 14, "delivered_at": 15},
			{"status": "failed", "attempts": 6, "step": 5, "run_at": 16},
		} {
			insertRow(t, db, schema, "events", map[string]any{"company_id": 1, "event_id": fmt.Sprint("evt_", i)})
			maps.Copy(one, map[string]any{"company_id": 1, "webhook_id": 1, "lane": 1, "event_id": i + 1, "test": false})
			insertRow(t, db, schema, "deliveries", one)
		}
		run(t, db, "DELETE FROM deliveries WHERE id = 5") // its id must not come again
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{"1 1 0 0 0 11 ", "2 1 1 2 2 12 somebody", "3 1 2 1 1 13 "}
		got, err := sqldb.Values[string](t.Context(), db, `
			SELECT delivery_id || ' ' || lane || ' ' || line || ' ' || step || ' ' || attempts || ' ' || run_at || ' ' || claim
			FROM delivery_queue WHERE event_id = delivery_id ORDER BY delivery_id`)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("the queue is %q, %v; want %q", got, err, want)
		}
		left, err := sqldb.Values[string](t.Context(), db, `SELECT status || ' ' || COALESCE(delivered_at, 0) FROM deliveries ORDER BY id`)
		if want := []string{"pending 0", "pending 0", "pending 0", "delivered 15"}; err != nil || !slices.Equal(left, want) {
			t.Errorf("the history is %q, %v; want %q", left, err, want)
		}
		insertRow(t, db, columns(t, db), "deliveries", map[string]any{"company_id": 1, "webhook_id": 1, "lane": 1, "event_id": 5, "status": "failed", "test": false})
		if id, err := sqldb.Value[int64](t.Context(), db, `SELECT MAX(id) FROM deliveries`); err != nil || id != 6 {
			t.Errorf("the next delivery is %d, %v", id, err)
		}
	})
}

// insertRow writes a row; columns that must have a value and are not named get 0
// or an empty text.
func insertRow(t *testing.T, db *sqldb.DB, schema map[string]string, table string, values map[string]any) {
	t.Helper()
	var names []string
	var args []any
	for column, kind := range schema {
		of, name, _ := strings.Cut(column, ".")
		value, named := values[name]
		switch {
		case of != table || name == "id":
			continue
		case named:
		case !strings.HasSuffix(kind, ", required"):
			continue
		case strings.HasPrefix(kind, "number"):
			value = 0
		default:
			value = ""
		}
		names, args = append(names, name), append(args, value)
	}
	run(t, db, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+") VALUES "+sqldb.Tuples(1, len(args)), args...)
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
	db, err := sqldb.Open(t.Context(), sqldbtest.Empty(t, sqldb.Postgres), sqldb.Options{})
	must(t, err)
	defer func() { _ = db.Close() }()
	must(t, db.MigrateTo(t.Context(), 38))
	// What databases have that were made when the indexes still were.
	run(t, db, "CREATE INDEX customers_search ON customers (search)")
	run(t, db, "CREATE INDEX companies_search ON companies (search)")
	must(t, db.Migrate(t.Context()))
	left, err := sqldb.Values[string](t.Context(), db, `SELECT extname FROM pg_extension WHERE extname <> 'plpgsql'
		UNION ALL SELECT indexname FROM pg_indexes WHERE indexname IN ('customers_search', 'companies_search')`)
	if err != nil || len(left) != 0 {
		t.Errorf("there are %q, %v", left, err)
	}
}
