package outbound

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestRequestIsWrittenAsNetHTTPDoes compares the bytes: receivers and what is
// in front of them are used to that form.
func TestRequestIsWrittenAsNetHTTPDoes(t *testing.T) {
	header := http.Header{
		"Content-Type": {"application/json"}, "Webhook-Signature": {"v1,abc="}, "X-Service-Event": {" padded\t"},
		"X-Two": {"1", "2"}, "X-None": nil, "X-Texto": {"ação"},
	}
	for _, given := range []call{
		{http.MethodPost, "https://" + host + "/a%20b/?c=d&e=%2F", header, []byte(`{"a":1}`)},
		{http.MethodPost, "https://" + host + ":8443", header, nil},
		{http.MethodGet, "https://[2001:4860:4860::8888]?x", nil, nil},
	} {
		target, err := parseTarget(given.url, false)
		if err != nil {
			t.Fatal(err)
		}
		var got, want bytes.Buffer
		c := client(t, NewGate(nil, nil), Options{UserAgent: "Carteira/1"})
		if err := c.write(&got, target, given); err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), given.method, given.url, bytes.NewReader(given.body))
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(request.Header, given.header)
		request.Header["User-Agent"], request.Header["Accept-Encoding"] = []string{"Carteira/1"}, identity
		if err := request.Write(&want); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%s:\n%q, want\n%q", given.url, got.String(), want.String())
		}
	}
}

func TestHeaderThatWouldEndItsLineIsRefused(t *testing.T) {
	c := client(t, NewGate(nil, resolving(host, "8.8.8.8")), Options{})
	c.dial = nil // nobody is called
	for _, header := range []http.Header{
		{"Apikey": {"a\r\nHost: other"}}, {"Apikey": {"a\nb"}}, {"Apikey": {"a\x00"}}, {"Api key": {"a"}}, {"Api:key": {"a"}}, {"": {"a"}},
	} {
		if _, err := c.Post(t.Context(), "https://"+host, header, nil); !errors.Is(err, errHeader) || !Unsent(err) {
			t.Errorf("%q: %v", header, err)
		}
	}
}

// TestAnswerToNothingIsNotTaken lets a receiver say something on a kept
// connection before it is asked, as some do before they hang up.
func TestAnswerToNothingIsNotTaken(t *testing.T) {
	ca := newAuthority(t)
	const accepted = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	for name, answer := range map[string][]string{
		"at once": {accepted + "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"},
		"later":   {accepted, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"},
	} {
		said := make(chan struct{}, 8)
		port := raw(t, ca.issue(nil, host), func(conn net.Conn) {
			buf := make([]byte, 4096)
			if _, err := conn.Read(buf); err != nil {
				return
			}
			for _, text := range answer {
				_, _ = io.WriteString(conn, text)
				time.Sleep(20 * time.Millisecond)
			}
			said <- struct{}{}
			_, _ = io.Copy(io.Discard, conn)
		})
		c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool()})
		for range 3 {
			if result, err := post(t, c, "https://"+host+":"+port); err != nil || result.Status != 200 {
				t.Errorf("%s: %+v, %v", name, result, err)
			}
			<-said
		}
	}
}

// TestAnswerThatComesEarlyCounts has a receiver answer before it has read a
// large body, and read no further.
func TestAnswerThatComesEarlyCounts(t *testing.T) {
	ca := newAuthority(t)
	port := raw(t, ca.issue(nil, host), func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
		}
		hold(conn)
	})
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool(), Timeout: patience})
	result, err := c.Post(t.Context(), "https://"+host+":"+port, nil, make([]byte, 32<<20))
	if err != nil || result.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestLargeBodyArrives(t *testing.T) {
	ca := newAuthority(t)
	receiver := receive(t, "", ca.issue(nil, host), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprint(w, len(body), strings.Count(string(body), "a"))
	})
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool()})
	for _, size := range []int{0, maxAtOnce, 3 << 20, 100} {
		result, err := c.Post(t.Context(), "https://"+host+":"+receiver.port(), nil, bytes.Repeat([]byte("a"), size))
		if err != nil || string(result.Body) != fmt.Sprint(size, size) {
			t.Errorf("%d: %s, %v", size, result.Body, err)
		}
	}
}

// TestKeptConnectionsAreFew keeps as many as one receiver and all together may
// have, and none that has waited too long.
func TestKeptConnectionsAreFew(t *testing.T) {
	var closed atomic.Int32
	k := kept{routes: map[route][]*line{}, sweeping: true}
	put := func(port int) *line {
		conn := &countedConn{closed: &closed}
		line := newLine(nil, route{port: uint16(port)}, conn, conn)
		k.put(line)
		return line
	}
	for range maxIdlePerHost + 2 {
		put(1)
	}
	if k.count != maxIdlePerHost || closed.Load() != 2 {
		t.Errorf("%d of one route, %d closed", k.count, closed.Load())
	}
	for port := range maxIdle {
		put(port + 2)
	}
	if k.count != maxIdle || closed.Load() != 2+maxIdlePerHost || k.take(route{port: 1}) != nil {
		t.Errorf("%d of all, %d closed", k.count, closed.Load())
	}
	old := put(5)
	old.since = time.Now().Add(-2 * idleTime)
	if got := k.take(route{port: 5}); got == old || got == nil {
		t.Errorf("took %v", got)
	}
	k.clear()
	if k.count != 0 || len(k.routes) != 0 {
		t.Errorf("%d are left", k.count)
	}
}

type countedConn struct {
	net.Conn
	closed *atomic.Int32
}

func (c *countedConn) Close() error {
	c.closed.Add(1)
	return nil
}
