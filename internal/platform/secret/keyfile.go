package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// posix tells whether file modes mean something and folders can be synced.
const posix = runtime.GOOS != "windows"

// LoadOrCreateKeyFile reads the key at path, or makes one there that only its owner can read. However many processes
// start at once, all get the same key.
func LoadOrCreateKeyFile(path string) (Key, error) {
	key, err := readKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKeyFile(path, NewKey()); err != nil && !errors.Is(err, fs.ErrExist) {
		return Key{}, fmt.Errorf("create key file: %w", err)
	}
	// The loser of a race syncs too: it is about to seal with a key that the winner may not have made durable yet.
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return Key{}, fmt.Errorf("create key file: %w", err)
	}
	return readKeyFile(path)
}

// LoadKeyFile reads the key at path.
func LoadKeyFile(path string) (Key, error) { return readKeyFile(path) }

func readKeyFile(path string) (Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Key{}, fmt.Errorf("read key file: %w", err)
	}
	if mode := info.Mode().Perm(); posix && mode&0o077 != 0 {
		return Key{}, fmt.Errorf(
			"key file %s has mode %04o, so others than its owner may use it; run: chmod 600 %s",
			path,
			mode,
			path,
		)
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator says where the key is
	if err != nil {
		return Key{}, fmt.Errorf("read key file: %w", err)
	}
	key, err := ParseKey(string(text))
	if err != nil {
		return Key{}, fmt.Errorf("key file %s: its content %w", path, err)
	}
	return key, nil
}

// createKeyFile writes the whole key beside path and then links it there: a link appears complete or not at all, and
// unlike a rename it never replaces the file of a process that was faster.
func createKeyFile(path string, key Key) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.WriteString(base64.StdEncoding.EncodeToString(key.reveal()) + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Link(file.Name(), path)
}

func syncFolder(path string) error {
	if !posix {
		return nil
	}
	folder, err := os.Open(path) //nolint:gosec // the operator says where the key is
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
