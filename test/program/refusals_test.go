package program

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/platform/config"
	"carteira/internal/platform/sqldb"
)

var settings = config.Settings

// The throw-away PostgreSQL is faster than safe, and every process warns of it.
var (
	refusal    = regexp.MustCompile(`^(?:\{.*fsync=off.*\n)?carteira: .+\n$`)
	wrongUsage = regexp.MustCompile(`^carteira: .+\nRun 'carteira[ a-z]* --help' for what it takes\.\n$`)
)

// wantRefusal wants a command to have failed with one clear line, and after it
// where to read on when it was called wrongly.
func wantRefusal(t *testing.T, result result, code int, want ...string) {
	t.Helper()
	form := refusal
	if code == 2 {
		form = wrongUsage
	}
	if result.code != code || result.stdout != "" || !form.MatchString(result.stderr) {
		t.Errorf("exit code %d, want %d and one line:\n%s%s", result.code, code, result.stderr, result.stdout)
	}
	for _, w := range want {
		if !strings.Contains(result.stderr, w) {
			t.Errorf("%q does not say %q", result.stderr, w)
		}
	}
}

func TestWrongCallIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ call, want string }{
		{"nonsense", `unknown command "nonsense"`},
		{"company crate", `unknown command "crate"`},
		{"serve extra", `"extra"`},
		{"serve --nonsense", "unknown flag: --nonsense"},
		{"token create --company one --name x", `"one"`},
		{"token create --name x", `"company"`},
		{"company create", `"email", "name"`},
		{"backup", "1 arg"},
	} {
		in := installBare(t, sqldb.SQLite)
		wantRefusal(t, in.try(nil, strings.Fields(tt.call)...), 2, tt.want)
		if _, err := os.Stat(in.dir); err == nil {
			t.Errorf("%s: a data folder was made", tt.call)
		}
	}
}

func TestCommandNamesTheFlagsThatAreWrong(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	company := in.company()
	wantRefusal(t, in.try(nil, "token", "create", "--company", "77", "--name", "x"), 1, "no company 77", "company list")
	wantRefusal(t, in.try(nil, "token", "delete", "--company", company, "--id", "77"), 1, "not found")
	wantRefusal(t, in.try(nil, "plan", "create", "--company", company, "--name", "x", "--value", "1.005", "--period", "1month"), 1, "--value")
	wantRefusal(t, in.try(nil, "company", "create", "--name", "x", "--email", "nobody"), 1, "--email")
	wantRefusal(t, in.try(nil, "company", "create", "--name", "x", "--email", "a@example.com", "--password", "short"), 1, "--password")
}

func TestBadSettingIsRefusedByName(t *testing.T) {
	t.Parallel()
	const anything = "" // a setting for which any text will do
	bad := map[string]string{
		"CARTEIRA_LISTEN": "8080", "CARTEIRA_DATABASE_URL": "mysql://root:hunter2@localhost/x", "CARTEIRA_DATA_DIR": anything,
		"CARTEIRA_PUBLIC_URL": "clientes.example.com", "CARTEIRA_SECRET_KEY": "hunter2", "CARTEIRA_RATE_LIMIT": "-1",
		"CARTEIRA_WEBHOOK_ALLOW_NETWORKS": "127.0.0.1/33", "CARTEIRA_WEBHOOKS_PER_COMPANY": "two",
		"CARTEIRA_WEBHOOK_HISTORY_DAYS": "0", "CARTEIRA_WEBHOOK_RETRY_DELAYS": "0s,soon", "CARTEIRA_AUDIT_DAYS": "always",
		"CARTEIRA_MESSAGE_ALLOW_NETWORKS": "everywhere", "CARTEIRA_MESSAGE_HISTORY_DAYS": "-3",
		"CARTEIRA_BACKUP_DIR": anything, "CARTEIRA_BACKUP_DAYS": "some",
		"CARTEIRA_TLS_CERT": anything, "CARTEIRA_TLS_KEY": anything, "CARTEIRA_TLS_DOMAIN": "a.example.com,*.example.com",
		"CARTEIRA_ACME_DIRECTORY": "http://ca.example.com", "CARTEIRA_ACME_EMAIL": "Ana", "CARTEIRA_ACME_EAB": "hunter2",
		"CARTEIRA_ACME_LISTEN":     ":443",
		"CARTEIRA_TRUSTED_PROXIES": "10.0.0.0/8,proxy", "CARTEIRA_METRICS_TOKEN": anything,
		"CARTEIRA_SANDBOX":  "perhaps",
		"CARTEIRA_MAIL_URL": "mail.example.com", "CARTEIRA_MAIL_FROM": "nobody", "CARTEIRA_SANDBOX_GATEWAY": "maybe", "CARTEIRA_PIX_BANK_HOSTS": "https://bank", "CARTEIRA_SHUTDOWN_DELAY": "6m", "CARTEIRA_LOG_LEVEL": "loud", "CARTEIRA_LOG_FORMAT": "xml",
	}
	in := installBare(t, sqldb.SQLite)
	in.secret("hunter2")
	for _, setting := range settings {
		value, ok := bad[setting.Env]
		switch {
		case !ok:
			t.Errorf("%s: say here which value it refuses", setting.Env)
		case value == anything:
		default:
			wantRefusal(t, in.try([]string{setting.Env + "=" + value}, "serve"), 1, setting.Env+": ")
			if setting.Name != "" {
				wantRefusal(t, in.try(nil, "serve", "--"+setting.Name+"="+value), 1, "--"+setting.Name+": ")
			}
		}
	}
	if _, err := os.Stat(in.dir); err == nil {
		t.Error("a data folder was made")
	}
}

func TestSettingsThatDoNotGoTogetherAreRefused(t *testing.T) {
	t.Parallel()
	in := installBare(t, sqldb.SQLite)
	wantRefusal(t, in.try([]string{"CARTEIRA_TLS_CERT=cert.pem"}, "serve"), 1, "CARTEIRA_TLS_CERT and CARTEIRA_TLS_KEY go together")
	wantRefusal(t, in.try([]string{"CARTEIRA_TLS_KEY=key.pem"}, "serve"), 1, "CARTEIRA_TLS_CERT and CARTEIRA_TLS_KEY go together")
	wantRefusal(t, in.try([]string{"CARTEIRA_TLS_CERT=cert.pem", "CARTEIRA_TLS_KEY=key.pem", "CARTEIRA_TLS_DOMAIN=example.com"}, "serve"), 1, "CARTEIRA_TLS_DOMAIN")
	wantRefusal(t, in.try([]string{"CARTEIRA_TLS_CERT=cert.pem", "CARTEIRA_TLS_KEY=key.pem"}, "serve"), 1, "CARTEIRA_TLS_CERT", "cert.pem")
	wantRefusal(t, in.try([]string{"CARTEIRA_DATABASE_URL=" + in.url}, "demo", "--database-url", "postgres://localhost/x"), 1, "CARTEIRA_SECRET_KEY")
}

func TestUnusableDataFolderIsRefused(t *testing.T) {
	t.Parallel()
	in := installBare(t, sqldb.SQLite)
	tmp := t.TempDir()
	file := filepath.Join(tmp, "file")
	write(t, file, "not a database, and not a folder either\n")
	folder := filepath.Join(tmp, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "carteira.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		file:             file + ": not a directory",
		file + "/in":     file + ": not a directory",
		"/proc/carteira": "the data folder cannot be made: mkdir /proc/carteira",
		folder:           "carteira.db: is a directory",
	} {
		wantRefusal(t, in.try([]string{"CARTEIRA_DATA_DIR=" + dir}, "serve"), 1, want)
	}
	wantRefusal(t, in.try([]string{"CARTEIRA_DATABASE_URL=sqlite:" + file}, "serve"), 1, file, "not a database")
	wantRefusal(t, in.try([]string{"CARTEIRA_DATABASE_URL=sqlite:"}, "serve"), 1, "names no file")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPostgresThatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	in := installBare(t, sqldb.SQLite)
	in.secret("hunter2")
	address := "127.0.0.1:" + closedPort(t)
	postgres := "CARTEIRA_DATABASE_URL=postgres://ana:hunter2@" + address + "/carteira"
	key := "CARTEIRA_SECRET_KEY=" + newKey()
	wantRefusal(t, in.try([]string{postgres}, "serve"), 1, "CARTEIRA_SECRET_KEY is required with PostgreSQL", "openssl rand")
	wantRefusal(t, in.try([]string{postgres, key}, "serve"), 1, "PostgreSQL at "+address, "connection refused")
	wantRefusal(t, in.try([]string{postgres + "?sslmode=nonsense", key}, "serve"), 1, "CARTEIRA_DATABASE_URL", "sslmode")
	wantRefusal(t, in.try([]string{"CARTEIRA_DATABASE_URL=postgres:", key}, "serve"), 1, "CARTEIRA_DATABASE_URL", "postgres://user")
}

// closedPort is a port without a listener.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

func TestWrongPasswordOrDatabaseOfPostgresIsRefused(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	password := passwordOf(t, in.url)
	for from, to := range map[string]string{
		":" + password + "@":  ":hunter2@",
		"/test_":              "/nowhere_",
		"sslmode=disable":     "sslmode=require",
		"postgres://postgres": "postgres://nobody",
	} {
		wrong := strings.Replace(in.url, from, to, 1)
		if wrong == in.url {
			t.Fatalf("no %q in the URL", from)
		}
		wantRefusal(t, in.try([]string{"CARTEIRA_DATABASE_URL=" + wrong}, "migrate"), 1)
	}
}

func TestSecondServeIsRefused(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	server := in.serve()
	wantRefusal(t, in.try(nil, "serve"), 1, "another carteira serves "+filepath.Join(in.dir, "carteira.db"))
	if page := server.get("/readyz"); page.status != 200 {
		t.Errorf("the first server: %d", page.status)
	}
	server.kill()
	in.serve() // the lock does not outlive its process
}

func TestAnyNumberServesOnePostgres(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	token := in.token(in.company())
	for i := range 3 {
		client := in.serve().client(token)
		client.want(200, "POST", "/customers", map[string]any{"name": fmt.Sprint("Ana ", i)})
		if got := len(client.customers()); got != i+1 {
			t.Errorf("server %d lists %d customers", i, got)
		}
	}
}

func TestTakenPortIsRefused(t *testing.T) {
	t.Parallel()
	server := install(t, sqldb.SQLite).serve()
	other := install(t, sqldb.SQLite)
	wantRefusal(t, other.try([]string{"CARTEIRA_LISTEN=" + server.address}, "serve"), 1, server.address+" is in use", "--listen")
}

func TestWrongKeyIsRefusedAndARotatedOneIsNot(t *testing.T) {
	eachBare(t, func(t *testing.T, in *installation) {
		first, second := newKey(), newKey()
		in.secret(first, second)
		with := func(keys string) []string { return []string{"CARTEIRA_SECRET_KEY=" + keys} }
		in.env = append(in.env, with(first)...)
		token := in.token(in.company())
		create := func(server *server) answer {
			return server.client(token).want(200, "POST", "/customers", map[string]any{"name": "Ana"}, "Idempotency-Key", "one")
		}
		server := in.serve()
		before := create(server)
		server.stop()

		wantRefusal(t, in.try(with(second), "serve"), 1, "wrong CARTEIRA_SECRET_KEY", "new,old")
		server = in.serve(with(second + "," + first)...)
		if after := create(server); string(after.body) != string(before.body) { // which was encrypted with the first key
			t.Errorf("first %s\nthen %s", before.body, after.body)
		}
		server.stop()
		wantRefusal(t, in.try(with(first), "serve"), 1, "wrong CARTEIRA_SECRET_KEY")
		in.serve(with(second)...)
	})
}

func TestKeyFileThatOthersCanReadIsRefused(t *testing.T) {
	t.Parallel()
	in := installBare(t, sqldb.SQLite)
	in.run("migrate")
	file := filepath.Join(in.dir, "secret.key")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, in.try(nil, "serve"), 1, file, "0640", "chmod 600")
}

func TestLostKeyFileIsNotReplaced(t *testing.T) {
	t.Parallel()
	in := installBare(t, sqldb.SQLite)
	in.run("migrate")
	file := filepath.Join(in.dir, "secret.key")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a key that the first had made would be taken for the lost one by the second
		wantRefusal(t, in.try(nil, "serve"), 1, file, "is missing", "CARTEIRA_SECRET_KEY")
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		in.run("migrate")
		in.setMigrations("INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, '9999_future.sql', 0)")
		for _, command := range []string{"serve", "migrate"} {
			wantRefusal(t, in.try(nil, command), 1, "newer version of carteira", "9999")
		}
	})
}

// A command of a newer version would else migrate the database of a server that runs,
// which would write nothing from then on.
func TestCommandRefusesADatabaseThatHasToBeMigrated(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		in.run("migrate")
		in.setMigrations("DELETE FROM schema_migrations")
		wantRefusal(t, in.try(nil, "company", "list"), 1, "older version of carteira", "carteira migrate")
		wantRefusal(t, in.try(nil, "company", "create", "--name", "Ana", "--email", "ana@example.com"), 1, "older version of carteira")
	})
}

// setMigrations changes which migrations the database has had.
func (in *installation) setMigrations(statement string) {
	in.t.Helper()
	err := in.open().Write(in.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(in.t.Context(), statement)
		return err
	})
	if err != nil {
		in.t.Fatal(err)
	}
}
