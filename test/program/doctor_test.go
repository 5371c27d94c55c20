package program

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// finding is a line of `carteira doctor --json`.
type finding struct{ Check, Verdict, Text, Advice string }

// examine runs doctor and returns what it found, by check.
func (in *installation) examine(code int, args ...string) map[string]finding {
	in.t.Helper()
	result := in.try(nil, append([]string{"doctor", "--json"}, args...)...)
	var said struct {
		OK       bool
		Findings []finding
	}
	if err := json.Unmarshal([]byte(result.stdout), &said); err != nil || result.code != code || said.OK != (code == 0) {
		in.t.Errorf("doctor %v: exit code %d, want %d, %v\n%s%s", args, result.code, code, err, result.stdout, result.stderr)
	}
	found := map[string]finding{}
	for _, finding := range said.Findings {
		found[finding.Check] = finding
	}
	return found
}

func (in *installation) sql(statements ...string) {
	in.t.Helper()
	db := in.open()
	for _, statement := range statements {
		if err := db.Write(in.t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(in.t.Context(), statement)
			return err
		}); err != nil {
			in.t.Fatal(err)
		}
	}
}

// busy gives an installation something of everything that doctor compares.
func busy(t *testing.T, in *installation) (*client, string) {
	t.Helper()
	company := in.company()
	in.run("plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
	in.run("credits", "grant", "--company", company, "--amount", "10")
	client := in.serve().client(in.token(company))
	for range 3 {
		client.want(200, "POST", "/customers", map[string]any{"name": "João", "whatsapp": "(11) 98765-4321", "plan_id": 1, "due_date": "2030-01-31"})
	}
	client.want(200, "POST", "/invoices/1/status", map[string]any{"status": "Pago"})
	client.want(200, "POST", "/webhooks", map[string]any{"url": "https://receiver.invalid/hook", "events": []string{"customer.updated"}})
	client.want(200, "PUT", "/customers/2", map[string]any{"name": "Maria"})
	return client, company
}

// fsync is off in the PostgreSQL of tests, which doctor must say.
func allowThrowAway(in *installation, found map[string]finding) {
	if in.engine == sqldb.Postgres && strings.Contains(found["database"].Text, "= off") {
		delete(found, "database")
	}
}

func TestDoctorFindsASoundInstallationSound(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		busy(t, in)
		code := 0
		if in.engine == sqldb.Postgres {
			code = 1
		}
		found := in.examine(code)
		allowThrowAway(in, found)
		for name, finding := range found {
			if finding.Verdict == "wrong" {
				t.Errorf("%s: %+v", name, finding)
			}
		}
		for _, name := range []string{"schema", "key", "clock", "counts", "payments", "credits", "charges", "delivery queue", "phones"} {
			if found[name].Verdict != "ok" {
				t.Errorf("%s: %+v", name, found[name])
			}
		}
	})
}

func TestDoctorFindsWhatIsWrongAndFixesCounts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		client, company := busy(t, in)
		in.sql(`UPDATE tally_totals SET n = n + 5 WHERE book = 'customers'`,
			`UPDATE credit_balances SET balance = balance + 1 WHERE company_id = `+company,
			`UPDATE invoices SET received_cents = received_cents + 1 WHERE company_id = `+company,
			`UPDATE customers SET whatsapp = '551187654321' WHERE id = 3`,
			`DELETE FROM delivery_queue WHERE company_id = `+company)
		found := in.examine(1)
		for name, verdict := range map[string]string{
			"counts": "wrong", "credits": "wrong", "payments": "wrong", "delivery queue": "wrong", "phones": "warning",
		} {
			if finding := found[name]; finding.Verdict != verdict || finding.Advice == "" {
				t.Errorf("%s: %+v", name, finding)
			}
		}
		in.sql(`UPDATE credit_balances SET balance = balance - 1 WHERE company_id = `+company,
			`UPDATE invoices SET received_cents = received_cents - 1 WHERE company_id = `+company)
		if after := in.examine(1, "--fix"); after["counts"].Verdict != "ok" || after["fix"].Verdict != "ok" {
			t.Errorf("after the fix: %+v, %+v", after["fix"], after["counts"])
		}
		if got := len(client.customers()); got != 3 { // which compares with the total
			t.Errorf("%d customers", got)
		}
	})
}

func TestDoctorMakesNothingThatIsMissing(t *testing.T) {
	t.Parallel()
	in := installBare(t, sqldb.SQLite)
	found := in.examine(1)
	if found["database"].Verdict != "wrong" || found["data folder"].Verdict != "wrong" {
		t.Errorf("%+v", found)
	}
	if _, err := os.Stat(in.dir); err == nil {
		t.Error("a data folder was made")
	}
}

func TestDoctorNamesAWrongKey(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	in.company()
	write(t, filepath.Join(in.dir, "secret.key"), newKey()+"\n")
	if err := os.Chmod(filepath.Join(in.dir, "secret.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if finding := in.examine(1)["key"]; finding.Verdict != "wrong" || !strings.Contains(finding.Text, "wrong CARTEIRA_SECRET_KEY") {
		t.Errorf("%+v", finding)
	}
}

func TestDoctorAsksOthersWhenTold(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	company := in.company()
	in.run("gateway", "set", "--company", company, "--provider", "sandbox")
	server := in.serve()
	in.env = append(in.env, "CARTEIRA_PUBLIC_URL=http://"+server.address)
	found := in.examine(0, "--online")
	if found["reachable"].Verdict != "ok" || !strings.Contains(found["gateways"].Text, "1 gateways") {
		t.Errorf("%+v", found)
	}
	server.stop()
	if finding := in.examine(1, "--online")["reachable"]; finding.Verdict != "wrong" {
		t.Errorf("%+v", finding)
	}
}

func TestDoctorPrintsALineForEachCheck(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	in.company()
	result := in.try(nil, "doctor")
	for _, want := range []string{"ok       schema", "warning  backups", "-> set CARTEIRA_BACKUP_DIR"} {
		if !strings.Contains(result.stdout, want) {
			t.Errorf("%q is not in:\n%s", want, result.stdout)
		}
	}
	if result.code != 0 || result.stderr != "" {
		t.Errorf("exit code %d, %s", result.code, result.stderr)
	}
}

func TestServerBacksUpByItself(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	folder := filepath.Join(t.TempDir(), "backups")
	in.env = append(in.env, "CARTEIRA_BACKUP_DIR="+folder)
	token := in.token(in.company())
	server := in.serve()
	eventually(t, "a copy was made", func() bool {
		names, _ := filepath.Glob(filepath.Join(folder, "carteira-*.db"))
		return len(names) == 1 && strings.Contains(server.stderr.String(), "backed up")
	})
	metrics := server.get("/metrics").body
	for _, name := range []string{"carteira_backup_last_success_timestamp_seconds 1.", "carteira_backup_size_bytes"} {
		if !strings.Contains(metrics, name) {
			t.Errorf("%s is not among the metrics", name)
		}
	}
	if finding := in.examine(0)["backups"]; finding.Verdict != "ok" {
		t.Errorf("%+v", finding)
	}
	names, _ := filepath.Glob(filepath.Join(folder, "carteira-*.db"))
	restored := installBare(t, sqldb.SQLite)
	restored.run("restore", names[0], "--key", filepath.Join(in.dir, "secret.key"))
	restored.serve().client(token).want(http.StatusOK, "GET", "/account", nil)
}

func TestBackupFolderIsForTheEmbeddedDatabase(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	wantRefusal(t, in.try([]string{"CARTEIRA_BACKUP_DIR=" + t.TempDir()}, "serve"), 1, "CARTEIRA_BACKUP_DIR", "pg_dump")
}

// backedUp is an installation with a customer, and a backup of it.
func backedUp(t *testing.T) (in *installation, token, file string) {
	t.Helper()
	in = install(t, sqldb.SQLite)
	company := in.company()
	token = in.token(company)
	file = filepath.Join(t.TempDir(), "copy.db")
	server := in.serve()
	server.client(token).want(http.StatusOK, "POST", "/customers", map[string]any{"name": "João"})
	in.run("backup", file)
	server.stop()
	return in, token, file
}

func TestRestoreBringsBackWhatWasBackedUp(t *testing.T) {
	t.Parallel()
	in, token, file := backedUp(t)
	to := installBare(t, sqldb.SQLite)
	to.run("restore", file, "--key", filepath.Join(in.dir, "secret.key"))
	for _, name := range []string{"carteira.db", "secret.key"} {
		if info, err := os.Stat(filepath.Join(to.dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	to.examine(0)
	if got := to.serve().client(token).customers(); len(got) != 1 || got[0].Name != "João" {
		t.Errorf("restored %v", got)
	}
	wantRefusal(t, to.try(nil, "restore", file), 1, "is there already")
}

func TestRestoreTakesTheKeyThatIsThere(t *testing.T) {
	t.Parallel()
	in, _, file := backedUp(t)
	key, err := os.ReadFile(filepath.Join(in.dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	beside := installBare(t, sqldb.SQLite)
	if err := os.Mkdir(beside.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(beside.dir, "secret.key"), string(key))
	beside.run("restore", file)
	environment := installBare(t, sqldb.SQLite)
	environment.env = append(environment.env, "CARTEIRA_SECRET_KEY="+strings.TrimSpace(string(key)))
	environment.run("restore", file)
	environment.examine(0)
}

func TestRestoreRefusesBeforeItWrites(t *testing.T) {
	t.Parallel()
	in, _, file := backedUp(t)
	key := filepath.Join(in.dir, "secret.key")
	to := installBare(t, sqldb.SQLite)
	stranger := filepath.Join(t.TempDir(), "stranger.key")
	write(t, stranger, newKey()+"\n")
	garbage := filepath.Join(t.TempDir(), "garbage.db")
	write(t, garbage, strings.Repeat("garbage ", 1000))
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, damaged, string(content[:len(content)/2]))
	newer := filepath.Join(t.TempDir(), "newer.db")
	write(t, newer, string(content))
	db := sqldbtest.Open(t, "sqlite:"+newer)
	if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'future', 1)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, to.try(nil, "restore", file), 1, "--key FILE", "CARTEIRA_SECRET_KEY")
	wantRefusal(t, to.try(nil, "restore", file, "--key", stranger), 1, "wrong CARTEIRA_SECRET_KEY")
	wantRefusal(t, to.try(nil, "restore", filepath.Join(t.TempDir(), "none.db"), "--key", key), 1, "none.db")
	wantRefusal(t, to.try(nil, "restore", garbage, "--key", key), 1, "damaged")
	wantRefusal(t, to.try(nil, "restore", damaged, "--key", key), 1, "damaged")
	wantRefusal(t, to.try(nil, "restore", newer, "--key", key), 1, "newer version")
	if _, err := os.Stat(to.dir); err == nil {
		t.Errorf("a data folder was made: %v", namesIn(t, to.dir))
	}
}

func TestRestoreOfPostgresNamesTheTool(t *testing.T) {
	t.Parallel()
	wantRefusal(t, install(t, sqldb.Postgres).try(nil, "restore", "copy.dump"), 1, "pg_restore", "CARTEIRA_SECRET_KEY")
}
