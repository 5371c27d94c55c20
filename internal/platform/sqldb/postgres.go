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
	troubles    *troubleLog
}

// pgQuerier runs statements on the pool, or on the connection of a transaction.
type pgQuerier struct {
	on interface {
		SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
	}
	rewriter *rewriter
	guard    *guard
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
	g := &guard{timeouts: options.Timeouts}
	g.timeouts.Connect = cmp.Or(config.ConnectTimeout, g.timeouts.Connect) // connect_timeout of the URL
	conns := &connections{guard: g}
	config.DialFunc = conns.dial
	if config.ValidateConnect == nil {
		config.ValidateConnect = takesWrites
	}
	config.ConnectTimeout = g.timeouts.Connect
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
	querier := pgQuerier{on: pool, rewriter: &rewriter{rewrite: forPostgres}, guard: g}
	return &postgresDB{pgQuerier: querier, pool: pool, connections: conns, troubles: troubles}, nil
}

// takesWrites passes a standby over: what it shows may be old.
func takesWrites(ctx context.Context, conn *pgconn.PgConn) error {
	if err := pgconn.ValidateConnectTargetSessionAttrsReadWrite(ctx, conn); err != nil {
		return fmt.Errorf("it takes no writes, as a standby: %w", err)
	}
	return nil
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
		OpenConnections: int(stat.TotalConns()),
		InUse:           int(stat.AcquiredConns()),
		WaitCount:       stat.EmptyAcquireCount(),
		WaitDuration:    stat.EmptyAcquireWaitTime(),
	}}
}

// close does not wait for long for a server that is gone, nor for those who still
// use a connection: the process ends, and the connections with it.
func (db *postgresDB) close() error {
	closed := make(chan struct{})
	go func() {
		db.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
	return nil
}

// Engine returns which database answers.
func (q pgQuerier) Engine() Engine { return Postgres }

func (db *postgresDB) run(ctx context.Context, statements ...Statement) error {
	return db.troubles.met(false, db.pgQuerier.run(ctx, statements...))
}

func (q pgQuerier) run(ctx context.Context, statements ...Statement) error {
	return q.guard.within(ctx, func(ctx context.Context) error { return q.send(ctx, statements) })
}

func (q pgQuerier) send(ctx context.Context, statements []Statement) error {
	if len(statements) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	for _, statement := range statements {
		batch.Queue(q.rewriter.text(statement.Text), withLists(Postgres, statement.Args)...)
	}
	results := q.on.SendBatch(ctx, batch)
	for _, statement := range statements {
		if err := statement.read(results); err != nil {
			_ = results.Close() // which repeats it
			return statement.failed(statements, err)
		}
	}
	return results.Close()
}

func (s Statement) read(results pgx.BatchResults) error {
	if s.Scan == nil {
		tag, err := results.Exec()
		if s.changed != nil {
			*s.changed = tag.RowsAffected()
		}
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := s.Scan(rows); err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}

func postgresError(err error) error {
	var refusal *pgconn.PgError
	switch {
	case errors.As(err, &refusal):
		return meant(postgresMeaning(refusal.Code), err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return meant(errOpenFiles, err)
	case disconnected(err):
		return meant(ErrUnavailable, err)
	}
	return err
}

// postgresMeaning is what a code means, or else the class that it begins with.
func postgresMeaning(code string) error {
	for ; code != ""; code = code[:len(code)-1] {
		if meaning := postgresErrors[code]; meaning != nil {
			return meaning
		}
	}
	return nil
}

var postgresErrors = map[string]error{
	"23505": ErrUnique,
	"23503": ErrForeignKey,
	"23514": errCheck,
	"40001": ErrBusy, // could not be serialized
	"40P01": ErrBusy, // a deadlock
	"55P03": ErrBusy, // a lock was not to be had
	"22021": errText,
	"22P05": errText,
	"2201E": fmt.Errorf("%w: %w", errNewer, ErrNewer), // what schemaCheck fails with
	"08":    ErrUnavailable,                           // the connection
	"25006": errReadOnly,                              // a standby, too
	"53":    ErrUnavailable,                           // out of resources
	"53000": errOpenFiles,                             // the server's
	"53100": errFull,                                  // its disk
	"57014": ErrUnavailable,                           // a statement that took longer than the server allows
	"57P":   ErrUnavailable,                           // shutting down
	"58030": errDisk,                                  // an input or output error
	"58P01": errDamaged,                               // a file of a table is missing
	"XX001": errDamaged,                               // data corrupted
	"XX002": errDamaged,                               // index corrupted
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
