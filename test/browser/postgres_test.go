package browser

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// server is where make browser has a PostgreSQL that is thrown away.
const server = "CARTEIRA_TEST_POSTGRES_URL"

// newDatabase makes a database, and drops it at the end of the test.
func newDatabase(t *testing.T) string {
	t.Helper()
	address, err := url.Parse(os.Getenv(server))
	switch {
	case err != nil:
		t.Fatal(err)
	case address.Host == "" && os.Getenv("CI") == "true":
		t.Fatal(server + " names no PostgreSQL")
	case address.Host == "":
		t.Skip("make browser brings a PostgreSQL; " + server + " names none")
	}
	name := "browser_" + strings.ToLower(rand.Text())
	psql(t, "CREATE DATABASE "+name)
	t.Cleanup(func() { psql(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	address.Path = "/" + name
	return address.String()
}

// psql runs a statement on the server. Debian keeps the program in the server's
// folder.
func psql(t *testing.T, statement string) {
	t.Helper()
	program, err := exec.LookPath("psql")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
		program = slices.MaxFunc(append(found, ""), cmp.Compare[string])
	}
	out, err := exec.Command(program, "--no-psqlrc", "--quiet", "--command", statement, os.Getenv(server)).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", statement, err, out)
	}
}

// freeAddress is an address without a listener: links that the program makes
// name it.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// onBoth runs a journey on the embedded database, where it is pictured, and on PostgreSQL.
func onBoth(t *testing.T, journey func(t *testing.T, p *program)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		journey(t, &program{t: t, dir: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		journey(t, onPostgreSQL(t))
	})
}

// onPostgreSQL is a program that is yet to be launched.
func onPostgreSQL(t *testing.T) *program {
	t.Helper()
	return &program{t: t, dir: t.TempDir(), postgres: newDatabase(t), listen: freeAddress(t)}
}

// found serves a company with a plan and signs its owner in.
func (p *program) found() *tab {
	p.t.Helper()
	p.launch("serving", "serve")
	p.command("company", "create", "--name", "Rede Clara", "--email", email, "--password", password)
	p.command("plan", "create", "--company", "1", "--name", "Mensal", "--value", "35.00", "--period", "1month")
	b := p.open(p.t)
	b.signIn(email, password)
	b.see("Rede Clara")
	return b
}

// lateSheet is a file of customers: some are late and some are not due yet.
func lateSheet(t *testing.T) string {
	t.Helper()
	var file strings.Builder
	file.WriteString("nome;celular;vencimento;plano\n")
	for n, first := range []string{"Amélia", "Benta", "Cida", "Davi", "Elza", "Fábio", "Gil", "Hugo"} {
		due := time.Now().AddDate(0, 0, 2*n-9) // the last two have time
		fmt.Fprintf(&file, "%s Prado;1191234%04d;%s;Mensal\n", first, n, due.Format(time.DateOnly))
	}
	return sheet(t, file.String())
}

// The journeys that work with the database most: it answers in the panel as the
// embedded one does, on which they and all others are pictured.
func TestJourneysRunOnPostgreSQL(t *testing.T) {
	t.Parallel()
	p := onPostgreSQL(t)
	p.launch("serving", "serve")
	p.command("company", "create", "--name", "Demo Internet", "--user-name", "Dona Demo",
		"--email", "demo@example.com", "--password", "demonstracao")
	p.command("plan", "create", "--company", "1", "--name", "Mensal", "--value", "35.00", "--period", "1month")
	p.command("import", "customers", lateSheet(t), "--company", "1", "--invoices")
	p.command("gateway", "set", "--company", "1", "--provider", "sandbox")
	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.turnOnReminders()
	p.chargeAndPay(b)
	p.attendant(b)
	b.daysWork()
}
