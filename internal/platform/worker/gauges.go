package worker

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Gauges are figures that are asked of the database at every scrape: a loop that
// hangs could not report that it does.
type Gauges struct {
	Descs []*prometheus.Desc
	Read  func(ctx context.Context) ([]float64, error) // a value for each of Descs
}

// Counter makes a counter for each value of its labels.
func Counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Histogram counts seconds in buckets that end at these.
func Histogram(name, help string, buckets ...float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

// gaugesTimeout keeps a slow database from delaying the other metrics.
const gaugesTimeout = time.Second

// Describe implements prometheus.Collector.
func (g Gauges) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range g.Descs {
		to <- desc
	}
}

// Collect implements prometheus.Collector. Without an answer of the database
// there is no value: 0 would be a lie, and a failure would hide the others.
func (g Gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), gaugesTimeout)
	defer cancel()
	values, err := g.Read(ctx)
	if err != nil {
		return
	}
	for i, desc := range g.Descs {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, values[i])
	}
}
