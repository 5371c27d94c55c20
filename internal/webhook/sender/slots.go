package sender

import "time"

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
	// maxHanging is how many requests may hang before receivers of which nothing
	// is known have to wait.
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
