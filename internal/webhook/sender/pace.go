package sender

import "time"

const (
	// dawdling is from when on a request is slow, and hanging from when on it is
	// taken for one that will get no answer.
	dawdling = 500 * time.Millisecond
	hanging  = 5 * time.Second
	// maxClaim is how many deliveries of one lane are claimed at once.
	maxClaim = 16 * laneLimit
	// maxKnown bounds the lanes whose pace is remembered.
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

// dawdle takes note of a request that takes as long as a class does, and has not
// ended yet.
func (p paces) dawdle(lane int64, as class) {
	known := p[lane]
	known.average = max(known.average, dawdling)
	known.failing = known.failing || as == failing
	p[lane] = known
}

// before says whether a receiver is known to use less time than another one.
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
