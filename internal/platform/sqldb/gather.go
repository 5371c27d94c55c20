package sqldb

import "time"

// gathered is what the group before had: callers who were answered together ask
// again together, but one of them is first. Were that one committed alone, every
// second commit would serve a single turn, and write as many pages for it as for
// all others.
type gathered struct {
	turns  int
	commit time.Duration // what a commit of one's own would cost
}

// maxPatience bounds how long a group waits where a flush takes very long.
const maxPatience = 2 * time.Millisecond

// patience is how long a group may wait for others in all: not longer than the
// commit that it spares, and not at all where nobody shared the last one.
func (l gathered) patience() time.Duration {
	if l.turns < 2 {
		return 0
	}
	return min(l.commit, maxPatience)
}

// next is the turn that comes next; nil: nobody waits. Where more are expected
// it waits for them, and takes that time off patience.
func (g *group) next(expected bool, patience *time.Duration) *turn {
	select {
	case turn := <-g.waiting:
		return turn
	default:
	}
	if !expected || *patience <= 0 {
		return nil
	}
	began := time.Now()
	defer func() { *patience -= time.Since(began) }()
	enough := time.NewTimer(*patience)
	defer enough.Stop()
	select {
	case turn := <-g.waiting:
		return turn
	case <-enough.C:
	case <-g.quit:
	}
	return nil
}
