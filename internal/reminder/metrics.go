package reminder

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what the engine tells an operator.
type metrics struct {
	lag      prometheus.Histogram
	messages *prometheus.CounterVec
	aside    prometheus.Counter
	reports  *prometheus.CounterVec
	calls    *prometheus.CounterVec
}

func newMetrics() *metrics {
	return &metrics{
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "carteira_reminder_lag_seconds",
			Help:    "Time from when a message was due to when it was taken up.",
			Buckets: []float64{.1, .5, 1, 5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600},
		}),
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_reminder_messages_total",
			Help: "What became of messages, by kind of channel.",
		}, []string{"kind", "outcome"}),
		aside: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carteira_reminder_set_aside_total",
			Help: "Messages set aside because they kept panicking.",
		}),
		reports: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_reminder_reports_total",
			Help: "What carriers reported of messages that they had taken, by kind of channel.",
		}, []string{"kind", "arrival"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_reminder_carrier_calls_total",
			Help: "Calls of carriers, by kind of channel and what became of them.",
		}, []string{"kind", "outcome"}),
	}
}

func (m *metrics) count(kind, outcome string) {
	m.messages.WithLabelValues(kind, outcome).Inc()
}

func (m *metrics) report(kind, arrival string) {
	m.reports.WithLabelValues(kind, arrival).Inc()
}

func (m *metrics) call(kind, outcome string) {
	m.calls.WithLabelValues(kind, outcome).Inc()
}

// Metrics returns the engine's metrics for registration.
func (s *Service) Metrics() []prometheus.Collector {
	return []prometheus.Collector{
		s.metrics.lag, s.metrics.messages, s.metrics.aside, s.metrics.reports, s.metrics.calls, backlog{s},
	}
}

// backlog asks the database at every scrape: an engine that stands still could
// not tell that it does.
type backlog struct{ s *Service }

var (
	unknownDesc = prometheus.NewDesc(
		"carteira_reminder_unknown",
		"Messages that may or may not have been sent, and wait for a person.",
		nil,
		nil,
	)
	oldestDesc = prometheus.NewDesc(
		"carteira_reminder_oldest_due_seconds",
		"How long the oldest message that nobody is sending has been due.",
		nil,
		nil,
	)
)

// backlogTimeout keeps a slow database from holding up the other metrics.
const backlogTimeout = time.Second

// Describe implements prometheus.Collector.
func (b backlog) Describe(to chan<- *prometheus.Desc) {
	to <- unknownDesc
	to <- oldestDesc
}

// Collect implements prometheus.Collector. Without an answer of the database
// there is no value: 0 would be a lie.
func (b backlog) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	now := b.s.db.Now()
	unknown, oldest, err := backlogOf(ctx, b.s.db, now)
	if err != nil {
		return
	}
	to <- prometheus.MustNewConstMetric(unknownDesc, prometheus.GaugeValue, float64(unknown))
	to <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, max(0, now.Sub(oldest).Seconds()))
}
