package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const host = "hooks.example.com"

// answer is a receiver that takes what it gets and says ok.
func answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	_, _ = io.WriteString(w, "ok")
}

func TestPostIsReceivedAsSent(t *testing.T) {
	ca := newAuthority(t)
	var got *http.Request
	var body []byte
	receiver := receive(t, "", ca.issue(nil, host), func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "later")
	})
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool(), UserAgent: "Carteira/1"})
	header := http.Header{"X-Service-Signature": {"abc"}}
	result, err := c.Post(t.Context(), "https://Hooks.Example.com.:"+receiver.port()+"/a%20b?c=d#e", header, []byte(`{"a":1}`))
	if err != nil || result.Status != 429 || string(result.Body) != "later" || result.Truncated ||
		result.RetryAfter != 2*time.Minute || result.Duration <= 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	if len(header) != 1 {
		t.Error("the caller's headers were changed")
	}
	want := map[string]string{
		"Method": "POST", "Host": host + ":" + receiver.port(), "URI": "/a%20b?c=d", "Proto": "HTTP/1.1", "Body": `{"a":1}`,
		"Signature": "abc", "Agent": "Carteira/1", "Encoding": "identity", "Key": "",
	}
	for what, value := range map[string]string{
		"Method": got.Method, "Host": got.Host, "URI": got.RequestURI, "Proto": got.Proto, "Body": string(body),
		"Signature": got.Header.Get("X-Service-Signature"), "Agent": got.UserAgent(),
		"Encoding": got.Header.Get("Accept-Encoding"), "Key": strings.Join(got.Header.Values("Idempotency-Key"), ","),
	} {
		if value != want[what] {
			t.Errorf("%s was %q, want %q", what, value, want[what])
		}
	}
}

func TestGetAsksAsPostPosts(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, host), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %q %s", r.Method, r.RequestURI, body, r.Header.Get("Apikey"))
	})
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool(), Once: true})
	result, err := c.Get(t.Context(), "https://"+host+":"+receiver.port()+"/state?x=1", http.Header{"Apikey": {"abc"}})
	if err != nil || result.Status != 200 || string(result.Body) != `GET /state?x=1 "" abc` {
		t.Errorf("%+v: %s, %v", result, result.Body, err)
	}
	guarded := client(t, NewGate(nil, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool()})
	if _, err := guarded.Get(t.Context(), "https://"+host+":"+receiver.port(), nil); !errors.Is(err, ErrRefused) {
		t.Errorf("an internal address is asked: %v", err)
	}
}

func TestPostToLiteralProvesTheAddress(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, "127.0.0.1"), answer)
	c := client(t, NewGate(loopback, &names{}), Options{RootCAs: ca.pool()})
	if result, err := post(t, c, receiver.URL); err != nil || result.Status != 200 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestConnectionIsKeptForTheNextCall(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, host), answer)
	names := resolving(host, "127.0.0.1")
	c := client(t, NewGate(loopback, names), Options{RootCAs: ca.pool()})
	for range 10 {
		if _, err := post(t, c, "https://"+host+":"+receiver.port()); err != nil {
			t.Fatal(err)
		}
	}
	if receiver.connections() != 1 || names.lookups() != 10 {
		t.Errorf("%d connections and %d lookups, want 1 and 10", receiver.connections(), names.lookups())
	}
}

func TestConnectionOfARefusalIsNotKept(t *testing.T) {
	ca := newAuthority(t)
	status := http.StatusFound
	receiver := receive(t, "", ca.issue(nil, host), func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(status) })
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool()})
	for _, status = range []int{302, 404, 500, 204} {
		if result, err := post(t, c, "https://"+host+":"+receiver.port()); err != nil || result.Status != status {
			t.Fatalf("%+v, %v, want %d", result, err, status)
		}
	}
	if _, err := post(t, c, "https://"+host+":"+receiver.port()); err != nil {
		t.Fatal(err)
	}
	if receiver.connections() != 4 {
		t.Errorf("%d connections, want one for each refusal and one that is kept", receiver.connections())
	}
}

func TestAddressIsCheckedAgainAtEverySend(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, host), answer)
	names := resolving(host, "127.0.0.1")
	c := client(t, NewGate(loopback, names), Options{RootCAs: ca.pool()})
	url := "https://" + host + ":" + receiver.port()
	if _, err := post(t, c, url); err != nil {
		t.Fatal(err)
	}
	for _, addrs := range [][]string{{"10.0.0.1"}, {"127.0.0.1", "169.254.169.254"}, {"8.8.8.8", "::1"}} {
		names.set(host, addrs...)
		result, err := post(t, c, url)
		if !errors.Is(err, ErrRefused) || Public(err) != reasonInternal || result.Status != 0 {
			t.Errorf("%v: %+v, %v", addrs, result, err)
		}
	}
}

func TestKeptConnectionIsNotUsedOnceTheNameMoved(t *testing.T) {
	ca := newAuthority(t)
	config := ca.issue(nil, host)
	old := receive(t, "", config, answer)
	moved := receive(t, "127.0.0.2:"+old.port(), config, answer)
	names := resolving(host, "127.0.0.1")
	c := client(t, NewGate(loopback, names), Options{RootCAs: ca.pool()})
	url := "https://" + host + ":" + old.port()
	for _, step := range []struct {
		addr       string
		old, moved int
	}{{"127.0.0.1", 1, 0}, {"127.0.0.2", 1, 1}, {"127.0.0.2", 1, 1}, {"127.0.0.1", 1, 1}} {
		names.set(host, step.addr)
		if _, err := post(t, c, url); err != nil {
			t.Fatal(err)
		}
		if old.connections() != step.old || moved.connections() != step.moved {
			t.Errorf("at %s: %d and %d connections, want %d and %d", step.addr, old.connections(), moved.connections(), step.old, step.moved)
		}
	}
}

func TestNamesOnOneAddressShareNoConnection(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, host), answer)
	names := resolving(host, "127.0.0.1")
	names.set("other.example.com", "127.0.0.1")
	c := client(t, NewGate(loopback, names), Options{RootCAs: ca.pool()})
	if _, err := post(t, c, "https://"+host+":"+receiver.port()); err != nil {
		t.Fatal(err)
	}
	if _, err := post(t, c, "https://other.example.com:"+receiver.port()); Public(err) != reasonOtherName {
		t.Errorf("a certificate for %s served another name: %v", host, err)
	}
}

// dials records what a client dials and may lead it elsewhere.
type dials struct {
	mu   sync.Mutex
	seen []string
}

func (d *dials) to(address string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, asked string) (net.Conn, error) {
		d.mu.Lock()
		d.seen = append(d.seen, asked)
		d.mu.Unlock()
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}

// rebinding answers with a public address the first time and loopback after.
type rebinding struct{ names }

func (r *rebinding) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	addrs, err := r.names.LookupNetIP(ctx, network, host)
	r.set(host, "127.0.0.1")
	return addrs, err
}

func TestDialledAddressIsTheCheckedOne(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, host), answer)
	n := &rebinding{}
	n.set(host, "93.184.215.14")
	c := client(t, NewGate(nil, n), Options{RootCAs: ca.pool()})
	var d dials
	c.dial = d.to(receiver.Listener.Addr().String())
	if _, err := post(t, c, "https://"+host); err != nil {
		t.Fatal(err)
	}
	if want := []string{"93.184.215.14:443"}; !slices.Equal(d.seen, want) || n.lookups() != 1 {
		t.Errorf("dialled %v after %d lookups, want %v after 1", d.seen, n.lookups(), want)
	}
	if _, err := post(t, c, "https://"+host); !errors.Is(err, ErrRefused) || len(d.seen) != 1 {
		t.Errorf("rebound: %v, dialled %v", err, d.seen)
	}
}

func TestNameThatTurnsInternalAfterTheCheckIsRefused(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, host), answer)
	n := &rebinding{}
	n.set(host, "93.184.215.14")
	gate := NewGate(nil, n)
	url := "https://" + host + ":" + receiver.port()
	if err := gate.CheckURL(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	_, err := post(t, client(t, gate, Options{RootCAs: ca.pool()}), url)
	if !errors.Is(err, ErrRefused) || receiver.connections() != 0 {
		t.Errorf("%v, %d connections", err, receiver.connections())
	}
}

func TestDialerHasTheLastWord(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, host), answer)
	c := client(t, NewGate(nil, &names{}), Options{RootCAs: ca.pool()})
	target, err := parseTarget("https://"+host+":"+receiver.port(), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	response, err := c.send(ctx, target, []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.1")}, call{method: http.MethodPost, header: http.Header{}})
	if err == nil {
		response.Body.Close()
	}
	if !errors.Is(err, ErrRefused) || receiver.connections() != 0 {
		t.Errorf("%v, %d connections", err, receiver.connections())
	}
}

func TestDeadAddressLeavesTimeForTheNext(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "127.0.0.3:0", ca.issue(nil, host), answer)
	names := resolving(host, "127.0.0.1", "127.0.0.2", "127.0.0.3")
	c := client(t, NewGate(loopback, names), Options{RootCAs: ca.pool(), Timeout: 6 * time.Second})
	var tried []string
	dial := c.dial
	c.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		tried = append(tried, strings.TrimSuffix(address, ":"+receiver.port()))
		if strings.HasPrefix(address, "127.0.0.2:") { // answers nothing at all
			<-ctx.Done()
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
		}
		return dial(ctx, network, address)
	}
	url := "https://" + host + ":" + receiver.port()
	if result, err := post(t, c, url); err != nil || result.Status != 200 {
		t.Fatalf("%+v, %v", result, err)
	}
	if want := []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}; !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
	// The address that answered is asked first, and its connection used again.
	if _, err := post(t, c, url); err != nil || len(tried) != 3 || receiver.connections() != 1 {
		t.Errorf("%v, tried %v, %d connections", err, tried, receiver.connections())
	}
}

func TestFewAddressesOfANameAreTried(t *testing.T) {
	names := resolving(host, slices.Repeat([]string{"8.8.8.8", "8.8.4.4"}, 50)...)
	c := client(t, NewGate(nil, names), Options{})
	var tried int
	c.dial = func(context.Context, string, string) (net.Conn, error) {
		tried++
		return nil, syscall.ECONNREFUSED
	}
	if _, err := post(t, c, "https://"+host); Public(err) != reasonRefused || tried != maxTries {
		t.Errorf("%v after %d tries", err, tried)
	}
}

func TestProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	ca := newAuthority(t)
	proxied := make(chan struct{}, 1)
	proxy := raw(t, nil, func(net.Conn) { proxied <- struct{}{} })
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+proxy)
	}
	receiver := receive(t, "", ca.issue(nil, host), answer)
	c := client(t, NewGate(nil, resolving(host, "93.184.215.14")), Options{RootCAs: ca.pool()})
	var d dials
	c.dial = d.to(receiver.Listener.Addr().String())
	if _, err := post(t, c, "https://"+host); err != nil {
		t.Error(err)
	}
	if len(proxied) > 0 {
		t.Error("a proxy was asked")
	}
}

// TestStaleConnectionIsNotAFailure closes a kept connection at the worst time:
// when the next request has arrived on it.
func TestStaleConnectionIsNotAFailure(t *testing.T) {
	ca := newAuthority(t)
	var mu sync.Mutex
	conns := 0
	port := raw(t, ca.issue(nil, host), func(conn net.Conn) {
		mu.Lock()
		conns++
		mu.Unlock()
		buf := make([]byte, 4096)
		if _, err := conn.Read(buf); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			_, _ = conn.Read(buf)
		}
	})
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool()})
	for range 3 {
		if result, err := post(t, c, "https://"+host+":"+port); err != nil || result.Status != 200 {
			t.Fatalf("%+v, %v", result, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if conns != 3 {
		t.Errorf("%d connections, want 3", conns)
	}
}

func TestFailuresAreNamedWithoutDetails(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	expired := func(certificate *x509.Certificate) { certificate.NotAfter = time.Now().Add(-time.Minute) }
	serve := func(config *tls.Config) string { return receive(t, "", config, answer).port() }
	closed := listenAt(t, "127.0.0.1:0")
	_ = closed.Close()
	say := func(text string) string { return raw(t, ca.issue(nil, host), after(text, nil)) }
	_, refusing, _ := net.SplitHostPort(closed.Addr().String())
	for _, step := range []struct{ port, want string }{
		{refusing, reasonRefused},
		{serve(stranger.issue(nil, host)), reasonUntrusted},
		{serve(ca.issue(nil, "other.example.com")), reasonOtherName},
		{serve(ca.issue(expired, host)), reasonExpired},
		{raw(t, nil, after("220 smtp ready\r\n", nil)), reasonTLS},
		{raw(t, nil, after("", nil)), reasonTLS},
		{say(""), reasonClosed},
		{say("220 smtp ready\r\n"), reasonNotHTTP},
		{say("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), reasonNotHTTP},
		{say("HTTP/1.1 200 OK\r\nTransfer-Encoding: zip\r\n\r\n"), reasonNotHTTP},
	} {
		c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool()})
		result, err := post(t, c, "https://"+host+":"+step.port)
		if Public(err) != step.want || errors.Is(err, ErrRefused) || errors.Is(err, ErrTimeout) || errors.Is(err, ErrLocal) || result.Duration <= 0 {
			t.Errorf("%+v, %v, want %q", result, err, step.want)
		}
	}
	c := client(t, NewGate(loopback, &names{}), Options{})
	if _, err := post(t, c, "https://"+host); Public(err) != reasonNoName {
		t.Errorf("%v, want %q", err, reasonNoName)
	}
}

func TestWhoIsToBlame(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ENETUNREACH: reasonUnreachable, syscall.EHOSTUNREACH: reasonUnreachable, syscall.ECONNRESET: reasonReset,
		syscall.EMFILE: reasonLocal, syscall.EADDRNOTAVAIL: reasonLocal, syscall.EINVAL: reasonFailed, syscall.ETIMEDOUT: reasonTimeout,
	} {
		c := client(t, NewGate(nil, resolving(host, "8.8.8.8")), Options{})
		c.dial = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errno)}
		}
		_, err := post(t, c, "https://"+host)
		if Public(err) != want || errors.Is(err, ErrLocal) != (want == reasonLocal) || errors.Is(err, ErrTimeout) != (want == reasonTimeout) {
			t.Errorf("%v: %v, want %q", errno, err, want)
		}
	}
	if got := Public(io.EOF); got != reasonFailed {
		t.Errorf("a stranger's error is told as %q", got)
	}
}

func TestCallersEndIsNoTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := client(t, NewGate(nil, resolving(host, "8.8.8.8")), Options{})
	c.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := c.Post(ctx, "https://"+host, nil, nil)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrTimeout) || Public(err) != reasonCancelled {
		t.Error(err)
	}
}

func TestSafeText(t *testing.T) {
	for _, step := range []struct {
		raw, want string
		limit     int
		short     bool
	}{
		{"plain", "plain", 5, false},
		{"plain", "plai", 4, true},
		{"ação", "a", 2, true},
		{"ação", "aç", 3, true},
		{"a\x00b\xff\xfec", "ab\uFFFDc", 10, false},
		{"\xffa\xffa", "\uFFFDa", 4, true},
		{"\x80\x80\x80\x80\x80\x80", "\uFFFD", 5, true},
		{"", "", 5, false},
	} {
		if got, short := safeText([]byte(step.raw), step.limit); string(got) != step.want || short != step.short {
			t.Errorf("%q at %d: %q, %v", step.raw, step.limit, got, short)
		}
	}
	if got, short := safeText(bytes.Repeat([]byte("\xffa"), 8192), 16384); len(got) > 16384 || !short {
		t.Errorf("%d bytes, %v", len(got), short)
	}
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "0": 0, "90": 90 * time.Second, "4294967295": maxRetryAfter, "99999999999999999999": 0,
		"Wed, 21 Oct 2015 07:28:00 GMT": 0, "Fri, 31 Dec 9999 23:59:59 GMT": maxRetryAfter,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	soon := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	if got := retryAfter(http.Header{"Retry-After": {soon}}); got < 50*time.Minute || got > time.Hour {
		t.Errorf("%q: %v", soon, got)
	}
}
