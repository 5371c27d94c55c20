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
		n += r.present[key] + r.old[key]
	}
	return n
}

func (r *recent) add(from Caller) {
	r.turn()
	for _, key := range from.keys() {
		r.present[key]++
	}
}

// turn forgets the counts of the minute before the last.
func (r *recent) turn() {
	if r.present == nil || r.began.Elapsed() > recentTime {
		r.old, r.present, r.began = r.present, map[Caller]int{}, stopwatch.Start()
	}
}

// keys are what is counted by itself.
func (c Caller) keys() (keys []Caller) {
	if c.Network != "" {
		keys = append(keys, Caller{Network: c.Network})
	}
	if c.Subject != "" {
		keys = append(keys, Caller{Subject: c.Subject})
	}
	return keys
}
