package webhook

import "github.com/prometheus/client_golang/prometheus"

// Metrics are what the engine tells an operator.
type Metrics struct {
	lag      prometheus.Histogram
	attempts *prometheus.CounterVec
}

func newMetrics() *Metrics {
	return &Metrics{
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "carteira_webhook_lag_seconds", Help: "Time from when a delivery was due to its attempt.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 120, 600, 3600},
		}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_webhook_attempts_total", Help: "Delivery attempts, by outcome.",
		}, []string{"outcome"}),
	}
}

// Metrics returns the engine's metrics for registration.
func (s *Service) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.metrics.lag, s.metrics.attempts}
}
