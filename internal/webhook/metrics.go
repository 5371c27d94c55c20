package webhook

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what the engine tells an operator.
type Metrics struct {
	lag        prometheus.Histogram
	attempts   *prometheus.CounterVec
	givenUp    *prometheus.CounterVec
	lanesAtCap prometheus.Gauge
}

// Why a delivery was given up.
const (
	givenUpRefused   = "refused"   // the receiver does not want it
	givenUpExhausted = "exhausted" // the last attempt failed
	givenUpAddress   = "address"   // the gate does not allow where it goes
)

func newMetrics() *Metrics {
	m := &Metrics{
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "carteira_webhook_lag_seconds", Help: "Time from when a delivery was due to its attempt.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 120, 600, 3600},
		}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_webhook_attempts_total", Help: "Delivery attempts, by outcome.",
		}, []string{"outcome"}),
		givenUp: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_webhook_given_up_total", Help: "Deliveries given up, by reason.",
		}, []string{"reason"}),
		lanesAtCap: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_webhook_lanes_at_cap", Help: "Webhooks that had as many deliveries under way as they may have when this process last looked.",
		}),
	}
	for _, reason := range []string{givenUpRefused, givenUpExhausted, givenUpAddress} {
		m.givenUp.WithLabelValues(reason) // there from the start, so that the first one is an increase
	}
	return m
}

// Metrics returns the engine's metrics for registration.
func (s *Service) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.metrics.lag, s.metrics.attempts, s.metrics.givenUp, s.metrics.lanesAtCap, oldestDue{s}}
}

// reasonGivenUp is why an attempt was the last of a delivery, empty when there
// is more to come. A test is no delivery that anybody waits for.
func reasonGivenUp(j job, o outcome, f following) string {
	switch {
	case j.test:
		return ""
	case f.status == Failed:
		return givenUpExhausted
	case f.status == Refused && o.response.Status == 0:
		return givenUpAddress
	case f.status == Refused:
		return givenUpRefused
	}
	return ""
}

// oldestDue asks the database at every scrape: an engine that stands still
// could not tell that it does.
type oldestDue struct{ s *Service }

var oldestDueDesc = prometheus.NewDesc("carteira_webhook_oldest_due_seconds", "How long the oldest delivery that nobody is sending has been due.", nil, nil)

// oldestDueTimeout keeps a slow database from holding up the other metrics.
const oldestDueTimeout = time.Second

// Describe implements prometheus.Collector.
func (o oldestDue) Describe(to chan<- *prometheus.Desc) { to <- oldestDueDesc }

// Collect implements prometheus.Collector. Without an answer of the database
// there is no value: 0 would be a lie, and a failure would hide the others.
func (o oldestDue) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), oldestDueTimeout)
	defer cancel()
	now := o.s.db.Now()
	since, err := o.s.oldestDueAt(ctx, now)
	if err != nil {
		return
	}
	to <- prometheus.MustNewConstMetric(oldestDueDesc, prometheus.GaugeValue, now.Sub(since).Seconds())
}

// oldestDueAt is since when the oldest delivery is due that nobody is sending,
// now when there is none.
func (s *Service) oldestDueAt(ctx context.Context, now time.Time) (time.Time, error) {
	lanes, err := dueLanes(ctx, s.db, now)
	oldest := now
	for _, l := range lanes {
		if err == nil && l.until.After(now) && l.dueAt.Before(oldest) {
			l.dueAt, err = oldestUnsent(ctx, s.db, l, now)
		}
		if l.dueAt.Before(oldest) {
			oldest = l.dueAt
		}
	}
	return oldest, err
}
