package sender

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/sqldb"
)

// metrics are what an operator sees of the sender.
type metrics struct {
	lag        prometheus.Histogram
	attempts   *prometheus.CounterVec
	givenUp    *prometheus.CounterVec
	lanesAtCap prometheus.Gauge
	panics     prometheus.Counter
}

// Why a delivery was given up.
const (
	givenUpRefused   = "refused"   // the receiver does not want it
	givenUpExhausted = "exhausted" // the last attempt failed
	givenUpAddress   = "address"   // the gate does not allow where it goes
	givenUpSetAside  = "set_aside" // our own code panicked over it
)

func newMetrics() *metrics {
	m := &metrics{
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "carteira_webhook_lag_seconds",
			Help:    "Time from when a delivery was due to its attempt.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 120, 600, 3600},
		}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_webhook_attempts_total", Help: "Delivery attempts, by outcome.",
		}, []string{"outcome"}),
		givenUp: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_webhook_given_up_total", Help: "Deliveries given up, by reason.",
		}, []string{"reason"}),
		lanesAtCap: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_webhook_lanes_at_cap",
			Help: "Webhooks that had as many requests in flight as they may have when this process last looked.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carteira_webhook_panics_total",
			Help: "Attempts that ended in a panic of our own code.",
		}),
	}
	for _, reason := range []string{givenUpRefused, givenUpExhausted, givenUpAddress, givenUpSetAside} {
		m.givenUp.WithLabelValues(reason) // there from the start, so that the first one is an increase
	}
	return m
}

// reasonGivenUp is why an attempt was the last of a delivery, empty when there
// is more to come. A test is never retried.
func reasonGivenUp(attempt attempt, transition transition) string {
	switch {
	case attempt.job.test:
		return ""
	case transition.status == Failed && attempt.outcome.verdict == panicked:
		return givenUpSetAside
	case transition.status == Failed:
		return givenUpExhausted
	case transition.status == Refused && attempt.outcome.response.Status == 0:
		return givenUpAddress
	case transition.status == Refused:
		return givenUpRefused
	}
	return ""
}

var oldestDueDesc = prometheus.NewDesc("carteira_webhook_oldest_due_seconds",
	"How long the oldest delivery that nobody is sending has been due.", nil, nil)

// oldestDue is for how long the oldest delivery has been due.
func (s *Sender) oldestDue(ctx context.Context) ([]float64, error) {
	overdue, err := longestOverdue(ctx, s.db)
	return []float64{overdue.Seconds()}, err
}

// longestOverdue returns for how long the oldest due delivery has waited that
// no process is sending; 0 when there is none.
func longestOverdue(ctx context.Context, db *sqldb.DB) (longest time.Duration, err error) {
	lanes, err := dueLanes(ctx, db)
	for _, lane := range lanes {
		if err == nil && lane.leased && lane.overdue > longest {
			lane.overdue, err = overdueUnsent(ctx, db, lane)
		}
		longest = max(longest, lane.overdue)
	}
	return longest, err
}
