package sender

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
	task "carteira/internal/platform/worker"
)

// class is how a lane shares the slots, by how its receiver answers.
type class uint8

const (
	quick   class = iota // accepts within dawdling
	unknown              // nothing is known of the receiver
	slow                 // accepts, but takes longer than dawdling
	failing              // fails, hangs, or answers with more than is read
	classes
)

const (
	// quickSlots is how many requests a process makes at once to receivers that
	// answer quickly.
	quickSlots = 128
	// maxHanging is how many requests may hang before unknown receivers have to
	// wait.
	maxHanging = 256
	// failingEvery is the time between two requests to failing receivers, and
	// failingBurst how many may make up for time in which there was none: those
	// that fail at once cost processor time. A trial that fails or hangs is
	// charged too, and trials wait while more than trialDebt is owed.
	failingEvery = time.Second / 32
	failingBurst = 4
	trialDebt    = time.Second
	// maxUnrecorded bounds the attempts of a process that have begun and are not
	// recorded yet.
	maxUnrecorded = 8 * quickSlots
)

// slotsOf is how many requests of a class a process begins at once. Each class
// has its own: receivers that hang take none from those that answer, however
// slowly these do.
var slotsOf = [classes]int{quick: quickSlots, unknown: 32, slow: 256, failing: 64}

// classOf says how a lane shares the slots.
func classOf(pace pace, fails bool) class {
	switch {
	case fails || pace.failing:
		return failing
	case pace.average == 0:
		return unknown
	case pace.slow():
		return slow
	}
	return quick
}

// slots counts the requests that are being made. One that takes longer than its
// class does moves to the slots of the class that it belongs to by then.
type slots struct {
	taken  [classes]int
	paidTo time.Duration // when the requests to failing receivers so far are paid for
}

// free is how many requests of a class may begin.
func (s *slots) free(class class, now time.Duration) int {
	free := slotsOf[class] - s.taken[class]
	switch {
	case class == failing:
		free = min(free, failingBurst, int((now+failingBurst*failingEvery-s.paidTo)/failingEvery))
	case class == unknown && (s.taken[failing] >= maxHanging || s.paidTo > now+trialDebt):
		free = 0
	}
	return max(0, free)
}

// take counts a request that begins.
func (s *slots) take(flight *flight) {
	flight.slot = flight.class
	s.taken[flight.slot]++
	if flight.slot == failing {
		s.charge(flight.startedAt)
	}
}

// move gives a request that takes long a slot of another class.
func (s *slots) move(flight *flight, to class, now time.Duration) {
	s.taken[flight.slot]--
	s.taken[to]++
	flight.slot = to
	if to == failing {
		s.charge(now)
	}
}

// giveBack frees the slot of a request that has ended, well or not.
func (s *slots) giveBack(flight *flight, now time.Duration, well bool) {
	s.taken[flight.slot]--
	if flight.slot == unknown && !well {
		s.charge(now)
	}
}

func (s *slots) charge(now time.Duration) { s.paidTo = max(s.paidTo, now) + failingEvery }

const (
	// dawdling is from when on a request is slow, and hanging from when on it is
	// taken for one that will get no answer.
	dawdling = 500 * time.Millisecond
	hanging  = 5 * time.Second
	// maxClaim is how many deliveries of one lane are claimed at once.
	maxClaim = 16 * laneLimit
	// maxKnown bounds how many lanes have a remembered pace.
	maxKnown = 10_000
)

// pace is what is known of how a receiver answers.
type pace struct {
	average time.Duration // of the time used by a request; 0: nothing is known
	streak  int           // accepted attempts in a row
	failing bool          // the last attempt failed, hangs, or was cut short
}

// after returns the pace after one more request. The average follows the last
// few requests. An answer that was cut short counts as a failure here: its
// connection cannot be used again, and the next one costs a handshake.
func (p pace) after(attempt attempt) pace {
	used := max(attempt.outcome.response.Duration, time.Microsecond)
	if p.average == 0 {
		p.average = used
	}
	p.average += (used - p.average) / 4
	p.failing = attempt.failed() || attempt.outcome.response.Truncated
	p.streak++
	if attempt.outcome.verdict != accepted {
		p.streak = 0
	}
	return p
}

// dawdle records a request that takes as long as a class does, and has not ended
// yet.
func (p paces) dawdle(lane int64, as class) {
	known := p[lane]
	known.average = max(known.average, dawdling)
	known.failing = known.failing || as == failing
	p[lane] = known
}

// before reports whether a receiver is known to use less time than another one.
func (p pace) before(other pace) bool {
	return p.average > 0 && (other.average == 0 || p.average < other.average)
}

func (p pace) slow() bool { return p.average >= dawdling }

// claimSize is how many deliveries to claim for a lane: as many as it can send
// while they are fresh, growing with its streak of accepted attempts.
func (p pace) claimSize(limit int) int {
	size := limit
	switch {
	case p.streak >= 4*limit:
		size = 16 * limit
	case p.streak >= limit:
		size = 4 * limit
	}
	if p.average > 0 {
		size = min(size, int(freshness/2*time.Duration(limit)/p.average))
	}
	return min(max(size, limit), maxClaim)
}

// paces remembers the pace of lanes.
type paces map[int64]pace

func (p paces) note(attempt attempt) {
	if len(p) >= maxKnown {
		clear(p)
	}
	p[attempt.job.lane] = p[attempt.job.lane].after(attempt)
}

// NextDue is when the next delivery is to be sent; zero: never, as things are.
func (s *Sender) NextDue(ctx context.Context) (time.Time, error) {
	at, err := sqldb.Value[int64](ctx, s.db, `SELECT COALESCE(MIN(t.at), 0) FROM (
		SELECT MIN(run_at) AS at FROM delivery_queue WHERE line = 0
		UNION ALL SELECT MIN(run_at) FROM delivery_queue WHERE line = 1) AS t /* every company_id */`)
	if err != nil || at == 0 {
		return time.Time{}, err
	}
	return time.UnixMicro(at), nil
}

// Look finds whether there is anything in the queue, due or not: which of it is
// due is found by leaps from lane to lane.
func (s *Sender) Look() sqldb.Statement {
	return sqldb.Statement{Text: `SELECT 1 FROM delivery_queue /* every company_id */`}
}

const (
	drainPoll = 2 * time.Millisecond
	drainTime = time.Second
)

// AwaitDue waits a while for the senders of all processes to send what is due by
// now. The clock must stand.
func (s *Sender) AwaitDue(ctx context.Context) error {
	s.Wake()
	for began := s.watch.Elapsed(); s.watch.Elapsed()-began < drainTime; {
		next, err := s.NextDue(ctx)
		if err != nil || next.IsZero() || next.After(s.db.Now()) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(drainPoll):
		}
	}
	return nil
}

// guarded gives a call a deadline, and turns its panic into an error.
func guarded[T any](call func(context.Context) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (result T, err error) {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		err = task.Guard(ctx, func() (err error) {
			result, err = call(ctx)
			return err
		})
		return result, err
	}
}
