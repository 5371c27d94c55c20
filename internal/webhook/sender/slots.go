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
	// slowHold is how long a slow slot is taken at least, and failedTrial how long
	// that of a trial that failed. Receivers that fail at once, or whose
	// connections cannot be kept, cost processor time, and that is shared like
	// slots are.
	slowHold    = 2 * time.Second
	failedTrial = dawdling
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
func classOf(p pace, failing bool) class {
	switch {
	case failing || p.failing || p.slow():
		return slow
	case p.average == 0:
		return unknown
	}
	return quick
}

// slots shares what a process can do at once by the time that receivers use:
// a request takes a quick slot for half a second at most, and then a slow one.
type slots struct {
	quick int // taken, trials among them
	trial int
	slow  int
	// Until when slots stay taken though their request has ended.
	held       []time.Duration // slow ones
	heldTrials []time.Duration
}

// admits says whether a request of a class may begin.
func (s *slots) admits(c class, now time.Duration) bool {
	switch c {
	case quick:
		return s.quick < quickSlots
	case unknown:
		s.heldTrials = stillHeld(s.heldTrials, now)
		return s.trial+len(s.heldTrials) < trialSlots && s.quick < quickSlots && s.slow < maxSlow
	default:
		return s.freeSlow(now) > 0
	}
}

// freeSlow is how many requests to slow receivers may begin.
func (s *slots) freeSlow(now time.Duration) int {
	s.held = stillHeld(s.held, now)
	return max(0, slowSlots-s.slow-len(s.held))
}

func stillHeld(held []time.Duration, now time.Duration) []time.Duration {
	for len(held) > 0 && held[0] <= now {
		held = held[1:]
	}
	return held
}

// take counts a request that begins.
func (s *slots) take(f *flight) {
	f.slow = f.class == slow
	s.count(f, 1)
}

// dawdle moves a request that has become slow out of its quick slot.
func (s *slots) dawdle(f *flight) {
	s.count(f, -1)
	f.slow = true
	s.count(f, 1)
}

// giveBack frees the slot of a request that has ended, well or not.
func (s *slots) giveBack(f *flight, now time.Duration, well bool) {
	s.count(f, -1)
	switch {
	case f.class == slow && f.startedAt+slowHold > now:
		s.held = append(s.held, f.startedAt+slowHold)
	case f.class == unknown && !well && f.startedAt+failedTrial > now:
		s.heldTrials = append(s.heldTrials, f.startedAt+failedTrial)
	}
}

func (s *slots) count(f *flight, n int) {
	switch {
	case f.slow:
		s.slow += n
	case f.class == unknown:
		s.trial += n
		s.quick += n
	default:
		s.quick += n
	}
}
