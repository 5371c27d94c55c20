package program

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The receivers that docs/webhooks.md shows, with the real program before them.
func TestReceiversOfTheDocumentation(t *testing.T) {
	t.Parallel()
	for name, runtime := range map[string][]string{
		"receiver.go": {"go", "run"}, "receiver.mjs": {"node"}, "receiver.py": {"python3"}, "receiver.php": {"php"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(runtime[0]); err != nil {
				t.Skipf("%s is not on this machine", runtime[0])
			}
			testReceiver(t, install(t, "sqlite"), name, runtime)
		})
	}
}

func testReceiver(t *testing.T, in *installation, name string, runtime []string) {
	t.Helper()
	address := freeAddress(t)
	front := frontOf(t, address)
	c := in.serve(front.env(t)...).client(in.token(in.company()))
	made := c.want(200, "POST", "/webhooks", map[string]any{"url": front.URL, "events": []string{"customer.created"}})
	var hook struct{ Secret string }
	unmarshal(t, made.Data, &hook)
	in.secret(hook.Secret)
	printed := startReceiver(t, address, hook.Secret, name, runtime)

	var test struct{ Delivered bool }
	unmarshal(t, c.want(200, "POST", "/webhooks/1/test", nil).Data, &test)
	if !test.Delivered {
		t.Error("the test was not delivered")
	}
	c.want(200, "POST", "/customers", map[string]any{"name": "João"})
	find := func() string {
		var list []struct {
			Status  string
			EventID string `json:"event_id"`
		}
		unmarshal(t, c.want(200, "GET", "/webhooks/1/deliveries?event=customer.created&status=delivered", nil).Data, &list)
		if len(list) == 0 {
			return ""
		}
		return list[0].EventID
	}
	eventually(t, "the event is delivered", func() bool { return find() != "" })
	var again struct{ Status string }
	unmarshal(t, c.want(200, "POST", "/webhooks/deliveries/"+find()+"/resend", nil).Data, &again)
	if again.Status != "delivered" {
		t.Errorf("the repeat is %s", again.Status)
	}
	eventually(t, "it says what came", func() bool { return strings.Contains(printed.String(), "customer.created "+find()+"\n") })
	if n := strings.Count(printed.String(), "customer.created"); n != 1 {
		t.Errorf("the repeat was not ignored: %s", printed.String())
	}
	wantChecks(t, "http://"+address, hook.Secret)
}

// wantChecks sends what must be refused, and beside it what must not.
func wantChecks(t *testing.T, address, secret string) {
	t.Helper()
	const body = `{"event":"ping","id":"evt_1","data":{}}`
	sign := func(at, text string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(at + "." + text))
		return "sha256=" + hex.EncodeToString(mac.Sum(nil))
	}
	at := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	now, old, future := at(0), at(-310*time.Second), at(310*time.Second)
	for what, c := range map[string]struct {
		timestamp, signature string
		status               int
	}{
		"right":                       {now, sign(now, body), 204},
		"old enough":                  {at(-250 * time.Second), sign(at(-250*time.Second), body), 204},
		"too old":                     {old, sign(old, body), 408},
		"from the future":             {future, sign(future, body), 408},
		"another body":                {now, sign(now, body+" "), 401},
		"another time":                {now, sign(old, body), 401},
		"no signature":                {now, "", 401},
		"a short one":                 {now, "sha256=00", 401},
		"upper case":                  {now, strings.ToUpper(sign(now, body)), 401},
		"not a time":                  {"soon", sign("soon", body), 408},
		"no time, signed accordingly": {"", sign("", body), 408},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Service-Timestamp", c.timestamp)
		req.Header.Set("X-Service-Signature", c.signature)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", what, resp.StatusCode, c.status)
		}
	}
}

// startReceiver starts a receiver, waits until it listens and returns what it
// prints.
func startReceiver(t *testing.T, address, secret, name string, runtime []string) *output {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("../../docs/receivers", name))
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	args := append(runtime[1:len(runtime):len(runtime)], file)
	if runtime[0] == "php" {
		args = []string{"-S", address, file}
	}
	if runtime[0] == "go" { // built first, so that the program itself can be ended
		built := filepath.Join(t.TempDir(), "receiver")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", built, file).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		runtime, args = []string{built}, nil
	}
	cmd := exec.CommandContext(t.Context(), runtime[0], args...)
	cmd.Env = append(os.Environ(), "PORT="+port, "WEBHOOK_SECRET="+secret, "WEBHOOK_SEEN="+filepath.Join(t.TempDir(), "seen"))
	var printed output
	cmd.Stdout, cmd.Stderr = &printed, &printed
	endWithTests(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s printed: %s", name, printed.String())
		}
	})
	eventually(t, name+" listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return &printed
}

// frontOf is a proxy that ends HTTPS before a receiver.
func frontOf(t *testing.T, address string) *receiver {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	s := httptest.NewTLSServer(proxy)
	t.Cleanup(s.Close)
	return &receiver{Server: s}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return fmt.Sprint(l.Addr())
}

func unmarshal(t *testing.T, text []byte, to any) {
	t.Helper()
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(to); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
