package secret

import (
	"time"

	"carteira/internal/platform/stopwatch"
)

// recentTime is for how long a hash counts: once or twice as long.
const recentTime = time.Minute

// recent counts the hashes of the last minute or two, by network and by subject.
// It has as many entries as hashes can be computed in that time.
type recent struct {
	began        stopwatch.Watch
	present, old map[Caller]int
}

// of is how many hashes the network and the subject of a caller had together.
func (r *recent) of(from Caller) int {
	r.turn()
	n := 0
	for _, key := range from.keys() {
		if key != (Caller{}) {
			n += r.present[key] + r.old[key]
		}
	}
	return n
}

func (r *recent) add(from Caller) {
	r.turn()
	for _, key := range from.keys() {
		if key != (Caller{}) {
			r.present[key]++
		}
	}
}

// turn forgets the counts of the minute before the last.
func (r *recent) turn() {
	if r.present == nil || r.began.Elapsed() > recentTime {
		r.old, r.present, r.began = r.present, map[Caller]int{}, stopwatch.Start()
	}
}

// keys are what is counted by itself: the network and the subject. The zero
// Caller stands for one that is not known.
func (c Caller) keys() [2]Caller {
	return [2]Caller{{Network: c.Network}, {Subject: c.Subject}}
}
