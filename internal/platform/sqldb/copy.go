package sqldb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"carteira/internal/platform/sqldb/sqlite"
)

// Pending is how many migrations the program would run on the database. It
// refuses one of another program or a newer version, as Migrate does, and
// changes nothing.
func (db *DB) Pending(ctx context.Context) (int, error) { return pending(ctx, db) }

func pending(ctx context.Context, querier Querier) (int, error) {
	applied, err := readApplied(ctx, querier)
	if err != nil {
		return 0, err
	}
	missing, err := lacking(querier.Engine(), applied)
	return len(missing), err
}

// CheckPages reads every page of a SQLite database and says what is damaged.
// PostgreSQL is for its own tools.
func (db *DB) CheckPages(ctx context.Context) error { return checkPages(ctx, db) }

func checkPages(ctx context.Context, querier Querier) error {
	if querier.Engine() != SQLite {
		return nil
	}
	said, err := Values[string](WithoutDeadline(ctx), querier, "PRAGMA integrity_check(5)")
	if err != nil {
		return err
	}
	if len(said) != 1 || said[0] != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, strings.Join(said, "; "))
	}
	return nil
}

// CopyTo writes a consistent copy of a SQLite database to a new file while the
// database is in use. It is for the caller to flush the file.
func (db *DB) CopyTo(ctx context.Context, path string) error {
	source, ok := db.backend.(*sqliteDB)
	if !ok {
		return errors.New("only the embedded database is copied by this program")
	}
	// VACUUM INTO reads one snapshot; it is a read of the database, and the
	// read pool's query_only forbids it all the same.
	conn, err := openSQLiteConn(source.path, sqlite.Options{Pragmas: sqlitePragmas})
	if err != nil {
		return sqliteError(err)
	}
	defer conn.Close() //nolint:errcheck // nothing was written through it
	_, err = conn.Exec(ctx, "VACUUM INTO ?", []any{path})
	return sqliteError(err)
}

// Copy is a SQLite file that is not written, such as a backup.
type Copy struct {
	*sqliteReads
}

// OpenCopy opens a file for reading only. It creates no other files.
func OpenCopy(ctx context.Context, path string) (*Copy, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	open := func() (*sqlite.Conn, error) {
		return openSQLiteConn(path, sqlite.Options{Immutable: true, Pragmas: []string{"query_only(1)"}})
	}
	reads := &sqliteReads{readers: newReaders(readersOfCopy, open), troubles: newTroubleLog(slog.New(slog.DiscardHandler))}
	if err := reads.readers.use(ctx, func(*sqlite.Conn) error { return nil }); err != nil {
		return nil, sqliteError(err)
	}
	return &Copy{reads}, nil
}

// readersOfCopy is how many may read a copy at the same time.
const readersOfCopy = 4

// Close closes the file.
func (c *Copy) Close() error { return c.readers.close() }

// Check wants the copy to be whole, and of a program that is not newer than
// this one.
func (c *Copy) Check(ctx context.Context) error {
	if err := checkPages(ctx, c); err != nil {
		return err
	}
	_, err := pending(ctx, c)
	return err
}
