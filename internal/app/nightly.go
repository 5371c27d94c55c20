package app

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/backup"
	"carteira/internal/platform/checkup"
)

// nightly is what the checks of the data found last night.
type nightly struct {
	wrong *prometheus.GaugeVec
	at    prometheus.Gauge

	mu    sync.Mutex
	night string // of the last checks
}

func newNightly() *nightly {
	return &nightly{
		wrong: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "carteira_check_wrong",
			Help: "1 where the nightly checks of the data found something wrong, else 0, by check.",
		}, []string{"check"}),
		at: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_check_last_timestamp_seconds",
			Help: "When the nightly checks of the data were last made, in seconds since 1970.",
		}),
	}
}

func (n *nightly) metrics() []prometheus.Collector {
	return []prometheus.Collector{n.wrong, n.at}
}

// begin tells whether tonight's checks are still to be made.
func (n *nightly) begin(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.night == backup.Night(now) {
		return false
	}
	n.night = backup.Night(now)
	return true
}

// checkNightly makes the checks of the data once a night. What is wrong is an
// error in the log and a metric; `carteira doctor` says more.
func (a *App) checkNightly(ctx context.Context) error {
	now := time.Now() //nolint:forbidigo // the night of the machine, no day of a company
	if !a.nightly.begin(now) {
		return nil
	}
	for _, check := range a.dataChecks() {
		finding := check.Do(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		value := 0.0
		if finding.Verdict == checkup.Wrong {
			value = 1
			a.Log.ErrorContext(
				ctx,
				"check found something wrong",
				"check",
				finding.Check,
				"found",
				finding.Text,
				"advice",
				finding.Advice,
			)
		}
		a.nightly.wrong.WithLabelValues(finding.Check).Set(value)
	}
	a.nightly.at.Set(float64(now.Unix()))
	return nil
}
