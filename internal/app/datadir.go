package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"carteira/internal/platform/config"
	"carteira/internal/platform/keyring"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

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

// refuseHalf refuses a data folder whose database has gone: a new one in its
// place would hide that, and be backed up over the old. The key is looked for
// first, since it is made last.
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
