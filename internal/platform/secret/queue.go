package secret

import (
	"context"
	"sync/atomic"
	"time"

	"carteira/internal/platform/fault"
)

const (
	// HashMemory is what one password hash takes while it is computed.
	HashMemory = 19 << 20
	// mostSlots is how many hashes are computed at once where memory allows it.
	mostSlots = 4
	// waitingPerSlot bounds how many callers wait, and maxWait how long: one who
	// is refused tries again, one who waits in vain has cost a connection.
	waitingPerSlot = 32
	maxWait        = 20 * time.Second
)

// ErrBusy refuses a password that would have to wait too long for its hash.
var ErrBusy = fault.Unavailable("too many people are signing in at the moment; try again in a few seconds", nil)

// queue bounds the hashes computed at once, and those that wait for it: people
// wait for one another rather than for more memory.
type queue struct {
	slots   chan struct{}
	places  chan struct{} // of those who have a slot or wait for one
	maxWait time.Duration
}

func newQueue(slots int) *queue {
	return &queue{
		slots: make(chan struct{}, slots), places: make(chan struct{}, slots*(1+waitingPerSlot)), maxWait: maxWait,
	}
}

var hashing atomic.Pointer[queue]

func init() { hashing.Store(newQueue(mostSlots)) } //nolint:gochecknoinits // commands hash without having set a limit

// LimitHashing lets the process compute as many hashes at once as fit into a
// quarter of its memory, at least one and at most four. It is called before
// the first hash.
func LimitHashing(memory int64) (slots int) {
	slots = int(min(max(memory/4/HashMemory, 1), mostSlots))
	hashing.Store(newQueue(slots))
	return slots
}

// HashingIsFull tells whether a hash would be refused now, for those who have
// something to do before they ask for one.
func HashingIsFull() bool {
	q := hashing.Load()
	return len(q.places) == cap(q.places)
}

// enter waits for a slot; leave gives it to the next.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	select {
	case q.places <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	late := time.NewTimer(q.maxWait)
	defer late.Stop()
	select {
	case q.slots <- struct{}{}:
		return func() { <-q.slots; <-q.places }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = ErrBusy
	}
	<-q.places
	return nil, err
}
