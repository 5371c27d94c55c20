package secret

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestKeyFileIsMadeOnceAndReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.key")
	first, err := LoadOrCreateKeyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, err := LoadOrCreateKeyFile(path)
	if err != nil || !bytes.Equal(again.reveal(), first.reveal()) {
		t.Errorf("read again: %v, %v; want %v", again, err, first)
	}
	text, _ := os.ReadFile(path)
	if typed, err := ParseKey(string(text)); err != nil || typed.ID() != first.ID() {
		t.Errorf("the file does not fit into CARTEIRA_SECRET_KEY: %v", err)
	}
}

func TestProcessesThatStartAtOnceGetOneKey(t *testing.T) {
	for range 20 {
		folder := t.TempDir()
		path := filepath.Join(folder, "secret.key")
		ids := make([]string, 16)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				<-start
				key, err := LoadOrCreateKeyFile(path)
				if err != nil {
					t.Error(err)
				}
				ids[i] = key.ID()
			})
		}
		close(start)
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("different keys: %q", ids)
			}
		}
		if left, _ := os.ReadDir(folder); len(left) != 1 {
			t.Fatalf("files left behind: %v", left)
		}
	}
}

func TestCreatingNeverReplacesAKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.key")
	first, err := LoadOrCreateKeyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := createKeyFile(path, NewKey()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second key was written: %v", err)
	}
	if again, _ := readKeyFile(path); again.ID() != first.ID() {
		t.Errorf("%s became %s", first, again)
	}
}

func TestKeyFileOpenToOthersIsRefusedWithTheFix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.key")
	if _, err := LoadOrCreateKeyFile(path); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o660, 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadOrCreateKeyFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrCreateKeyFile(path); err != nil {
		t.Errorf("read-only for its owner: %v", err)
	}
}

func TestDamagedKeyFileIsRefusedAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.key")
	for _, content := range []string{"", "too short", strings.Repeat("a", 5000)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadOrCreateKeyFile(path); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), path) {
			t.Errorf("content %.20q: %v", content, err)
		}
		if kept, _ := os.ReadFile(path); string(kept) != content {
			t.Errorf("content %.20q became %q", content, kept)
		}
	}
	if _, err := LoadOrCreateKeyFile(filepath.Join(t.TempDir(), "missing", "secret.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
}
