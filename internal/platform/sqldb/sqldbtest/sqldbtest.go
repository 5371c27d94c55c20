// Package sqldbtest gives tests real databases: a migrated SQLite file, or a
// schema of their own on the PostgreSQL server of CARTEIRA_TEST_POSTGRES_URL,
// which `make test` starts. It owns their life, from creation to removal, and a
// clock that tests set. Only tests import it.
package sqldbtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
)

const serverVariable = "CARTEIRA_TEST_POSTGRES_URL"

// Each runs test once for each engine, on a fresh database.
func Each(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		t.Helper()
		test(t, New(t, engine))
	})
}

// EachEngine runs test once for each engine, for tests that open their
// databases by themselves.
func EachEngine(t *testing.T, test func(t *testing.T, engine sqldb.Engine)) {
	t.Helper()
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.Postgres} {
		t.Run(string(engine), func(t *testing.T) { test(t, engine) })
	}
}

// Option changes how a database is opened.
type Option func(*sqldb.Options)

// WithClock makes every transaction take its time from c, which is also the
// clock of the server.
func WithClock(clock *Clock) Option {
	return func(options *sqldb.Options) { options.Now, options.ServerNow = clock.Now, clock.Now }
}

// WithWrongClock makes a process whose clock differs from the server's.
func WithWrongClock(by time.Duration) Option {
	return func(options *sqldb.Options) { options.Now = func() time.Time { return time.Now().Add(by) } }
}

// New opens a fresh, migrated database.
func New(tb testing.TB, engine sqldb.Engine, options ...Option) *sqldb.DB {
	tb.Helper()
	url := URL(tb, engine)
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		if err := os.WriteFile(file, migrated(tb), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return Open(tb, url, options...)
}

var template struct {
	once sync.Once
	file []byte
}

// migrated is a SQLite file with every migration applied. Copying it takes a
// hundredth of the time of making it, under the race detector.
func migrated(tb testing.TB) []byte {
	tb.Helper()
	template.once.Do(func() {
		url := URL(tb, sqldb.SQLite)
		if err := Open(tb, url).Close(); err != nil {
			tb.Fatal(err)
		}
		file, err := os.ReadFile(strings.TrimPrefix(url, "sqlite:"))
		if err != nil {
			tb.Fatal(err)
		}
		template.file = file
	})
	return template.file
}

// Open opens and migrates the database of a URL from URL. Opened twice, it is
// what two processes see.
func Open(tb testing.TB, url string, options ...Option) *sqldb.DB {
	tb.Helper()
	db := connect(tb, url, options...)
	if err := db.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return db
}

// URL is the address of a fresh, empty database.
func URL(tb testing.TB, engine sqldb.Engine) string {
	tb.Helper()
	if engine == sqldb.SQLite {
		return "sqlite:" + filepath.Join(tb.TempDir(), "carteira.db")
	}
	return newSchema(tb)
}

// newSchema makes an empty schema that shares only the extensions, which stand
// in public, with the other tests.
func newSchema(tb testing.TB) string {
	tb.Helper()
	server := os.Getenv(serverVariable)
	if server == "" {
		missing(tb)
	}
	address, err := url.Parse(server)
	if err != nil {
		tb.Fatalf("%s: %v", serverVariable, err)
	}
	schema := "test_" + strings.ToLower(rand.Text())
	execute(tb, server, "CREATE SCHEMA "+schema)
	tb.Cleanup(func() { execute(tb, server, "DROP SCHEMA "+schema+" CASCADE") })

	query := address.Query()
	query.Set("search_path", schema+",public")
	address.RawQuery = query.Encode()
	return address.String()
}

// missing skips the test, except where a green run is taken for the whole
// truth.
func missing(tb testing.TB) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatal("no PostgreSQL to test on: " + serverVariable + " is not set")
	}
	tb.Skip("no PostgreSQL to test on: run `make test`, which starts one")
}

func execute(tb testing.TB, url, statement string) {
	tb.Helper()
	db := connect(tb, url)
	defer func() { _ = db.Close() }()
	ctx := context.WithoutCancel(tb.Context()) // which has ended when cleaning up
	err := db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, statement)
		return err
	})
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

func connect(tb testing.TB, url string, options ...Option) *sqldb.DB {
	tb.Helper()
	var o sqldb.Options
	for _, option := range options {
		option(&o)
	}
	db, err := sqldb.Open(context.WithoutCancel(tb.Context()), url, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close database: %v", err)
		}
	})
	return db
}
