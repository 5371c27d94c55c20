// Package web is the edge kit: what every inward HTTP request passes through,
// and how answers are written. It owns request ids, the access log, metrics,
// the envelope of the API and the one table that turns faults into statuses. It
// holds no rule of the business and no page: those stand in web/api, web/docs
// and their neighbours.
package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Data appends the JSON of an answer's data to a buffer. Rows are written
// straight into the answer, with nothing allocated in between.
type Data func(b []byte) []byte

// Answer is a successful outcome.
type Answer struct {
	Data    Data
	Meta    *Meta
	Message string
	Header  http.Header // further headers of the answer; may be nil
	Tagged  bool        // carries an ETag, and is 304 for a client that has it
}

// SizeHint is about how many bytes the answer takes, so that a list is written
// into one piece of memory.
func (a Answer) SizeHint() int {
	const record = 640
	if a.Meta == nil {
		return 2 * record
	}
	return int(min(a.Meta.PerPage, a.Meta.Total)+1) * record
}

// Meta is the paging of a list.
type Meta struct {
	Total, PerPage, CurrentPage, LastPage, CompanyID int64

	Feed *FeedMeta // of a list without pages; nil: it has pages
}

// FeedMeta is where the reader of a feed continues.
type FeedMeta struct {
	LastID string // "": there is nothing to continue from
	More   bool
}

// statuses is the one table from kinds of faults to statuses.
var statuses = map[fault.Kind]int{
	fault.KindInvalid:          http.StatusUnprocessableEntity,
	fault.KindNotFound:         http.StatusNotFound,
	fault.KindUnauthenticated:  http.StatusUnauthorized,
	fault.KindForbidden:        http.StatusForbidden,
	fault.KindConflict:         http.StatusConflict,
	fault.KindGone:             http.StatusGone,
	fault.KindTooLarge:         http.StatusRequestEntityTooLarge,
	fault.KindUnsupportedMedia: http.StatusUnsupportedMediaType,
	fault.KindMethodNotAllowed: http.StatusMethodNotAllowed,
	fault.KindRateLimited:      http.StatusTooManyRequests,
	fault.KindUpstream:         http.StatusBadGateway,
	fault.KindUnavailable:      http.StatusServiceUnavailable,
	fault.KindInternal:         http.StatusInternalServerError,
}

// Status is the HTTP status of an outcome.
func Status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return statuses[fault.KindOf(err)]
}

// Explain gives the errors of the platform a public face: an unavailable or
// overloaded database is not a bug, and the caller may try again. If an
// operator has to act, the answer does not promise a quick return.
func Explain(err error) error {
	if fault.KindOf(err) != fault.KindInternal {
		return err
	}
	passing := errors.Is(err, sqldb.ErrUnavailable) ||
		errors.Is(err, sqldb.ErrBusy) ||
		errors.Is(err, context.DeadlineExceeded)
	switch {
	case sqldb.TroubleOf(err).NeedsOperator():
		return fault.Later(fault.Unavailable("out of service until the operator has seen to the database", err),
			time.Minute)
	case passing:
		return fault.Later(fault.Unavailable("temporarily unavailable; try again in a moment", err), time.Second)
	}
	return err
}

// RetryAfter sets the header that says when trying again may help.
func RetryAfter(header http.Header, err error) {
	if wait := fault.RetryAfterOf(err); wait > 0 {
		header.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
}

// AppendAnswer writes the envelope of a success.
func AppendAnswer(b []byte, answer Answer) []byte {
	return AppendObject(b, func(object *Object) {
		object.Bool("success", true)
		if answer.Message != "" {
			object.String("message", answer.Message)
		}
		object.Data("data", answer.Data)
		if answer.Meta != nil {
			object.Object("meta", answer.Meta.write)
		}
	})
}

func (m *Meta) write(object *Object) {
	if m.Feed != nil {
		object.Int("per_page", m.PerPage)
		object.Int("company_id", m.CompanyID)
		object.Text("last_id", m.Feed.LastID)
		object.Bool("has_more", m.Feed.More)
		return
	}
	object.Int("total", m.Total)
	object.Int("per_page", m.PerPage)
	object.Int("current_page", m.CurrentPage)
	object.Int("last_page", m.LastPage)
	object.Int("company_id", m.CompanyID)
}

// AppendFault writes the envelope of a failure.
func AppendFault(b []byte, err error) []byte {
	return AppendObject(b, func(object *Object) {
		object.Bool("success", false)
		object.String("message", fault.Public(err))
		if fields := fault.FieldsOf(err); !fields.Empty() {
			object.Data("errors", func(b []byte) []byte {
				encoded, _ := fields.MarshalJSON() // strings always encode
				return append(b, encoded...)
			})
		}
	})
}

// Metrics counts requests by route pattern and status. Patterns, not paths: a
// path would make a series per customer.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	metrics := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "carteira_http_request_seconds",
			Help: "Time from request to answer, by route.",
			Buckets: []float64{
				.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10,
			},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_http_requests_in_flight", Help: "Requests being handled now.",
		}),
	}
	reg.MustRegister(metrics.requests, metrics.seconds, metrics.inFlight)
	return metrics
}

func (m *Metrics) begin() { m.inFlight.Inc() }

func (m *Metrics) end(route string, status int, took time.Duration) {
	m.inFlight.Dec()
	if route == "" {
		route = "other"
	}
	m.requests.WithLabelValues(route, statusText(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

func statusText(status int) string {
	if status == http.StatusOK {
		return "200"
	}
	return strconv.Itoa(status)
}

// Forwarded believes X-Forwarded-For and X-Forwarded-Proto from trusted
// proxies only: it sets RemoteAddr and URL.Scheme to what the caller used.
func Forwarded(next http.Handler, trusted []netip.Prefix) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(trusted) > 0 && within(trusted, r.RemoteAddr) {
			if client := clientOf(r.Header.Values("X-Forwarded-For"), trusted); client != "" {
				r.RemoteAddr = client
			}
			proto := strings.ToLower(r.Header.Get("X-Forwarded-Proto"))
			if proto == "https" || proto == "http" {
				r.URL.Scheme = proto
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Caller is the address a request came from, without its port.
func Caller(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // a proxy of ours named it without a port
	}
	return host
}

// IsForwarded reports whether a proxy passed the request on.
func IsForwarded(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded", "Via"} {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	return false
}

// clientOf walks the chain from the nearest proxy outwards and returns the
// first address that is not one of our proxies: what comes before it could be
// forged.
func clientOf(headers []string, trusted []netip.Prefix) string {
	chain := strings.Split(strings.Join(headers, ","), ",")
	for i := len(chain) - 1; i >= 0; i-- {
		hop, ok := hopOf(chain[i])
		if !ok {
			return ""
		}
		if i == 0 || !within(trusted, hop) {
			return hop
		}
	}
	return ""
}

// hopOf is the address of a link of the chain, which some proxies write with its
// port.
func hopOf(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().String(), true
	}
	at, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return at.String(), err == nil
}

func within(networks []netip.Prefix, addr string) bool {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		ap, err := netip.ParseAddrPort(addr)
		if err != nil {
			return false
		}
		ip = ap.Addr()
	}
	ip = ip.Unmap()
	for _, network := range networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}
