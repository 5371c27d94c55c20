package outbound

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// A neighbour is reached by its short name and without TLS, but only where the
// operator said that neighbours live.
func TestNeighboursLiveInAllowedNetworks(t *testing.T) {
	home := prefixes("10.0.0.0/8")
	for _, tt := range []struct {
		url   string
		addrs []string
		want  string // "" when it passes
	}{
		{"http://evolution:8080", []string{"10.1.2.3"}, ""},
		{"https://evolution", []string{"10.1.2.3"}, ""},
		{"http://bridge.internal", []string{"10.1.2.3"}, ""},
		{"http://10.1.2.3:8080", nil, ""},
		{"https://evolution", []string{"10.1.2.3", "8.8.8.8"}, reasonInternal},
		{"http://evolution", []string{"8.8.8.8"}, reasonScheme},
		{"http://hooks.example.com", []string{"8.8.8.8"}, reasonScheme},
		{"http://hooks.example.com", []string{"127.0.0.1"}, reasonScheme},
		{"https://hooks.example.com", []string{"127.0.0.1"}, reasonInternal},
		{"https://localhost", []string{"127.0.0.1"}, reasonInternal},
		{"ftp://evolution", []string{"10.1.2.3"}, reasonScheme},
		{"http://0x7f.1", nil, reasonHost},
		{"http://evolution:8080", nil, reasonScheme}, // does not resolve: no network allows it
		{"https://evolution", nil, reasonInternal},
	} {
		n := &names{}
		for _, name := range []string{"evolution", "bridge.internal", "hooks.example.com", "localhost"} {
			n.set(name, tt.addrs...)
		}
		err := NewGate(home, n).Neighbours().CheckURL(t.Context(), tt.url)
		if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, ErrRefused) || Public(err) != tt.want) {
			t.Errorf("%s at %v: %v, want %q", tt.url, tt.addrs, err, tt.want)
		}
		if err := NewGate(home, n).CheckURL(t.Context(), tt.url); err == nil && tt.url[:5] == "http:" {
			t.Errorf("%s passes the gate of strangers", tt.url)
		}
	}
	if err := NewGate(home, &names{}).CheckHost(t.Context(), "relay"); !errors.Is(err, ErrRefused) {
		t.Errorf("a short name passes the gate of strangers: %v", err)
	}
}

func TestPlainCallReachesANeighbour(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Host+" "+string(body))
	}))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	c := client(t, NewGate(loopback, resolving("evolution", "127.0.0.1")).Neighbours(), Options{Once: true})
	result, err := c.Post(t.Context(), "http://evolution:"+port, nil, []byte("x"))
	if err != nil || string(result.Body) != "evolution:"+port+" x" {
		t.Errorf("%s, %v", result.Body, err)
	}
}

// A call is never repeated for a receiver that would act on it twice.
func TestOnceIsOnce(t *testing.T) {
	ca := newAuthority(t)
	var mu sync.Mutex
	calls := 0
	port := raw(t, ca.issue(nil, host), func(conn net.Conn) { // it answers, then takes one more call and hangs up on it
		buf := make([]byte, 4096)
		for n := 0; ; n++ {
			if _, err := conn.Read(buf); err != nil || n == 1 {
				return
			}
			mu.Lock()
			calls++
			mu.Unlock()
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool(), Once: true})
	for range 3 {
		if _, err := post(t, c, "https://"+host+":"+port); err != nil {
			t.Error(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if calls != 3 {
		t.Errorf("%d calls, want each on a connection of its own", calls)
	}
}

func TestUnsentIsSaidOnlyWhenItIsCertain(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	closed := listenAt(t, "127.0.0.1:0")
	_ = closed.Close()
	_, refusing, _ := net.SplitHostPort(closed.Addr().String())
	hang := raw(t, nil, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }) // no handshake ever ends
	for name, tt := range map[string]struct {
		url  string
		want bool
	}{
		"nobody listens":    {"https://" + host + ":" + refusing, true},
		"no such name":      {"https://other.example.com", true},
		"refused":           {"https://10.0.0.1", true},
		"a stranger":        {"https://" + host + ":" + raw(t, stranger.issue(nil, host), after("", nil)), true},
		"a stalled TLS":     {"https://" + host + ":" + hang, true},
		"hangs up after it": {"https://" + host + ":" + raw(t, ca.issue(nil, host), after("", nil)), false},
		"stalls after it":   {"https://" + host + ":" + raw(t, ca.issue(nil, host), func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }), false},
		"nonsense after it": {"https://" + host + ":" + raw(t, ca.issue(nil, host), after("what?\r\n", nil)), false},
	} {
		timeout := 400 * time.Millisecond
		if !tt.want { // on a busy machine too, the request is sent before it passes
			timeout = 3 * time.Second
		}
		c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool(), Once: true, Timeout: timeout})
		_, err := c.Post(t.Context(), tt.url, nil, []byte("x"))
		if err == nil || Unsent(err) != tt.want {
			t.Errorf("%s: %v, unsent %v", name, err, Unsent(err))
		}
	}
}

func TestConnectKeepsToTheGate(t *testing.T) {
	listener := listenAt(t, "127.0.0.1:0")
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}()
		}
	}()
	_, text, _ := net.SplitHostPort(listener.Addr().String())
	port, _ := strconv.Atoi(text)
	gate := NewGate(loopback, resolving("relay", "127.0.0.1")).Neighbours()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn, err := gate.Connect(ctx, "relay", port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.Name != "relay" || !conn.Inside {
		t.Errorf("%+v", conn)
	}
	cancel() // ends what waits on the connection
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("it still reads")
	}
	if _, err := NewGate(nil, resolving("mx.example.com", "127.0.0.1")).Neighbours().Connect(t.Context(), "mx.example.com", port); !errors.Is(err, ErrRefused) {
		t.Errorf("an internal address was dialled: %v", err)
	}
	_ = listener.Close()
	if _, err := gate.Connect(t.Context(), "127.0.0.1", port); err == nil || Public(err) != reasonRefused || !Unsent(err) {
		t.Errorf("got %v", err)
	}
}

// A webhook may lead to a neighbour with known and allowed addresses; without
// allowed networks nothing changes.
func TestNeighboursOfWebhooksMustBeKnown(t *testing.T) {
	n := &names{}
	n.set("localhost", "::1", "8.8.8.8") // not called
	gate := NewGate(prefixes("127.0.0.0/8"), n).Neighbours()
	for url, want := range map[string]string{
		"http://localhost:5678/webhook/x": "", "https://localhost/x": "", "http://127.0.0.1:5678/x": "",
		"http://n8n:5678/x":         reasonScheme, // does not resolve
		"https://n8n/x":             reasonInternal,
		"http://hooks.example.com":  reasonScheme,
		"https://hooks.example.com": "", // public-looking: every delivery checks again
	} {
		if err := gate.CheckURL(t.Context(), url); want == "" && err != nil || want != "" && (!errors.Is(err, ErrRefused) || Public(err) != want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
		if err := NewGate(nil, n).Neighbours().CheckURL(t.Context(), url); err == nil && url != "https://hooks.example.com" {
			t.Errorf("%s passes where no network is allowed", url)
		}
	}
}
