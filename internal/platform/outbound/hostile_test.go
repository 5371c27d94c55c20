package outbound

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// brief is the time limit of calls that are expected to use it up.
const brief = time.Second

// drip writes text over and over until the client leaves.
func drip(conn net.Conn, text string, pause time.Duration) {
	for {
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

var block = bytes.Repeat([]byte("x"), 64<<10)

// flood writes n bytes unless the client leaves.
func flood(conn net.Conn, n int) {
	for sent := 0; sent < n; sent += len(block) {
		if _, err := conn.Write(block); err != nil {
			return
		}
	}
}

// hold keeps the connection until the client leaves.
func hold(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// after reads the request, then says text and does what follows.
func after(text string, then func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, text)
		if then != nil {
			then(conn)
		}
	}
}

func reset(conn net.Conn) {
	if c, ok := conn.(interface{ NetConn() net.Conn }); ok {
		_ = c.NetConn().(*net.TCPConn).SetLinger(0)
		_ = c.NetConn().Close()
	}
}

const (
	ok     = "HTTP/1.1 200 OK\r\n"
	ended  = ok + "Content-Length: 0\r\n\r\n"
	opened = ok + "Content-Length: 1073741824\r\n\r\n"
)

var bomb = func() string {
	var buf bytes.Buffer
	writer := gzip.NewWriter(&buf)
	_, _ = writer.Write(make([]byte, 8<<20))
	_ = writer.Close()
	return buf.String()
}()

func TestHostileReceivers(t *testing.T) {
	ca := newAuthority(t)
	for _, r := range []struct {
		name      string
		serve     func(net.Conn)
		status    int // 0 when there is no answer
		reason    string
		truncated bool
		kept      bool // whether the connection is
		bare      bool // without TLS
		slow      bool // uses up the time of the call
	}{
		{name: "accepts and never answers", serve: hold, reason: reasonTimeout, slow: true},
		{name: "never finishes the handshake", serve: hold, bare: true, reason: reasonTimeout, slow: true},
		{name: "drips the handshake", serve: after("\x16\x03\x03\x40\x00", func(conn net.Conn) { drip(conn, "\x02", 5*time.Millisecond) }), bare: true, reason: reasonTimeout, slow: true},
		{name: "floods the handshake", serve: func(conn net.Conn) { flood(conn, 1<<30) }, bare: true, reason: reasonTLS},
		{name: "drips headers", serve: after(ok, func(conn net.Conn) { drip(conn, "X-A: b\r\n", 5*time.Millisecond) }), reason: reasonTimeout, slow: true},
		{name: "drips one header", serve: after(ok+"X-A: ", func(conn net.Conn) { drip(conn, "b", 5*time.Millisecond) }), reason: reasonTimeout, slow: true},
		{name: "drips early hints", serve: after("", func(conn net.Conn) { drip(conn, "HTTP/1.1 103 Early Hints\r\n\r\n", 5*time.Millisecond) }), reason: reasonTimeout, slow: true},
		{name: "floods early hints", serve: after("", func(conn net.Conn) { drip(conn, strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 500), 0) }), reason: reasonBigHeaders},
		{name: "has huge headers", serve: after(ok, func(conn net.Conn) { flood(conn, 1<<30) }), reason: reasonBigHeaders},
		{name: "has many headers", serve: after(ok+strings.Repeat("X-A: b\r\n", 4000)+"\r\n", nil), reason: reasonBigHeaders},
		{name: "drips the body", serve: after(opened, func(conn net.Conn) { drip(conn, "x", 5*time.Millisecond) }), status: 200, truncated: true, slow: true},
		{name: "has a body without end", serve: after(ok+"\r\n", func(conn net.Conn) { flood(conn, 1<<30) }), status: 200, truncated: true},
		{name: "has chunks without end", serve: after(ok+"Transfer-Encoding: chunked\r\n\r\n", func(conn net.Conn) { drip(conn, "1\r\nx\r\n", 0) }), status: 200, truncated: true},
		{name: "has trailers without end", serve: after(ok+"Transfer-Encoding: chunked\r\n\r\n0\r\n", func(conn net.Conn) { drip(conn, "X-A: b\r\n", 0) }), status: 200, truncated: true},
		{name: "resets after 200", serve: after(opened, reset), status: 200, truncated: true},
		{name: "hangs up in the body", serve: after(opened+"some", nil), status: 200, truncated: true},
		{name: "resets before an answer", serve: after("", reset), reason: reasonReset},
		{name: "closes slowly", serve: after(ok+"Connection: close\r\n\r\nbye", hold), status: 200, truncated: true, slow: true},
		{name: "sends gzip unasked", serve: after(ok+"Content-Encoding: gzip\r\nConnection: close\r\n\r\n"+bomb, nil), status: 200},
		{name: "redirects inside", serve: after("HTTP/1.1 302 Found\r\nLocation: https://169.254.169.254/latest/meta-data/\r\nContent-Length: 0\r\n\r\n", hold), status: 302, kept: true},
		{name: "redirects and keeps the method", serve: after("HTTP/1.1 307 Away\r\nLocation: https://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", hold), status: 307, kept: true},
		{name: "talks on after 204", serve: after("HTTP/1.1 204 No Content\r\n\r\njunk HTTP/1.1 500 Oops\r\n\r\n", hold), status: 204},
		{name: "talks on after the end", serve: after(ended+strings.Repeat("junk", 1000), hold), status: 200},
		{name: "switches protocols", serve: after("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", func(conn net.Conn) { drip(conn, "x", 0) }), status: 101},
		{name: "fails slowly", serve: after("HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nno", hold), status: 500, truncated: true, slow: true},
		{name: "is orderly", serve: after(ok+"Content-Length: 2\r\n\r\nhi", hold), status: 200, kept: true},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			config := ca.issue(nil, host)
			if r.bare {
				config = nil
			}
			gone := make(chan struct{})
			port := raw(t, config, func(conn net.Conn) {
				defer close(gone)
				r.serve(conn)
			})
			options := Options{RootCAs: ca.pool()}
			if r.slow {
				options.Timeout = brief
			}
			c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), options)
			result, err := post(t, c, "https://"+host+":"+port)
			switch {
			case result.Status != r.status || result.Truncated != r.truncated || len(result.Body) > defaultMaxBody:
				t.Errorf("%d, truncated %v, %d bytes, %v", result.Status, result.Truncated, len(result.Body), err)
			case (err == nil) != (r.status > 0) || err != nil && Public(err) != r.reason:
				t.Errorf("%v, want %q", err, r.reason)
			case errors.Is(err, ErrTimeout) != (r.reason == reasonTimeout):
				t.Errorf("timeout: %v", err)
			}
			if r.kept {
				return
			}
			// The connection goes with the call: the receiver sees its end.
			select {
			case <-gone:
			case <-time.After(patience):
				t.Error("the connection was left open")
			}
		})
	}
}

// The status is the answer: a body that does not end is not waited for.
func TestBodyThatDawdlesIsCutOff(t *testing.T) {
	ca := newAuthority(t)
	port := raw(t, ca.issue(nil, host), func(conn net.Conn) {
		after("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nsome", hold)(conn)
	})
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool(), Timeout: time.Hour, BodyTime: brief})
	result, err := post(t, c, "https://"+host+":"+port)
	if err != nil || result.Status != 200 || !result.Truncated || string(result.Body) != "some" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestLongHandshakeIsCutShort(t *testing.T) {
	ca := newAuthority(t)
	config := ca.issue(nil, host)
	chain := config.Certificates[0].Certificate
	config.Certificates[0].Certificate = slices.Repeat(chain, 2*maxHandshake/len(chain[0]))
	receiver := receive(t, "", config, answer)
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool()})
	if _, err := post(t, c, "https://"+host+":"+receiver.port()); !errors.Is(err, errHandshakeTooLong) || Public(err) != reasonTLS {
		t.Error(err)
	}
}

// TestLargeAnswersCostLittle compares what is allocated for calls, receiver
// and handshakes included, with what an ordinary answer takes.
func TestLargeAnswersCostLittle(t *testing.T) {
	ca := newAuthority(t)
	cost := func(serve func(net.Conn)) int {
		port := raw(t, ca.issue(nil, host), serve)
		c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{RootCAs: ca.pool()})
		call := func() { _, _ = post(t, c, "https://"+host+":"+port) }
		call() // what is made once
		var before, then runtime.MemStats
		runtime.ReadMemStats(&before)
		const calls = 10
		for range calls {
			call()
		}
		runtime.ReadMemStats(&then)
		return int(then.TotalAlloc-before.TotalAlloc) / calls
	}
	ordinary := cost(after(ok+"Connection: close\r\n\r\nhi", nil))
	pour := func(conn net.Conn) { flood(conn, 1<<30) }
	for name, serve := range map[string]func(net.Conn){
		"body":    after(opened, pour),
		"headers": after(ok, pour),
		"gzip":    after(ok+"Content-Encoding: gzip\r\nConnection: close\r\n\r\n"+bomb, nil),
	} {
		each := cost(serve)
		t.Logf("%s: %d KiB a call; an ordinary one takes %d KiB", name, each>>10, ordinary>>10)
		if each > ordinary+512<<10 {
			t.Errorf("%s takes too much", name)
		}
	}
}

// TestEndedCallsLeaveNothingBehind counts goroutines after stalled calls.
func TestEndedCallsLeaveNothingBehind(t *testing.T) {
	port := raw(t, nil, hold)
	c := client(t, NewGate(loopback, resolving(host, "127.0.0.1")), Options{Timeout: 50 * time.Millisecond})
	before := runtime.NumGoroutine()
	for range 20 {
		if _, err := post(t, c, "https://"+host+":"+port); !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before+2 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
