package program

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"carteira/internal/platform/sqldb"
)

// demo is a running demo and what it printed.
type demo struct {
	*server
	panel, token, curl, password string
}

var printedByDemo = regexp.MustCompile(`(?s)Panel +(http://(\S+))/\n.*Sign-in +demo@example\.com +/ +(\S{8,})\n.*Token +(cart_\w+)\n.*\n +(curl [^\n]+)\n`)

func startDemo(t *testing.T, args ...string) *demo {
	t.Helper()
	d := launchDemo(t, args...)
	d.awaitPrinted()
	return d
}

func launchDemo(t *testing.T, args ...string) *demo {
	t.Helper()
	d := &demo{server: &server{in: &installation{t: t, engine: sqldb.SQLite}}}
	d.process = launch(t, []string{"CARTEIRA_LOG_FORMAT=json"}, append([]string{"demo"}, args...)...)
	return d
}

func (d *demo) awaitPrinted() {
	d.t.Helper()
	d.await(&d.stdout, func(text string) bool {
		if m := printedByDemo.FindStringSubmatch(text); m != nil {
			d.panel, d.address, d.password, d.token, d.curl = m[1], m[2], m[3], m[4], m[5]
		}
		return d.curl != ""
	})
}

// interrupt is Ctrl-C.
func (d *demo) interrupt() {
	d.t.Helper()
	d.signal(syscall.SIGINT)
	if code := d.wait(); code != 0 {
		d.t.Errorf("exit code %d after Ctrl-C:\n%s", code, d.stderr.String())
	}
	if strings.Contains(d.stderr.String(), d.token) {
		d.t.Errorf("the token is in the log:\n%s", d.stderr.String())
	}
}

// takeDefaultPort occupies the default port of a demo.
func takeDefaultPort(t *testing.T) {
	t.Helper()
	eventually(t, "the port is free", func() bool {
		listener, err := net.Listen("tcp", "127.0.0.1:8080")
		if err == nil {
			t.Cleanup(func() { _ = listener.Close() })
		}
		return err == nil
	})
}

// Two demos that start at once serve all that is asked of a running one: each makes a
// year of a company anew. One that has found the port free has it from then on, while it
// makes its company.
func TestDemosThatStartAtOnceAllRun(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "kept")
	passing, kept := launchDemo(t), launchDemo(t, "--data", folder)
	for _, demo := range []*demo{passing, kept} {
		demo.awaitPrinted()
		if page := demo.get("/readyz"); page.status != 200 {
			t.Errorf("%s/readyz: %d", demo.address, page.status)
		}
	}
	if made := namesIn(t, passing.cmd.Dir); len(made) != 1 {
		t.Fatalf("the temporary folder has %v while the demo runs", made)
	}
	t.Run("prints a call that works when pasted", passing.wantPastedCall)
	t.Run("has lived through its past", passing.wantPast)
	passing.interrupt()
	if left := namesIn(t, passing.cmd.Dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Run("keeps the folder of --data and uses it again", func(t *testing.T) { kept.wantReused(t, folder) })
}

func (d *demo) wantPastedCall(t *testing.T) {
	need(t, "curl")
	home := t.TempDir()
	tellStatus := "silent\nwrite-out = \"%{stderr}%{http_code}\"\n"
	if err := os.WriteFile(filepath.Join(home, ".curlrc"), []byte(tellStatus), 0o600); err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-c", d.curl)
	sh.Env = []string{"PATH=" + os.Getenv("PATH"), "CURL_HOME=" + home}
	var status strings.Builder
	sh.Stderr = &status
	body, err := sh.Output()
	if err != nil || status.String() != "200" {
		t.Fatalf("%s: %v, status %s: %s", d.curl, err, status.String(), body)
	}
	var a answer
	var list []customer
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if err := json.Unmarshal(a.Data, &list); err != nil || !a.Success || len(list) != 3 {
		t.Errorf("%s: %v: %s", d.curl, err, body)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	signIn, err := (&http.Client{Jar: jar}).PostForm(d.panel+"/login", url.Values{"email": {"demo@example.com"}, "password": {d.password}})
	if err != nil {
		t.Fatal(err)
	}
	defer signIn.Body.Close()
	if signIn.StatusCode != http.StatusOK || signIn.Request.URL.Path != "/" {
		t.Errorf("the sign-in that was printed does not work: %s at %s", signIn.Status, signIn.Request.URL)
	}
}

// wantReused ends a demo and starts others in its folder: while another program has the
// default port, and at one that the system chooses.
func (d *demo) wantReused(t *testing.T, folder string) {
	before := d.client(d.token).want(200, "GET", "/customers?per_page=1", nil)
	wantReminders(t, folder)
	d.interrupt()
	if len(namesIn(t, folder)) == 0 {
		t.Error("the folder was not kept")
	}
	takeDefaultPort(t)
	for _, listen := range [][]string{nil, {"--listen", "127.0.0.1:0"}} { // whose port it prints
		again := startDemo(t, append([]string{"--data", folder}, listen...)...)
		if again.address == "127.0.0.1:8080" {
			t.Fatal("the demo took a port that somebody had")
		}
		after := again.client(d.token).want(200, "GET", "/customers?per_page=1", nil)
		if string(after.Data) != string(before.Data) || after.Meta != before.Meta || before.Meta.Total == 0 {
			t.Errorf("first %s\nthen %s", before.body, after.body)
		}
		again.interrupt()
	}
}

// wantReminders wants rules in the folder of a demo that runs, and something planned.
func wantReminders(t *testing.T, dir string) {
	t.Helper()
	in := &installation{t: t, engine: sqldb.SQLite, env: []string{"CARTEIRA_DATA_DIR=" + dir}}
	if printed := in.run("reminder", "rule", "list", "--company", "1"); strings.Count(printed, "true") != 3 {
		t.Errorf("rules:\n%s", printed)
	}
	eventually(t, "something is planned", func() bool {
		return in.run("reminder", "log", "--company", "1", "--json") != "[]\n"
	})
}

func (d *demo) wantPast(t *testing.T) {
	client := d.client(d.token)
	for path, least := range map[string]int64{
		"/invoices": 250, "/invoices?status=Pago": 200, "/customers": 60, "/customers?status=Cancelado": 3, "/customers?status=Vencido": 3,
		"/resellers": 5, "/payments": 300,
	} {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		if answer := client.want(200, "GET", path+separator+"per_page=1", nil); answer.Meta.Total < least {
			t.Errorf("%s has %d, want at least %d", path, answer.Meta.Total, least)
		}
	}
	var figures struct {
		Months []struct{ Received string }
	}
	answer := client.want(200, "GET", "/dashboard", nil)
	if err := json.Unmarshal(answer.Data, &figures); err != nil {
		t.Fatal(err)
	}
	if len(figures.Months) != 12 {
		t.Errorf("%d months: %s", len(figures.Months), answer.Data)
	}
	for i, month := range figures.Months {
		if month.Received == "0.00" {
			t.Errorf("month %d of %d has no revenue: %s", i, len(figures.Months), answer.Data)
		}
	}
	clock := client.want(200, "POST", "/sandbox/clock", map[string]any{"advance": "2 days"})
	if !strings.Contains(string(clock.Data), `"advancing":false`) {
		t.Errorf("%s", clock.Data)
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
