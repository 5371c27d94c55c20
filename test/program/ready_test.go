package program

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"carteira/internal/platform/sqldb"
)

// wantReady waits until /readyz answers as it should, with a text that holds a
// word.
func (s *server) wantReady(status int, word string) {
	s.t.Helper()
	var last page
	eventually(s.t, "/readyz says "+word, func() bool {
		last = s.get("/readyz")
		return last.status == status && strings.Contains(last.body, word)
	})
	if got := s.get("/healthz").status; got != 200 {
		s.t.Errorf("/healthz: %d", got)
	}
}

// saidError waits for a line of the log at level ERROR that holds a word.
func (s *server) saidError(word string) {
	s.t.Helper()
	s.await(&s.stderr, func(string) bool {
		for _, line := range s.log() {
			if line.Level == "ERROR" && strings.Contains(line.Error, word) {
				return true
			}
		}
		return false
	})
}

// removeUsed removes a folder in which a process still makes files now and then: one
// made in the meantime keeps the folder from going.
func removeUsed(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}

func TestDataFolderThatIsTakenAwayIsNoticed(t *testing.T) {
	t.Parallel()
	ways := map[string]func(dir string) error{
		"removed": removeUsed,
		"replaced": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.CopyFS(dir, os.DirFS(dir+".old")))
		},
	}
	for name, takeAway := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t, sqldb.SQLite)
			token := in.token(in.company())
			server := in.serve()
			client := server.client(token)
			client.want(200, "POST", "/customers", map[string]any{"name": "Ana"})
			server.wantReady(200, "ready")
			if err := takeAway(in.dir); err != nil {
				t.Fatal(err)
			}
			server.saidError("removed or replaced") // without a request
			server.wantReady(503, "removed or replaced")
			answer := client.want(503, "POST", "/customers", map[string]any{"name": "Bia"})
			if strings.Contains(answer.Message, "in a moment") || answer.header.Get("Retry-After") == "" {
				t.Errorf("with %v: %s", answer.header, answer.body)
			}
			server.kill() // it has nowhere to write what a stop writes down
		})
	}
}

func TestKeyWithoutItsDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	in.run("migrate")
	database := filepath.Join(in.dir, "carteira.db")
	if err := os.Remove(database); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"serve", "migrate"} {
		wantRefusal(t, in.try(nil, command), 1, "secret.key", database, "is missing")
	}
	if _, err := os.Stat(database); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database was made: %v", err)
	}
}

func TestSchemaThatIsMigratedAwayTurnsReadinessRed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		in.run("migrate")
		server := in.serve()
		server.wantReady(200, "ready")
		in.execute("INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'of tomorrow', 0)")
		server.wantReady(503, "newer version")
		in.execute("DELETE FROM schema_migrations WHERE version = 9999")
		server.wantReady(200, "ready")
	})
}

// execute runs a statement past sqldb, which writes nothing to a database of a newer version.
func (in *installation) execute(text string) {
	in.t.Helper()
	if in.engine == sqldb.Postgres {
		conn, err := pgx.Connect(in.t.Context(), in.url)
		if err == nil {
			_, err = conn.Exec(in.t.Context(), text)
			err = errors.Join(err, conn.Close(in.t.Context()))
		}
		if err != nil {
			in.t.Fatal(err)
		}
		return
	}
	conn, err := sqlite.OpenConn(filepath.Join(in.dir, "carteira.db"))
	if err == nil {
		conn.SetBlockOnBusy()
		err = errors.Join(sqlitex.ExecuteTransient(conn, text, nil), conn.Close())
	}
	if err != nil {
		in.t.Fatal(err)
	}
}

func TestReadinessIsRedBeforeTheListenerCloses(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	token := in.token(in.company())
	server := in.serve("CARTEIRA_SHUTDOWN_DELAY=5s")
	client := server.client(token)
	server.wantReady(200, "ready")
	server.signal(syscall.SIGTERM)
	server.await(&server.stderr, func(text string) bool { return strings.Contains(text, "not ready any more") })
	server.wantReady(503, "stopping")
	client.want(200, "POST", "/customers", map[string]any{"name": "Ana"})
	if code := server.wait(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, server.stderr.String())
	}
}

// A repeat need not wait for the lease of a process that cannot be running.
func TestRepeatAfterAKillIsAnsweredAtOnceByAnEmbeddedDatabase(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	token := in.token(in.company())
	body := map[string]any{"name": "Ana"}
	server := in.serve()
	leaveUnfinished(t, in.open(), body)
	server.client(token).want(409, "POST", "/customers", body, "Idempotency-Key", "k")
	server.kill()
	in.serve().client(token).want(200, "POST", "/customers", body, "Idempotency-Key", "k")
}

// leaveUnfinished writes what a request with the key k leaves when its process
// is killed before it has done anything.
func leaveUnfinished(t *testing.T, db *sqldb.DB, body map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	now := db.Now()
	execute(t, db, fmt.Sprintf(`
		INSERT INTO idempotency_keys (company_id, token_id, key, fingerprint, holder, lease_until, carried_out, status, answer, created_at)
		SELECT company_id, id, 'k', x'%x', 'of the killed', %d, 0, 0, '', %d FROM api_tokens`,
		sha256.Sum256([]byte("POST /api/v1/customers\n"+string(text))), now.Add(time.Hour).UnixMicro(), now.UnixMicro()))
}
