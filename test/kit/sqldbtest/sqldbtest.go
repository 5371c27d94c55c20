// Package sqldbtest gives tests real databases: a migrated SQLite file, or a
// database of their own on the PostgreSQL server of CARTEIRA_TEST_POSTGRES_URL,
// which `make test` starts. It owns their life, from creation to removal, and a
// clock that tests set. Only tests import it.
package sqldbtest

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
)

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

// Dealt runs test on one engine, which the test's name decides: for what differs in the program, and not in what its
// database does. CARTEIRA_TEST_BOTH=true has it run on each.
func Dealt(t *testing.T, test func(t *testing.T, engine sqldb.Engine)) {
	t.Helper()
	engine := sqldb.SQLite
	switch sum := sha256.Sum256([]byte(t.Name())); {
	case onBoth():
		EachEngine(t, test)
		return
	case sum[0]%2 == 1:
		engine = sqldb.Postgres
	}
	t.Run(string(engine), func(t *testing.T) { test(t, engine) })
}

func onBoth() bool { return os.Getenv("CARTEIRA_TEST_BOTH") == "true" }

// Lives are the seeds, of a count, that a model test makes histories of on an engine: each
// seed on one, for what happens in it is the same on either.
func Lives(engine sqldb.Engine, count uint64) (seeds []uint64) {
	for seed := range count {
		if onBoth() || (seed%2 == 0) == (engine == sqldb.SQLite) {
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// Option changes how a database is opened.
type Option func(*sqldb.Options)

// WithClock makes every transaction take its time from c, which is also the
// clock of the server.
func WithClock(clock *Clock) Option {
	return func(options *sqldb.Options) { options.Now, options.ServerNow = clock.Now, clock.Now }
}

// WithWrongClock makes a process with a clock that differs from the server's.
func WithWrongClock(by time.Duration) Option {
	return func(options *sqldb.Options) { options.Now = func() time.Time { return time.Now().Add(by) } }
}

// New opens a fresh, migrated database.
func New(tb testing.TB, engine sqldb.Engine, options ...Option) *sqldb.DB {
	tb.Helper()
	return connect(tb, URL(tb, engine), options...)
}

// Open opens the database of a URL, and migrates it where that is still to do.
// Opened twice, it is what two processes see.
func Open(tb testing.TB, url string, options ...Option) *sqldb.DB {
	tb.Helper()
	db := connect(tb, url, options...)
	if err := db.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return db
}

// URL is the address of a fresh, migrated database. It is a copy, which takes a
// hundredth of the time of the migrations.
func URL(tb testing.TB, engine sqldb.Engine) string {
	tb.Helper()
	if engine == sqldb.Postgres {
		return newDatabase(tb, template(tb))
	}
	url := Empty(tb, engine)
	if err := os.WriteFile(strings.TrimPrefix(url, "sqlite:"), migratedFile(tb), 0o600); err != nil {
		tb.Fatal(err)
	}
	return url
}

// Empty is the address of a fresh database without a table.
func Empty(tb testing.TB, engine sqldb.Engine) string {
	tb.Helper()
	if engine == sqldb.Postgres {
		return newDatabase(tb, "template1")
	}
	return "sqlite:" + filepath.Join(tb.TempDir(), "carteira.db")
}

var migrated struct {
	once sync.Once
	file []byte
}

// migratedFile is a SQLite file with every migration applied.
func migratedFile(tb testing.TB) []byte {
	tb.Helper()
	migrated.once.Do(func() {
		url := Empty(tb, sqldb.SQLite)
		if err := Open(tb, url).Close(); err != nil {
			tb.Fatal(err)
		}
		file, err := os.ReadFile(strings.TrimPrefix(url, "sqlite:"))
		if err != nil {
			tb.Fatal(err)
		}
		migrated.file = file
	})
	return migrated.file
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

// Clock is a clock that moves only when the test says so. It may be used by
// any number of goroutines.
type Clock struct {
	micros atomic.Int64
}

// NewClock makes a clock that shows t.
func NewClock(at time.Time) *Clock {
	clock := &Clock{}
	clock.Set(at)
	return clock
}

// Now is the time that the clock shows, in UTC and whole microseconds.
func (c *Clock) Now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

// Set makes the clock show t.
func (c *Clock) Set(at time.Time) { c.micros.Store(at.UnixMicro()) }

// Advance moves the clock on by d.
func (c *Clock) Advance(span time.Duration) { c.micros.Add(span.Microseconds()) }

// Explain is how the database means to run a statement, in its own words.
func Explain(tb testing.TB, db *sqldb.DB, text string, args ...any) string {
	tb.Helper()
	prefix, columns := "EXPLAIN ", 1
	if db.Engine() == sqldb.SQLite {
		prefix, columns = "EXPLAIN QUERY PLAN ", 4
	}
	lines, err := sqldb.All(tb.Context(), db, func(row sqldb.Row) (line string, err error) {
		into := make([]any, columns)
		for i := range into {
			into[i] = new(any)
		}
		into[columns-1] = &line
		err = row.Scan(into...)
		return line, err
	}, prefix+text, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// WantIndex wants a statement to find its rows through an index, and no table
// to be read from end to end.
func WantIndex(tb testing.TB, db *sqldb.DB, index, text string, args ...any) {
	tb.Helper()
	plan := Explain(tb, db, text, args...)
	if !strings.Contains(plan, index) {
		tb.Errorf("%s is not used:\n%s", index, plan)
	}
	for line := range strings.Lines(plan) {
		// SQLite reads what a subquery has found under the subquery's name, and the
		// list of {in ?} as json_each.
		if strings.Contains(line, "Seq Scan") ||
			strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN due") && !strings.HasPrefix(line, "SCAN json_each") {
			tb.Errorf("a whole table is read:\n%s", plan)
		}
	}
}
