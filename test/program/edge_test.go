package program

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

func TestForwardedForIsBelievedFromTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ trusted, header, want string }{
		{"", "203.0.113.9", "127.0.0.1:"},
		{"10.0.0.0/8", "203.0.113.9", "127.0.0.1:"},
		{"127.0.0.0/8", "203.0.113.9", "203.0.113.9"},
		{"127.0.0.1,10.0.0.0/8", "203.0.113.9, 10.1.2.3", "203.0.113.9"},
		{"127.0.0.0/8", "198.51.100.7, 203.0.113.9", "203.0.113.9"}, // what comes before could be forged
		{"127.0.0.0/8", "nonsense", "127.0.0.1:"},
	} {
		t.Run(tt.trusted+" "+tt.header, func(t *testing.T) {
			t.Parallel()
			server := install(t, sqldb.SQLite).serve("CARTEIRA_TRUSTED_PROXIES=" + tt.trusted)
			server.get("/healthz", "X-Forwarded-For", tt.header, "X-Request-Id", "asked")
			if got := server.request("asked").Remote; !strings.HasPrefix(got, tt.want) {
				t.Errorf("remote is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMetricsAreForThoseWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	const token = "CARTEIRA_METRICS_TOKEN=hunter2"
	for name, tt := range map[string]struct {
		settings, header []string
		want             int
	}{
		"loopback":            {nil, nil, 200},
		"loopback, forwarded": {nil, []string{"X-Forwarded-For", "203.0.113.9"}, 404},
		"loopback, Forwarded": {nil, []string{"Forwarded", "for=203.0.113.9"}, 404},
		"everywhere":          {[]string{"CARTEIRA_LISTEN=0.0.0.0:0"}, nil, 404},
		"token":               {[]string{"CARTEIRA_LISTEN=0.0.0.0:0", token}, []string{"Authorization", "Bearer hunter2", "X-Forwarded-For", "203.0.113.9"}, 200},
		"wrong token":         {[]string{token}, []string{"Authorization", "Bearer hunter"}, 404},
		"no token":            {[]string{token}, nil, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t, sqldb.SQLite)
			in.secret("hunter2")
			server := in.serve(tt.settings...)
			server.address = strings.Replace(server.address, "[::]", "127.0.0.1", 1)
			page := server.get("/metrics", tt.header...)
			if page.status != tt.want || strings.Contains(page.body, "carteira_") != (tt.want == 200) {
				t.Errorf("%d: %.200s", page.status, page.body)
			}
		})
	}
}

func TestMetricsCountByRouteAndShowThePools(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		server := in.serve()
		client := server.client(in.token(in.company()))
		for id := range 3 {
			client.want(404, "GET", fmt.Sprint("/customers/", 77+id), nil)
		}
		metrics := server.get("/metrics").body
		pool := map[sqldb.Engine]string{sqldb.SQLite: "write", sqldb.Postgres: "postgres"}[in.engine]
		for _, want := range []string{
			`carteira_http_requests_total{route="GET /api/v1/customers/{id}",status="404"} 3`,
			`carteira_http_request_seconds_count{route="GET /api/v1/customers/{id}"} 3`,
			`carteira_db_connections_open{pool="` + pool + `"}`,
			"go_goroutines", "process_resident_memory_bytes",
		} {
			if !strings.Contains(metrics, "\n"+want) {
				t.Errorf("no %s in\n%s", want, metrics)
			}
		}
	})
}

func TestEveryAnswerHasSecurityHeadersAndARequestID(t *testing.T) {
	t.Parallel()
	server := install(t, sqldb.SQLite).serve()
	for path, status := range map[string]int{
		"/": 303, "/healthz": 200, "/readyz": 200, "/metrics": 200, "/docs": 200, "/docs/": 301, "/docs/scalar.js": 200,
		"/openapi.yaml": 200, "/openapi.json": 200, "/nowhere": 404, "//docs": 307, "/api/v1": 401, "/api/v1/customers": 401, "/api/v1/nowhere": 401,
	} {
		page := server.get(path)
		if page.status != status {
			t.Errorf("%s: %d, want %d", path, page.status, status)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'", "X-Request-Id": "", "Strict-Transport-Security": "",
		} {
			if path == "/nowhere" && name == "Referrer-Policy" { // a page with forms; their origin is checked
				want = "same-origin"
			}
			got := page.Header.Get(name)
			if !strings.HasPrefix(got, want) || (got == "") != (name == "Strict-Transport-Security") {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

func TestDocumentationIsServed(t *testing.T) {
	t.Parallel()
	server := install(t, sqldb.SQLite).serve()
	for path, want := range map[string][2]string{
		"/openapi.yaml":   {"application/yaml", "openapi: 3.1"},
		"/openapi.json":   {"application/json", `"openapi":"3.1`},
		"/docs":           {"text/html; charset=utf-8", "/docs/scalar.js"},
		"/docs/scalar.js": {"text/javascript; charset=utf-8", "function"},
		"/healthz":        {"text/plain; charset=utf-8", "ok"},
		"/readyz":         {"text/plain; charset=utf-8", "ready"},
	} {
		page := server.get(path)
		if body := strings.ReplaceAll(page.body, " ", ""); page.status != 200 || page.Header.Get("Content-Type") != want[0] ||
			!strings.Contains(body, strings.ReplaceAll(want[1], " ", "")) {
			t.Errorf("%s: %d %s %.200s", path, page.status, page.Header.Get("Content-Type"), page.body)
		}
	}
}

func TestRequestIsLoggedWithItsIDAndCompany(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		in.company()
		company := in.company()
		server := in.serve("CARTEIRA_LOG_LEVEL=debug") // which must not betray a secret either
		client := server.client(in.token(company))
		answer := client.want(404, "GET", "/customers/77", nil, "X-Request-Id", "n8n:run-42")
		line := server.request("n8n:run-42")
		want := logLine{
			Level: "INFO", Msg: "request", RequestID: "n8n:run-42", Method: "GET", Path: "/api/v1/customers/77",
			Remote: line.Remote, Status: 404, CompanyID: 2,
		}
		if line != want || answer.header.Get("X-Request-Id") != "n8n:run-42" || !strings.HasPrefix(line.Remote, "127.0.0.1:") {
			t.Errorf("logged %+v, want %+v", line, want)
		}
		for _, insane := range []string{"", "a b", `"`, strings.Repeat("x", 129)} {
			given := client.want(200, "GET", "/account", nil, "X-Request-Id", insane).header.Get("X-Request-Id")
			if given == insane || server.request(given).Status != 200 {
				t.Errorf("%q became %q", insane, given)
			}
		}
		wrong := server.client("cart_" + strings.Repeat("a", 40))
		in.secret(wrong.token)
		wrong.want(401, "GET", "/account", nil, "X-Request-Id", "stranger")
		if line := server.request("stranger"); line.Status != 401 || line.CompanyID != 0 {
			t.Errorf("logged %+v", line)
		}
	})
}

// The contract spells the names; Go's own client would not show how they were sent.
func TestRateLimitHeadersAreSpelledAsTheContractHasThem(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	token := in.token(in.company())
	server := in.serve("CARTEIRA_RATE_LIMIT=60")
	conn, err := net.Dial("tcp", server.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "GET /api/v1/account HTTP/1.1\r\nHost: %s\r\nAuthorization: bearer %s\r\n\r\n", server.address, token)
	var raw strings.Builder
	for lines := bufio.NewScanner(conn); lines.Scan() && lines.Text() != ""; {
		raw.WriteString(lines.Text() + "\n")
	}
	for _, want := range []string{"HTTP/1.1 200 OK", "X-RateLimit-Limit: 60", "X-RateLimit-Remaining: 59", "X-Request-Id: "} {
		if !strings.Contains(raw.String(), want) {
			t.Errorf("no %q in\n%s", want, raw.String())
		}
	}
}
