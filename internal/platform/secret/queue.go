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

type placeKey struct{}

// TakePlace takes a place among those who may hash, for those who have
// something to do before that: hashes under the context it returns need no
// other. It fails with ErrBusy. leave must be called at the end.
func TakePlace(ctx context.Context) (placed context.Context, leave func(), err error) {
	q := hashing.Load()
	if leave, err = q.take(); err != nil {
		return ctx, nil, err
	}
	return context.WithValue(ctx, placeKey{}, q), leave, nil
}

func (q *queue) take() (leave func(), err error) {
	select {
	case q.places <- struct{}{}:
		return func() { <-q.places }, nil
	default:
		return nil, ErrBusy
	}
}

// enter waits for a slot; leave gives it to the next.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	giveUp := func() {}
	if ctx.Value(placeKey{}) != q {
		if giveUp, err = q.take(); err != nil {
			return nil, err
		}
	}
	late := time.NewTimer(q.maxWait)
	defer late.Stop()
	select {
	case q.slots <- struct{}{}:
		return func() { <-q.slots; giveUp() }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = ErrBusy
	}
	giveUp()
	return nil, err
}
