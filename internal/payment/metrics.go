package payment

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of the room.
type Metrics struct {
	charges   *prometheus.CounterVec
	calls     *prometheus.CounterVec
	callbacks *prometheus.CounterVec
	reviews   *prometheus.CounterVec
	aside     *prometheus.CounterVec
	lag       prometheus.Histogram
}

func newMetrics(providers []Provider) *Metrics {
	metrics := &Metrics{
		charges: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_payment_charges_total",
			Help: "Charges asked of gateways, by provider and whether they were made.",
		}, []string{"provider", "outcome"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_payment_gateway_calls_total",
			Help: "Calls to gateways, by provider, operation and outcome.",
		}, []string{"provider", "operation", "outcome"}),
		callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_payment_callbacks_total",
			Help: "Callbacks of gateways, by provider and outcome.",
		}, []string{"provider", "outcome"}),
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_payment_reviews_total",
			Help: "Payments put aside for a person, by reason.",
		}, []string{"reason"}),
		aside: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "carteira_payment_set_aside_total",
			Help: "Charges and callbacks set aside because they kept panicking.",
		}, []string{"what"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "carteira_payment_settlement_lag_seconds",
			Help:    "Time from a payment to the invoice being paid.",
			Buckets: []float64{.1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 21600, 86400},
		}),
	}
	for _, provider := range providers { // there from the start, so that the first one is an increase
		for _, outcome := range []string{"made", "failed"} {
			metrics.charges.WithLabelValues(provider.Name, outcome)
		}
	}
	for _, what := range []string{"charge", "callback", "authorisation"} {
		metrics.aside.WithLabelValues(what)
	}
	for _, reason := range Reasons {
		metrics.reviews.WithLabelValues(string(reason))
	}
	return metrics
}

// Metrics returns the room's metrics for registration.
func (s *Service) Metrics() []prometheus.Collector {
	metrics := s.metrics
	return []prometheus.Collector{
		metrics.charges, metrics.calls, metrics.callbacks, metrics.reviews, metrics.aside,
		metrics.lag,
		unresolved{s},
	}
}

// unresolved queries the database at every scrape: an engine that hangs could
// not report that it does.
type unresolved struct{ service *Service }

var (
	openReviewsDesc = prometheus.NewDesc("carteira_payment_reviews_open", "Payments that wait for a person.", nil, nil)
	oldestDesc      = prometheus.NewDesc("carteira_payment_oldest_reserved_seconds",
		"How long it has not been known of the oldest charge whether the gateway made it.", nil, nil)
	overdueDesc = prometheus.NewDesc("carteira_payment_oldest_due_seconds",
		"How long the oldest charge that nobody looks after has been due.", nil, nil)
)

// unresolvedTimeout keeps a slow database from delaying the other metrics.
const unresolvedTimeout = time.Second

// Describe implements prometheus.Collector.
func (u unresolved) Describe(to chan<- *prometheus.Desc) {
	to <- openReviewsDesc
	to <- oldestDesc
	to <- overdueDesc
}

// Collect implements prometheus.Collector. Without an answer of the database
// there is no value: 0 would be a lie.
func (u unresolved) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), unresolvedTimeout)
	defer cancel()
	now := u.service.db.Now()
	open, err := readBacklog(ctx, u.service.db, now)
	if err != nil {
		return
	}
	to <- prometheus.MustNewConstMetric(openReviewsDesc, prometheus.GaugeValue, float64(open.reviews))
	to <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, now.Sub(open.reservedSince).Seconds())
	to <- prometheus.MustNewConstMetric(overdueDesc, prometheus.GaugeValue, now.Sub(open.dueSince).Seconds())
}

// waiters lets one caller of this process at a time work on an invoice: the
// others would only poll the database until the first is done.
type waiters struct {
	mu     sync.Mutex
	queues map[int64]*queue
}

// queue is the callers that wait for one invoice, and the one that works on it.
type queue struct {
	lock    chan struct{}
	members int
}

// lock waits until no other caller works on the invoice; unlock lets the next
// one in.
func (w *waiters) lock(ctx context.Context, invoiceID int64) (unlock func(), err error) {
	queue := w.join(invoiceID)
	select {
	case queue.lock <- struct{}{}:
		return func() {
			<-queue.lock
			w.leave(invoiceID, queue)
		}, nil
	case <-ctx.Done():
		w.leave(invoiceID, queue)
		return nil, ctx.Err()
	}
}

func (w *waiters) join(invoiceID int64) *queue {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queues == nil {
		w.queues = map[int64]*queue{}
	}
	q := w.queues[invoiceID]
	if q == nil {
		q = &queue{lock: make(chan struct{}, 1)}
		w.queues[invoiceID] = q
	}
	q.members++
	return q
}

func (w *waiters) leave(invoiceID int64, queue *queue) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if queue.members--; queue.members == 0 {
		delete(w.queues, invoiceID)
	}
}
