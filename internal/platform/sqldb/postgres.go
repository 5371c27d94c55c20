package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresDB is a pool of PostgreSQL connections. pgx keeps statements
// prepared on each of them, unless a pooler lies between.
type postgresDB struct {
	pgQuerier
	pool        *pgxpool.Pool
	connections *connections
	schema      atomic.Int64 // that the process knows; 0: it has not migrated
}

// pgQuerier gives the package's way of querying to a pool or a transaction.
type pgQuerier struct {
	on interface {
		Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
		Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
		SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
	}
	rewriter *rewriter
	guard    *guard
	troubles *troubleLog // nil in a transaction: its outcome counts as a whole
}

func openPostgres(ctx context.Context, url string, options Options, troubles *troubleLog) (backend, error) {
	pooling, err := pgxpool.ParseConfig(url)
	if err != nil {
		// pgx's own words would print the URL; it takes the password out.
		return nil, fmt.Errorf("CARTEIRA_DATABASE_URL: %w", err)
	}
	config := pooling.ConnConfig
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "carteira"
	}
	g := &guard{timeouts: options.Timeouts.orDefaults()}
	conns := &connections{guard: g, open: map[*tracked]struct{}{}}
	config.DialFunc = conns.dial
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, g.timeouts.Connect)
	pooling.MaxConns = int32(cmp.Or(options.MaxConns, 16)) //nolint:gosec // a few
	pooling.BeforeConnect, pooling.AfterConnect = conns.configure, conns.prepare
	pooling.PrepareConn, pooling.ShouldPing = conns.reuse, conns.idle
	pool, err := pgxpool.NewWithConfig(ctx, pooling)
	if err != nil {
		return nil, err
	}
	if err := conns.first(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("PostgreSQL at %s:%d: %w", config.Host, config.Port, oneLine{postgresError(err)})
	}
	if conns.unsafe.Load() {
		options.Log.Warn("PostgreSQL runs with fsync=off: a power cut can lose acknowledged payments")
	}
	querier := pgQuerier{on: pool, rewriter: &rewriter{rewrite: forPostgres}, guard: g, troubles: troubles}
	return &postgresDB{pgQuerier: querier, pool: pool, connections: conns}, nil
}

// oneLine takes away the lines that pgx gives to every address and way that it
// tried, which mostly say the same.
type oneLine struct{ error }

func (e oneLine) Error() string {
	return strings.Join(slices.Compact(strings.Split(e.error.Error(), "\n\t")), " ")
}

func (e oneLine) Unwrap() error { return e.error }

func (db *postgresDB) pools() map[string]sql.DBStats {
	stat := db.pool.Stat()
	return map[string]sql.DBStats{"postgres": {
		MaxOpenConnections: int(stat.MaxConns()),
		OpenConnections:    int(stat.TotalConns()),
		InUse:              int(stat.AcquiredConns()),
		Idle:               int(stat.IdleConns()),
		WaitCount:          stat.EmptyAcquireCount(),
		WaitDuration:       stat.EmptyAcquireWaitTime(),
	}}
}

// close does not wait, connection by connection, for a server that is gone, nor
// for long for those who still use a connection.
func (db *postgresDB) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), db.guard.timeouts.Ping)
	defer cancel()
	if db.pool.Ping(ctx) != nil {
		db.connections.abandon()
	}
	closed := make(chan struct{})
	go func() {
		db.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
		db.connections.abandon()
	}
	return nil
}

// Engine returns which database answers.
func (q pgQuerier) Engine() Engine { return Postgres }

func (q pgQuerier) bound(ctx context.Context) (context.Context, func(error) error) {
	bounded, finish := q.guard.bound(ctx)
	if q.troubles == nil {
		return bounded, finish
	}
	return bounded, func(err error) error { return q.troubles.noteRead(finish(err)) }
}

func (q pgQuerier) translate(err error) error { return postgresError(err) }

func (q pgQuerier) each(ctx context.Context, text string, args []any, scan func(Row) error) error {
	rows, err := q.on.Query(ctx, q.rewriter.text(text), withLists(Postgres, args)...)
	if err != nil {
		return err
	}
	return eachRow(rows, scan)
}

func eachRow(rows pgx.Rows, scan func(Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}

func (q pgQuerier) exec(ctx context.Context, text string, args []any) (int64, error) {
	res, err := q.on.Exec(ctx, q.rewriter.text(text), withLists(Postgres, args)...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected(), nil
}

func postgresError(err error) error {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return fmt.Errorf("%w: %w", errOpenFiles, err)
		}
		if disconnected(err) {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return err
	}
	if refused, ok := postgresRefusals[refusal.Code]; ok {
		return fmt.Errorf("%w: %w", refused, err)
	}
	if trouble := postgresTrouble(refusal.Code); trouble != nil {
		return fmt.Errorf("%w: %w", trouble, err)
	}
	return err
}

// postgresRefusals are what a statement was refused for.
var postgresRefusals = map[string]error{
	"23505": ErrUnique,
	"23503": ErrForeignKey,
	"23514": errCheck,
	"40001": ErrBusy, // could not be serialized
	"40P01": ErrBusy, // a deadlock
	"55P03": ErrBusy, // a lock was not to be had
	"22021": errText,
	"22P05": errText,
}

// postgresTroubles are the codes that say more than their class.
var postgresTroubles = map[string]error{
	"25006": errReadOnly,    // a standby, too
	"53000": errOpenFiles,   // the server's
	"53100": errFull,        // its disk
	"57014": ErrUnavailable, // a statement that took longer than the server allows
	"58030": errDisk,        // an input or output error
	"58P01": errDamaged,     // a file of a table is missing
	"XX001": errDamaged,     // data corrupted
	"XX002": errDamaged,     // index corrupted
}

// postgresTrouble is what a code says about the server; nil when it is about the
// statement. 08 is the connection, 53 out of resources, 57P shutting down.
func postgresTrouble(code string) error {
	if trouble := postgresTroubles[code]; trouble != nil {
		return trouble
	}
	if strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P") {
		return ErrUnavailable
	}
	return nil
}

// timedOut holds for a connection that the kernel gave up.
func timedOut(err error) bool {
	return errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.EHOSTUNREACH)
}

// disconnected reports whether err is a connection that could not be made, or
// that broke: the server's end shows as an EOF in the middle of an exchange.
func disconnected(err error) bool {
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}
