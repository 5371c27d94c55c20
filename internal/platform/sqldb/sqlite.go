package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	sqlite3 "zombiezen.com/go/sqlite"

	"carteira/internal/platform/sqldb/sqlite"
)

// sqliteDB is SQLite with one writing connection and a pool that only reads:
// the same throughput as many writers, without their waiting for each other.
type sqliteDB struct {
	*sqliteReads
	path  string
	place *place
	group *group
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

func openSQLite(path string, options Options, troubles *troubleLog) (backend, error) {
	if err := usableFile(path); err != nil {
		return nil, err
	}
	writer, err := openSQLiteWriter(path, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	place := newPlace(path)
	if err := place.check(); err != nil {
		return nil, errors.Join(err, writer.conn.Close())
	}
	openReader := func() (*sqlite.Conn, error) {
		return openSQLiteConn(path, sqlite.Options{Pragmas: append(slices.Clone(sqlitePragmas), "query_only(1)")})
	}
	return &sqliteDB{
		sqliteReads: &sqliteReads{
			readers:  newReaders(max(8, 4*runtime.GOMAXPROCS(0)), openReader),
			limit:    options.Timeouts.Statement,
			troubles: troubles,
		},
		path: path, place: place, group: newGroup(writer, place, options.Relaxed),
	}, nil
}

// foldEvery is after how many pages the log is folded into the database: 16 MB, not
// 4. Pages that many commits change are folded once for all of them, and the index
// of so long a log is still one hash table, so that readers pay nothing.
const foldEvery = "4000"

// openSQLiteWriter opens the connection that writes. It does not wait for a lock
// by itself: group.begin does.
func openSQLiteWriter(path string, options Options) (sqliteWriter, error) {
	pragmas := append(slices.Clone(sqlitePragmas), "cache_size(-10000)", "busy_timeout(0)", "wal_autocheckpoint("+foldEvery+")")
	if options.Relaxed {
		pragmas = append(pragmas, "synchronous(NORMAL)")
	}
	conn, err := openSQLiteConn(path, sqlite.Options{Pragmas: pragmas})
	return sqliteWriter{conn}, err
}

// openSQLiteConn waits for others who are making the database, or closing it as the
// last: then SQLite refuses at once, whatever busy_timeout is.
func openSQLiteConn(path string, options sqlite.Options) (conn *sqlite.Conn, err error) {
	_ = awaitLock(func() error {
		conn, err = sqlite.Open(path, options)
		return sqliteError(err)
	})
	return conn, err
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

func (db *sqliteDB) write(ctx context.Context, terms terms, run func(txConn) error) error {
	return db.group.do(ctx, terms, run)
}

// pools shows the connection that writes as one that is always in use.
func (db *sqliteDB) pools() map[string]sql.DBStats {
	return map[string]sql.DBStats{"read": db.readers.stats(), "write": {OpenConnections: 1, InUse: 1}}
}

// close ends with the connection that writes: the last one to close folds the
// write-ahead log into the database.
func (db *sqliteDB) close() error {
	db.group.stop()
	return errors.Join(db.readers.close(), db.group.writer.conn.Close())
}

func sqliteError(err error) error {
	if err == nil { // which needs no memory for the one it might be
		return nil
	}
	code := sqlite.Code(err)
	meaning, known := sqliteErrors[code]
	if !known {
		meaning = sqliteErrors[code.ToPrimary()]
	}
	if code.ToPrimary() == sqlite3.ResultCantOpen && noDescriptors() {
		meaning = errOpenFiles
	}
	return meant(meaning, err)
}

// corruptFileSystem is SQLITE_IOERR_CORRUPTFS, which the library does not name.
const corruptFileSystem sqlite3.ResultCode = sqlite3.ResultIOErr | 33<<8

// sqliteErrors are what codes mean, or else their classes.
var sqliteErrors = map[sqlite3.ResultCode]error{
	sqlite3.ResultConstraintUnique:     ErrUnique,
	sqlite3.ResultConstraintPrimaryKey: ErrUnique,
	sqlite3.ResultConstraintRowID:      ErrUnique,
	sqlite3.ResultConstraintForeignKey: ErrForeignKey,
	sqlite3.ResultConstraintCheck:      errCheck,
	sqlite3.ResultBusy:                 ErrBusy,
	sqlite3.ResultLocked:               ErrBusy,
	sqlite3.ResultIOErr:                errDisk,
	sqlite3.ResultIOErrSHMSize:         errFull, // no room for the index of the log
	corruptFileSystem:                  errDamaged,
	sqlite3.ResultFull:                 errFull,
	sqlite3.ResultReadOnly:             errReadOnly,
	sqlite3.ResultReadOnlyDBMoved:      errMoved,
	sqlite3.ResultCantOpen:             ErrUnavailable,
	sqlite3.ResultNotADB:               errDamaged,
	sqlite3.ResultCorrupt:              errDamaged,
}

// place is where the files of a SQLite database are. SQLite goes on writing to
// files that were removed or replaced while they were open, and all of that is
// lost with the process.
type place struct {
	mu    sync.Mutex
	files [2]placed // the database and its write-ahead log
}

type placed struct {
	path string
	info os.FileInfo // nil until the file is first seen
}

func newPlace(path string) *place {
	return &place{files: [2]placed{{path: path}, {path: path + "-wal"}}}
}

// check refuses when the files are no longer those that were first seen. It must
// not open them: closing a file of a database gives up SQLite's locks on it.
func (p *place) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.files {
		file := &p.files[i]
		info, err := os.Stat(file.path)
		switch {
		case file.info == nil && errors.Is(err, os.ErrNotExist):
		case err != nil:
			return meant(errMoved, err)
		case file.info == nil:
			file.info = info
		case !os.SameFile(info, file.info):
			return fmt.Errorf("%w: %s is another file now", errMoved, file.path)
		}
	}
	return nil
}
