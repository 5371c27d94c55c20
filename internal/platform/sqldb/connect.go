package sqldb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connections makes the connections of a pool.
type connections struct {
	guard  *guard
	pooled atomic.Bool // a pooler such as PgBouncer lends its server connections for one transaction each
	unsafe atomic.Bool // the server does not flush its commits to the disk
}

// keepAlive finds out within 14 seconds that the other host is gone while we
// wait for its answer. userTimeout does so while it owes us the acknowledgement
// of what we sent, for which the kernel would else wait a quarter of an hour.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 3 * time.Second, Count: 3}

const userTimeout = 10 * time.Second

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		Timeout:         c.guard.timeouts.Connect,
		KeepAliveConfig: keepAlive,
		Control:         limitUnacknowledged,
	}
	return dialer.DialContext(ctx, network, address)
}

// errPooler ends the connection by which a pooler was found: those that follow
// are made for it.
var errPooler = errors.New("a pooler lies between")

// first makes the first connection of a pool, by which is known who answers.
func (c *connections) first(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if errors.Is(err, errPooler) {
		conn, err = pool.Acquire(ctx)
	}
	if err != nil {
		return err
	}
	conn.Release()
	return nil
}

// configure sets up a connection that is to be made. Statements prepared on one
// server connection of a pooler are unknown to the next.
func (c *connections) configure(_ context.Context, config *pgx.ConnConfig) error {
	if c.pooled.Load() && config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return nil
}

// What is known of a connection, kept with it.
const (
	bornKey = "carteira.born" // how often connections had been condemned when it was made
	idleKey = "carteira.idle" // it has been idle for long enough to be asked whether it lives
)

// sessionSettings are for every transaction. Acknowledged payments survive a
// power cut though the server's synchronous_commit be off; stronger settings of
// it stay. A process that was cut off or has stopped in the middle of a
// transaction does not hold its rows from the others for long: ours wait for
// nothing between their statements.
const sessionSettings = `concat(set_config('idle_in_transaction_session_timeout', '15000', %[1]t),
	CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', %[1]t) END)`

// greeting makes them for a connection that leads to the server itself, and
// finds out whether it does: a pooler makes up the process id by which a
// statement can be cancelled, and the server, asked for its own, says another.
const greeting = `SELECT pg_backend_pid(), current_setting('fsync') = 'off', CASE pg_backend_pid() WHEN %[2]d THEN ` +
	sessionSettings + ` END`

// tcpSettings let the server find out in its turn that we are gone.
const tcpSettings = `SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '3', false),
	set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '10000', false)`

// prepare sets up a connection. One that leads to a pooler is left as it is:
// what is set on it would stay with whatever server connection was behind it at
// that moment; see begin.
func (c *connections) prepare(ctx context.Context, conn *pgx.Conn) error {
	conn.PgConn().CustomData()[bornKey] = c.guard.condemned.Load()
	if c.pooled.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.guard.timeouts.Connect)
	defer cancel()
	if err := c.greet(ctx, conn); err != nil {
		return errors.Join(err, conn.PgConn().Conn().Close()) // which the driver leaves open
	}
	// A server that cannot do this is none the worse for our having asked.
	_, _ = conn.Exec(ctx, tcpSettings)
	return nil
}

func (c *connections) greet(ctx context.Context, conn *pgx.Conn) error {
	var pid uint32
	var unsafe bool
	text, own := new(string), conn.PgConn().PID()
	err := conn.QueryRow(ctx, fmt.Sprintf(greeting, false, own), pgx.QueryExecModeSimpleProtocol).Scan(&pid, &unsafe, &text)
	if err != nil {
		return err
	}
	c.unsafe.Store(unsafe)
	if pid == own {
		return nil
	}
	c.pooled.Store(true)
	return errPooler
}

// idle remembers whether reuse has to ask the connection if it lives; the
// pool's own question would wait for the answer as long as the statement may.
func (c *connections) idle(_ context.Context, params pgxpool.ShouldPingParams) bool {
	params.Conn.PgConn().CustomData()[idleKey] = params.IdleDuration > time.Second
	return false
}

// reuse reports whether a connection is as good as new. The pool discards one
// that was condemned, or does not answer.
func (c *connections) reuse(ctx context.Context, conn *pgx.Conn) (good bool, err error) {
	known := conn.PgConn().CustomData()
	if born, _ := known[bornKey].(int64); born < c.guard.condemned.Load() {
		drop(conn)
		return false, nil
	}
	if idle, _ := known[idleKey].(bool); !idle {
		return true, nil
	}
	asking, cancel := context.WithTimeout(ctx, c.guard.timeouts.Ping)
	defer cancel()
	if conn.Ping(asking) == nil {
		return true, nil
	}
	if ctx.Err() == nil {
		c.guard.condemned.Add(1)
	}
	drop(conn)
	return false, nil
}

// drop ends a connection that the pool will discard, so that it does not wait
// for the server to take leave.
func drop(conn *pgx.Conn) { _ = conn.PgConn().Conn().Close() }
