package sqldb_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestVendorErrorsAreTranslated(t *testing.T) {
	known := []error{
		sqldb.ErrNotFound, sqldb.ErrUnique, sqldb.ErrForeignKey, sqldb.ErrCheck, sqldb.ErrBusy, sqldb.ErrUnavailable,
	}
	tests := map[string]struct {
		statement string
		want      error // nil: none of ours
	}{
		"second row with a key":       {"INSERT INTO notes (id, body) VALUES (1, 'other')", sqldb.ErrUnique},
		"second row of a unique text": {"INSERT INTO notes (id, body) VALUES (3, 'parent')", sqldb.ErrUnique},
		"reference to nothing":        {"INSERT INTO notes (id, body, parent) VALUES (3, 'orphan', 404)", sqldb.ErrForeignKey},
		"removal of what is in use":   {"DELETE FROM notes WHERE id = 1", sqldb.ErrForeignKey},
		"rule of the table":           {"INSERT INTO notes (id, body) VALUES (3, '')", sqldb.ErrCheck},
		"null":                        {"INSERT INTO notes (id, body) VALUES (3, NULL)", nil},
		"no such table":               {"DELETE FROM diaries", nil},
	}
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		run(t, db, "INSERT INTO notes (id, body, parent) VALUES (1, 'parent', NULL), (2, 'child', 1)")
		for name, tt := range tests {
			err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), tt.statement)
				return err
			})
			if err == nil {
				t.Errorf("%s: no error", name)
			}
			for _, k := range known {
				if errors.Is(err, k) != errors.Is(k, tt.want) {
					t.Errorf("%s: got %v, want %v", name, err, tt.want)
				}
			}
		}
		wantNotes(t, db, 1, 2)
	})
}

func TestMissingRowIsNotFound(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		_, err := sqldb.Value[string](t.Context(), db, "SELECT body FROM notes WHERE id = ?", 1)
		if !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		if err := sqldb.Found(err, "note"); fault.KindOf(err) != fault.KindNotFound || fault.Public(err) != "note not found" {
			t.Errorf("shown as %v", err)
		}
		if err := sqldb.Found(errRefused, "note"); !errors.Is(err, errRefused) {
			t.Errorf("another error became %v", err)
		}
	})
}

func TestLostConnectionIsUnavailable(t *testing.T) {
	db := sqldbtest.New(t, sqldb.Postgres)
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(t.Context(), "SELECT pg_terminate_backend(pg_backend_pid())"); err != nil {
			return err
		}
		t.Error("the connection is still there")
		return nil
	})
	if !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("the next connection: %v", err)
	}
}

func TestServerThatVanishesIsUnavailable(t *testing.T) {
	address := sqldbtest.URL(t, sqldb.Postgres)
	const last = "SELECT 'last words'"
	db := sqldbtest.Open(t, severed(t, address, last))
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, first := tx.Exec(t.Context(), last)
		if !errors.Is(first, sqldb.ErrUnavailable) {
			t.Errorf("in the middle of a statement: %v, want ErrUnavailable", first)
		}
		_, second := tx.Exec(t.Context(), "SELECT 1")
		return second
	})
	if !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("in the middle of a transaction: %v, want ErrUnavailable", err)
	}
	if _, err := sqldb.Value[string](t.Context(), db, last); !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("in the middle of a read: %v, want ErrUnavailable", err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("the next connection: %v", err)
	}
}

// severed is the address of a proxy to the server that breaks the connection
// at the last words of either side.
func severed(t *testing.T, address, last string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	way, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = way.Close() })
	server := target.Host
	go func() {
		for {
			client, err := way.Accept()
			if err != nil {
				return
			}
			go relay(client, server, last)
		}
	}()
	target.Host = way.Addr().String()
	return target.String()
}

func relay(client net.Conn, address, last string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() { _, _ = io.Copy(client, server) }()
	said := make([]byte, 64<<10)
	for {
		n, err := client.Read(said)
		if err != nil || bytes.Contains(said[:n], []byte(last)) {
			return
		}
		if _, err := server.Write(said[:n]); err != nil {
			return
		}
	}
}

func TestOpenSaysWhatIsWrongInOneLine(t *testing.T) {
	garbage := t.TempDir() + "/garbage.db"
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"":                      "the URL must start with sqlite: or postgres://",
		"mysql://localhost":     "the URL must start with sqlite: or postgres://",
		"sqlite:":               "names no file",
		"sqlite:/missing/dir/a": "no such file or directory",
		"sqlite:" + t.TempDir(): "is a directory",
		"sqlite:" + garbage:     garbage,
		"postgres://carteira:hunter2@127.0.0.1:1/x":  "PostgreSQL at 127.0.0.1:1",
		"postgres://carteira:hunter2@127.0.0.1:x/x:": "CARTEIRA_DATABASE_URL",
	}
	for url, want := range tests {
		_, err := sqldb.Open(t.Context(), url, sqldb.Options{})
		if err == nil {
			t.Errorf("%q was opened", url)
			continue
		}
		if s := err.Error(); !strings.Contains(s, want) || strings.Contains(s, "hunter2") || strings.Contains(s, "\n") {
			t.Errorf("%q: %q, want one line with %q", url, s, want)
		}
	}
}
