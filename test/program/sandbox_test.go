package program

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// hook is a receiver without TLS, as integrators run one next to their sandbox.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	events []hooked
}

type hooked struct {
	Event      string
	OccurredAt time.Time `json:"occurred_at"`
	sentAt     time.Time // its timestamp header
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var got hooked
		if err != nil || json.Unmarshal(body, &got) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		seconds, _ := strconv.ParseInt(r.Header.Get("X-Service-Timestamp"), 10, 64)
		got.sentAt = time.Unix(seconds, 0)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, got)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) all() []hooked {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]hooked{}, h.events...)
}

// sandboxed makes every process of an installation one of a sandbox.
func (in *installation) sandboxed() {
	in.env = append(in.env, "CARTEIRA_SANDBOX=on", "CARTEIRA_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8")
}

// driverGone is a quarter of a minute later, when a killed process's lease on the clock has
// expired.
const driverGone = `UPDATE sandbox_clock SET driver_until = 0`

// The steps of docs/sandbox.md, as a stranger types them.
func TestStepsOfTheSandboxDocumentWork(t *testing.T) {
	need(t, "curl")
	t.Parallel()
	text, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(block[1], "carteira serve") { // which the test has begun already
			steps = append(steps, block[1])
		}
	}
	in := installBare(t, "sqlite")
	in.sandboxed()
	server, hook := in.serve(), newHook(t)
	script := strings.NewReplacer("http://127.0.0.1:8080", "http://"+server.address, "http://127.0.0.1:9000",
		hook.URL).Replace(strings.Join(steps, "\n"))
	bin := filepath.Join(t.TempDir(), "carteira")
	if err := os.Symlink(binary, bin); err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-e", "-c", script)
	sh.Env = append(append([]string{}, in.env...), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
	printed, err := sh.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	for _, want := range []string{
		`"kind":"invoice.created","count":1`, `"kind":"customer.expired","count":1`, `"kind":"delivery.accepted","count":`,
		`"status":"Pago"`, `"advancing":false`, "Vencido", "From ",
	} {
		if !strings.Contains(string(printed), want) {
			t.Errorf("%s is not in what was printed:\n%s", want, printed)
		}
	}
	seen := map[string]bool{}
	for _, event := range hook.all() {
		seen[event.Event] = true
		if lag := time.Since(event.sentAt); lag < -time.Minute || lag > 10*time.Minute {
			t.Errorf("%s: its timestamp header is not the real time: %s", event.Event, event.sentAt)
		}
		if event.Event == "customer.expired" && time.Until(event.OccurredAt) < 24*time.Hour {
			t.Errorf("customer.expired occurred at %s", event.OccurredAt)
		}
	}
	if !seen["invoice.created"] || !seen["customer.expired"] || !seen["invoice.paid"] {
		t.Errorf("the receiver got %v", seen)
	}
}

func TestKilledAdvanceIsTakenUpByTheNextProcess(t *testing.T) {
	eachBare(t, func(t *testing.T, in *installation) {
		in.sandboxed()
		company := in.company()
		plan := in.create("id", "plan", "create", "--company", company, "--name", "Mensal", "--value", "35", "--period", "1month")
		token := in.token(company)
		first := in.serve()
		client := first.client(token)
		for i := range 20 {
			client.want(200, "POST", "/customers", map[string]any{"name": "Cliente " + strconv.Itoa(i), "plan_id": plan})
		}
		go func() { _, _ = client.send("POST", "/sandbox/clock", map[string]any{"advance": "6 months"}) }()
		clock := first.client(token)
		eventually(t, "an advance that is under way", func() bool {
			answer, err := clock.send("GET", "/sandbox/clock", nil)
			return err == nil && strings.Contains(string(answer.Data), `"advancing":true`)
		})
		first.kill()
		second := in.serve() // which waits until the lease of the first one expires by itself, as no other test does
		clock = second.client(token)
		eventually(t, "the end of the advance", func() bool {
			answer, err := clock.send("GET", "/sandbox/clock", nil)
			return err == nil && strings.Contains(string(answer.Data), `"advancing":false`)
		})
		answer := clock.want(200, "GET", "/customers?per_page=1&status=Vencido", nil)
		if answer.Meta.Total != 20 {
			t.Errorf("%d customers are expired, want 20: %s", answer.Meta.Total, answer.body)
		}
		second.stop()
	})
}

func TestServeRefusesTheWrongKindOfInstallation(t *testing.T) {
	t.Parallel()
	in := install(t, "sqlite")
	in.company()
	result := in.try(nil, "serve", "--sandbox")
	if result.code == 0 || !strings.Contains(result.stderr, "real installation") {
		t.Errorf("%d: %s", result.code, result.stderr)
	}
	other := installBare(t, "sqlite")
	other.sandboxed()
	other.company()
	result = other.try([]string{"CARTEIRA_SANDBOX=off"}, "serve")
	if result.code == 0 || !strings.Contains(result.stderr, "made as a sandbox") {
		t.Errorf("%d: %s", result.code, result.stderr)
	}
}
