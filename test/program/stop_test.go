package program

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// slowRequest is a creation of which half the body has been sent.
type slowRequest struct {
	net.Conn
	rest string
}

func beginSlowly(s *server, token, name string) slowRequest {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	body := fmt.Sprintf(`{"name": %q}`, name)
	half := len(body) / 2
	fmt.Fprintf(conn, "POST /api/v1/customers HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.address, token, len(body), body[:half])
	return slowRequest{conn, body[half:]}
}

func (r slowRequest) finish(t *testing.T) (status int, body string) {
	t.Helper()
	if _, err := io.WriteString(r, r.rest); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b.String()
}

var inFlight = regexp.MustCompile(`(?m)^carteira_http_requests_in_flight (\d+)$`)

func TestStopFinishesRequestsInFlight(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		token := in.token(in.company())
		s := in.serve()
		s.client(token).want(200, "GET", "/account", nil) // leaves an idle connection
		var slow []slowRequest
		for i := range 3 {
			slow = append(slow, beginSlowly(s, token, fmt.Sprint("Ana ", i)))
		}
		eventually(t, "three requests are in flight beside the question", func() bool {
			m := inFlight.FindStringSubmatch(s.get("/metrics").body)
			return m != nil && m[1] == "4"
		})
		s.signal(syscall.SIGTERM)
		s.await(&s.stderr, func(text string) bool { return strings.Contains(text, "finishing requests in flight") })
		eventually(t, "new connections are refused", func() bool {
			conn, err := net.Dial("tcp", s.address)
			if err == nil {
				_ = conn.Close()
			}
			return err != nil
		})
		for _, r := range slow {
			if status, body := r.finish(t); status != 200 {
				t.Errorf("%d: %s", status, body)
			}
		}
		if code := s.wait(); code != 0 {
			t.Errorf("exit code %d:\n%s", code, s.stderr.String())
		}
		if all := in.serve().client(token).customers(); len(all) != 3 {
			t.Errorf("%v are there", all)
		}
	})
}
