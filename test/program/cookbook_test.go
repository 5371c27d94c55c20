package program

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// kitchen is a server with a company, and a folder in which recipes are run.
type kitchen struct {
	t      *testing.T
	client *client
	folder string
	env    []string
}

func newKitchen(t *testing.T) *kitchen {
	t.Helper()
	in := install(t, "sqlite")
	company := in.company()
	in.run("plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
	in.run("gateway", "set", "--company", company, "--provider", "sandbox")
	token := in.token(company)
	server := in.serve()
	folder := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "API=http://" + server.address + "/api/v1", "TOKEN=" + token}
	return &kitchen{t: t, client: server.client(token), folder: folder, env: env}
}

// recipe writes a program of docs/cookbook.md into the folder. The first line of
// its block is a comment with its name.
func (k *kitchen) recipe(language, name string, env ...string) *exec.Cmd {
	k.t.Helper()
	runtime := map[string]string{"js": "node", "python": "python3"}[language]
	need(k.t, runtime)
	for _, block := range blocksOf(k.t, "cookbook.md", language) {
		if first, _, _ := strings.Cut(block, "\n"); !strings.HasSuffix(first, " "+name) {
			continue
		}
		if err := os.WriteFile(filepath.Join(k.folder, name), []byte(block), 0o600); err != nil {
			k.t.Fatal(err)
		}
		command := exec.CommandContext(k.t.Context(), runtime, name)
		command.Dir, command.Env = k.folder, append(k.env, env...)
		return command
	}
	k.t.Fatalf("docs/cookbook.md has no %s", name)
	return nil
}

// start runs a recipe until the test ends.
func (k *kitchen) start(command *exec.Cmd) *output {
	k.t.Helper()
	printed := new(output)
	command.Stdout, command.Stderr = printed, printed
	if err := command.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if k.t.Failed() {
			k.t.Logf("%v printed: %s", command.Args, printed.String())
		}
	})
	return printed
}

// begun waits until a recipe has written down from where it reads the events.
func (k *kitchen) begun(place string) {
	k.t.Helper()
	eventually(k.t, "the place is written", func() bool {
		_, err := os.Stat(filepath.Join(k.folder, place))
		return err == nil
	})
}

func (k *kitchen) createCustomer(body map[string]any) customer {
	k.t.Helper()
	return k.client.want(200, "POST", "/customers", body).customer(k.t)
}

func (k *kitchen) pay(invoice string) {
	k.t.Helper()
	k.client.want(200, "POST", "/invoices/"+invoice+"/status", map[string]any{"status": "Pago"})
}

func TestCookbookThanksOnWhatsApp(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	sent := make(chan string, 10)
	bridge := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent <- string(body)
	}))
	t.Cleanup(bridge.Close)
	k.createCustomer(map[string]any{"name": "Paulo", "whatsapp": "11987654322", "plan_id": 1})
	k.pay("1") // before the first run, which says nothing of it
	k.start(k.recipe("js", "thank.mjs", "WHATSAPP_URL="+bridge.URL))
	k.begun("thanked-until")
	k.createCustomer(map[string]any{"name": "Maria", "plan_id": 1}) // has no number
	k.createCustomer(map[string]any{"name": "João", "whatsapp": "11987654321", "plan_id": 1})
	k.pay("2")
	k.pay("3")
	var message struct{ Number, Text string }
	unmarshal(t, []byte(<-sent), &message)
	if message.Number != "5511987654321" || !strings.Contains(message.Text, "João") || !strings.Contains(message.Text, "R$ 35,00") {
		t.Errorf("sent %+v", message)
	}
}

func TestCookbookCutsAndRestoresAccess(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	script := "#!/bin/sh\necho \"$1 $2\" >> switched\n"
	if err := os.WriteFile(filepath.Join(k.folder, "switch"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	k.createCustomer(map[string]any{"name": "Paulo", "usuario": "paulo", "plan_id": 1, "due_date": "2020-01-31"})
	k.start(k.recipe("python", "access.py", "SWITCH=./switch"))
	k.begun("access-until")
	switched := func(want string) {
		t.Helper()
		eventually(t, "access is "+want, func() bool {
			text, _ := os.ReadFile(filepath.Join(k.folder, "switched"))
			return strings.HasSuffix(string(text), want+"\n")
		})
	}
	k.createCustomer(map[string]any{"name": "João", "usuario": "joao", "plan_id": 1, "due_date": "2020-01-31"})
	switched("off joao")
	k.client.want(200, "PUT", "/customers/2", map[string]any{"due_date": "2099-01-31"})
	switched("on joao")
	if text, _ := os.ReadFile(filepath.Join(k.folder, "switched")); strings.Contains(string(text), "paulo") {
		t.Errorf("the first run switched what was before it: %s", text)
	}
}

// router is a MikroTik that has the PPP secret of one login, as its REST service
// shows it.
type router struct {
	mu       sync.Mutex
	disabled string
	sessions int
	gone     bool // a session ends by itself before it is ended
}

func (m *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if user, password, _ := r.BasicAuth(); user != "admin" || password != "s:enha" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch r.Method + " " + r.URL.RequestURI() {
	case "GET /rest/ppp/secret?name=joao":
		_, _ = io.WriteString(w, `[{".id":"*1","name":"joao","disabled":"`+m.disabled+`"}]`)
	case "PATCH /rest/ppp/secret/*1":
		var change struct{ Disabled string }
		_ = json.NewDecoder(r.Body).Decode(&change)
		m.disabled = change.Disabled
		_, _ = io.WriteString(w, `{}`)
	case "GET /rest/ppp/active?name=joao":
		if m.sessions == 0 {
			_, _ = io.WriteString(w, `[]`)
			return
		}
		_, _ = io.WriteString(w, `[{".id":"*80000001","name":"joao"}]`)
	case "DELETE /rest/ppp/active/*80000001":
		m.sessions--
		w.WriteHeader(map[bool]int{false: http.StatusNoContent, true: http.StatusNotFound}[m.gone])
	default:
		_, _ = io.WriteString(w, `[]`)
	}
}

func (m *router) state() (disabled string, sessions int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.disabled, m.sessions
}

func (m *router) reconnect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions, m.gone = 1, true
}

func TestCookbookBlocksAndReleasesAtAProvider(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	gate := &router{disabled: "false", sessions: 1}
	served := httptest.NewServer(gate)
	t.Cleanup(served.Close)
	radius := filepath.Join(k.folder, "radius.db")
	create := exec.CommandContext(t.Context(), "python3", "-c", `import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("CREATE TABLE radcheck (id INTEGER PRIMARY KEY, username TEXT, attribute TEXT, op TEXT, value TEXT)")`, radius)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rejected := func() string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "python3", "-c", `import sqlite3, sys
print([tuple(row) for row in sqlite3.connect(sys.argv[1]).execute("SELECT username, attribute, op, value FROM radcheck")])`, radius).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	access := func(id string) string {
		var record struct{ Custom map[string]string }
		unmarshal(t, k.client.want(200, "GET", "/customers/"+id, nil).Data, &record)
		return record.Custom["Acesso"]
	}
	k.createCustomer(map[string]any{"name": "Paulo", "usuario": "paulo", "plan_id": 1, "due_date": "2020-01-31"})
	command := k.recipe("python", "provider.py", "MIKROTIK_URL="+strings.Replace(served.URL, "://", "://admin:s%3Aenha@", 1), "RADIUS_DB="+radius)
	k.start(command)
	k.begun("provider-until")
	k.createCustomer(map[string]any{"name": "João", "usuario": "joao", "plan_id": 1, "due_date": "2020-01-31", "custom": map[string]string{"MAC": "00"}})
	eventually(t, "João is blocked", func() bool { return access("2") == "bloqueado" })
	if disabled, sessions := gate.state(); disabled != "true" || sessions != 0 || rejected() != "[('joao', 'Auth-Type', ':=', 'Reject')]" {
		t.Errorf("blocked: disabled %s, %d sessions, radius %s", disabled, sessions, rejected())
	}
	if access("1") != "" {
		t.Error("the first run blocked a customer of before")
	}
	k.client.want(200, "PUT", "/customers/2", map[string]any{"due_date": "2099-01-31"})
	eventually(t, "João is released", func() bool { return access("2") == "liberado" })
	if disabled, _ := gate.state(); disabled != "false" || rejected() != "[]" {
		t.Errorf("released: disabled %s, radius %s", disabled, rejected())
	}
	var kept struct{ Custom map[string]string }
	unmarshal(t, k.client.want(200, "GET", "/customers/2", nil).Data, &kept)
	if kept.Custom["MAC"] != "00" {
		t.Errorf("the customer's own fields became %v", kept.Custom)
	}
	gate.reconnect()
	k.client.want(200, "PUT", "/customers/2", map[string]any{"cancelled": true})
	eventually(t, "João, who is cancelled, is blocked", func() bool { return access("2") == "bloqueado" })
}

func TestCookbookWritesASpreadsheet(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	k.createCustomer(map[string]any{"name": "João; da Silva", "external_id": "crm-7", "plan_id": 1, "due_date": "2099-01-31"})
	for range 205 {
		k.createCustomer(map[string]any{"name": "Maria"})
	}
	if out, err := k.recipe("python", "spreadsheet.py").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(k.folder, "customers.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\r\n")
	if want := `1;crm-7;"João; da Silva";;Mensal;2099-01-31;Ativo`; len(rows) != 207 || rows[206] != want {
		t.Errorf("%d rows, the last is %s", len(rows), rows[len(rows)-1])
	}
}

func TestCookbookCopiesWhatChanged(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	for range 205 {
		k.createCustomer(map[string]any{"name": "Maria"})
	}
	k.createCustomer(map[string]any{"name": "João", "plan_id": 1, "due_date": "2099-01-31"})
	bring := func() []string {
		t.Helper()
		out, err := k.recipe("python", "changes.py").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	if lines := bring(); len(lines) != 207 || lines[0] != "/customers 1" || lines[206] != "/invoices 1" {
		t.Errorf("%d lines, from %s to %s", len(lines), lines[0], lines[len(lines)-1])
	}
	if lines := bring(); len(lines) != 1 || lines[0] != "" {
		t.Errorf("nothing changed, and it brought %v", lines)
	}
	k.client.want(200, "PUT", "/customers/7", map[string]any{"notes": "x"})
	k.client.want(200, "PUT", "/customers/206", map[string]any{"due_date": "2099-02-20"}) // its invoice follows
	if lines := strings.Join(bring(), ", "); lines != "/customers 7, /customers 206, /invoices 1" {
		t.Errorf("brought %s", lines)
	}
}

func TestCookbookHasACheckout(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	k.createCustomer(map[string]any{"name": "João <script>", "plan_id": 1})
	address := freeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	command := k.recipe("js", "checkout.mjs", "PORT="+port)
	runReceiver(t, command, "checkout.mjs", address, new(output))
	shown := fetch(t, trusting(), "http://"+address+"/pay/1")
	for _, want := range []string{"João &#60;script&#62;", "R$ 35.00", `src="data:image/png;base64,`, "BR.GOV.BCB.PIX"} {
		if !strings.Contains(strings.ToUpper(shown.body), strings.ToUpper(want)) {
			t.Errorf("the page does not show %s:\n%s", want, shown.body)
		}
	}
	wantStatus := func(want string) {
		t.Helper()
		var answer struct{ Status string }
		if err := json.Unmarshal([]byte(fetch(t, trusting(), "http://"+address+"/status/1").body), &answer); err != nil || answer.Status != want {
			t.Errorf("%v, status %q, want %q", err, answer.Status, want)
		}
	}
	wantStatus("Em aberto")
	k.pay("1")
	wantStatus("Pago")
	if missing := fetch(t, trusting(), "http://"+address+"/pay/99"); missing.status != 404 {
		t.Errorf("an invoice that is not there: %d", missing.status)
	}
}
