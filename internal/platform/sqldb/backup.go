package sqldb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"carteira/internal/platform/sqldb/sqlite"
)

// Backup writes a consistent copy of a SQLite database to a new file, while
// the database is in use. The copy appears under its name only when it is
// whole and on the disk.
func (db *DB) Backup(ctx context.Context, path string) error {
	if db.Engine() != SQLite {
		return errors.New("backup: only the embedded database is copied by this program")
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("backup: %s exists already; give the name of a new file", path)
	}
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("backup: %w", err)
	}
	// VACUUM INTO reads one snapshot; it is a read of the database, and the
	// read pool's query_only forbids it all the same.
	err := db.backend.(*sqliteDB).copyTo(ctx, part) //nolint:forcetypeassert // Engine said so
	if err == nil {
		err = Publish(part, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("backup: %w", err), os.Remove(part))
	}
	return nil
}

func (db *sqliteDB) copyTo(ctx context.Context, path string) error {
	conn, err := openSQLiteConn(db.path, sqlite.Options{Pragmas: sqlitePragmas})
	if err != nil {
		return sqliteError(err)
	}
	defer conn.Close() //nolint:errcheck // nothing was written through it
	_, err = conn.Exec(ctx, "VACUUM INTO ?", []any{path})
	return sqliteError(err)
}

// Publish flushes a file to the disk and gives it its name, which must be new.
func Publish(part, path string) error {
	if err := os.Chmod(part, 0o600); err != nil {
		return err
	}
	if err := syncPath(part); err != nil {
		return err
	}
	if err := os.Link(part, path); err != nil { // unlike Rename, never over an existing file
		return err
	}
	if err := os.Remove(part); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // which has no folders to sync
		return nil
	}
	return syncPath(filepath.Dir(path))
}

func syncPath(path string) error {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
