package program

import (
	"bytes"
	"context"
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

// receivers are the files of docs/receivers, each with what runs it.
var receivers = map[string][]string{
	"receiver.go": {"go", "run"}, "receiver.mjs": {"node"}, "receiver.py": {"python3"}, "receiver.php": {"php"},
}

// The receivers that docs/webhooks.md shows, with the real program before them.
func TestReceiversOfTheDocumentation(t *testing.T) {
	t.Parallel()
	for name, runtime := range receivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, runtime[0])
			testReceiver(t, install(t, "sqlite"), name, runtime)
		})
	}
}

// A receiver without a secret would take what anybody signed with the empty key.
func TestReceiversRefuseToRunWithoutASecret(t *testing.T) {
	t.Parallel()
	for name, runtime := range receivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, runtime[0])
			address := freeAddress(t)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := receiverCommand(ctx, t, receiverFile{name, runtime, address, ""})
			if runtime[0] == "php" { // it is the web server that runs, and the script that refuses
				var printed output
				runReceiver(t, cmd, name, address, &printed)
				status := post(t, "http://"+address, ping, signed("", now(0), ping))
				for !strings.Contains(printed.String(), "WEBHOOK_SECRET") && ctx.Err() == nil { // what it prints comes after the answer
					time.Sleep(10 * time.Millisecond)
				}
				if status != 500 || ctx.Err() != nil {
					t.Errorf("%d, and it prints %s", status, printed.String())
				}
				return
			}
			if out, err := cmd.CombinedOutput(); err == nil || ctx.Err() != nil || !strings.Contains(string(out), "WEBHOOK_SECRET") {
				t.Errorf("it ends with %v and prints %s", err, out)
			}
		})
	}
}

func testReceiver(t *testing.T, in *installation, name string, runtime []string) {
	t.Helper()
	address := freeAddress(t)
	front := frontOf(t, address)
	client := in.serve(front.env(t)...).client(in.token(in.company()))
	made := client.want(200, "POST", "/webhooks", map[string]any{"url": front.URL, "events": []string{"customer.created"}})
	var hook struct{ Secret string }
	unmarshal(t, made.Data, &hook)
	in.secret(hook.Secret)
	printed := startReceiver(t, receiverFile{name, runtime, address, hook.Secret})

	var test struct{ Delivered bool }
	unmarshal(t, client.want(200, "POST", "/webhooks/1/test", nil).Data, &test)
	if !test.Delivered {
		t.Error("the test was not delivered")
	}
	client.want(200, "POST", "/customers", map[string]any{"name": "João"})
	find := func() string {
		var list []struct {
			Status  string
			EventID string `json:"event_id"`
		}
		unmarshal(t, client.want(200, "GET", "/webhooks/1/deliveries?event=customer.created&status=delivered", nil).Data, &list)
		if len(list) == 0 {
			return ""
		}
		return list[0].EventID
	}
	eventually(t, "the event is delivered", func() bool { return find() != "" })
	var again struct{ Status string }
	unmarshal(t, client.want(200, "POST", "/webhooks/deliveries/"+find()+"/resend", nil).Data, &again)
	if again.Status != "delivered" {
		t.Errorf("the repeat is %s", again.Status)
	}
	eventually(t, "it says what came", func() bool { return strings.Contains(printed.String(), "customer.created "+find()+"\n") })
	if n := strings.Count(printed.String(), "customer.created"); n != 1 {
		t.Errorf("the repeat was not ignored: %s", printed.String())
	}
	wantChecks(t, "http://"+address, hook.Secret)
	wantGarbageSurvived(t, "http://"+address, hook.Secret)
}

const ping = `{"event":"ping","id":"evt_1","data":{}}`

// now is the Unix time that is some way from now, as the header has it.
func now(away time.Duration) string { return strconv.FormatInt(time.Now().Add(away).Unix(), 10) }

// signature is what the header says of a body sent at a time.
func signature(secret, at, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "." + body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// signed are the headers of a body that was sent at a time.
func signed(secret, at, body string) http.Header {
	return http.Header{"X-Service-Timestamp": {at}, "X-Service-Signature": {signature(secret, at, body)}}
}

// wantChecks sends what must be refused, and what must not.
func wantChecks(t *testing.T, address, secret string) {
	t.Helper()
	sign := func(at, text string) string { return signature(secret, at, text) }
	present, old, future, early := now(0), now(-310*time.Second), now(310*time.Second), now(-250*time.Second)
	for what, c := range map[string]struct {
		timestamp, signature string
		status               int
	}{
		"right":                       {present, sign(present, ping), 204},
		"old enough":                  {early, sign(early, ping), 204},
		"too old":                     {old, sign(old, ping), 408},
		"from the future":             {future, sign(future, ping), 408},
		"another body":                {present, sign(present, ping+" "), 401},
		"another time":                {present, sign(old, ping), 401},
		"signed with the empty key":   {present, signature("", present, ping), 401},
		"no signature":                {present, "", 401},
		"a short one":                 {present, "sha256=00", 401},
		"upper case":                  {present, strings.ToUpper(sign(present, ping)), 401},
		"not a time":                  {"soon", sign("soon", ping), 408},
		"a time without end":          {strings.Repeat("9", 5000), sign(strings.Repeat("9", 5000), ping), 408},
		"no time, signed accordingly": {"", sign("", ping), 408},
	} {
		header := http.Header{"X-Service-Timestamp": {c.timestamp}, "X-Service-Signature": {c.signature}}
		if status := post(t, address, ping, header); status != c.status {
			t.Errorf("%s: %d, want %d", what, status, c.status)
		}
	}
}

// wantGarbageSurvived sends bodies that are signed and no events. They are
// refused, and what comes after them is received.
func wantGarbageSurvived(t *testing.T, address, secret string) {
	t.Helper()
	for _, garbage := range []string{
		"", "garbage", "null", "[]", "7", `"text"`, "{}", `{"id":"evt_1"}`, `{"event":"ping"}`, `{"event":"ping","id":""}`,
		`{"event":"ping","id":7}`, `{"event":["ping"],"id":{"a":1}}`, `{"event":"ping","id":null}`, ping + ping,
		"\xff\xfe\x00", "{\"event\":\"ping\"", strings.Repeat("[", 500_000), `"` + strings.Repeat("a", 1<<20) + `"`,
	} {
		present := now(0)
		status := post(t, address, garbage, signed(secret, present, garbage))
		if status != 400 {
			t.Errorf("%.40q: %d, want 400", garbage, status)
		}
	}
	present := now(0)
	if status := post(t, address, ping, signed(secret, present, ping)); status != 204 {
		t.Errorf("after the garbage: %d", status)
	}
}

// post sends a body to a receiver and returns the status of its answer.
func post(t *testing.T, address, body string, header http.Header) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	req.Close = true // a receiver may refuse a body before it has read it
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%.40q: %v", body, err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// receiverFile is a receiver and how to run it.
type receiverFile struct {
	name    string
	runtime []string
	address string
	secret  string
}

// receiverCommand is the command that runs a receiver. Go's is built first, so that
// the program itself can be ended.
func receiverCommand(ctx context.Context, t *testing.T, receiverFile receiverFile) *exec.Cmd {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("../../docs/receivers", receiverFile.name))
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(receiverFile.address)
	program, args := receiverFile.runtime[0], []string{file}
	switch program {
	case "php":
		args = []string{"-S", receiverFile.address, file}
	case "go":
		program, args = filepath.Join(t.TempDir(), "receiver"), nil
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, file).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "PORT="+port, "WEBHOOK_SECRET="+receiverFile.secret, "WEBHOOK_SEEN="+filepath.Join(t.TempDir(), "seen"))
	endWithTests(cmd)
	return cmd
}

// startReceiver starts a receiver, waits until it listens and returns what it
// prints.
func startReceiver(t *testing.T, file receiverFile) *output {
	t.Helper()
	var printed output
	runReceiver(t, receiverCommand(t.Context(), t, file), file.name, file.address, &printed)
	return &printed
}

func runReceiver(t *testing.T, cmd *exec.Cmd, name, address string, printed *output) {
	t.Helper()
	cmd.Stdout, cmd.Stderr = printed, printed
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
}

// frontOf is a proxy that ends HTTPS before a receiver.
func frontOf(t *testing.T, address string) *receiver {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	server := httptest.NewTLSServer(proxy)
	t.Cleanup(server.Close)
	return &receiver{Server: server}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return fmt.Sprint(listener.Addr())
}

func unmarshal(t *testing.T, text []byte, to any) {
	t.Helper()
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(to); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
