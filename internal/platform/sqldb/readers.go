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
	lent   int
	closed bool
	waits  int64
	waited time.Duration
}

func newReaders(size int, open func() (*sqlite.Conn, error)) *readers {
	return &readers{open: open, permits: make(chan struct{}, size), quit: make(chan struct{})}
}

// use lends a connection to do, also if it panics.
func (r *readers) use(ctx context.Context, do func(*sqlite.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := r.lend(ctx)
	if err != nil {
		return err
	}
	defer r.takeBack(conn)
	return do(conn)
}

// lend waits for a connection to be free.
func (r *readers) lend(ctx context.Context) (*sqlite.Conn, error) {
	select {
	case r.permits <- struct{}{}:
	default:
		if err := r.wait(ctx); err != nil {
			return nil, err
		}
	}
	conn, err := r.pick()
	if err != nil {
		<-r.permits
	}
	return conn, err
}

func (r *readers) wait(ctx context.Context) error {
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
		return ErrClosed
	}
}

// pick is an idle connection, or a new one.
func (r *readers) pick() (*sqlite.Conn, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, ErrClosed
	}
	r.lent++
	if last := len(r.idle) - 1; last >= 0 {
		conn := r.idle[last]
		r.idle = r.idle[:last]
		r.mu.Unlock()
		return conn, nil
	}
	r.mu.Unlock()
	conn, err := r.open()
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lent--
	}
	return conn, err
}

func (r *readers) takeBack(conn *sqlite.Conn) {
	r.mu.Lock()
	r.lent--
	closed := r.closed
	if !closed {
		r.idle = append(r.idle, conn)
	}
	r.mu.Unlock()
	if closed {
		_ = conn.Close() // it has read, and nothing is lost with it
	}
	<-r.permits
}

// closeTime is for how long close waits for those who read.
const closeTime = 2 * time.Second

// close closes the connections, and waits a while for those that are lent: while
// one is open, the write-ahead log is not folded into the database.
func (r *readers) close() error {
	r.mu.Lock()
	r.closed = true
	idle := r.idle
	r.idle = nil
	r.mu.Unlock()
	close(r.quit)
	var failures []error
	for _, conn := range idle {
		failures = append(failures, conn.Close())
	}
	patience := time.NewTimer(closeTime)
	defer patience.Stop()
	for range cap(r.permits) {
		select {
		case r.permits <- struct{}{}:
		case <-patience.C:
			return errors.Join(failures...)
		}
	}
	return errors.Join(failures...)
}

func (r *readers) stats() sql.DBStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sql.DBStats{
		MaxOpenConnections: cap(r.permits),
		OpenConnections:    r.lent + len(r.idle),
		InUse:              r.lent,
		Idle:               len(r.idle),
		WaitCount:          r.waits,
		WaitDuration:       r.waited,
	}
}
