package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	document = "../../openapi/openapi.yaml"
	patience = 4 * time.Minute
)

// The programs are those of package-lock.json, which `make openapi` installs.
func tool(name string) string { return filepath.Join("node_modules", ".bin", name) }

func TestMain(m *testing.M) {
	if _, err := os.Stat("node_modules"); err != nil && os.Getenv("CI") != "true" {
		fmt.Fprintln(os.Stderr, "node_modules is not there: `make openapi` installs it")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestLintersFindNothing(t *testing.T) {
	t.Parallel()
	out := run(t, nil, tool("redocly"), "lint", "--format=json", document)
	var found struct {
		Totals struct{ Errors, Warnings int }
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || found.Totals.Errors+found.Totals.Warnings > 0 {
		t.Errorf("redocly: %v\n%s", err, out)
	}
	run(t, nil, tool("spectral"), "lint", "--ruleset", ".spectral.yaml", "--fail-severity", "hint", document)
}

// types and goClient are made from the document once, because each takes seconds.
var (
	types    = generated(tool("openapi-typescript"), document, "--output", "gen/types.ts")
	goClient = generated("go", "generate", ".")
)

func generated(name string, args ...string) func() error {
	return sync.OnceValue(func() error {
		if err := os.MkdirAll("gen/carteira", 0o755); err != nil {
			return err
		}
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), quiet...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, out)
		}
		return nil
	})
}

func TestGeneratedTypeScriptCompilesAndCalls(t *testing.T) {
	t.Parallel()
	must(t, types())
	run(t, nil, tool("openapi-ts"), "--input", document, "--output", "gen/hey", "--client", "@hey-api/client-fetch")
	run(t, nil, tool("tsc"), "--project", ".")
	env := live(t).env()
	run(t, env, "node", "gen/out/calls/openapi-typescript.js")
	run(t, env, "node", "gen/out/calls/hey-api.js")
}

// The client of clients/typescript is made from the document, too: its types are
// kept nowhere, so that they cannot be older than the document.
func TestClientOfOursCompilesAndCalls(t *testing.T) {
	t.Parallel()
	const client = "../../clients/typescript"
	must(t, os.RemoveAll(client+"/dist"))
	must(t, types())
	text, err := os.ReadFile("gen/types.ts")
	must(t, err)
	must(t, os.WriteFile(client+"/src/api.ts", text, 0o600))
	run(t, nil, tool("tsc"), "--project", client)
	wantPublishable(t, client)
	s := live(t)
	tests, err := filepath.Glob(client + "/test/*.test.mjs")
	must(t, err)
	run(t, []string{"URL=http://" + s.address, "TOKEN=" + s.token}, "node", append([]string{"--test"}, tests...)...)
}

// wantPublishable packs a client and looks for what its users need.
func wantPublishable(t *testing.T, client string) {
	t.Helper()
	out := run(t, nil, "npm", "pack", client, "--dry-run", "--json", "--ignore-scripts")
	var packed []struct{ Files []struct{ Path string } }
	must(t, json.Unmarshal([]byte(out), &packed))
	found := map[string]bool{}
	for _, file := range packed[0].Files {
		found[file.Path] = true
	}
	for _, want := range []string{"LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/api.d.ts"} {
		if !found[want] {
			t.Errorf("the package lacks %s; it has %v", want, packed[0].Files)
		}
	}
}

func TestGeneratedGoCompilesAndCalls(t *testing.T) {
	t.Parallel()
	must(t, goClient())
	run(t, live(t).env(), "go", "run", "./calls")
}

// The Go program of docs/clients.md is compiled with what its command generates,
// by the version that it names.
func TestGoProgramOfTheDocumentationCalls(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/clients.md")
	must(t, err)
	version := strings.TrimSpace(run(t, nil, "go", "list", "-m", "-f", "{{.Version}}", "github.com/oapi-codegen/oapi-codegen/v2"))
	if !strings.Contains(string(text), "oapi-codegen@"+version+" ") {
		t.Errorf("docs/clients.md does not name oapi-codegen@%s", version)
	}
	_, program, _ := strings.Cut(string(text), "```go\n")
	program, _, found := strings.Cut(program, "```\n")
	if !found {
		t.Fatal("docs/clients.md has no program in Go")
	}
	must(t, goClient())
	must(t, os.MkdirAll("gen/documented", 0o755))
	program = strings.Replace(program, "example.com/you/carteira", "carteira/test/openapi/gen/carteira", 1)
	must(t, os.WriteFile("gen/documented/main.go", []byte(program), 0o600))
	s := live(t)
	env := []string{"API=http://" + s.address + "/api/v1", "TOKEN=" + s.token}
	if out := run(t, env, "go", "run", "./gen/documented"); !strings.HasPrefix(out, "customer ") {
		t.Errorf("it prints %s", out)
	}
}

func TestPostmanCollectionRunsGreen(t *testing.T) {
	t.Parallel()
	must(t, os.MkdirAll("gen", 0o755))
	text, err := os.ReadFile(document)
	must(t, err)
	paths, _, _ := strings.Cut(string(text), "\nwebhooks:\n") // those are called by us
	operations := strings.Count(paths, "\n      operationId: ")
	s := live(t, "CARTEIRA_RATE_LIMIT=60") // the default, which a run of the whole reaches
	t.Log(lastLine(run(t, append(s.env(), fmt.Sprint("OPERATIONS=", operations)), "node", "postman.mjs")))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// server is a carteira with a company in it.
type server struct{ address, token string }

func (s *server) env() []string {
	return []string{"BASE=http://" + s.address + "/api/v1", "TOKEN=" + s.token}
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "carteira-openapi-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "carteira")
	cmd := exec.Command("go", "build", "-ldflags=-w", "-o", binary, "./cmd/carteira")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return binary, err
})

// live starts a server with a company that has something of everything. It has no
// limit of calls, unless a setting says so.
func live(t *testing.T, settings ...string) *server {
	t.Helper()
	binary, err := build()
	must(t, err)
	s := &server{address: freeAddress(t)}
	env := append(os.Environ(), "CARTEIRA_DATA_DIR="+filepath.Join(t.TempDir(), "data"), "CARTEIRA_LISTEN="+s.address, "CARTEIRA_RATE_LIMIT=0", "CARTEIRA_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8")
	env = append(env, settings...)
	carteira := func(args ...string) string { return run(t, env, binary, args...) }
	carteira("company", "create", "--name", "Ana Internet", "--email", "ana@example.com")
	carteira("plan", "create", "--company", "1", "--name", "Mensal", "--value", "35.00", "--period", "1month")
	carteira("product", "create", "--company", "1", "--name", "Internet 300")
	carteira("credits", "grant", "--company", "1", "--amount", "100")
	carteira("gateway", "set", "--company", "1", "--provider", "sandbox")
	s.token = strings.TrimSpace(carteira("token", "create", "--company", "1", "--name", "generated"))
	cmd := exec.Command(binary, "serve")
	cmd.Env = env
	var log bytes.Buffer
	cmd.Stderr = &log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("%v\n%s", err, log.String())
		}
	})
	s.wantReady(t)
	s.fill(t)
	return s
}

// fill makes the records that examples of the document speak of.
func (s *server) fill(t *testing.T) {
	t.Helper()
	for path, body := range map[string]string{
		"/customers": `{"name":"João da Silva","whatsapp":"(11) 98765-4321","plan_id":1,"product_id":1,"due_date":"2030-01-31"}`,
		"/plans":     `{"name":"Revenda","value":"49.90","credits":1}`,
		"/webhooks":  `{"url":"https://receiver.invalid/hook","events":["customer.created"]}`,
		"/resellers": `{"name":"Bia","email":"bia@example.com"}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+"/api/v1"+path, strings.NewReader(body))
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+s.token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, resp.Status)
		}
	}
}

func (s *server) wantReady(t *testing.T) {
	t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/readyz", nil)
		must(t, err)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(late) {
			t.Fatal("the server is not ready")
		}
	}
}

// quiet keeps programs of others from reporting to their makers, from colours and from questions.
var quiet = []string{"REDOCLY_TELEMETRY=off", "NO_COLOR=1", "CI=true"}

// run runs a program that must succeed and returns what it prints.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Env = append(cmd.Env, quiet...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, tail(out.String()), tail(complaints.String()))
	}
	return out.String()
}

func tail(text string) string {
	const most = 8000
	return text[max(0, len(text)-most):]
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	return "127.0.0.1:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
