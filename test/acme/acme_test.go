package acme

import (
	"bytes"
	"encoding/base64"
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
	first  = "clientes.example.com"
	second = "pagar.example.com"
	// patience is how long a test waits for what must happen.
	patience = 4 * time.Minute
)

var binary string

func TestMain(m *testing.M) {
	// Pebble reads these when it starts: no naps, and a third of the good nonces refused.
	_ = os.Setenv("PEBBLE_VA_NOSLEEP", "1")
	_ = os.Setenv("PEBBLE_WFE_NONCEREJECT", "30")
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "carteira-acme-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "carteira")
	build := exec.Command("go", "build", "-ldflags=-w", "-o", binary, "./cmd/carteira")
	build.Dir, build.Stdout, build.Stderr = "../..", os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	return m.Run()
}

func TestCertificatesOfAllDomainsAreObtainedAtStart(t *testing.T) {
	t.Parallel()
	p := startPebble(t, wishes{})
	data := t.TempDir()
	s := serve(t, p, data, "CARTEIRA_TLS_DOMAIN="+first+","+second, "CARTEIRA_ACME_EMAIL=ana@example.com")
	for _, domain := range []string{first, second} { // no connection yet
		s.await("certificate obtained", "domain="+domain, "Pebble")
	}
	asked, _ := p.counted()
	for _, domain := range []string{first, second} {
		if cert, err := p.leaf(t, domain); err != nil || cert.VerifyHostname(domain) != nil {
			t.Errorf("%s: %v, %v", domain, cert, err)
		}
	}
	if _, err := p.leaf(t, "other.example.com"); err == nil {
		t.Error("a domain that nobody named has a certificate")
	}
	if calls, contacts := p.counted(); calls != asked || len(contacts) == 0 || contacts[0] != "mailto:ana@example.com" {
		t.Errorf("the authority was given %v, and called %d times by browsers", contacts, calls-asked)
	}
	wantRedirect(t, p)
	s.stop()

	before, _ := p.counted()
	again := serve(t, p, data, "CARTEIRA_TLS_DOMAIN="+first+","+second)
	eventually(t, "the certificates of the data folder are served", func() bool {
		_, err := p.leaf(t, second)
		return err == nil
	})
	again.await("domain=" + first)
	if after, _ := p.counted(); after != before {
		t.Errorf("a restart called the authority %d times", after-before)
	}
}

func TestFailureIsLoggedAndStopsNoOtherDomain(t *testing.T) {
	t.Parallel()
	p := startPebble(t, wishes{blocked: []string{first}})
	s := serve(t, p, t.TempDir(), "CARTEIRA_TLS_DOMAIN="+first+","+second)
	s.await("certificate not obtained", "domain="+first, "rejectedIdentifier")
	s.await("certificate obtained", "domain="+second)
	if _, err := p.leaf(t, second); err != nil {
		t.Error(err)
	}
	calls, _ := p.counted()
	for range 20 {
		if _, err := p.leaf(t, first); err == nil {
			t.Error("a refused domain has a certificate")
		}
	}
	if after, _ := p.counted(); after != calls {
		t.Errorf("handshakes of a domain that fails called the authority %d times", after-calls)
	}
}

func TestReasonOfAFailedValidationIsLogged(t *testing.T) {
	t.Parallel()
	p := startPebble(t, wishes{unknown: []string{first}})
	s := serve(t, p, t.TempDir(), "CARTEIRA_TLS_DOMAIN="+first)
	s.await("ACME refusal", "resolv")
	s.await("certificate not obtained", "domain="+first, "next_attempt=1m10s")
}

func TestAuthorityThatIsAwayIsLogged(t *testing.T) {
	t.Parallel()
	p := startPebble(t, wishes{})
	s := serve(t, p, t.TempDir(), "CARTEIRA_TLS_DOMAIN="+first, "CARTEIRA_ACME_DIRECTORY=https://127.0.0.1:"+freePort(t)+"/dir")
	s.await("certificate not obtained", "domain="+first, "connection refused")
}

func TestAuthorityThatWantsAnAccountBinding(t *testing.T) {
	t.Parallel()
	key := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	p := startPebble(t, wishes{bindings: map[string]string{"kid-1": key}})
	without := serve(t, p, t.TempDir(), "CARTEIRA_TLS_DOMAIN="+first)
	without.await("certificate not obtained", "externalAccountRequired")
	without.stop()
	with := serve(t, p, t.TempDir(), "CARTEIRA_TLS_DOMAIN="+first, "CARTEIRA_ACME_EAB=kid-1:"+key)
	with.await("certificate obtained", "domain="+first)
	if strings.Contains(with.log.String(), key) {
		t.Error("the key is in the log")
	}
}

func TestCertificateIsRenewedBeforeItEnds(t *testing.T) {
	t.Parallel()
	p := startPebble(t, wishes{seconds: 40})
	s := serve(t, p, t.TempDir(), "CARTEIRA_TLS_DOMAIN="+first)
	s.await("certificate obtained", "domain="+first)
	before, err := p.leaf(t, first)
	must(t, err)
	s.await("certificate renewed", "domain="+first)
	eventually(t, "the renewed certificate is served", func() bool {
		after, err := p.leaf(t, first)
		return err == nil && after.SerialNumber.Cmp(before.SerialNumber) != 0
	})
}

func wantRedirect(t *testing.T, p *pebble) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+p.ports[1]+"/pay/x?y=1", nil)
	must(t, err)
	req.Host = first
	resp, err := (&http.Transport{}).RoundTrip(req)
	must(t, err)
	defer resp.Body.Close()
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusFound || to != "https://"+first+"/pay/x?y=1" {
		t.Errorf("%d to %q", resp.StatusCode, to)
	}
}

// server is a carteira that serves with certificates of a Pebble.
type server struct {
	t     *testing.T
	cmd   *exec.Cmd
	log   printed
	ended chan struct{}
}

func serve(t *testing.T, p *pebble, data string, env ...string) *server {
	t.Helper()
	s := &server{t: t, cmd: exec.Command(binary, "serve"), ended: make(chan struct{})}
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "CARTEIRA_DATA_DIR=" + data, "SSL_CERT_FILE=" + p.roots,
		"CARTEIRA_ACME_DIRECTORY=" + p.directory,
		"CARTEIRA_ACME_LISTEN=127.0.0.1:" + p.ports[0] + ",127.0.0.1:" + p.ports[1],
	}, env...)
	s.cmd.Stderr = &s.log
	must(t, s.cmd.Start())
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait()
	}()
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("the log:\n%s", s.log.String())
		}
	})
	return s
}

// stop stops the server, which must go well.
func (s *server) stop() {
	s.t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("exit code %d", code)
	}
}

// await waits for a line of the log that has all the words.
func (s *server) await(words ...string) {
	s.t.Helper()
	eventually(s.t, "the log says "+strings.Join(words, ", "), func() bool {
		for line := range strings.Lines(s.log.String()) {
			missing := false
			for _, w := range words {
				missing = missing || !strings.Contains(line, w)
			}
			if !missing {
				return true
			}
		}
		return false
	})
}

// printed collects what a process prints.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !condition(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("still not so: %s", what)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func number(port string) int {
	n, _ := strconv.Atoi(port)
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
