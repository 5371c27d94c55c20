package sqldbtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

const serverVariable = "CARTEIRA_TEST_POSTGRES_URL"

// newDatabase makes a database from a template on the server of the tests, and
// removes it after the test.
func newDatabase(tb testing.TB, template string) string {
	tb.Helper()
	name := createDatabase(tb, template)
	tb.Cleanup(func() { onServer(tb, "DROP DATABASE "+name+" WITH (FORCE)") })
	return addressOf(tb, name)
}

func createDatabase(tb testing.TB, template string) (name string) {
	tb.Helper()
	name = "test_" + strings.ToLower(rand.Text())
	onServer(tb, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY")
	return name
}

// Copy is the address of a fresh copy of a PostgreSQL database, to which no connection may be open.
func Copy(tb testing.TB, address string) string {
	tb.Helper()
	return newDatabase(tb, nameOf(tb, address))
}

var kept []string // databases

// Keep is the address of a fresh, migrated PostgreSQL database that outlives the test: Drop removes it.
func Keep(tb testing.TB) string {
	tb.Helper()
	name := createDatabase(tb, template(tb))
	servant.Lock()
	defer servant.Unlock()
	kept = append(kept, name)
	return addressOf(tb, name)
}

// Drop removes the databases of Keep, after the tests.
func Drop() error {
	for _, name := range kept {
		if _, err := servant.conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return nil
}

// templateLock is the advisory lock under which processes make the template.
const templateLock = 1129337165

var ready struct {
	once     sync.Once
	template string
}

// template is the name of a database with every migration applied.
func template(tb testing.TB) string {
	tb.Helper()
	serverURL(tb) // or there is nothing to make it on, and the test ends here
	ready.once.Do(func() { ready.template = makeTemplate(tb) })
	if ready.template == "" {
		tb.Fatal("the template of the tests' databases could not be made: another test says why")
	}
	return ready.template
}

// makeTemplate makes it, unless another test process has: its name changes with
// any migration.
func makeTemplate(tb testing.TB) string {
	tb.Helper()
	name := "carteira_" + schemaHash(tb)[:16]
	conn := connectServer(tb)
	defer closeConn(tb, conn)
	execute(tb, conn, "SELECT pg_advisory_lock($1)", templateLock) // to the end of the connection
	if !isTemplate(tb, conn, name) {
		execute(tb, conn, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") // half made by a process that was killed
		execute(tb, conn, "CREATE DATABASE "+name)
		migrate(tb, addressOf(tb, name))
		execute(tb, conn, "ALTER DATABASE "+name+" IS_TEMPLATE true")
	}
	return name
}

// schemaHash changes with any migration.
func schemaHash(tb testing.TB) string {
	tb.Helper()
	files := "internal/platform/sqldb/migrations/postgres/*.sql"
	for range 8 { // a test runs in its own folder
		found, err := filepath.Glob(files)
		if err != nil {
			tb.Fatal(err)
		}
		if len(found) > 0 {
			return hashOf(tb, found)
		}
		files = filepath.Join("..", files)
	}
	tb.Fatal("the migrations are not found")
	return ""
}

func hashOf(tb testing.TB, files []string) string {
	tb.Helper()
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			tb.Fatal(err)
		}
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func isTemplate(tb testing.TB, conn *pgx.Conn, name string) (made bool) {
	tb.Helper()
	err := conn.QueryRow(lasting(tb), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)", name).Scan(&made)
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

func migrate(tb testing.TB, url string) {
	tb.Helper()
	if err := Open(tb, url).Close(); err != nil {
		tb.Fatal(err)
	}
}

// addressOf is the address of another database of the server.
func addressOf(tb testing.TB, database string) string {
	tb.Helper()
	address, err := url.Parse(serverURL(tb))
	if err != nil {
		tb.Fatalf("%s: %v", serverVariable, err)
	}
	address.Path = "/" + database
	return address.String()
}

// nameOf is the name of the database that an address leads to.
func nameOf(tb testing.TB, address string) string {
	tb.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimPrefix(parsed.Path, "/")
}

// serverURL is where the server is. Where there is none the test is skipped,
// except where a green run is taken for the whole truth.
func serverURL(tb testing.TB) string {
	tb.Helper()
	server := os.Getenv(serverVariable)
	if server == "" && os.Getenv("CI") == "true" {
		tb.Fatal("no PostgreSQL to test on: " + serverVariable + " is not set")
	}
	if server == "" {
		tb.Skip("no PostgreSQL to test on: run `make test`, which starts one")
	}
	return server
}

// servant is the connection that makes and removes databases. It lasts as long as the process of the tests: to
// connect takes as long as to make a database.
var servant struct {
	sync.Mutex
	conn *pgx.Conn
}

func onServer(tb testing.TB, statement string) {
	tb.Helper()
	servant.Lock()
	defer servant.Unlock()
	if servant.conn == nil || servant.conn.IsClosed() {
		servant.conn = connectServer(tb)
	}
	execute(tb, servant.conn, statement)
}

func connectServer(tb testing.TB) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(lasting(tb), serverURL(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return conn
}

func closeConn(tb testing.TB, conn *pgx.Conn) {
	tb.Helper()
	if err := conn.Close(lasting(tb)); err != nil {
		tb.Error(err)
	}
}

func execute(tb testing.TB, conn *pgx.Conn, statement string, args ...any) {
	tb.Helper()
	if _, err := conn.Exec(lasting(tb), statement, args...); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

// lasting is a context that lasts through the cleaning up, when the test's own
// has ended.
func lasting(tb testing.TB) context.Context {
	tb.Helper()
	return context.WithoutCancel(tb.Context())
}
