package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/id"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// Work is one kind of thing that time brings. In a sandbox one process does all
// of it, one kind after the other, so that the clock is never moved while
// something is being done.
type Work struct {
	Name string
	// Next is when something of the kind becomes due, or has become; zero: never,
	// as things are.
	Next func(ctx context.Context) (time.Time, error)
	// Run does what is due and returns how much that was.
	Run func(ctx context.Context) (int, error)
	// Busy reports whether a request somewhere has something of the kind in flight;
	// nil: that cannot be.
	Busy func(ctx context.Context) (bool, error)
}

const (
	// drivePoll is how often the driver looks for what is due while the clock runs.
	drivePoll = 250 * time.Millisecond
	// leaseTime is how long the driver may be silent before another process takes
	// its place.
	leaseTime = 10 * time.Second
	// renewEvery is how often the driver lengthens its lease.
	renewEvery = 2 * time.Second
	// busyPoll and busyTime are how often and how long the driver looks whether a
	// request has ended that is in flight. Claims last less than busyTime: what is
	// claimed for longer was left behind by a process that died.
	busyPoll = 5 * time.Millisecond
	busyTime = time.Minute
)

// lease is this process's claim to drive the sandbox, by the real clock.
type lease struct {
	db      *sqldb.DB
	token   string
	renewed time.Time // zero: this process does not drive
}

func newLease(db *sqldb.DB) lease { return lease{db: db, token: id.NewCode(16)} }

// errLost says that another process drives the sandbox by now.
var errLost = errors.New("another process drives the sandbox")

// renew takes the lease, or lengthens it when it is time.
func (l *lease) renew(ctx context.Context) error {
	if !l.renewed.IsZero() && l.db.Real().Sub(l.renewed) < renewEvery {
		return nil
	}
	mine, err := sqldb.Write(ctx, l.db, func(tx *sqldb.Tx) (bool, error) { return takeLease(ctx, tx, l.token, leaseTime) })
	if err != nil {
		return err
	}
	if !mine {
		l.renewed = time.Time{}
		return errLost
	}
	l.renewed = l.db.Real()
	return nil
}

// end gives the lease back, so that the next process need not wait for its end.
func (l *lease) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return l.db.Write(ctx, func(tx *sqldb.Tx) error { return endLease(ctx, tx, l.token) })
}

// Run drives the sandbox until ctx ends, while no other process does: it does
// what is due, and moves the clock to the target of an advance.
func (s *Service) Run(ctx context.Context) error {
	defer func() {
		if err := s.lease.end(ctx); err != nil {
			s.log.WarnContext(ctx, "lease of the sandbox not given back", "error", err)
		}
	}()
	loop := worker.Loop{Name: "drive the sandbox", Wake: s.wake, Poll: drivePoll, Log: s.log}
	loop.Run(ctx, func(ctx context.Context) (time.Duration, error) {
		return drivePoll, s.drive(ctx)
	})
	return nil
}

// drive does what is due by now, and lives through an advance if one is under
// way.
func (s *Service) drive(ctx context.Context) error {
	err := s.lease.renew(ctx)
	if errors.Is(err, errLost) {
		return nil
	}
	if err == nil {
		err = s.Clock.Refresh(ctx)
	}
	if err != nil {
		return err
	}
	if !s.Clock.known().running() {
		return s.settle(ctx)
	}
	err = s.live(ctx)
	if errors.Is(err, errLost) {
		return nil
	}
	return err
}

// live takes the clock to the end of the advance, from one instant at which
// something is due to the next.
func (s *Service) live(ctx context.Context) error {
	for {
		if err := s.settle(ctx); err != nil {
			return err
		}
		row := s.Clock.known()
		if !row.running() {
			return nil
		}
		if !row.stopped.Before(row.to) {
			return s.arrive(ctx)
		}
		next, err := s.next(ctx, row.stopped)
		if err != nil {
			return err
		}
		if next.IsZero() || next.After(row.to) {
			next = row.to
		}
		if err := errors.Join(s.awaitRequests(ctx), s.step(ctx, next)); err != nil {
			return err
		}
		crashpoint.Here("sandbox-stepped")
	}
}

// awaitRequests waits, in real time, for what requests have in flight: they claim
// charges by the clock that is about to be moved.
func (s *Service) awaitRequests(ctx context.Context) error {
	for began := s.db.Real(); s.db.Real().Sub(began) < busyTime; {
		busy, err := s.busy(ctx)
		if err != nil || !busy {
			return err
		}
		if err := s.lease.renew(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(busyPoll):
		}
	}
	return nil
}

func (s *Service) busy(ctx context.Context) (bool, error) {
	for _, work := range s.works {
		if work.Busy == nil {
			continue
		}
		if busy, err := work.Busy(ctx); err != nil || busy {
			return busy, err
		}
	}
	return false, nil
}

// step moves the clock to the next instant.
func (s *Service) step(ctx context.Context, at time.Time) error {
	if err := s.lease.renew(ctx); err != nil {
		return err
	}
	err := s.db.MoveClock(ctx, func(tx *sqldb.Tx) error {
		// Another process may drive the sandbox by now.
		mine, err := rows.Changed(ctx, tx, `
			UPDATE sandbox_clock SET stopped_at = ?, moves = moves + 1
			WHERE id = 1 AND driver = ? AND stopped_at IS NOT NULL AND stopped_at <= ?`,
			at.UnixMicro(), s.lease.token, at.UnixMicro())
		if err == nil && !mine {
			return errLost
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.Clock.Refresh(ctx)
}

func (s *Service) arrive(ctx context.Context) error {
	err := s.db.MoveClock(ctx, func(tx *sqldb.Tx) error { return endAdvance(ctx, tx, s.lease.token) })
	if err != nil {
		return err
	}
	return s.Clock.Refresh(ctx)
}

// next is the first instant after now at which something is due.
func (s *Service) next(ctx context.Context, now time.Time) (first time.Time, err error) {
	for _, work := range s.works {
		at, err := work.Next(ctx)
		if err != nil {
			return first, fmt.Errorf("when to %s: %w", work.Name, err)
		}
		if at.After(now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first, nil
}

// settle does all that is due at the present time, until nothing is: what one
// kind of work does may make another due. A kind that is due and does nothing
// has to wait for something else; it is asked again at the next instant.
func (s *Service) settle(ctx context.Context) error {
	idle := make(map[string]bool, len(s.works))
	for again := true; again; {
		again = false
		for _, work := range s.works {
			if err := s.lease.renew(ctx); err != nil {
				return err
			}
			done, err := s.runDue(ctx, work, idle)
			if err != nil {
				return err
			}
			again = again || done > 0
		}
	}
	return ctx.Err()
}

func (s *Service) runDue(ctx context.Context, work Work, idle map[string]bool) (done int, err error) {
	at, err := work.Next(ctx)
	if err != nil {
		return 0, fmt.Errorf("when to %s: %w", work.Name, err)
	}
	if at.IsZero() || at.After(s.db.Now()) || idle[work.Name] {
		return 0, nil
	}
	err = worker.Guard(ctx, func() (err error) {
		done, err = work.Run(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", work.Name, err)
	}
	if done > 0 {
		clear(idle) // what it did may be what another waited for
	}
	idle[work.Name] = done == 0
	return done, nil
}
