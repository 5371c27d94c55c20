package sqldb

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"carteira/internal/platform/crashpoint"
)

//go:embed migrations
var migrations embed.FS

// ErrNewer says that the database belongs to a newer version of the program.
var ErrNewer = errors.New("the database was migrated by a newer version of carteira; run that version, or restore a backup")

// ErrOlder says that the database was made before version 1.0: its schema began
// anew.
var ErrOlder = errors.New("the database was made before version 1.0, which cannot read it; " +
	"export the customers with the program that made it, and import them into a new database")

// ErrAltered says that a migration which the database has is not the program's.
var ErrAltered = errors.New("the database was migrated by a program that is not this one")

type migration struct {
	version int
	name    string
	text    string
	hash    string
}

// known lists, in order, the migrations of each engine. They are read and hashed
// once: each probe of the database asks for them.
var known = map[Engine]func() ([]migration, error){
	SQLite:   sync.OnceValues(func() ([]migration, error) { return readMigrations(SQLite) }),
	Postgres: sync.OnceValues(func() ([]migration, error) { return readMigrations(Postgres) }),
}

func newMigration(version int, name, text string) migration {
	return migration{version, name, text, fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
}

func readMigrations(engine Engine) ([]migration, error) {
	dir := path.Join("migrations", string(engine))
	entries, err := fs.ReadDir(migrations, dir)
	if err != nil {
		return nil, err
	}
	list := make([]migration, 0, len(entries))
	for i, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s: the number must be %04d", entry.Name(), i+1)
		}
		text, err := migrations.ReadFile(path.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, newMigration(version, entry.Name(), string(text)))
	}
	if text := crashpoint.Migration; text != "" {
		list = append(list, newMigration(len(list)+1, "of a newer version", text))
	}
	return list, nil
}

// baseline is the name of the first migration, by which the table of migrations
// says that a database is not from before version 1.0.
const baseline = "0001_baseline.sql"

// lacking holds what a database has, by version, against what the program knows,
// and returns what it lacks.
func lacking(engine Engine, applied map[int]applied) (missing []migration, err error) {
	list, err := known[engine]()
	if err != nil {
		return nil, err
	}
	if first, ran := applied[1]; ran && first.name != baseline {
		return nil, ErrOlder
	}
	for version := range applied {
		if version > len(list) {
			return nil, fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, version, len(list))
		}
	}
	for _, migration := range list {
		before, ran := applied[migration.version]
		switch {
		case !ran:
			missing = append(missing, migration)
		case before.hash != migration.hash:
			return nil, fmt.Errorf("%w: its migration %s differs; run the program that made it, or restore a backup", ErrAltered, migration.name)
		}
	}
	return missing, nil
}

// The table of migrations is made here, since it comes before any of them.
// probed_at is for Probe.
const versionTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
	version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL,
	hash TEXT NOT NULL DEFAULT '', probed_at BIGINT NOT NULL DEFAULT 0)`

// applied is a migration that a database has.
type applied struct{ name, hash string }

func readApplied(ctx context.Context, querier Querier) (map[int]applied, error) {
	list := map[int]applied{}
	err := Each(ctx, querier, "SELECT version, name, hash FROM schema_migrations", nil, func(row Row) error {
		var version int
		var found applied
		err := row.Scan(&version, &found.name, &found.hash)
		list[version] = found
		return err
	})
	return list, err
}

// applyPending runs what is missing. The caller holds the lock that
// keeps other starters out, and commits all of it or nothing.
func applyPending(ctx context.Context, log *slog.Logger, tx txConn) error {
	if err := tx.script(ctx, versionTable); err != nil {
		return err
	}
	applied, err := readApplied(ctx, tx)
	if err != nil {
		return err
	}
	missing, err := lacking(tx.Engine(), applied)
	if err != nil {
		return err
	}
	for n, migration := range missing {
		if len(applied) > 0 { // a new database is made at once, and in silence
			log.InfoContext(ctx, "migrating the database", "migration", migration.name, "number", n+1, "of", len(missing))
		}
		if err := migration.apply(ctx, tx); err != nil {
			return fmt.Errorf("migration %s: %w", migration.name, err)
		}
	}
	return nil
}

func (m migration) apply(ctx context.Context, tx txConn) error {
	if err := tx.script(ctx, m.text); err != nil {
		return err
	}
	return tx.script(ctx, fmt.Sprintf("INSERT INTO schema_migrations (version, name, applied_at, hash) VALUES (%d, '%s', %d, '%s')",
		m.version, m.name, time.Now().UnixMicro(), m.hash))
}

// schemaLock is what a migration has alone, and every other transaction shares:
// none that began under the old schema commits under the new one. Any number, as
// long as nothing else in the database uses it: "cart".
const schemaLock = "1667330676"
