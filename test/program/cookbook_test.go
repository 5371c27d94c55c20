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
	k.start(k.recipe("js", "thank.mjs", "WHATSAPP_URL="+bridge.URL))
	k.createCustomer(map[string]any{"name": "Maria", "plan_id": 1}) // has no number
	k.createCustomer(map[string]any{"name": "João", "whatsapp": "11987654321", "plan_id": 1})
	k.pay("1")
	k.pay("2")
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
	k.start(k.recipe("python", "access.py", "SWITCH=./switch"))
	switched := func(want string) {
		t.Helper()
		eventually(t, "access is "+want, func() bool {
			text, _ := os.ReadFile(filepath.Join(k.folder, "switched"))
			return strings.HasSuffix(string(text), want+"\n")
		})
	}
	k.createCustomer(map[string]any{"name": "João", "usuario": "joao", "plan_id": 1, "due_date": "2020-01-31"})
	switched("off joao")
	k.client.want(200, "PUT", "/customers/1", map[string]any{"due_date": "2099-01-31"})
	switched("on joao")
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
