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
	looking, renewing, freed bool
	looked                   bool // the lanes have been looked for
	lookAt, claimAt, renewAt time.Duration
	slowAt, promoteAt        time.Duration // of slow lanes
	lookPause, claimPause    backoff
	failure                  error // of a single round
}

// backoff is how long to wait after failures: longer and longer.
type backoff time.Duration

func (b *backoff) next() time.Duration {
	*b = backoff(min(max(2*time.Duration(*b), tickEvery), 10*time.Second))
	return time.Duration(*b)
}

// call makes a call of the store in a goroutine of its own. What do returns is
// run by the dispatcher.
func (d *dispatcher) call(do func(ctx context.Context) (reply func())) {
	d.calls.pending++
	d.running.Go(func() {
		reply := do(d.ctx)
		select {
		case d.replies <- func() { d.calls.pending--; reply() }:
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
		d.calls.lookAt, d.freed = d.now+pollEvery, nil
		d.call(d.lookEverywhere)
		return
	}
	lanes := d.freed
	d.freed = nil
	d.call(func(ctx context.Context) func() {
		var due []int64
		err := guard(ctx, func(ctx context.Context) (err error) {
			due, err = dueAmong(ctx, d.store.db, lanes)
			return err
		})
		return func() {
			d.calls.looking = false
			if err == nil { // otherwise the next look everywhere finds them
				d.wantAll(due)
			}
		}
	})
}

func (d *dispatcher) lookEverywhere(ctx context.Context) func() {
	var lanes []dueLane
	err := guard(ctx, func(ctx context.Context) (err error) {
		if lanes, err = dueLanes(ctx, d.store.db); err != nil {
			return err
		}
		return d.store.openMissing(ctx, lanes)
	})
	return func() {
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
		for _, l := range lanes {
			switch {
			case !l.leased:
				d.want(l.lane, l.failures > 0)
			case len(l.sending) >= laneLimit || l.failures > 0 && len(l.sending) >= failingLaneLimit:
				atCap++
			}
		}
		d.sender.metrics.lanesAtCap.Set(float64(atCap))
	}
}

// callRenew renews the leases that have not been renewed for a while.
func (d *dispatcher) callRenew() {
	if d.calls.renewing || d.now < d.calls.renewAt {
		return
	}
	d.calls.renewAt = d.now + renewEvery/4
	var lanes []int64
	for _, l := range d.lanes {
		if l.state.leased() && d.now-l.leasedAt >= renewEvery {
			lanes = append(lanes, l.id)
		}
	}
	if len(lanes) == 0 {
		return
	}
	d.calls.renewing = true
	askedAt := d.sender.elapsed()
	d.call(func(ctx context.Context) func() {
		var renewed []int64
		err := guard(ctx, func(ctx context.Context) (err error) {
			renewed, err = d.store.renew(ctx, lanes)
			return err
		})
		return func() {
			d.calls.renewing = false
			if err != nil {
				d.log.ErrorContext(d.ctx, "leases not renewed", "error", err)
			}
			for _, id := range renewed {
				if l := d.lanes[id]; l != nil {
					l.leasedAt = max(l.leasedAt, askedAt)
				}
			}
		}
	})
}

// callRelease gives lanes back.
func (d *dispatcher) callRelease() {
	if d.calls.freed || len(d.releases) == 0 {
		return
	}
	leases := d.releases
	d.releases, d.calls.freed = nil, true
	d.call(func(ctx context.Context) func() {
		err := guard(ctx, func(ctx context.Context) error { return d.store.release(ctx, leases) })
		return func() {
			d.calls.freed = false
			if err != nil { // the leases expire
				d.log.ErrorContext(d.ctx, "lanes not given back", "lanes", len(leases), "error", err)
			}
			for _, given := range leases {
				if l := d.lanes[given.lane]; l != nil && l.state == releasing && l.token == given.token {
					l.state = l.state.on(released)
					d.update(l)
				}
			}
		}
	})
}

// recordAlone records an attempt in a transaction of its own. Those of a tick
// begin together, so that they share a flush of the disk: what fails all the
// time is not to keep the disk from what does not.
func (d *dispatcher) recordAlone(a attempt) {
	d.gathered = append(d.gathered, a)
	if d.once || d.stopping {
		d.recordGathered()
	}
}

func (d *dispatcher) recordGathered() {
	for _, a := range d.gathered {
		d.beginRecord(a)
	}
	d.gathered = nil
}

func (d *dispatcher) beginRecord(a attempt) {
	d.running.Go(func() {
		d.singles <- struct{}{}
		defer func() { <-d.singles }()
		r := report{attempt: a}
		r.err = guard(d.ctx, func(ctx context.Context) (err error) {
			r.kept, err = d.store.record(ctx, a)
			return err
		})
		r.released = a.release && r.kept && r.err == nil
		crashpoint.Here("after-close")
		select {
		case d.recorded <- []report{r}:
		case <-d.done:
		}
	})
}

// onRecorded takes in what became of records. A lane is released with the last
// of its attempts, whichever place that has among the reports.
func (d *dispatcher) onRecorded(reports []report) {
	for _, r := range reports {
		if r.alone {
			r.attempt.release = false // others of its lane may not be recorded either
			d.recordAlone(r.attempt)
			continue
		}
		d.begun--
		l := d.lanes[r.attempt.job.lane] // it stays until all of its attempts are recorded
		l.recorded(r.attempt.job.id, r.err)
	}
	for _, r := range reports {
		if r.released {
			l := d.lanes[r.attempt.job.lane]
			l.state = l.state.on(released)
		}
	}
	for _, r := range reports {
		if l := d.lanes[r.attempt.job.lane]; l != nil {
			d.update(l)
		}
	}
	d.running.Go(func() {
		for _, r := range reports {
			if !r.alone {
				d.logAttempt(r)
			}
		}
	})
}

// logAttempt counts an attempt and writes its line. Every value has a type that
// slog knows: the others take it as long as signing does.
func (d *dispatcher) logAttempt(r report) {
	level, text, j, o := slog.LevelInfo, "delivery attempt", r.attempt.job, r.attempt.outcome
	more := slog.String("problem", o.problem)
	switch {
	case r.err != nil:
		// The lease runs out and the delivery is sent again: at least once.
		level, text, more = slog.LevelError, "delivery attempt not recorded", slog.Any("error", r.err)
	case !r.kept:
		level, text = slog.LevelWarn, "delivery attempt outlived its claim"
	default:
		d.sender.metrics.attempts.WithLabelValues(string(o.verdict)).Inc()
		if o.verdict == panicked && j.panics+1 >= maxPanics {
			level, text = slog.LevelError, "delivery set aside: sending it panicked too often"
		}
	}
	d.log.LogAttrs(d.ctx, level, text,
		slog.Int64("company_id", j.companyID), slog.Int64("delivery", j.id), slog.String("event_id", j.eventID),
		slog.String("event", string(j.event)), slog.Int64("webhook_id", j.webhookID), slog.Int("attempt", j.number),
		slog.Int("status", o.response.Status), slog.Duration("took", o.response.Duration), slog.String("outcome", string(o.verdict)), more)
}
