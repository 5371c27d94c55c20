package sender

import "time"

const (
	// dawdling is from when on a request is slow.
	dawdling = 500 * time.Millisecond
	// maxClaim is how many deliveries of one lane are claimed at once.
	maxClaim = 16 * laneLimit
	// maxKnown bounds the lanes whose pace is remembered.
	maxKnown = 10_000
)

// pace is what is known of how a receiver answers.
type pace struct {
	average time.Duration // of the time used by a request; 0: nothing is known
	streak  int           // accepted attempts in a row
	failing bool          // the last attempt failed
}

// after returns the pace after one more request. The average follows the last
// few requests. An answer that was cut short counts as slow: its connection
// cannot be used again, and the next one costs a handshake.
func (p pace) after(attempt attempt) pace {
	used := max(attempt.outcome.response.Duration, time.Microsecond)
	if attempt.outcome.response.Truncated {
		used = max(used, 2*dawdling)
	}
	if p.average == 0 {
		p.average = used
	}
	p.average += (used - p.average) / 4
	p.failing = attempt.failed()
	p.streak++
	if attempt.outcome.verdict != accepted {
		p.streak = 0
	}
	return p
}

// dawdle takes note of a request that has become slow and not ended yet.
func (p paces) dawdle(lane int64) {
	known := p[lane]
	known.average = max(known.average, dawdling)
	p[lane] = known
}

// before says whether a slow receiver is known to be less slow than another
// one: it did not fail, or used less time.
func (p pace) before(other pace) bool {
	switch {
	case p.average == 0:
		return false
	case p.failing != other.failing:
		return !p.failing
	}
	return other.average == 0 || p.average < other.average
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
