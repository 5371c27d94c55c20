package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/fault"
)

// observed is a handler under Observe, with what it logged and counted.
type observed struct {
	http.Handler
	log bytes.Buffer
	reg *prometheus.Registry
}

func observe(handler http.HandlerFunc) *observed {
	o := &observed{reg: prometheus.NewRegistry()}
	o.Handler = Observe(handler, slog.New(slog.NewJSONHandler(&o.log, nil)), NewMetrics(o.reg))
	return o
}

func (o *observed) get(path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	o.ServeHTTP(w, r)
	return w
}

// line is the one line that was logged.
func (o *observed) line(t *testing.T) (line map[string]any) {
	t.Helper()
	if err := json.Unmarshal(o.log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, o.log.String())
	}
	return line
}

// counted maps the series of a metric to its value, or to how many it measured.
func (o *observed) counted(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := o.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, pair := range metric.GetLabel() {
				labels = append(labels, pair.GetValue())
			}
			series[strings.Join(labels, " ")] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return series
}

func TestRequestIDIsTheCallersWhenItIsSane(t *testing.T) {
	observed := observe(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, ExchangeOf(r.Context()).RequestID)
	})
	for _, sane := range []string{"a", "7f9c-12_A.b:c", strings.Repeat("x", 128)} {
		w := observed.get("/", "X-Request-Id", sane)
		if w.Header().Get("X-Request-Id") != sane || w.Body.String() != sane {
			t.Errorf("%q became %q", sane, w.Header().Get("X-Request-Id"))
		}
	}
	made := regexp.MustCompile(`^[0-9A-Za-z]{20}$`)
	met := map[string]bool{}
	for _, insane := range []string{"", strings.Repeat("x", 129), "a b", "a\nb", `a"b`, "é", "a;b", "\x00"} {
		id := observed.get("/", "X-Request-Id", insane).Header().Get("X-Request-Id")
		if !made.MatchString(id) || met[id] {
			t.Errorf("%q became %q", insane, id)
		}
		met[id] = true
	}
}

func TestPanicIsAnsweredWithoutDetailAndLoggedWithIt(t *testing.T) {
	observed := observe(func(http.ResponseWriter, *http.Request) { panic("password=hunter2") })
	w := observed.get("/")
	if want := `{"success":false,"message":"internal error"}`; w.Code != 500 || w.Body.String() != want {
		t.Errorf("%d %s, want 500 %s", w.Code, w.Body, want)
	}
	if header := w.Header(); header.Get("Content-Type") != "application/json; charset=utf-8" || header.Get("X-Request-Id") == "" {
		t.Errorf("headers %v", header)
	}
	line := observed.line(t)
	logged := fmt.Sprint(line["error"])
	if line["level"] != "ERROR" || !strings.Contains(logged, "hunter2") || !strings.Contains(logged, "exchange_test.go") {
		t.Errorf("logged %v, want the panic and where it was", line)
	}
	if got := observed.counted(t, "carteira_http_requests_total"); !maps.Equal(got, map[string]float64{"other 500": 1}) {
		t.Errorf("counted %v", got)
	}
}

func TestPanicInTheMiddleOfAnAnswerCutsItOff(t *testing.T) {
	observed := observe(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half of it")
		_ = http.NewResponseController(w).Flush()
		panic("no more")
	})
	server := httptest.NewServer(observed)
	answer, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("%q passes for a whole answer", body)
	}
	_ = answer.Body.Close()
	server.Close() // waits for the handler
	if line := observed.line(t); line["level"] != "ERROR" || !strings.Contains(fmt.Sprint(line["error"]), "no more") {
		t.Errorf("logged %v, want the panic", line)
	}
}

func TestLogLineTellsWhoAskedWhat(t *testing.T) {
	observed := observe(func(w http.ResponseWriter, r *http.Request) {
		ExchangeOf(r.Context()).CompanyID = 42
		_, _ = io.WriteString(w, "hello")
	})
	observed.get("/api/v1/customers?search=secret", "X-Request-Id", "abc")
	line := observed.line(t)
	for key, want := range map[string]any{
		"level": "INFO", "request_id": "abc", "method": "GET", "path": "/api/v1/customers", "status": 200.0, "bytes": 5.0, "company_id": 42.0,
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	if strings.Contains(observed.log.String(), "secret") {
		t.Errorf("the query is in the log: %s", observed.log.String())
	}
}

func TestOnlyOurFailuresAreLoggedAsErrors(t *testing.T) {
	tests := []struct {
		err   error
		level string
		shown bool
	}{
		{fault.NotFound("customer"), "INFO", false},
		{fault.Field("name", "is required"), "INFO", false},
		{fault.Internal(errors.New("a bug")), "ERROR", true},
		{fault.Unavailable("later", errors.New("the disk is full")), "ERROR", true},
		{fmt.Errorf("list: %w", context.Canceled), "INFO", true}, // the caller left
	}
	for _, tt := range tests {
		observed := observe(func(w http.ResponseWriter, r *http.Request) {
			ExchangeOf(r.Context()).Err = tt.err
			WriteFault(w, tt.err)
		})
		observed.get("/")
		line := observed.line(t)
		if _, shown := line["error"]; line["level"] != tt.level || shown != tt.shown {
			t.Errorf("%v: logged as %v with error %v", tt.err, line["level"], line["error"])
		}
		if _, company := line["company_id"]; company {
			t.Errorf("%v: logged for company %v", tt.err, line["company_id"])
		}
	}
}

func TestRequestsAreCountedByRouteAndStatus(t *testing.T) {
	const inFlight = "carteira_http_requests_in_flight"
	var o *observed
	o = observe(func(w http.ResponseWriter, r *http.Request) {
		if got := o.counted(t, inFlight)[""]; got != 1 {
			t.Errorf("%v requests in flight, want 1", got)
		}
		if strings.HasPrefix(r.URL.Path, "/customers/") {
			ExchangeOf(r.Context()).Route = "GET /customers/{id}"
		}
		if r.URL.Path == "/customers/3" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	for _, path := range []string{"/customers/1", "/customers/2", "/customers/3", "/nowhere"} {
		o.get(path)
	}
	want := map[string]float64{"GET /customers/{id} 200": 2, "GET /customers/{id} 404": 1, "other 200": 1}
	if got := o.counted(t, "carteira_http_requests_total"); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	want = map[string]float64{"GET /customers/{id}": 3, "other": 1}
	if got := o.counted(t, "carteira_http_request_seconds"); !maps.Equal(got, want) {
		t.Errorf("measured %v, want %v", got, want)
	}
	if got := o.counted(t, inFlight)[""]; got != 0 {
		t.Errorf("%v requests in flight, want none", got)
	}
}

func TestExchangeOutsideARequestIsThrownAway(t *testing.T) {
	ExchangeOf(t.Context()).CompanyID = 42
	if got := ExchangeOf(t.Context()).CompanyID; got != 0 {
		t.Errorf("company %d", got)
	}
}

func TestWriteSendsAFinishedBody(t *testing.T) {
	w := httptest.NewRecorder()
	Write(w, http.StatusNotFound, []byte(`{}`))
	header := w.Header()
	if w.Code != 404 || w.Body.String() != `{}` || header.Get("Content-Length") != "2" || header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%d %s %v", w.Code, w.Body, header)
	}
}
