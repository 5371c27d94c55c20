package sqlite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrOverdue says that a statement took longer than it may.
var ErrOverdue = errors.New("the statement took too long")

// watchSteps is how many steps of its machine SQLite takes between two questions
// whether to go on: some ten microseconds, and most statements take fewer.
const watchSteps = 1000

// watch is what ends a statement before its own end.
type watch struct {
	ctx   context.Context // nil: none that can end
	until time.Time       // zero: no limit
}

func newWatch(ctx context.Context, until time.Time) watch {
	if ctx.Done() == nil {
		return watch{until: until}
	}
	return watch{ctx, until}
}

// over is why the statement must end: the context's own error, or ErrOverdue.
func (w *watch) over() error {
	if w.ctx != nil {
		if err := w.ctx.Err(); err != nil {
			return err
		}
	}
	if !w.until.IsZero() && time.Now().After(w.until) {
		return ErrOverdue
	}
	return nil
}

// watched are the open connections by their keys. SQLite keeps the key for the
// handler, since it may not keep a pointer of Go's.
var (
	watched sync.Map
	lastKey atomic.Uintptr
)

var progressHandler = struct {
	call func(*libc.TLS, uintptr) int32
}{progress}

func (c *Conn) startWatch() {
	c.key = lastKey.Add(1)
	watched.Store(c.key, c)
	handler := *(*uintptr)(unsafe.Pointer(&progressHandler)) //nolint:gosec // how the library wants a function
	sqlite3.Xsqlite3_progress_handler(c.tls, c.db, watchSteps, handler, c.key)
}

func (c *Conn) stopWatch() { watched.Delete(c.key) }

// progress is called by SQLite within a call that the connection's goroutine has
// made; an answer other than 0 ends the statement.
func progress(_ *libc.TLS, key uintptr) int32 {
	if conn, ok := watched.Load(key); ok && conn.(*Conn).watch.over() != nil { //nolint:forcetypeassert // only connections
		return 1
	}
	return 0
}
