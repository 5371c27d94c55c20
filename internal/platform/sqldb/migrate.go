package sqldb

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed migrations
var migrations embed.FS

// ErrNewer says that the database belongs to a newer version of the program.
var ErrNewer = errors.New("the database was migrated by a newer version of carteira; run that version, or restore a backup")

// ErrAltered says that a migration which the database has is not the program's.
var ErrAltered = errors.New("the database was migrated by a program that is not this one")

type migration struct {
	version int
	name    string
	text    string
	hash    string
}

// newest means the last migration there is.
const newest = math.MaxInt

// known lists, in order, the migrations of an engine. They are read and hashed
// once: each probe of the database asks for them.
func known(engine Engine) ([]migration, error) {
	if engine == Postgres {
		return knownPostgres()
	}
	return knownSQLite()
}

var (
	knownPostgres = sync.OnceValues(func() ([]migration, error) { return readMigrations(Postgres) })
	knownSQLite   = sync.OnceValues(func() ([]migration, error) { return readMigrations(SQLite) })
)

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
		list = append(list, migration{version, entry.Name(), string(text), fmt.Sprintf("%x", sha256.Sum256(text))})
	}
	return list, nil
}

// SchemaHash names the newest schema of an engine: it changes with any
// migration.
func SchemaHash(engine Engine) (string, error) {
	list, err := known(engine)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, migration := range list {
		sum.Write([]byte(migration.hash))
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// work is what Migrate has to do: run migrations, and write down the hashes of
// those that were run before hashes were kept.
type work struct{ pending, unhashed []migration }

func (w work) none() bool { return len(w.pending) == 0 && len(w.unhashed) == 0 }

// compare holds what a database has, hashes by version, against what the program
// knows, up to last.
func compare(engine Engine, applied map[int]string, last int) (work, error) {
	var w work
	list, err := known(engine)
	if err != nil {
		return w, err
	}
	for version := range applied {
		if version > len(list) {
			return w, fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, version, len(list))
		}
	}
	for _, migration := range list {
		hash, ran := applied[migration.version]
		switch {
		case !ran && migration.version <= last:
			w.pending = append(w.pending, migration)
		case ran && hash == "":
			w.unhashed = append(w.unhashed, migration)
		case ran && hash != migration.hash:
			return w, fmt.Errorf("%w: its migration %s differs; run the program that made it, or restore a backup", ErrAltered, migration.name)
		}
	}
	return w, nil
}

// The table of migrations is made here, since it comes before any of them. Its
// columns from hash on are younger than the first release. probed_at is for
// Probe.
const (
	appliedHashes = "SELECT version, hash FROM schema_migrations"
	versionTable  = `CREATE TABLE IF NOT EXISTS schema_migrations (
		version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`
)

var youngColumns = []struct{ name, kind string }{{"hash", "TEXT NOT NULL DEFAULT ''"}, {"probed_at", "BIGINT NOT NULL DEFAULT 0"}}

var hasColumn = map[Engine]string{
	SQLite: "SELECT count(*) FROM pragma_table_info('schema_migrations') WHERE name = '%s'",
	Postgres: `SELECT count(*) FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = 'schema_migrations' AND column_name = '%s'`,
}

func makeVersionTable(ctx context.Context, tx txConn) error {
	if err := tx.script(ctx, versionTable); err != nil {
		return err
	}
	for _, column := range youngColumns {
		n, err := Value[int](ctx, tx, fmt.Sprintf(hasColumn[tx.Engine()], column.name))
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		err = tx.script(ctx, "ALTER TABLE schema_migrations ADD COLUMN "+column.name+" "+column.kind)
		if err != nil {
			return err
		}
	}
	return nil
}

func readApplied(ctx context.Context, querier Querier) (map[int]string, error) {
	applied := map[int]string{}
	err := Each(ctx, querier, appliedHashes, nil, func(row Row) error {
		var version int
		var hash string
		err := row.Scan(&version, &hash)
		applied[version] = hash
		return err
	})
	return applied, err
}

// applyPending runs what is missing up to last. The caller holds the lock that
// keeps other starters out, and commits all of it or nothing.
func applyPending(ctx context.Context, log *slog.Logger, tx txConn, last int) error {
	if err := makeVersionTable(ctx, tx); err != nil {
		return err
	}
	applied, err := readApplied(ctx, tx)
	if err != nil {
		return err
	}
	work, err := compare(tx.Engine(), applied, last)
	if err != nil {
		return err
	}
	for _, migration := range work.unhashed {
		statement := fmt.Sprintf("UPDATE schema_migrations SET hash = '%s' WHERE version = %d", migration.hash, migration.version)
		if err := tx.script(ctx, statement); err != nil {
			return err
		}
	}
	for n, migration := range work.pending {
		if len(applied) > 0 { // a new database is made at once, and in silence
			log.InfoContext(ctx, "migrating the database", "migration", migration.name, "number", n+1, "of", len(work.pending))
		}
		if err := migration.apply(ctx, tx); err != nil {
			return fmt.Errorf("migration %s: %w", migration.name, err)
		}
	}
	return nil
}

// needless takes out of the early migrations two indexes that later ones drop. Not
// every server lets a program make the extensions of which they were. The files
// stay as they are: databases have their hashes.
var needless = strings.NewReplacer(
	"CREATE EXTENSION IF NOT EXISTS pg_trgm;", "",
	"CREATE EXTENSION IF NOT EXISTS btree_gin;", "",
	"CREATE INDEX customers_search ON customers USING gin (company_id, search gin_trgm_ops);", "",
	"CREATE INDEX companies_search ON companies USING gin (parent_id, search gin_trgm_ops);", "",
	"DROP INDEX customers_search;", "DROP INDEX IF EXISTS customers_search;",
	"DROP INDEX companies_search;", "DROP INDEX IF EXISTS companies_search;",
)

func (m migration) apply(ctx context.Context, tx txConn) error {
	if err := tx.script(ctx, needless.Replace(m.text)); err != nil {
		return err
	}
	return tx.script(ctx, fmt.Sprintf(
		"INSERT INTO schema_migrations (version, name, applied_at, hash) VALUES (%d, '%s', %d, '%s')",
		m.version, m.name, time.Now().UnixMicro(), m.hash))
}

// migrate looks before it writes: a command next to a busy server would have
// to wait for its turn, only to find nothing to do.
func (db *sqliteDB) migrate(ctx context.Context, log *slog.Logger, last int) error {
	if done, err := migrated(ctx, db, last); err != nil || done {
		return err
	}
	// Alone: a neighbour's commit would keep the tables of a migration that
	// failed, since they are not among the rows that a group counts.
	turn, err := db.group.take(ctx, job{run: func(tx txConn) error {
		return sqliteError(applyPending(ctx, log, tx, last))
	}}, true)
	if err != nil {
		return err
	}
	return turn.err
}

// migrated reports whether there is nothing to do. A database that cannot be read
// may have no table of migrations yet.
func migrated(ctx context.Context, querier Querier, last int) (bool, error) {
	applied, err := readApplied(ctx, querier)
	if err != nil {
		return false, nil //nolint:nilerr // the migration meets it again
	}
	work, err := compare(querier.Engine(), applied, last)
	return work.none(), err
}

// schemaLock is what a migration has alone, and every other transaction shares:
// none that began under the old schema commits under the new one. Any number, as
// long as nothing else in the database uses it: "cart".
const schemaLock = "1667330676"

// migrate looks first here, too: the table of columns takes the server longer
// than everything else of a start.
func (db *postgresDB) migrate(ctx context.Context, log *slog.Logger, last int) error {
	if done, err := migrated(ctx, db, last); err != nil || done {
		return err
	}
	return db.write(ctx, terms{migrating: true}, func(tx txConn) error {
		if err := tx.script(ctx, "SELECT pg_advisory_xact_lock("+schemaLock+")"); err != nil {
			return postgresError(err)
		}
		return postgresError(applyPending(ctx, log, tx, last))
	})
}
