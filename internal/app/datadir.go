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

func makeDataDir(c config.Config) error {
	dirs := []string{}
	if len(c.SecretKeys) == 0 {
		dirs = append(dirs, c.DataDir)
	}
	if c.Embedded() {
		dirs = append(dirs, filepath.Dir(sqlitePath(c)))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("the data folder cannot be made: %w", err)
		}
	}
	return nil
}

func sqlitePath(c config.Config) string { return strings.TrimPrefix(c.DatabaseURL, "sqlite:") }

func keyPath(c config.Config) string { return filepath.Join(c.DataDir, "secret.key") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// refuseHalf refuses a data folder whose database has gone: a new one in its
// place would hide that, and be backed up over the old. The key is looked for
// first, since it is made last.
func refuseHalf(c config.Config) error {
	path := sqlitePath(c)
	ours := c.Embedded() && len(c.SecretKeys) == 0 && filepath.Dir(path) == filepath.Clean(c.DataDir)
	if !ours || !exists(keyPath(c)) || exists(path) {
		return nil
	}
	return fmt.Errorf("%s is there, and its database %s is missing: restore it, or name another folder to begin anew", keyPath(c), path)
}

// givenKeys reads the keys and makes none.
func givenKeys(c config.Config) ([]secret.Key, error) {
	if len(c.SecretKeys) > 0 {
		return c.SecretKeys, nil
	}
	key, err := secret.LoadKeyFile(keyPath(c))
	return []secret.Key{key}, err
}

// secretKeys reads the keys, or makes one for a database that has none yet. It
// is the database that is asked first, since a key is made before it is used.
func secretKeys(ctx context.Context, c config.Config, db *sqldb.DB) ([]secret.Key, error) {
	if len(c.SecretKeys) > 0 {
		return c.SecretKeys, nil
	}
	used, err := keyring.Used(ctx, db)
	if err != nil {
		return nil, err
	}
	if used && !exists(keyPath(c)) {
		return nil, fmt.Errorf("%s is missing, and the database is encrypted with it: "+
			"put it back, or give its content in CARTEIRA_SECRET_KEY", keyPath(c))
	}
	key, err := secret.LoadOrCreateKeyFile(keyPath(c))
	return []secret.Key{key}, err
}
