package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Supervisor runs tasks until their context ends.
type Supervisor struct {
	log     *slog.Logger
	running sync.WaitGroup

	panics   *prometheus.CounterVec
	failures *prometheus.CounterVec
	success  *prometheus.GaugeVec
}

// NewSupervisor makes one that runs nothing yet.
func NewSupervisor(log *slog.Logger) *Supervisor {
	return &Supervisor{
		log:      log,
		panics:   Counter("carteira_worker_panics_total", "Panics that were recovered, by loop or job.", "task"),
		failures: Counter("carteira_worker_failures_total", "Rounds and turns that failed, by loop or job.", "task"),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "carteira_worker_last_success_timestamp_seconds",
			Help: "When a round or turn last succeeded, by loop or job; its start before the first.",
		}, []string{"task"}),
	}
}

// Metrics returns the supervisor's metrics for registration.
func (s *Supervisor) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.panics, s.failures, s.success}
}

// Start runs tasks until ctx ends. One that panics, or ends too early, is
// logged and starts again, later and later while it keeps doing so.
func (s *Supervisor) Start(ctx context.Context, tasks ...Task) {
	for _, task := range tasks {
		run := s.register(task)
		s.running.Go(func() { run.supervise(context.WithValue(ctx, runKey{}, run)) })
		if task.Stale > 0 {
			s.running.Go(func() { run.watch(ctx) })
		}
	}
}

// Wait waits for the tasks, which finish what they are in the middle of after
// their context has ended.
func (s *Supervisor) Wait() { s.running.Wait() }

func (s *Supervisor) register(task Task) *run {
	r := &run{
		task: task, log: s.log, panics: s.panics.WithLabelValues(task.Name), failures: s.failures.WithLabelValues(task.Name),
		succeeded: time.Now(),
	}
	if task.Stale > 0 {
		r.success = s.success.WithLabelValues(task.Name)
		r.success.Set(float64(r.succeeded.UnixMilli()) / 1000)
	}
	return r
}

// run is a task and what is known of how it fares.
type run struct {
	task     Task
	log      *slog.Logger
	panics   prometheus.Counter
	failures prometheus.Counter
	success  prometheus.Gauge // nil: the task does not report successes

	mu        sync.Mutex
	succeeded time.Time // the last success; the start before the first
	streak    int       // starts since the last success
}

type runKey struct{}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// Succeeded reports to the supervisor of the task of ctx that a round
// succeeded. Without a supervisor it does nothing.
func Succeeded(ctx context.Context) {
	run := runOf(ctx)
	if run == nil {
		return
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	run.succeeded, run.streak = time.Now(), 0
	if run.success != nil {
		run.success.Set(float64(run.succeeded.UnixMilli()) / 1000)
	}
}

// Failed reports that a round failed. The task itself logs the reason.
func Failed(ctx context.Context) {
	if run := runOf(ctx); run != nil {
		run.failures.Inc()
	}
}

func panicked(ctx context.Context) {
	if run := runOf(ctx); run != nil {
		run.panics.Inc()
	}
}

var errEnded = errors.New("it ended by itself")

func (r *run) supervise(ctx context.Context) {
	for {
		err := Guard(ctx, func() error { return r.task.Run(ctx) })
		if ctx.Err() != nil && !Panicked(err) {
			return
		}
		if err == nil {
			err = errEnded
		}
		pause := r.backOff()
		r.log.ErrorContext(ctx, "task restarts", "task", r.task.Name, "error", err, "pause", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// backOff is how long to wait before the next start: longer each time until a
// round succeeds.
func (r *run) backOff() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	pause := min(slowest, shortestPause<<min(r.streak, 20))
	r.streak++
	return pause
}

// watch says aloud, once per Stale, that the task has not succeeded for long.
func (r *run) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.task.Stale):
		}
		r.mu.Lock()
		last := r.succeeded
		r.mu.Unlock()
		if since := time.Since(last); since >= r.task.Stale {
			r.log.ErrorContext(ctx, "task has not succeeded for long", "task", r.task.Name, "last_success", last, "for",
				since.Round(time.Second))
		}
	}
}
