package app

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

const (
	// usualMemory is where the collector begins to work harder on a machine that
	// sets no limit: what is alive is a few megabytes whatever the number of
	// customers.
	usualMemory = 120 << 20
	// heapShare, of four, is the part of a limit that is left to Go's heap. The
	// rest is for the embedded database's pages, stacks and the program's text.
	heapShare = 3
)

// fitMemory fits the process into the memory that it may have: the collector
// works harder near the limit, and no more passwords are hashed at once than
// there is room for. Settings of GOGC or GOMEMLIMIT win.
func (a *App) fitMemory() {
	collectSeldom()
	limit := memoryLimit(os.DirFS("/"))
	switch {
	case os.Getenv("GOMEMLIMIT") != "":
		limit = min(limit, debug.SetMemoryLimit(-1))
	case limit == math.MaxInt64:
		debug.SetMemoryLimit(usualMemory)
	default:
		debug.SetMemoryLimit(limit / 4 * heapShare)
	}
	slots := secret.LimitHashing(limit)
	if limit < math.MaxInt64 {
		a.Log.Info("memory is limited", "mib", limit>>20, "password_hashes_at_once", slots)
	}
}

// collectSeldom lets the heap grow to four times what is alive before it is
// collected, far from the limit: the collector was a tenth of a request.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}

// memoryLimit is the least that a cgroup of this process, of version 2 or 1,
// limits memory to; math.MaxInt64 when none does. root is the machine's.
func memoryLimit(root fs.FS) int64 {
	limit := int64(math.MaxInt64)
	own, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return limit // not Linux
	}
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "":
			limit = min(limit, leastAbove(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			limit = min(limit, leastAbove(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// leastAbove is the least limit of a cgroup and of those that it is in. In a
// container the path may be the host's and lead nowhere; then the mount itself
// is the container's.
func leastAbove(root fs.FS, mount, cgroup, file string) int64 {
	limit := int64(math.MaxInt64)
	for at := path.Join("/", cgroup); ; at = path.Dir(at) {
		text, err := fs.ReadFile(root, path.Join(mount, at, file))
		if err == nil {
			limit = min(limit, parseLimit(string(text)))
		}
		if at == "/" {
			return limit
		}
	}
}

// parseLimit reads "max", and what version 1 says for it: a number of bytes
// beyond any machine.
func parseLimit(text string) int64 {
	number, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || number >= 1<<60 {
		return math.MaxInt64
	}
	return number
}

// poolCollector shows the state of the database's connection pools, and its
// troubles.
type poolCollector struct{ db *sqldb.DB }

var (
	poolOpen  = prometheus.NewDesc("carteira_db_connections_open", "Connections, by pool.", []string{"pool"}, nil)
	poolInUse = prometheus.NewDesc("carteira_db_connections_in_use", "Connections at work, by pool.", []string{"pool"},
		nil)
	poolWaits = prometheus.NewDesc("carteira_db_waits_total", "Times somebody waited for a connection, by pool.",
		[]string{"pool"}, nil)
	poolWait = prometheus.NewDesc("carteira_db_wait_seconds_total", "Time waited for connections, by pool.",
		[]string{"pool"}, nil)
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
	for trouble, count := range c.db.Troubles() {
		ch <- prometheus.MustNewConstMetric(troubles, prometheus.CounterValue, float64(count), string(trouble))
	}
}
