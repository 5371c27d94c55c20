package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

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
