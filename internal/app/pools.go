package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/sqldb"
)

// poolCollector shows the state of the database's connection pools, and its
// troubles.
type poolCollector struct{ db *sqldb.DB }

var (
	poolOpen = prometheus.NewDesc(
		"carteira_db_connections_open",
		"Connections, by pool.",
		[]string{"pool"},
		nil,
	)
	poolInUse = prometheus.NewDesc(
		"carteira_db_connections_in_use",
		"Connections at work, by pool.",
		[]string{"pool"},
		nil,
	)
	poolWaits = prometheus.NewDesc(
		"carteira_db_waits_total",
		"Times somebody waited for a connection, by pool.",
		[]string{"pool"},
		nil,
	)
	poolWait = prometheus.NewDesc(
		"carteira_db_wait_seconds_total",
		"Time waited for connections, by pool.",
		[]string{"pool"},
		nil,
	)
	troubles = prometheus.NewDesc("carteira_db_troubles_total",
		"Operations that failed because of the database, by trouble.", []string{"trouble"}, nil)
)

// Describe implements prometheus.Collector.
func (c poolCollector) Describe(ch chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(c, ch)
}

// Collect implements prometheus.Collector.
func (c poolCollector) Collect(ch chan<- prometheus.Metric) {
	for pool, stats := range c.db.Pools() {
		ch <- prometheus.MustNewConstMetric(poolOpen, prometheus.GaugeValue, float64(stats.OpenConnections), pool)
		ch <- prometheus.MustNewConstMetric(poolInUse, prometheus.GaugeValue, float64(stats.InUse), pool)
		ch <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(stats.WaitCount), pool)
		ch <- prometheus.MustNewConstMetric(poolWait, prometheus.CounterValue, stats.WaitDuration.Seconds(), pool)
	}
	counts := c.db.Troubles()
	for _, trouble := range sqldb.Troubles() {
		ch <- prometheus.MustNewConstMetric(troubles, prometheus.CounterValue, float64(counts[trouble]), string(trouble))
	}
}
