package sender

import "time"

const (
	// quickSlots is how many requests a process makes at once that have not
	// proved slow; trialSlots is how many of them receivers get of which nothing
	// is known, so that a receiver known to answer quickly always finds one.
	quickSlots = 128
	trialSlots = 32
	// slowSlots is how many requests to slow or failing receivers are begun at
	// once, and maxSlow how many may have proved slow before receivers of which
	// nothing is known have to wait.
	slowSlots = 64
	maxSlow   = 256
	// slowEvery is the time between two requests to slow or failing receivers,
	// and slowBurst how many may make up for time in which there was none. Those
	// that fail at once, or whose connections cannot be kept, cost processor
	// time, and that is shared like slots are. A trial that
	// failed or dawdles is charged too, and trials wait while more than trialDebt
	// is owed.
	slowEvery = time.Second / 32
	slowBurst = 4
	trialDebt = time.Second
	// maxUnrecorded bounds the attempts of a process that have begun and are not
	// recorded yet.
	maxUnrecorded = 4 * quickSlots
)

// class is how a lane shares the slots.
type class uint8

const (
	quick   class = iota // answers quickly
	unknown              // nothing is known of the receiver
	slow                 // slow, or failing
)

// classOf says how a lane shares the slots.
func classOf(pace pace, failing bool) class {
	switch {
	case failing || pace.failing || pace.slow():
		return slow
	case pace.average == 0:
		return unknown
	}
	return quick
}

// slots shares what a process can do at once by the time that receivers use:
// a request takes a quick slot for half a second at most, and then a slow one.
type slots struct {
	quick  int // taken, trials among them
	trial  int
	slow   int
	paidTo time.Duration // when the requests to slow receivers so far are paid for
}

// admits says whether a request of a class may begin.
func (s *slots) admits(class class, now time.Duration) bool {
	switch class {
	case quick:
		return s.quick < quickSlots
	case unknown:
		return s.trial < trialSlots &&
			s.quick < quickSlots &&
			s.slow < maxSlow &&
			s.paidTo <= now+trialDebt
	default:
		return s.freeSlow(now) > 0
	}
}

// freeSlow is how many requests to slow receivers may begin.
func (s *slots) freeSlow(now time.Duration) int {
	paid := min(slowBurst, int((now+slowBurst*slowEvery-s.paidTo)/slowEvery))
	return max(0, min(slowSlots-s.slow, paid))
}

func (s *slots) charge(now time.Duration) {
	s.paidTo = max(s.paidTo, now) + slowEvery
}

// take counts a request that begins.
func (s *slots) take(flight *flight) {
	flight.slow = flight.class == slow
	s.count(flight, 1)
	if flight.slow {
		s.charge(flight.startedAt)
	}
}

// dawdle moves a request that has become slow out of its quick slot.
func (s *slots) dawdle(flight *flight, now time.Duration) {
	s.count(flight, -1)
	flight.slow = true
	s.count(flight, 1)
	if flight.class == unknown {
		s.charge(now)
	}
}

// giveBack frees the slot of a request that has ended, well or not.
func (s *slots) giveBack(flight *flight, now time.Duration, well bool) {
	s.count(flight, -1)
	if flight.class == unknown && !well && !flight.slow {
		s.charge(now)
	}
}

func (s *slots) count(flight *flight, n int) {
	switch {
	case flight.slow:
		s.slow += n
	case flight.class == unknown:
		s.trial += n
		s.quick += n
	default:
		s.quick += n
	}
}
