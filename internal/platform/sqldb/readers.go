package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"carteira/internal/platform/sqldb/sqlite"
)

// readers lends connections that read a SQLite file, each to one reader at a
// time. The one that came back last goes out first: its cache is warm.
type readers struct {
	open    func() (*sqlite.Conn, error)
	permits chan struct{} // one for each connection that is lent
	quit    chan struct{}

	mu     sync.Mutex
	idle   []*sqlite.Conn
	waits  int64
	waited time.Duration
}

func newReaders(size int, open func() (*sqlite.Conn, error)) *readers {
	return &readers{open: open, permits: make(chan struct{}, size), quit: make(chan struct{})}
}

// use lends a connection to do, also if it panics.
func (r *readers) use(ctx context.Context, do func(*sqlite.Conn) error) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	defer func() { <-r.permits }()
	conn := r.pick()
	if conn == nil {
		opened, err := r.open()
		if err != nil {
			return err
		}
		conn = opened
	}
	defer r.takeBack(conn)
	return do(conn)
}

// wait waits until a connection may be lent.
func (r *readers) wait(ctx context.Context) error {
	select {
	case r.permits <- struct{}{}:
		return nil
	default:
	}
	began := time.Now()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waits++
		r.waited += time.Since(began)
	}()
	select {
	case r.permits <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.quit:
		return errClosed
	}
}

// pick is an idle connection; nil when there is none.
func (r *readers) pick() *sqlite.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	if last < 0 {
		return nil
	}
	conn := r.idle[last]
	r.idle = r.idle[:last]
	return conn
}

func (r *readers) takeBack(conn *sqlite.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, conn)
}

// closeTime is for how long close waits for those who read.
const closeTime = 2 * time.Second

// close takes every permit, so that no connection is lent any more, closes them
// when all have come back, and waits a while for that: while one is open, the
// write-ahead log is not folded into the database.
func (r *readers) close() error {
	close(r.quit)
	closed := make(chan error, 1)
	go func() {
		for range cap(r.permits) {
			r.permits <- struct{}{}
		}
		var failures []error
		for _, conn := range r.idle {
			failures = append(failures, conn.Close())
		}
		closed <- errors.Join(failures...)
	}()
	select {
	case err := <-closed:
		return err
	case <-time.After(closeTime):
		return nil
	}
}

func (r *readers) stats() sql.DBStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	lent := len(r.permits)
	return sql.DBStats{
		MaxOpenConnections: cap(r.permits),
		OpenConnections:    lent + len(r.idle),
		InUse:              lent,
		Idle:               len(r.idle),
		WaitCount:          r.waits,
		WaitDuration:       r.waited,
	}
}

// sqliteReads is the read side of a SQLite database as a Querier.
type sqliteReads struct {
	readers  *readers
	limit    time.Duration // of a statement without a deadline in its context; 0: none
	troubles *troubleLog
}

// Engine says which database answers.
func (r *sqliteReads) Engine() Engine { return SQLite }

// run gives a deadline to reading that has none: a disk can hang too. SQLite
// refuses what writes on these connections.
func (r *sqliteReads) run(ctx context.Context, statements ...Statement) error {
	limit := r.limit
	if _, ok := ctx.Deadline(); ok {
		limit = 0
	}
	return r.troubles.met(false, within(ctx, limit, func(ctx context.Context) error {
		return sqliteError(r.readers.use(ctx, func(conn *sqlite.Conn) error { return runAll(ctx, conn, statements) }))
	}))
}

func runAll(ctx context.Context, conn *sqlite.Conn, statements []Statement) error {
	for _, statement := range statements {
		if err := runOne(ctx, conn, statement); err != nil {
			return statement.failed(statements, err)
		}
	}
	return nil
}

// sqliteTexts remembers the rewritten texts of all connections.
var sqliteTexts = rewriter{rewrite: forSQLite}

func runOne(ctx context.Context, conn *sqlite.Conn, statement Statement) error {
	text, args := sqliteTexts.text(statement.Text), withLists(SQLite, statement.Args)
	if statement.Scan != nil {
		return conn.Each(ctx, text, args, func(row *sqlite.Row) error { return statement.Scan(row) })
	}
	changed, err := conn.Exec(ctx, text, args)
	if statement.changed != nil {
		*statement.changed = changed
	}
	return err
}

// sqliteWriter is the connection that writes as a Querier. It keeps a caller's
// cancellation away from the shared transaction: SQLite rolls all of it back
// when a write is interrupted. A transaction counts its trouble as a whole.
type sqliteWriter struct{ conn *sqlite.Conn }

// Engine says which database answers.
func (w sqliteWriter) Engine() Engine { return SQLite }

func (w sqliteWriter) run(ctx context.Context, statements ...Statement) error {
	return sqliteError(runAll(context.WithoutCancel(ctx), w.conn, statements))
}

// queue runs the statement at once: nothing is gained by waiting.
func (w sqliteWriter) queue(ctx context.Context, statement Statement) error {
	return w.run(ctx, statement)
}

// script runs a migration, which its caller may interrupt: it is alone.
func (w sqliteWriter) script(ctx context.Context, text string) error {
	return sqliteError(w.conn.Script(ctx, text))
}
