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

// close takes every permit, so that no connection is lent any more, and closes them when all have come back, and waits a while for
// that: while one is open, the write-ahead log is not folded into the database.
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

// maxCompiled bounds the memory for statements that vary with the length of a
// list; past it a statement is compiled at every use. To keep one compiled
// takes about half off a point select.
const maxCompiled = 400

// sqliteReads is the read side of a SQLite database as a Querier.
type sqliteReads struct {
	readers *readers
	limit   time.Duration     // of a statement without a deadline in its context; 0: none
	note    func(error) error // counts trouble
}

// newSQLiteReads makes the read side of up to size connections.
func newSQLiteReads(size int, open func() (*sqlite.Conn, error)) *sqliteReads {
	var uncounted *troubleLog
	return &sqliteReads{readers: newReaders(size, open), note: uncounted.note}
}

// Engine says which database answers.
func (r *sqliteReads) Engine() Engine { return SQLite }

func (r *sqliteReads) translate(err error) error { return sqliteError(err) }

// bound gives a deadline to reading that has none: a disk can hang too. Writing
// is not interrupted, since SQLite would take the whole transaction back.
func (r *sqliteReads) bound(ctx context.Context) (context.Context, func(error) error) {
	if _, ok := ctx.Deadline(); ok || r.limit == 0 || !hasDeadline(ctx) {
		return ctx, r.note
	}
	bounded, cancel := context.WithTimeoutCause(ctx, r.limit, errNoAnswer)
	return bounded, func(err error) error {
		err = unanswered(bounded, err)
		cancel()
		return r.note(err)
	}
}

func (r *sqliteReads) each(ctx context.Context, text string, args []any, scan func(Row) error) error {
	return r.readers.use(ctx, func(conn *sqlite.Conn) error {
		return conn.Each(ctx, text, withLists(SQLite, args), func(row *sqlite.Row) error { return scan(row) })
	})
}

// exec is refused by SQLite when it writes: these connections may only read.
func (r *sqliteReads) exec(ctx context.Context, text string, args []any) (changed int64, err error) {
	err = r.readers.use(ctx, func(conn *sqlite.Conn) error {
		changed, err = conn.Exec(ctx, text, withLists(SQLite, args))
		return err
	})
	return changed, err
}

func (r *sqliteReads) batch(ctx context.Context, statements []Statement) error {
	return oneByOne(ctx, r, statements)
}

// sqliteWriter is the connection that writes as a Querier. It keeps a caller's
// cancellation away from the shared transaction: SQLite rolls all of it back
// when a write is interrupted.
type sqliteWriter struct{ conn *sqlite.Conn }

// Engine says which database answers.
func (w sqliteWriter) Engine() Engine { return SQLite }

func (w sqliteWriter) translate(err error) error { return sqliteError(err) }

// bound leaves the errors alone: a transaction counts as a whole.
func (w sqliteWriter) bound(ctx context.Context) (context.Context, func(error) error) {
	return ctx, func(err error) error { return err }
}

func (w sqliteWriter) each(ctx context.Context, text string, args []any, scan func(Row) error) error {
	return w.conn.Each(context.WithoutCancel(ctx), text, withLists(SQLite, args), func(row *sqlite.Row) error { return scan(row) })
}

func (w sqliteWriter) exec(ctx context.Context, text string, args []any) (int64, error) {
	return w.conn.Exec(context.WithoutCancel(ctx), text, withLists(SQLite, args))
}

func (w sqliteWriter) batch(ctx context.Context, statements []Statement) error {
	return oneByOne(ctx, w, statements)
}

// queue runs the statement at once: nothing is gained by waiting.
func (w sqliteWriter) queue(ctx context.Context, statement Statement) error {
	return statement.run(ctx, w)
}

// script runs a migration, which its caller may interrupt: it is alone.
func (w sqliteWriter) script(ctx context.Context, text string) error {
	return w.conn.Script(ctx, text)
}
