package sqldb

import "context"

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

// MigrateTo stops at a version, for tests of what the next one makes of data.
func (db *DB) MigrateTo(ctx context.Context, last int) error { return db.migrate(ctx, last) }
