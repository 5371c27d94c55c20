package outbound

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestHeaderThatWouldEndItsLineIsRefused(t *testing.T) {
	c := client(t, NewGate(nil, resolving(host, "8.8.8.8")), Options{})
	c.dial = nil // a dial would panic
	for _, header := range []http.Header{
		{"Apikey": {"a\r\nHost: other"}}, {"Apikey": {"a\nb"}}, {"Apikey": {"a\x00"}}, {"Api key": {"a"}}, {"Api:key": {"a"}}, {"": {"a"}},
	} {
		if _, err := c.Post(t.Context(), "https://"+host, header, nil); err == nil || !Unsent(err) {
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
	for _, size := range []int{0, 16 << 10, 3 << 20, 100} {
		result, err := c.Post(t.Context(), "https://"+host+":"+receiver.port(), nil, bytes.Repeat([]byte("a"), size))
		if err != nil || string(result.Body) != fmt.Sprint(size, size) {
			t.Errorf("%d: %s, %v", size, result.Body, err)
		}
	}
}
