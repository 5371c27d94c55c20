package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"carteira/internal/platform/backup"
	"carteira/internal/platform/config"
	"carteira/internal/platform/keyring"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

// Restore puts a backup in the place of the embedded database, where there is
// none. keyFile is where its key is; empty: in the data folder or the
// environment. File and key are checked before anything is written.
func Restore(ctx context.Context, cfg config.Config, file, keyFile string) error {
	if !cfg.Embedded() {
		return errors.New("PostgreSQL is restored with its own tools: make an empty database, run pg_restore (or psql for a plain dump) on it, " +
			"then start with its CARTEIRA_DATABASE_URL and the CARTEIRA_SECRET_KEY of then")
	}
	path := sqlitePath(cfg)
	if err := refuseOccupied(path); err != nil {
		return err
	}
	if err := checkBackup(ctx, cfg, file, keyFile); err != nil {
		return err
	}
	if err := makeDataDir(cfg); err != nil {
		return err
	}
	if err := restoreKey(cfg, keyFile); err != nil {
		return err
	}
	if isEmpty(path) {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return copyDurably(file, path)
}

// refuseOccupied keeps a restore from what is there already, and from the rest
// of it: SQLite would play an old log into the restored database.
func refuseOccupied(path string) error {
	for _, there := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if exists(there) && (there != path || !isEmpty(path)) {
			return fmt.Errorf("%s is there already: stop the server, move its folder away, and restore into a new one",
				there)
		}
	}
	return nil
}

func checkBackup(ctx context.Context, cfg config.Config, file, keyFile string) error {
	keys, err := keysOfBackup(cfg, keyFile)
	if err != nil {
		return err
	}
	copied, err := sqldb.OpenCopy(ctx, file)
	if err != nil {
		return fmt.Errorf("the backup cannot be read: %w", err)
	}
	defer copied.Close() //nolint:errcheck // it was only read
	if err := copied.Check(ctx); err != nil {
		return fmt.Errorf("%s cannot be restored: %w", file, err)
	}
	return keyring.Check(ctx, copied, keys[0], keys[1:]...)
}

func keysOfBackup(cfg config.Config, keyFile string) ([]secret.Key, error) {
	if keyFile != "" {
		key, err := secret.LoadKeyFile(keyFile)
		return []secret.Key{key}, err
	}
	keys, err := givenKeys(cfg)
	if err != nil {
		return nil, fmt.Errorf(
			"the backup's key is needed too: give --key FILE, or CARTEIRA_SECRET_KEY, or put it at %s first (%w)",
			keyPath(cfg), err)
	}
	return keys, nil
}

// restoreKey puts the key next to the database, unless it is there.
func restoreKey(cfg config.Config, keyFile string) error {
	if keyFile == "" || len(cfg.SecretKeys) > 0 {
		return nil
	}
	to := keyPath(cfg)
	if !exists(to) {
		return copyDurably(keyFile, to)
	}
	given, err := os.ReadFile(keyFile)
	if err != nil {
		return err
	}
	there, err := os.ReadFile(to)
	if err == nil && string(there) != string(given) {
		return fmt.Errorf("%s is another key than %s: restore into a new folder", to, keyFile)
	}
	return err
}

// copyDurably copies a file to a new name, which appears when all of it is on
// the disk.
func copyDurably(from, to string) error {
	in, err := os.Open(filepath.Clean(from))
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	part := to + ".part"
	out, err := os.OpenFile(filepath.Clean(part), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return backup.Publish(part, to)
}

func makeDataDir(cfg config.Config) error {
	dirs := []string{}
	if len(cfg.SecretKeys) == 0 {
		dirs = append(dirs, cfg.DataDir)
	}
	if cfg.Embedded() {
		dirs = append(dirs, filepath.Dir(sqlitePath(cfg)))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("the data folder cannot be made: %w", err)
		}
	}
	return nil
}

func sqlitePath(cfg config.Config) string {
	return strings.TrimPrefix(cfg.DatabaseURL, "sqlite:")
}

func keyPath(cfg config.Config) string {
	return filepath.Join(cfg.DataDir, "secret.key")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// refuseHalf refuses a data folder without its database: a new one in its
// place would hide the loss, and be backed up over the old. It looks for the
// key first, since that is made last.
func refuseHalf(cfg config.Config) error {
	path := sqlitePath(cfg)
	ours := cfg.Embedded() && len(cfg.SecretKeys) == 0 && filepath.Dir(path) == filepath.Clean(cfg.DataDir)
	if !ours || !exists(keyPath(cfg)) {
		return nil
	}
	state := ""
	switch {
	case !exists(path):
		state = "missing"
	case isEmpty(path):
		state = "empty"
	default:
		return nil
	}
	return fmt.Errorf("%s is there, and its database %s is %s: "+
		"put a backup in its place with `carteira restore FILE`, or name another folder to begin anew", keyPath(cfg), path, state)
}

// isEmpty holds for what a crash of a file system leaves of a database.
func isEmpty(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == 0
}

// MissingDatabase refuses a command that would make the database in which it only
// looks for something.
func MissingDatabase(cfg config.Config) error {
	if !cfg.Embedded() || exists(sqlitePath(cfg)) {
		return nil
	}
	return fmt.Errorf("there is no database %s: is CARTEIRA_DATA_DIR right? "+
		"`carteira serve` and `carteira company create` make a new one", sqlitePath(cfg))
}

// givenKeys reads the keys and makes none.
func givenKeys(cfg config.Config) ([]secret.Key, error) {
	if len(cfg.SecretKeys) > 0 {
		return cfg.SecretKeys, nil
	}
	key, err := secret.LoadKeyFile(keyPath(cfg))
	return []secret.Key{key}, err
}

// secretKeys reads the keys, or makes one for a database that has none yet. It
// is the database that is asked first, since a key is made before it is used.
func secretKeys(ctx context.Context, cfg config.Config, db *sqldb.DB) ([]secret.Key, error) {
	if len(cfg.SecretKeys) > 0 {
		return cfg.SecretKeys, nil
	}
	used, err := keyring.Used(ctx, db)
	if err != nil {
		return nil, err
	}
	if used && !exists(keyPath(cfg)) {
		return nil, fmt.Errorf("%s is missing, and the database is encrypted with it: "+
			"put it back, or give its content in CARTEIRA_SECRET_KEY", keyPath(cfg))
	}
	key, err := secret.LoadOrCreateKeyFile(keyPath(cfg))
	return []secret.Key{key}, err
}
