// Package sender sends the deliveries of webhooks. It owns the queue of what is
// still to be sent, the leases of lanes by which processes share it, and the
// record of every attempt. It does not decide what each webhook gets: the
// webhook room writes the deliveries, and keeps the webhooks and the history.
//
// A lane is the deliveries of one webhook, or the notifications of one company.
// One process has a lane at a time, by a lease that it renews. In a process
// there are
//
//   - the dispatcher, one goroutine that owns the state of all lanes (lane.go,
//     job.go) and decides what is claimed, sent and recorded next,
//   - the store, which claims deliveries, renews and releases leases, and
//     records outcomes, each in a transaction of its own,
//   - the requests, each in a goroutine of its own (executor.go),
//   - the recorder, which records accepted attempts in batches.
//
// They speak by channels; nothing is shared between them. What a lane may do is
// decided by pure functions that the tests call without a database.
package sender

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/stopwatch"
	"carteira/internal/platform/watch"
	task "carteira/internal/platform/worker"
)

// Timeout bounds the whole exchange of one attempt, and BodyTime what of it is
// spent on the body of the answer: the status line is the answer that counts.
const (
	Timeout  = 10 * time.Second
	BodyTime = time.Second
)

// Config is what a sender needs.
type Config struct {
	DB     *sqldb.DB
	Box    *secret.Box
	Client *outbound.Client
	Delays []time.Duration     // before each attempt
	Log    *slog.Logger        // nil: nothing is logged
	Sent   watch.Watcher[Sent] // sees each attempt that is recorded; may be nil
}

// Sender sends deliveries while it runs, and those that a person waits for
// whether it runs or not.
type Sender struct {
	db         *sqldb.DB
	box        *secret.Box
	post       func(ctx context.Context, url string, header http.Header, body []byte) (outbound.Result, error)
	log        *slog.Logger
	store      store
	metrics    *metrics
	watch      stopwatch.Watch
	wake       chan []int64 // lanes in which something has become due
	look       chan struct{}
	generation atomic.Int64
}

// New makes a sender, which sends nothing until it runs.
func New(config Config) *Sender {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	metrics := newMetrics()
	sender := &Sender{
		db:      config.DB,
		box:     config.Box,
		log:     config.Log,
		metrics: metrics,
		store:   newStore(config.DB, config.Delays, metrics),
		watch:   stopwatch.Start(),
		wake:    make(chan []int64, 1024),
		look:    make(chan struct{}, 1),
	}
	sender.store.sent = config.Sent
	if config.Client != nil {
		sender.post = config.Client.Post
	}
	return sender
}

// Run sends deliveries until ctx ends, then finishes the requests that are in
// flight. It goes on through any failure of the database. It may be called
// again after it has ended, in whatever way: leases that it left behind are
// taken over at once.
func (s *Sender) Run(ctx context.Context) error {
	if err := s.store.inherit(ctx, s.store.instance); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "leases of the sender's last run not ended", "error", err)
	}
	dispatcher := newDispatcher(s)
	defer dispatcher.close()
	return dispatcher.run(ctx)
}

// SendDue claims what is due once for every lane, sends it, and returns how many
// deliveries it claimed when all are recorded. It is for tests and tools, which
// want to know when a round has ended.
func (s *Sender) SendDue(ctx context.Context) (claimed int, err error) {
	dispatcher := newDispatcher(s)
	defer dispatcher.close()
	dispatcher.once = true
	err = dispatcher.run(ctx)
	return dispatcher.claims, err
}

// Wake says that something may have become due: in the lanes that are named, or
// anywhere if none is. It never waits.
func (s *Sender) Wake(lanes ...int64) {
	if len(lanes) > 0 {
		select {
		case s.wake <- lanes:
			return
		default:
		}
	}
	select {
	case s.look <- struct{}{}:
	default:
	}
}

// WebhooksChanged makes the sender read prefetched deliveries again, with
// address, secret and switch.
func (s *Sender) WebhooksChanged() { s.generation.Add(1) }

// Generation counts the calls of WebhooksChanged.
func (s *Sender) Generation() int64 { return s.generation.Load() }

// Inherit ends all leases, so that no lane waits for a process that was killed.
// Only the single process of a database may call it.
func (s *Sender) Inherit(ctx context.Context) error {
	return s.store.inherit(ctx, "")
}

// Metrics returns the sender's metrics for registration.
func (s *Sender) Metrics() []prometheus.Collector {
	metrics := s.metrics
	return []prometheus.Collector{
		metrics.lag, metrics.attempts, metrics.givenUp, metrics.lanesAtCap, metrics.panics,
		task.Gauges{Descs: []*prometheus.Desc{oldestDueDesc}, Read: s.oldestDue},
	}
}

// elapsed is the time by which the sender measures what happens inside this
// process.
func (s *Sender) elapsed() time.Duration { return s.watch.Elapsed() }
