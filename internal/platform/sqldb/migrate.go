package sqldb

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations
var migrations embed.FS

// ErrNewer says that the database belongs to a newer version of the program.
var ErrNewer = errors.New("the database was migrated by a newer version of carteira; run that version, or restore a backup")

type migration struct {
	version int
	name    string
	text    string
}

// newest stands for the last migration there is.
const newest = math.MaxInt

// pending lists, in order, the files of one engine that come after applied, up
// to last.
func pending(engine Engine, applied, last int) ([]migration, error) {
	dir := path.Join("migrations", string(engine))
	entries, err := fs.ReadDir(migrations, dir)
	if err != nil {
		return nil, err
	}
	var list []migration
	for i, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s: the number must be %04d", e.Name(), i+1)
		}
		if version <= applied || version > last {
			continue
		}
		text, err := migrations.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, migration{version, e.Name(), string(text)})
	}
	if applied > len(entries) {
		return nil, fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, applied, len(entries))
	}
	return list, nil
}

// execer is a connection or transaction that runs a script of statements.
type execer interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}

const appliedVersion = "SELECT COALESCE(MAX(version), 0) FROM schema_migrations"

const versionTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
	version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`

// applyPending runs what is missing up to last. The caller holds the lock that
// keeps other starters out, and commits all of it or nothing.
func applyPending(ctx context.Context, engine Engine, on execer, last int) error {
	if _, err := on.ExecContext(ctx, versionTable); err != nil {
		return err
	}
	var applied int
	if err := on.QueryRowContext(ctx, appliedVersion).Scan(&applied); err != nil {
		return err
	}
	list, err := pending(engine, applied, last)
	if err != nil {
		return err
	}
	for _, m := range list {
		if _, err := on.ExecContext(ctx, m.text); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
		record := fmt.Sprintf("INSERT INTO schema_migrations VALUES (%d, '%s', %d)", m.version, m.name, time.Now().UnixMicro())
		if _, err := on.ExecContext(ctx, record); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return nil
}

// migrate looks before it writes: a command beside a busy server would have to
// wait for its turn, only to find nothing to do.
func (db *sqliteDB) migrate(ctx context.Context, last int) error {
	if applied, err := Value[int](ctx, db, appliedVersion); err == nil {
		if list, err := pending(SQLite, applied, last); err != nil || len(list) == 0 {
			return err
		}
	}
	// Alone: a neighbour's commit would keep the tables of a migration that
	// failed, since they are not among the rows that a group counts.
	t, err := db.group.take(ctx, func(Querier) error {
		return sqliteError(applyPending(ctx, SQLite, db.group.conn, last))
	}, true)
	if err != nil {
		return err
	}
	return t.err
}

func (db *postgresDB) migrate(ctx context.Context, last int) error {
	return db.write(ctx, func(q Querier) error {
		tx := q.(pgQuerier).on.(*sql.Tx) //nolint:forcetypeassert // write makes it so
		// Any number, as long as nothing else in the database uses it: "cart".
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1667330676)"); err != nil {
			return postgresError(err)
		}
		return postgresError(applyPending(ctx, Postgres, tx, last))
	})
}
