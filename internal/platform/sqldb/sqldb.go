// Package sqldb is the one place where the two databases meet: SQLite inside the
// process, and PostgreSQL, shared by any number of processes. It owns connections,
// transactions, migrations, the clocks and the translation of errors. It knows no
// table but its own, schema_migrations: each room has its statements in its own
// sql.go, one text for both engines.
//
//	names, err := sqldb.Values[string](ctx, db, `SELECT name FROM plans WHERE company_id = ? AND id {in ?}`, company, ids)
//	err = db.Write(ctx, func(tx *sqldb.Tx) error {
//		_, err := tx.Exec(ctx, `UPDATE plans SET updated_at = ? WHERE company_id = ?`, tx.Now().UnixMicro(), company)
//		return err
//	})
//
// Reading (query.go). All, One, Value, Values and Each run a SELECT on a Querier: a
// *DB, or a *Tx, which sees what it has written. Placeholders are ?; the few words
// in which the engines differ are in braces, such as {in ?} for a list (rebind.go).
// Where collects optional conditions. Together sends several statements in one
// round trip. A statement without a deadline of its own has one of 20 seconds;
// WithoutDeadline is for work that may take longer. Looks asks of several SELECTs
// at once whether they find a row.
//
// Writing (tx.go). DB.Write runs a function in one transaction, and returns when it
// is durable. The function may run again, so it does nothing but SQL through its
// Tx, and reads the time from it. Exec runs a statement, InsertID inserts a row,
// and Queue is Exec for a statement without a needed answer: PostgreSQL gets it
// with the next one. OnCommit is for hints, such as waking a worker. WriteRelaxed
// does not wait for the disk, for what may be done again. Fields, Tuples and Pieces
// help to write a record or many rows (values.go).
//
// On SQLite one connection writes and a pool reads (sqlite.go, readers.go). The
// transactions that wait share one commit (group.go). Before each group the writer
// checks that the files are those it opened, and that no newer version has migrated
// the database; after a flush that failed it begins the log again. PostgreSQL is
// asked through pgx and its pool: BEGIN goes out with the first statement and
// COMMIT with the last (postgres_tx.go), and a connection that died is found out by
// deadlines (connect.go, deadline.go).
//
// Errors (errors.go). ErrNotFound, ErrUnique, ErrForeignKey and ErrBusy are about a
// statement; Write tries again by itself after ErrBusy and the first ErrUnique.
// ErrUnavailable is about the database; TroubleOf names what is the matter, Probe
// is what /readyz asks (probe.go).
//
// Migrations (migrate.go) are in migrations/, one folder for each engine, numbered.
// Migrate runs what is missing in one transaction. CopyTo, CheckPages and OpenCopy
// are for backups (copy.go).
package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Engine names a database engine, for the few statements that must differ.
type Engine string

// The engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// Options are what Open needs besides the URL.
type Options struct {
	// Now is the machine's clock; time.Now when nil.
	Now func() time.Time
	// ServerNow replaces PostgreSQL's own clock in tests; nil leaves it.
	ServerNow func() time.Time
	// Log receives warnings about unsafe server settings; discarded when nil.
	Log *slog.Logger
	// MaxConns bounds the PostgreSQL pool; 0 means 16.
	MaxConns int
	// Relaxed lets SQLite acknowledge a commit before the disk has it: a power cut
	// may then lose the last ones, and never damages the file.
	Relaxed bool
	// Timeouts bound the waiting for a database that says nothing; defaultTimeouts
	// when none is given.
	Timeouts timeouts
}

// DB is an open database. Statements given to it directly run on the read
// side; writing needs Write.
type DB struct {
	backend
	log       *slog.Logger
	now       func() time.Time
	serverNow func() time.Time
	keeper    atomic.Pointer[Timekeeper]
	shut      func() error
	troubles  *troubleLog
	schema    atomic.Int64 // that the program knows, once it has migrated: a newer one has every write refused
	written   atomic.Int64 // when a write last succeeded, in microseconds
}

// backend is what an engine must do. The two implementations are sqliteDB and
// postgresDB.
type backend interface {
	Querier
	// write runs a transaction.
	write(ctx context.Context, terms terms, run func(conn txConn) error) error
	// inPlace reports whether the files are still those that were opened.
	inPlace() error
	// hasRoom reports whether a disk that was full has room again.
	hasRoom() bool
	// overdue says of a probe that did not get to write in time what that means.
	overdue(err error) error
	pools() map[string]sql.DBStats
	close() error
}

// Open connects to url, `sqlite:PATH` or `postgres://…`. It does not migrate.
func Open(ctx context.Context, url string, options Options) (*DB, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	options.Timeouts = cmp.Or(options.Timeouts, defaultTimeouts)
	troubles := newTroubleLog(options.Log)
	backend, err := open(ctx, url, options, troubles)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if options.ServerNow == nil && backend.Engine() == SQLite {
		options.ServerNow = options.Now
	}
	return &DB{
		backend:   backend,
		log:       options.Log,
		now:       options.Now,
		serverNow: options.ServerNow,
		shut:      sync.OnceValue(backend.close),
		troubles:  troubles,
	}, nil
}

func open(ctx context.Context, url string, options Options, troubles *troubleLog) (backend, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(rest, options, troubles)
	case "postgres", "postgresql":
		return openPostgres(ctx, url, options, troubles)
	}
	return nil, errors.New("the URL must start with sqlite: or postgres://")
}

// Migrate brings the schema up to date. It refuses a database that a newer
// version of the program has migrated. It looks before it writes: a command next
// to a busy server would have to wait for its turn, only to find nothing to do.
func (db *DB) Migrate(ctx context.Context) error {
	ctx = WithoutDeadline(ctx)
	if missing, err := db.Pending(ctx); err != nil || missing > 0 {
		run := func(tx txConn) error { return applyPending(ctx, db.log, tx) }
		if err := retry(ctx, func() error { return db.write(ctx, terms{migrating: true}, run) }); err != nil {
			return err
		}
	}
	list, err := known[db.Engine()]()
	db.schema.Store(int64(len(list)))
	return err
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	_, err := Values[int](ctx, db, "{SELECT 1 FROM sqlite_schema LIMIT 1 | SELECT 1}")
	return err
}

// Pools gives the statistics of each connection pool, for metrics.
func (db *DB) Pools() map[string]sql.DBStats { return db.pools() }

// Close closes the pools, on SQLite after the transactions that are running.
// Once is enough, and more do no harm.
func (db *DB) Close() error { return db.shut() }
