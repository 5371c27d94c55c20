package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteDB is SQLite with one writing connection and a pool that only reads:
// the same throughput as many writers, without their waiting for each other.
type sqliteDB struct {
	*statements // of the read pool
	path        string
	place       *place
	reader      *sql.DB
	writer      *sql.DB
	group       *group
}

// Every commit is flushed to the disk before it is acknowledged
// (synchronous=FULL): a payment that we confirmed survives a power cut.
var sqlitePragmas = []string{
	"busy_timeout(5000)",
	"journal_mode(WAL)",
	"synchronous(FULL)",
	"foreign_keys(1)",
	"temp_store(MEMORY)",
	"journal_size_limit(67108864)",
}

func openSQLite(
	ctx context.Context,
	path string,
	options Options,
	troubles *troubleLog,
) (backend, error) {
	if err := usableFile(path); err != nil {
		return nil, err
	}
	db := &sqliteDB{path: path}
	var err error
	if db.writer, err = openSQLitePool(path, "cache_size(-16000)"); err != nil {
		return nil, err
	}
	db.writer.SetMaxOpenConns(1)
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.writer.Close())
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil { // group.begin waits
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.writer.Close())
	}
	if err := options.relax(ctx, conn); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.writer.Close())
	}
	if db.place, err = newPlace(path); err != nil {
		return nil, errors.Join(err, db.writer.Close())
	}
	// modernc takes no notice of read-only transactions; query_only does.
	if db.reader, err = openSQLitePool(path, "cache_size(-4000)", "query_only(1)"); err != nil {
		return nil, errors.Join(err, db.writer.Close())
	}
	readers := max(4, 2*runtime.GOMAXPROCS(0))
	db.reader.SetMaxOpenConns(readers)
	db.reader.SetMaxIdleConns(readers)
	db.statements = newStatements(db.reader)
	db.statements.limit = options.Timeouts.orDefaults().Statement
	db.statements.troubles = troubles
	db.group = newGroup(ctx, conn, db.place)
	return db, nil
}

func (o Options) relax(ctx context.Context, conn *sql.Conn) error {
	if !o.Relaxed {
		return nil
	}
	_, err := conn.ExecContext(ctx, "PRAGMA synchronous = NORMAL")
	return err
}

func openSQLitePool(path string, pragmas ...string) (*sql.DB, error) {
	values := url.Values{"_pragma": append(append([]string{}, sqlitePragmas...), pragmas...)}
	return sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+values.Encode())
}

// usableFile gives one clear sentence where SQLite would say "unable to open
// database file (14)".
func usableFile(path string) error {
	if path == "" {
		return errors.New("sqlite: the URL names no file")
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("the database file cannot be written: %w", err)
	}
	return file.Close()
}

func (db *sqliteDB) write(ctx context.Context, run func(Querier) error) error {
	return db.group.do(ctx, run)
}

func (db *sqliteDB) ping(ctx context.Context) error {
	_, err := Value[int](ctx, db, "SELECT 1 FROM sqlite_schema LIMIT 1")
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (db *sqliteDB) pools() map[string]sql.DBStats {
	return map[string]sql.DBStats{"read": db.reader.Stats(), "write": db.writer.Stats()}
}

func (db *sqliteDB) close() error {
	return errors.Join(
		db.group.close(),
		db.statements.close(),
		db.reader.Close(),
		db.writer.Close(),
	)
}

func sqliteError(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return fmt.Errorf("%w: %w", ErrUnique, err)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%w: %w", ErrForeignKey, err)
	case sqlite3.SQLITE_CONSTRAINT_CHECK:
		return fmt.Errorf("%w: %w", ErrCheck, err)
	}
	if trouble := sqliteTrouble(e.Code()); trouble != nil {
		return fmt.Errorf("%w: %w", trouble, err)
	}
	return err
}

// sqliteTroubles are the codes that say more than their class.
var sqliteTroubles = map[int]error{
	sqlite3.SQLITE_IOERR_SHORT_READ: ErrDamaged,
	sqlite3.SQLITE_IOERR_CORRUPTFS:  ErrDamaged,
	sqlite3.SQLITE_IOERR_SHMSIZE:    ErrFull, // no room for the index of the log
	sqlite3.SQLITE_READONLY_DBMOVED: ErrMoved,
}

var sqliteClasses = map[int]error{
	sqlite3.SQLITE_BUSY:     ErrBusy,
	sqlite3.SQLITE_LOCKED:   ErrBusy,
	sqlite3.SQLITE_IOERR:    ErrDisk,
	sqlite3.SQLITE_FULL:     ErrFull,
	sqlite3.SQLITE_READONLY: ErrReadOnly,
	sqlite3.SQLITE_CANTOPEN: ErrUnavailable,
	sqlite3.SQLITE_NOTADB:   ErrDamaged,
	sqlite3.SQLITE_CORRUPT:  ErrDamaged,
}

// sqliteTrouble is what a code says about the database; nil when it is about the
// statement.
func sqliteTrouble(code int) error {
	if trouble := sqliteTroubles[code]; trouble != nil {
		return trouble
	}
	class := code & 0xff
	if class == sqlite3.SQLITE_CANTOPEN && noDescriptors() {
		return ErrOpenFiles
	}
	return sqliteClasses[class]
}
