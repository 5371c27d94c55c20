package sender

import (
	"context"
	"log/slog"
	"time"

	"carteira/internal/platform/crashpoint"
	task "carteira/internal/platform/worker"
)

// maxSingles is how many attempts are recorded by themselves at once.
const maxSingles = 16

// calls is which calls of the store are on their way, one of each kind at most,
// and when the next is due.
type calls struct {
	pending                  int
	claiming                 [2]bool // for quick lanes, for others
	looking, renewing        bool
	releasing                bool
	looked                   bool // the lanes have been looked for
	lookAt, claimAt, renewAt time.Duration
	failingAt, promoteAt     time.Duration // of failing lanes
	lookPause, claimPause    backoff
	failure                  error // of a single round
}

// backoff is how long to wait after failures: longer and longer.
type backoff time.Duration

func (b *backoff) next() time.Duration {
	*b = backoff(min(max(2*time.Duration(*b), tickEvery), 10*time.Second))
	return time.Duration(*b)
}

// call makes a call of the store in a goroutine of its own. The dispatcher runs
// then with what came of it.
func call[T any](d *dispatcher, do func(context.Context) (T, error), then func(T, error)) {
	d.calls.pending++
	d.running.Go(func() {
		result, err := do(d.ctx)
		select {
		case d.replies <- func() { d.calls.pending--; then(result, err) }:
		case <-d.done:
		}
	})
}

// callStore makes the calls that are due.
func (d *dispatcher) callStore() {
	d.callRelease()
	d.callRenew()
	if d.stopping {
		return
	}
	d.callClaim(forQuick)
	d.callClaim(forOthers)
	d.callLook()
}

// failed logs that deliveries could not be claimed, and returns when to try
// again.
func (d *dispatcher) failed(err error, pause *backoff) time.Duration {
	if d.once {
		d.calls.failure = err
	}
	task.Failed(d.ctx)
	d.log.ErrorContext(d.ctx, "deliveries cannot be claimed", "error", err)
	return d.now + pause.next()
}

// callLook looks for due lanes: for all of them now and then, and otherwise in
// those that were given back just now.
func (d *dispatcher) callLook() {
	everywhere := d.now >= d.calls.lookAt && (!d.once || !d.calls.looked)
	if d.calls.looking || !everywhere && len(d.freed) == 0 {
		return
	}
	d.calls.looking = true
	if everywhere {
		d.calls.lookAt, d.freed = d.now+task.Pause(d.ctx, pollEvery), nil
		call(d, guarded(func(ctx context.Context) ([]dueLane, error) { return dueLanes(ctx, d.store.db) }), d.onLooked)
		return
	}
	lanes := d.freed
	d.freed = nil
	among := func(ctx context.Context) ([]int64, error) { return dueAmong(ctx, d.store.db, lanes) }
	call(d, guarded(among), func(due []int64, err error) {
		d.calls.looking = false
		if err == nil { // otherwise the next look everywhere finds them
			d.wantAll(due)
		}
	})
}

// onLooked wants the due lanes that a look everywhere has found.
func (d *dispatcher) onLooked(lanes []dueLane, err error) {
	d.calls.looking, d.calls.looked = false, true
	if err != nil {
		d.calls.lookAt = d.failed(err, &d.calls.lookPause)
		return
	}
	d.calls.lookPause = 0
	if d.calls.claimPause == 0 {
		task.Succeeded(d.ctx)
	}
	atCap := 0
	for _, lane := range lanes {
		switch {
		case !lane.leased:
			d.want(lane.lane, lane.failures > 0)
		case len(lane.sending) >= laneLimit || lane.failures > 0 && len(lane.sending) >= failingLaneLimit:
			atCap++
		}
	}
	d.sender.metrics.lanesAtCap.Set(float64(atCap))
}

// callRenew renews the leases that have not been renewed for a while.
func (d *dispatcher) callRenew() {
	if d.calls.renewing || d.now < d.calls.renewAt {
		return
	}
	d.calls.renewAt = d.now + renewEvery/4
	var lanes []int64
	for _, lane := range d.lanes {
		if lane.state.leased() && d.now-lane.leasedAt >= renewEvery {
			lanes = append(lanes, lane.id)
		}
	}
	if len(lanes) == 0 {
		return
	}
	d.calls.renewing = true
	askedAt := d.sender.elapsed()
	renew := func(ctx context.Context) ([]int64, error) { return d.store.renew(ctx, lanes) }
	call(d, guarded(renew), func(renewed []int64, err error) {
		d.calls.renewing = false
		if err != nil {
			d.log.ErrorContext(d.ctx, "leases not renewed", "error", err)
		}
		for _, id := range renewed {
			if lane := d.lanes[id]; lane != nil {
				lane.leasedAt = max(lane.leasedAt, askedAt)
			}
		}
	})
}

// callRelease gives lanes back.
func (d *dispatcher) callRelease() {
	if d.calls.releasing || len(d.releases) == 0 {
		return
	}
	leases := d.releases
	d.releases, d.calls.releasing = nil, true
	release := func(ctx context.Context) (bool, error) { return true, d.store.release(ctx, leases) }
	call(d, guarded(release), func(_ bool, err error) {
		d.calls.releasing = false
		if err != nil { // the leases expire
			d.log.ErrorContext(d.ctx, "lanes not given back", "lanes", len(leases), "error", err)
		}
		for _, given := range leases {
			lane := d.lanes[given.lane]
			if lane != nil && lane.state == releasing && lane.token == given.token {
				lane.state = lane.state.on(released)
				d.update(lane)
			}
		}
	})
}

// recordAlone records an attempt in a transaction of its own. Those of a tick
// begin together, so that they share a flush of the disk: permanent failures
// must not slow the disk down for the rest.
func (d *dispatcher) recordAlone(attempt attempt) {
	d.gathered = append(d.gathered, attempt)
	if d.once || d.stopping {
		d.recordGathered()
	}
}

func (d *dispatcher) recordGathered() {
	for _, attempt := range d.gathered {
		d.beginRecord(attempt)
	}
	d.gathered = nil
}

func (d *dispatcher) beginRecord(attempt attempt) {
	d.running.Go(func() {
		d.singles <- struct{}{}
		defer func() { <-d.singles }()
		kept, err := guarded(func(ctx context.Context) (bool, error) { return d.store.record(ctx, attempt) })(d.ctx)
		crashpoint.Here("after-close")
		select {
		case d.recorded <- []report{{attempt: attempt, kept: kept, err: err}}:
		case <-d.done:
		}
	})
}

// onRecorded handles the results of records.
func (d *dispatcher) onRecorded(reports []report) {
	for _, report := range reports {
		if report.alone {
			d.recordAlone(report.attempt)
			continue
		}
		d.begun--
		lane := d.lanes[report.attempt.job.lane] // it stays until all of its attempts are recorded
		lane.recorded(report.attempt.job.id, report.err)
	}
	for _, report := range reports {
		if lane := d.lanes[report.attempt.job.lane]; lane != nil {
			d.update(lane)
		}
	}
	d.running.Go(func() {
		for _, report := range reports {
			if !report.alone {
				d.logAttempt(report)
			}
		}
	})
}

// logAttempt counts an attempt and writes its line. Every value has a type that
// slog knows: the others take it as long as signing does.
func (d *dispatcher) logAttempt(report report) {
	level, text, job, outcome := slog.LevelInfo, "delivery attempt", report.attempt.job, report.attempt.outcome
	more := slog.String("problem", outcome.problem)
	switch {
	case report.err != nil:
		// The lease runs out and the delivery is sent again: at least once.
		level, text, more = slog.LevelError, "delivery attempt not recorded", slog.Any("error", report.err)
	case !report.kept:
		level, text = slog.LevelWarn, "delivery attempt outlived its claim"
	default:
		d.sender.metrics.attempts.WithLabelValues(string(outcome.verdict)).Inc()
		if outcome.verdict == panicked && job.panics+1 >= maxPanics {
			level, text = slog.LevelError, "delivery set aside: sending it panicked too often"
		}
	}
	d.log.LogAttrs(d.ctx, level, text, slog.Int64("company_id", job.companyID), slog.Int64("delivery", job.id),
		slog.String("event_id", job.eventID), slog.String("event", string(job.event)),
		slog.Int64("webhook_id", job.webhookID), slog.Int("attempt", job.number),
		slog.Int("status", outcome.response.Status), slog.Duration("took", outcome.response.Duration),
		slog.String("outcome", string(outcome.verdict)), more)
}
