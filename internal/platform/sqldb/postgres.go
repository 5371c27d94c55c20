package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresDB is a pool of PostgreSQL connections. pgx keeps statements
// prepared on each of them.
type postgresDB struct {
	pgQuerier
	pool *sql.DB
}

// pgQuerier gives the package's way of querying to a pool or a transaction.
type pgQuerier struct {
	on interface {
		QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	}
	rewriter *rewriter
}

func openPostgres(ctx context.Context, url string, o Options) (backend, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		// pgx's own words would print the URL; it takes the password out.
		return nil, fmt.Errorf("CARTEIRA_DATABASE_URL: %w", err)
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "carteira"
	}
	// A process that stops in the middle of a transaction must not hold its
	// rows from the others for ever.
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(durable))
	conns := o.MaxConns
	if conns == 0 {
		conns = 16
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	db := &postgresDB{pool: pool, pgQuerier: pgQuerier{on: pool, rewriter: &rewriter{rewrite: forPostgres}}}
	if err := db.ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("PostgreSQL at %s:%d: %w", config.Host, config.Port, oneLine{err}), pool.Close())
	}
	warnUnsafe(ctx, db, o.Log)
	return db, nil
}

// oneLine takes away the lines that pgx gives to every address and way that it
// tried, which mostly say the same.
type oneLine struct{ error }

func (e oneLine) Error() string {
	return strings.Join(slices.Compact(strings.Split(e.error.Error(), "\n\t")), " ")
}

func (e oneLine) Unwrap() error { return e.error }

// durable undoes a server-wide synchronous_commit=off for our connections: an
// acknowledged payment must survive a power cut. Stronger settings stay.
func durable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false)
		WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

func warnUnsafe(ctx context.Context, db *postgresDB, log *slog.Logger) {
	if fsync, err := Value[string](ctx, db, "SELECT current_setting('fsync')"); err == nil && fsync == "off" {
		log.Warn("PostgreSQL runs with fsync=off: a power cut can lose acknowledged payments")
	}
}

func (db *postgresDB) write(ctx context.Context, run func(Querier) error) (err error) {
	tx, err := db.pool.BeginTx(ctx, nil)
	if err != nil {
		return postgresError(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing; before it, the error below matters
	if err := run(pgQuerier{on: tx, rewriter: db.rewriter}); err != nil {
		return err
	}
	return postgresError(tx.Commit())
}

func (db *postgresDB) ping(ctx context.Context) error { return postgresError(db.pool.PingContext(ctx)) }

func (db *postgresDB) pools() map[string]sql.DBStats {
	return map[string]sql.DBStats{"postgres": db.pool.Stats()}
}

func (db *postgresDB) close() error { return db.pool.Close() }

// Engine tells which database answers.
func (q pgQuerier) Engine() Engine { return Postgres }

func (q pgQuerier) translate(err error) error { return postgresError(err) }

func (q pgQuerier) query(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	return q.on.QueryContext(ctx, q.rewriter.text(text), withLists(Postgres, args)...)
}

func (q pgQuerier) exec(ctx context.Context, text string, args []any) (int64, error) {
	res, err := q.on.ExecContext(ctx, q.rewriter.text(text), withLists(Postgres, args)...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func postgresError(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if disconnected(err) {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return err
	}
	switch e.Code {
	case "23505":
		return fmt.Errorf("%w: %w", ErrUnique, err)
	case "23503":
		return fmt.Errorf("%w: %w", ErrForeignKey, err)
	case "23514":
		return fmt.Errorf("%w: %w", ErrCheck, err)
	case "40001", "40P01", "55P03":
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	// 08 connection, 53 out of resources, 57P shutting down, 25006 read-only standby.
	if strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "53") || strings.HasPrefix(e.Code, "57P") || e.Code == "25006" {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// disconnected tells whether err is a connection that could not be made, or
// that broke: the server's end shows as an EOF in the middle of an exchange.
func disconnected(err error) bool {
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, driver.ErrBadConn) || pgconn.SafeToRetry(err)
}
