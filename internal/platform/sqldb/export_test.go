package sqldb

import (
	"context"
	"net"
	"slices"
	"testing"

	"carteira/internal/platform/sqldb/sqlite"
)

// What only this package's tests may see.
const (
	MaxCompiled = sqlite.MaxCompiled
	Retries     = retries

	ErrFull    = errFull
	ErrDisk    = errDisk
	ErrDamaged = errDamaged
	ErrMoved   = errMoved
)

var (
	ForPostgres = forPostgres
	ForSQLite   = forSQLite
	ErrCheck    = errCheck
	ErrClosed   = errClosed
)

// Timeouts are the timeouts of Options.
type Timeouts = timeouts

// Compiled is how many statements a connection of SQLite's two sides keeps
// compiled.
func (db *DB) Compiled() (reading, writing int) {
	b := db.backend.(*sqliteDB)
	b.readers.mu.Lock()
	defer b.readers.mu.Unlock()
	for _, conn := range b.readers.idle {
		reading = max(reading, conn.Compiled())
	}
	return reading, b.group.writer.conn.Compiled()
}

// Condemned is how often the open connections to PostgreSQL were condemned.
func (db *DB) Condemned() int64 { return db.backend.(*postgresDB).guard.condemned.Load() }

// Dial makes a connection as those to PostgreSQL are made.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	c := &connections{guard: &guard{timeouts: defaultTimeouts}}
	return c.dial(ctx, "tcp", address)
}

// Pooled reports whether a pooler was found before PostgreSQL.
func (db *DB) Pooled() bool { return db.backend.(*postgresDB).connections.pooled.Load() }

// FailFlush has the next commit of a SQLite database fail as a flush does.
func (db *DB) FailFlush() {
	group := db.backend.(*sqliteDB).group
	group.failFlush.Store(true)
}

// Release adds a migration to those of both engines until the test ends.
func Release(t *testing.T, name, text string) {
	t.Helper()
	for engine, before := range known {
		list, err := before()
		if err != nil {
			t.Fatal(err)
		}
		more := append(slices.Clone(list), migration{len(list) + 1, name, text, "of " + name})
		known[engine] = func() ([]migration, error) { return more, nil }
		t.Cleanup(func() { known[engine] = before })
	}
}
