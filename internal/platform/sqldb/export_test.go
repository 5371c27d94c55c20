package sqldb

import (
	"context"
	"net"
)

// What only this package's tests may see.
const (
	MaxCompiled = maxCompiled
	Retries     = retries
)

var (
	CompanyToken = companyToken
	ForPostgres  = forPostgres
	ForSQLite    = forSQLite
)

// Compiled is how many statements SQLite's two sides keep compiled.
func (db *DB) Compiled() (reading, writing int) {
	b := db.backend.(*sqliteDB)
	b.mu.RLock()
	defer b.mu.RUnlock()
	b.group.stmts.mu.RLock()
	defer b.group.stmts.mu.RUnlock()
	return len(b.compiled), len(b.group.stmts.compiled)
}

// Condemned is how often the open connections to PostgreSQL were condemned.
func (db *DB) Condemned() int64 { return db.backend.(*postgresDB).guard.condemned.Load() }

// Dial makes a connection as those to PostgreSQL are made.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	c := &connections{guard: &guard{timeouts: defaultTimeouts}, open: map[*tracked]struct{}{}}
	conn, err := c.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return conn.(*tracked).Conn, nil
}

// Pooled says whether a pooler was found before PostgreSQL.
func (db *DB) Pooled() bool { return db.backend.(*postgresDB).connections.pooled }
