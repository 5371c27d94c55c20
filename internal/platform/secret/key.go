// Package secret owns how secrets rest: stored ones encrypted under a ring of keys, passwords hashed, and the key file.
//
// It does not own where the key is configured, which rows hold secrets, or who may read them. API tokens are hashed in
// package id.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const keySize = 32

// ErrKey is the reason for which a key is refused.
var ErrKey = errors.New("must be 32 bytes in base64 or hex; make one with: openssl rand -base64 32")

// Key encrypts stored secrets. However it is printed, only its id shows.
type Key struct {
	// A function, because package fmt prints what unexported fields hold without asking their methods, behind
	// pointers too when the verb is wrong. Of a function it has only the address.
	reveal func() []byte
}

// NewKey makes a random key.
func NewKey() Key {
	b := make([]byte, keySize)
	_, _ = rand.Read(b) // never fails: the program ends first
	return keyOf(b)
}

// ParseKey reads 32 bytes in hex or in base64, standard or URL alphabet, padded or not.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	decode := hex.DecodeString
	if len(text) != hex.EncodedLen(keySize) {
		decode = base64.RawStdEncoding.Strict().DecodeString
		text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimSuffix(text, "="))
	}
	data, err := decode(text)
	if err != nil || len(data) != keySize {
		return Key{}, ErrKey // without err, which may quote a part of the key
	}
	return keyOf(data), nil
}

func keyOf(b []byte) Key { return Key{reveal: func() []byte { return b }} }

// ID names the key without revealing it: eight hex digits that stand in everything it seals.
func (k Key) ID() string {
	if k.reveal == nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte("carteira key id"), k.reveal()...))
	return hex.EncodeToString(sum[:4])
}

// String prints the key's id.
func (k Key) String() string { return "key " + k.ID() }

// Format prints the key's id whatever the verb, %#v and %d included.
func (k Key) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, k.String())
}

// LogValue logs the key's id.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalJSON writes the key's id.
func (k Key) MarshalJSON() ([]byte, error) {
	return []byte(`"` + k.String() + `"`), nil
}

// posix reports whether file modes have a meaning and folders can be synced.
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
		return Key{}, fmt.Errorf("key file %s has mode %04o, so others than its owner may use it; run: chmod 600 %s",
			path, mode, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Key{}, fmt.Errorf("read key file: %w", err)
	}
	key, err := ParseKey(string(text))
	if err != nil {
		return Key{}, fmt.Errorf("key file %s: its content %w", path, err)
	}
	return key, nil
}

// createKeyFile writes the whole key to a temporary file next to path and then links it: a link appears complete or
// not at all, and unlike a rename it never replaces the file of a process that was faster.
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
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
