package program

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// writing makes customers from many clients until it is stopped.
type writing struct {
	mu   sync.Mutex
	made map[string]bool // names that were acknowledged
	more chan struct{}   // one for each, as long as somebody reads them
	stop func()
}

func startWriting(c *client) *writing {
	w := &writing{made: map[string]bool{}, more: make(chan struct{}, 1)}
	end := make(chan struct{})
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for j := 0; ; j++ {
				select {
				case <-end:
					return
				default:
				}
				name := fmt.Sprintf("Ana %d-%d", i, j)
				if a, err := c.send("POST", "/customers", map[string]any{"name": name}); err != nil || a.status != 200 {
					c.t.Errorf("%v %d: %s", err, a.status, a.body)
					return
				}
				w.mu.Lock()
				w.made[name] = true
				w.mu.Unlock()
				select {
				case w.more <- struct{}{}:
				default:
				}
			}
		})
	}
	w.stop = sync.OnceFunc(func() {
		close(end)
		all.Wait()
	})
	c.t.Cleanup(w.stop)
	return w
}

// names waits until at least n are acknowledged and returns them.
func (w *writing) names(t *testing.T, n int) []string {
	t.Helper()
	for {
		w.mu.Lock()
		var names []string
		for name := range w.made {
			names = append(names, name)
		}
		w.mu.Unlock()
		if len(names) >= n {
			return names
		}
		select {
		case <-w.more:
		case <-time.After(patience):
			t.Fatal("nothing is written any more")
		}
	}
}

func TestBackupIsWholeWhileWritesGoOn(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	token := in.token(in.company())
	w := startWriting(in.serve().client(token))
	before := w.names(t, 100)

	restored := install(t, sqldb.SQLite)
	if err := os.Mkdir(restored.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(restored.dir, "carteira.db")
	in.run("backup", file)
	w.names(t, len(w.names(t, 0))+writers) // they went on
	w.stop()

	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	db := sqldbtest.Open(t, restored.url)
	if sound, err := sqldb.Value[string](t.Context(), db, "PRAGMA integrity_check"); err != nil || sound != "ok" {
		t.Errorf("integrity_check: %s, %v", sound, err)
	}
	key, err := os.ReadFile(filepath.Join(in.dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(restored.dir, "secret.key"), string(key))
	copied, there := map[string]bool{}, map[int64]string{}
	for _, c := range restored.serve().client(token).customers() {
		copied[c.Name], there[c.ID] = true, c.Name
	}
	for _, name := range before {
		if !copied[name] {
			t.Errorf("%s was acknowledged before the backup and is not in it", name)
		}
	}
	wantOneEventEach(t, db, there)
}

func TestBackupOverwritesNothing(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	in.run("migrate")
	file := filepath.Join(t.TempDir(), "copy.db")
	write(t, file, "precious")
	wantRefusal(t, in.try(nil, "backup", file), 1, file, "exists already")
	if kept, err := os.ReadFile(file); string(kept) != "precious" {
		t.Errorf("the file is now %q, %v", kept, err)
	}
	wantRefusal(t, in.try(nil, "backup", filepath.Join(file, "below")), 1, "backup")
	if left := namesIn(t, filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBackupOfPostgresNamesTheTool(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	wantRefusal(t, in.try(nil, "backup", filepath.Join(t.TempDir(), "copy.db")), 1, "pg_dump")
}
