package program

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// mold is an installation that tests get copies of, because filling one takes several
// starts of the program. It is filled on first use, once for each engine.
type mold[T any] struct {
	fill  func(in *installation) T
	casts map[sqldb.Engine]*cast[T]
}

// cast is what is kept of the installation that was filled.
type cast[T any] struct {
	once    sync.Once
	done    bool
	made    T
	url     string            // of PostgreSQL
	key     string            // of PostgreSQL
	files   map[string][]byte // of the data folder
	env     []string          // that fill has added
	secrets []string
}

// newMold makes one. When fill returns, nothing that it started may run.
func newMold[T any](fill func(in *installation) T) *mold[T] {
	return &mold[T]{fill: fill, casts: map[sqldb.Engine]*cast[T]{sqldb.SQLite: {}, sqldb.Postgres: {}}}
}

// copy is an installation like the one that was filled, and what filling returned.
func (m *mold[T]) copy(t *testing.T, engine sqldb.Engine) (*installation, T) {
	t.Helper()
	c := m.casts[engine]
	c.once.Do(func() { c.make(t, engine, m.fill) })
	if !c.done {
		t.Fatal("the installation could not be made that others are copies of: another test says why")
	}
	in := installOn(t, engine, func() string { return sqldbtest.Copy(t, c.url) }, c.key)
	in.env = append(in.env, c.env...)
	in.secret(c.secrets...)
	if engine == sqldb.SQLite {
		if err := os.Mkdir(in.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range c.files {
			write(t, filepath.Join(in.dir, name), string(content))
		}
	}
	return in, c.made
}

func (c *cast[T]) make(t *testing.T, engine sqldb.Engine, fill func(in *installation) T) {
	t.Helper()
	c.key = newKey()
	in := installOn(t, engine, func() string { return sqldbtest.Keep(t) }, c.key)
	settings := len(in.env)
	c.made = fill(in)
	c.url, c.env, c.secrets = in.url, in.env[settings:], in.secrets
	if engine == sqldb.SQLite {
		c.files = map[string][]byte{}
		for _, name := range namesIn(t, in.dir) {
			content, err := os.ReadFile(filepath.Join(in.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			c.files[name] = content
		}
	}
	c.done = !t.Failed()
}
