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

func beginSlowly(server *server, token, name string) slowRequest {
	server.t.Helper()
	conn, err := net.Dial("tcp", server.address)
	if err != nil {
		server.t.Fatal(err)
	}
	server.t.Cleanup(func() { _ = conn.Close() })
	body := fmt.Sprintf(`{"name": %q}`, name)
	half := len(body) / 2
	fmt.Fprintf(conn, "POST /api/v1/customers HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", server.address, token, len(body), body[:half])
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
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, buf.String()
}

var inFlight = regexp.MustCompile(`(?m)^carteira_http_requests_in_flight (\d+)$`)

func TestStopFinishesRequestsInFlight(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		token := in.token(in.company())
		server := in.serve()
		server.client(token).want(200, "GET", "/account", nil) // leaves an idle connection
		var slow []slowRequest
		for i := range 3 {
			slow = append(slow, beginSlowly(server, token, fmt.Sprint("Ana ", i)))
		}
		eventually(t, "three requests are in flight beside the question", func() bool {
			m := inFlight.FindStringSubmatch(server.get("/metrics").body)
			return m != nil && m[1] == "4"
		})
		server.signal(syscall.SIGTERM)
		server.await(&server.stderr, func(text string) bool { return strings.Contains(text, "finishing requests in flight") })
		eventually(t, "new connections are refused", func() bool {
			conn, err := net.Dial("tcp", server.address)
			if err == nil {
				_ = conn.Close()
			}
			return err != nil
		})
		for _, request := range slow {
			if status, body := request.finish(t); status != 200 {
				t.Errorf("%d: %s", status, body)
			}
		}
		if code := server.wait(); code != 0 {
			t.Errorf("exit code %d:\n%s", code, server.stderr.String())
		}
		if all := in.serve().client(token).customers(); len(all) != 3 {
			t.Errorf("%v are there", all)
		}
	})
}
