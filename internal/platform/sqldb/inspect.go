package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Pending is how many migrations the program would run on the database. It
// refuses one of another program or a newer version, as Migrate does, and
// changes nothing.
func (db *DB) Pending(ctx context.Context) (int, error) {
	return pending(ctx, db)
}

func pending(ctx context.Context, querier Querier) (int, error) {
	applied := map[int]string{}
	err := Each(ctx, querier, appliedHashes, nil, func(row Row) error {
		var version int
		var hash string
		err := row.Scan(&version, &hash)
		applied[version] = hash
		return err
	})
	if err != nil {
		return 0, err
	}
	work, err := compare(querier.Engine(), applied, newest)
	return len(work.pending), err
}

// CheckPages reads every page of a SQLite database and says what is damaged.
// PostgreSQL is for its own tools.
func CheckPages(ctx context.Context, querier Querier) error {
	if querier.Engine() != SQLite {
		return nil
	}
	ctx = WithoutDeadline(ctx)
	said, err := Values[string](ctx, querier, "PRAGMA integrity_check(5)")
	if err != nil {
		return err
	}
	if len(said) != 1 || said[0] != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(said, "; "))
	}
	return nil
}

// Copy is a SQLite file that nobody writes, such as a backup.
type Copy struct {
	*statements
	pool *sql.DB
}

// OpenCopy opens a file for reading only. Nothing appears beside it.
func OpenCopy(ctx context.Context, path string) (*Copy, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	values := url.Values{"mode": {"ro"}, "immutable": {"1"}, "_pragma": {"query_only(1)"}}
	pool, err := sql.Open(
		"sqlite",
		"file:"+(&url.URL{Path: path}).EscapedPath()+"?"+values.Encode(),
	)
	if err != nil {
		return nil, err
	}
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(sqliteError(err), pool.Close())
	}
	return &Copy{newStatements(pool), pool}, nil
}

// Close closes the file.
func (c *Copy) Close() error {
	return errors.Join(c.statements.close(), c.pool.Close())
}

// Check wants the copy to be whole, and of a program that is not newer than
// this one.
func (c *Copy) Check(ctx context.Context) error {
	if err := CheckPages(ctx, c); err != nil {
		return err
	}
	if _, err := pending(ctx, c); err != nil {
		return err
	}
	return nil
}
