package program

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// libraries are the clients of clients/ that need no building: how a program that
// uses one is run.
var libraries = map[string]struct {
	folder, language string
	run              func(file string) []string
	env              func(folder string) string
	troubled         string // calls a server that fails at first
}{
	"python": {
		folder: "python", language: "python",
		run: func(file string) []string { return []string{"python3", file} },
		env: func(folder string) string { return "PYTHONPATH=" + filepath.Join(folder, "src") },
		troubled: `import os
from carteira import Carteira, CarteiraError
c = Carteira(os.environ["API_URL"], os.environ["TOKEN"], retries=2)
print(c.post("/customers", {"name": "João"})["id"])
print(c.post("/nothing")["id"])
print(len(list(c.each("/list"))))
try:
    c.put("/refused", {})
except CarteiraError as e:
    print(e.status, e, e.errors["name"][0], e.request_id)
try:
    c.get("/late")
except CarteiraError as e:
    print(e.status)
`,
	},
	"php": {
		folder: "php", language: "php",
		run: func(file string) []string { return []string{"php", file} },
		env: func(folder string) string { return "CLIENT_AUTOLOAD=" + filepath.Join(folder, "autoload.php") },
		troubled: `<?php
require getenv('CLIENT_AUTOLOAD');
$c = new Carteira\Client(getenv('API_URL'), getenv('TOKEN'), retries: 2);
echo $c->post('/customers', ['name' => 'João'])['id'], "\n";
echo $c->post('/nothing')['id'], "\n";
echo count(iterator_to_array($c->each('/list'))), "\n";
try {
    $c->put('/refused', []);
} catch (Carteira\CarteiraError $e) {
    echo "$e->status {$e->getMessage()} {$e->errors['name'][0]} $e->requestId\n";
}
try {
    $c->get('/late');
} catch (Carteira\CarteiraError $e) {
    echo $e->status, "\n";
}
`,
	},
}

// eachLibrary runs test with a program that runs files in a folder of its own.
func eachLibrary(t *testing.T, test func(t *testing.T, name string, prepare func(file, text string, env ...string) *exec.Cmd)) {
	t.Helper()
	t.Parallel()
	for name, library := range libraries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, library.run("")[0])
			root, err := filepath.Abs(filepath.Join("..", "..", "clients", library.folder))
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			test(t, name, func(file, text string, env ...string) *exec.Cmd {
				t.Helper()
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				args := library.run(file)
				command := exec.CommandContext(t.Context(), args[0], args[1:]...)
				command.Dir = folder
				command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, library.env(root), "PYTHONDONTWRITEBYTECODE=1"}, env...)
				return command
			})
		})
	}
}

// readme is a program of a client's README, by the name in its first line.
func readme(t *testing.T, name, file string) string {
	t.Helper()
	library := libraries[name]
	for _, block := range blocksOf(t, filepath.Join("..", "clients", library.folder, "README.md"), library.language) {
		if first, _, _ := strings.Cut(block, "\n"); strings.HasSuffix(first, " "+file) {
			return block
		}
	}
	t.Fatalf("the README of the client for %s has no %s", name, file)
	return ""
}

func TestProgramsOfTheClientsRun(t *testing.T) {
	eachLibrary(t, func(t *testing.T, name string, prepare func(file, text string, env ...string) *exec.Cmd) {
		in := install(t, "sqlite")
		company := in.company()
		in.run("plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
		in.run("gateway", "set", "--company", company, "--provider", "sandbox")
		token := in.token(company)
		s := in.serve()
		env := []string{"API_URL=http://" + s.address, "TOKEN=" + token}
		extension := map[string]string{"python": ".py", "php": ".php"}[name]

		feed := new(output)
		reader := prepare("feed"+extension, readme(t, name, "feed"+extension), env...)
		reader.Stdout, reader.Stderr = feed, feed
		startUntilTheEnd(t, reader, feed)
		eventually(t, "the feed is read", func() bool { return strings.Contains(feed.String(), "reading\n") })

		client := s.client(token)
		client.want(200, "POST", "/customers", map[string]any{"name": "Bia", "plan_id": 1})
		out, err := prepare("first"+extension, readme(t, name, "first"+extension), env...).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "2 20") || !strings.Contains(string(out), "João da Silva 35.00 http") {
			t.Errorf("it prints %s: %v", out, err)
		}
		if others := client.want(200, "GET", "/invoices/1", nil); !strings.Contains(string(others.Data), `"Em aberto"`) {
			t.Errorf("the first program changed the invoice of another customer: %s", others.Data)
		}
		for paid := 3; ; paid++ { // the reader begins at the newest event of the moment at which it first asks
			client.want(200, "POST", "/customers", map[string]any{"name": "Maria", "plan_id": 1})
			client.want(200, "POST", fmt.Sprintf("/invoices/%d/status", paid), map[string]any{"status": "Pago"})
			time.Sleep(300 * time.Millisecond)
			if strings.Contains(feed.String(), "Maria paid 35.00\n") {
				break
			}
			if t.Context().Err() != nil || paid > 200 {
				t.Fatalf("the feed has no payment: %s", feed.String())
			}
		}
	})
}

func startUntilTheEnd(t *testing.T, command *exec.Cmd, printed *output) {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%v printed: %s", command.Args, printed.String())
		}
	})
}

// troubled answers every call wrongly once before it answers well.
type troubled struct {
	mu   sync.Mutex
	seen map[string]int
	keys map[string]string
	t    *testing.T
}

func (s *troubled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[r.URL.RequestURI()]++
	n := s.seen[r.URL.RequestURI()]
	if key := r.Header.Get("Idempotency-Key"); r.Method == http.MethodPost && (key == "" || n > 1 && key != s.keys[r.URL.Path]) {
		s.t.Errorf("call %d of %s has the key %q, and the first had %q", n, r.URL.Path, key, s.keys[r.URL.Path])
	} else {
		s.keys[r.URL.Path] = key
	}
	w.Header().Set("X-Request-Id", "abc")
	switch path := strings.TrimPrefix(r.URL.Path, "/api/v1"); {
	case path == "/refused":
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"success":false,"message":"name: is required","errors":{"name":["is required"]}}`)
	case path == "/late":
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	case n == 1 && path == "/customers":
		panic(http.ErrAbortHandler) // the connection breaks
	case n == 1:
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
	case path == "/list":
		fmt.Fprint(w, `{"success":true,"data":[{"id":1}],"meta":{"last_page":3}}`)
	default:
		fmt.Fprintf(w, `{"success":true,"data":{"id":%d}}`, n)
	}
}

func TestClientsRepeatWhatDoesNoHarm(t *testing.T) {
	eachLibrary(t, func(t *testing.T, name string, prepare func(file, text string, env ...string) *exec.Cmd) {
		server := httptest.NewServer(&troubled{seen: map[string]int{}, keys: map[string]string{}, t: t})
		t.Cleanup(server.Close)
		out, err := prepare("troubled", libraries[name].troubled, "API_URL="+server.URL, "TOKEN=cart_x").CombinedOutput()
		want := "2\n2\n3\n422 name: is required is required abc\n429\n"
		if err != nil || string(out) != want {
			t.Errorf("it prints %s: %v; want %s", out, err, want)
		}
	})
}

func TestClientsCheckTheSignatureOfWebhooks(t *testing.T) {
	eachLibrary(t, func(t *testing.T, name string, prepare func(file, text string, env ...string) *exec.Cmd) {
		extension := map[string]string{"python": ".py", "php": ".php"}[name]
		address := freeAddress(t)
		_, port, _ := strings.Cut(address, ":")
		const secret = "whsec_0123456789012345678901234567890123456789"
		hook := prepare("hook"+extension, readme(t, name, "hook"+extension), "PORT="+port, "WEBHOOK_SECRET="+secret)
		if name == "php" {
			hook.Args = []string{"php", "-S", address, "hook.php"}
		}
		printed := new(output)
		runReceiver(t, hook, name, address, printed)
		for want, header := range map[int]http.Header{
			204: signed(secret, now(0), ping), 401: signed("whsec_other", now(0), ping), 408: signed(secret, now(-301e9), ping),
		} {
			if got := post(t, "http://"+address, ping, header); got != want {
				t.Errorf("answered %d, want %d", got, want)
			}
		}
		if got := post(t, "http://"+address, "[]", signed(secret, now(0), "[]")); got != 400 {
			t.Errorf("what is no event is answered %d", got)
		}
		eventually(t, "it says what came", func() bool { return strings.Contains(printed.String(), "ping evt_1") })
	})
}
