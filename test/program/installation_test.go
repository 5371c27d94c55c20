package program

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// installation is a database and the settings of the processes that use it.
type installation struct {
	t      *testing.T
	engine sqldb.Engine
	dir    string // data folder
	url    string
	env    []string

	mu      sync.Mutex
	secrets []string // what no process may ever print
	founder founding // of an installation that begins with a company
}

// founding is what most installations begin with: a company and a token of it, each
// handed to the first who asks.
type founding struct {
	company, token           string
	companyGiven, tokenGiven bool
}

var founded = newMold(func(in *installation) founding {
	company := in.company()
	return founding{company: company, token: in.token(company)}
})

// eachDatabase runs test on an installation of a company for each engine, in parallel
// with other tests.
func eachDatabase(t *testing.T, test func(t *testing.T, in *installation)) {
	t.Helper()
	eachEngine(t, func(t *testing.T, engine sqldb.Engine) { test(t, install(t, engine)) })
}

// eachBare is eachDatabase without a company.
func eachBare(t *testing.T, test func(t *testing.T, in *installation)) {
	t.Helper()
	eachEngine(t, func(t *testing.T, engine sqldb.Engine) { test(t, installBare(t, engine)) })
}

func eachEngine(t *testing.T, test func(t *testing.T, engine sqldb.Engine)) {
	t.Helper()
	t.Parallel()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		t.Helper()
		t.Parallel()
		test(t, engine)
	})
}

// dealtEngine runs test on one engine, in parallel with other tests.
func dealtEngine(t *testing.T, test func(t *testing.T, engine sqldb.Engine)) {
	t.Helper()
	t.Parallel()
	sqldbtest.Dealt(t, test)
}

// install makes an installation of a company with a token, as the commands make them.
func install(t *testing.T, engine sqldb.Engine) *installation {
	t.Helper()
	in, founder := founded.copy(t, engine)
	in.founder = founder
	return in
}

// installBare makes an installation without a company. Its PostgreSQL is migrated: a copy
// takes a fraction of what migrating does.
func installBare(t *testing.T, engine sqldb.Engine) *installation {
	t.Helper()
	return installOn(t, engine, func() string { return sqldbtest.URL(t, engine) }, newKey())
}

// installEmpty makes an installation that has no table in its database yet.
func installEmpty(t *testing.T, engine sqldb.Engine) *installation {
	t.Helper()
	return installOn(t, engine, func() string { return sqldbtest.Empty(t, engine) }, newKey())
}

// installOn makes an installation on a database of PostgreSQL with the key, or in a folder
// that is not there yet.
func installOn(t *testing.T, engine sqldb.Engine, postgres func() string, key string) *installation {
	t.Helper()
	in := &installation{t: t, engine: engine, dir: filepath.Join(t.TempDir(), "data")}
	in.env = []string{
		"CARTEIRA_DATA_DIR=" + in.dir, "CARTEIRA_LISTEN=127.0.0.1:0",
		"CARTEIRA_LOG_FORMAT=json", "CARTEIRA_RATE_LIMIT=0",
	}
	if engine == sqldb.SQLite {
		in.url = "sqlite:" + filepath.Join(in.dir, "carteira.db")
		return in
	}
	in.url = postgres()
	in.env = append(in.env, "CARTEIRA_DATABASE_URL="+in.url, "CARTEIRA_SECRET_KEY="+key)
	in.secret(key, passwordOf(t, in.url))
	return in
}

func newKey() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

func passwordOf(t *testing.T, address string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := target.User.Password()
	return password
}

// secret notes what no process may print.
func (in *installation) secret(texts ...string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.secrets = append(in.secrets, texts...)
}

// wantNoSecret looks for secrets in what was printed.
func (in *installation) wantNoSecret(printed string) {
	in.t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	secrets := slices.Clone(in.secrets)
	if key, err := os.ReadFile(filepath.Join(in.dir, "secret.key")); err == nil {
		secrets = append(secrets, strings.TrimSpace(string(key)))
	}
	for _, secret := range secrets {
		if secret != "" && strings.Contains(printed, secret) {
			in.t.Errorf("a secret was printed: %s", printed)
		}
	}
}

// open looks inside the database.
func (in *installation) open() *sqldb.DB {
	in.t.Helper()
	return sqldbtest.Open(in.t, in.url)
}

// result is what a command printed and its exit code.
type result struct {
	stdout, stderr string
	code           int
}

// try runs a command to its end. Settings in env win over the installation's.
func (in *installation) try(env []string, args ...string) result {
	in.t.Helper()
	process := launch(in.t, slices.Concat(in.env, env), args...)
	r := result{code: process.wait(), stdout: process.stdout.String(), stderr: process.stderr.String()}
	in.wantNoSecret(r.stderr)
	return r
}

// run runs a command that must succeed and returns what it printed.
func (in *installation) run(args ...string) string {
	in.t.Helper()
	result := in.try(nil, args...)
	if result.code != 0 {
		in.t.Fatalf("carteira %s: exit code %d\n%s", strings.Join(args, " "), result.code, result.stderr)
	}
	return result.stdout
}

// create runs a command that prints one JSON object and returns one of its
// numbers.
func (in *installation) create(field string, args ...string) string {
	in.t.Helper()
	var made map[string]any
	printed := in.run(args...)
	if err := json.Unmarshal([]byte(printed), &made); err != nil || strings.Count(printed, "\n") != 1 {
		in.t.Fatalf("carteira %s printed %q: %v", strings.Join(args, " "), printed, err)
	}
	number, _ := made[field].(float64)
	if number < 1 {
		in.t.Fatalf("carteira %s printed %q: no %s", strings.Join(args, " "), printed, field)
	}
	return strconv.Itoa(int(number))
}

// company is the id of a company: at first of the one that the installation began with,
// then of a new one.
func (in *installation) company() string {
	in.t.Helper()
	if first := &in.founder; first.company != "" && !first.companyGiven {
		first.companyGiven = true
		return first.company
	}
	return in.create("company_id", "company", "create", "--name", "Ana Internet", "--email", rand.Text()+"@example.com")
}

// token is a token of a company: at first the one that the installation began with, then
// a new one.
func (in *installation) token(company string) string {
	in.t.Helper()
	if first := &in.founder; first.company == company && !first.tokenGiven {
		first.tokenGiven = true
		return first.token
	}
	token := strings.TrimSuffix(in.run("token", "create", "--company", company, "--name", "n8n"), "\n")
	in.secret(token)
	return token
}

// server is a carteira that serves.
type server struct {
	*process
	in      *installation
	address string
}

// serve starts a server and waits until it says that it serves. At the end of
// the test it is stopped, which must go well.
func (in *installation) serve(env ...string) *server {
	in.t.Helper()
	s := &server{process: launch(in.t, slices.Concat(in.env, env), "serve"), in: in}
	s.await(&s.stderr, func(string) bool {
		for _, line := range s.log() {
			if line.Msg == "serving" {
				s.address = line.Address
			}
		}
		return s.address != ""
	})
	in.t.Cleanup(func() {
		select {
		case <-s.ended: // the test ended it
		default:
			s.stop()
		}
		in.wantNoSecret(s.stdout.String() + s.stderr.String())
	})
	return s
}

// stop stops the server as an operator would.
func (s *server) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 0 {
		s.t.Errorf("exit code %d after SIGTERM:\n%s", code, s.stderr.String())
	}
}

// logLine is what tests read of a line of the log.
type logLine struct {
	Level, Msg, Address, Error string

	RequestID string `json:"request_id"`
	Method    string
	Path      string
	Remote    string
	Status    int
	CompanyID int64 `json:"company_id"`
}

// log reads the complete lines of the log so far. Messages for people, which
// are not log lines, are skipped.
func (s *server) log() []logLine {
	text := s.stderr.String()
	text = text[:strings.LastIndexByte(text, '\n')+1]
	var lines []logLine
	for line := range strings.Lines(text) {
		var l logLine
		if json.Unmarshal([]byte(line), &l) == nil {
			lines = append(lines, l)
		}
	}
	return lines
}

// request waits for the line of a request in the log.
func (s *server) request(id string) (found logLine) {
	s.t.Helper()
	s.await(&s.stderr, func(string) bool {
		for _, line := range s.log() {
			if line.Msg == "request" && line.RequestID == id {
				found = line
				return true
			}
		}
		return false
	})
	return found
}
