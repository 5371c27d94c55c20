package secret

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/stopwatch"
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

// Lane is one of the queues in which callers wait for a hash. A free slot goes to
// the earliest lane, so that a crowd of strangers does not keep known users from
// signing in. In the other lanes callers are served by how few hashes their
// network and subject had lately, the fewest first, and among equals the last to
// come. When a queue is full, the one with the most hashes, and among equals the
// one that has waited longest, is dropped. So a flood, from any network or for
// any account, waits most of the time, and a person who comes once does not wait
// behind it.
type Lane int

// The lanes, the earliest first.
const (
	LaneKnown    Lane = iota // a device, a session or a link that was checked; the command line
	LaneSignIn               // a password that anybody may have sent
	LaneStranger             // a password for an account that does not exist yet
	lanes        = iota
)

// perNetwork bounds how many callers of one network have a place: as many as an
// office has people, and too few to fill the queue of a larger machine.
const perNetwork = waitingPerSlot

// queue bounds the hashes computed at once, and those that wait for it: people
// wait for one another rather than for more memory.
type queue struct {
	maxWait time.Duration
	slots   int
	crowd   int // slots for unknown callers: a core is left to all other work
	places  int // of each lane: those who have a slot or wait for one

	mu       sync.Mutex
	busy     int
	running  [lanes]int // slots in use, by lane
	taken    [lanes]int // places in use, by lane
	networks map[string]int
	waiting  [lanes][]*waiter  // the oldest first
	recent   recent            // hashes of unknown callers
	outcomes [classes]outcomes // how they ended, by how many their callers had had
}

// waiter is a caller that waits for a slot.
type waiter struct {
	from Caller
	turn chan error // gets nil with a slot, or why there is none
}

func newQueue(slots int) *queue {
	return &queue{
		slots:    slots,
		crowd:    max(1, min(slots, runtime.GOMAXPROCS(0))-1),
		places:   slots * (1 + waitingPerSlot),
		maxWait:  maxWait,
		networks: map[string]int{},
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

// ticket is where a caller waits.
type ticket struct {
	lane  Lane
	from  Caller
	queue *queue // set once the caller has a place
}

// Caller is by what callers are counted together; what is empty is not counted.
type Caller struct {
	Network string // they come from
	Subject string // the account that they try
}

type ticketKey struct{}

func ticketOf(ctx context.Context) ticket {
	t, _ := ctx.Value(ticketKey{}).(ticket)
	return t
}

// InLane has hashes under the context it returns wait in a lane. Other hashes
// wait in LaneKnown.
func InLane(ctx context.Context, lane Lane, from Caller) context.Context {
	return context.WithValue(ctx, ticketKey{}, ticket{lane: lane, from: from})
}

// TakePlace takes a place among those who may hash, for those who have
// something to do before that: hashes under the context it returns need no
// other. It fails with ErrBusy. leave must be called at the end.
func TakePlace(ctx context.Context) (placed context.Context, leave func(), err error) {
	queue, ticket := hashing.Load(), ticketOf(ctx)
	if leave, err = queue.take(ticket); err != nil {
		return ctx, nil, err
	}
	ticket.queue = queue
	return context.WithValue(ctx, ticketKey{}, ticket), leave, nil
}

func (q *queue) take(ticket ticket) (leave func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	crowded := ticket.from.Network != "" && q.networks[ticket.from.Network] >= perNetwork
	if (crowded || q.taken[ticket.lane] >= q.places) && !q.makePlace(ticket, crowded) {
		if ticket.lane == LaneSignIn {
			q.outcomes[q.recent.class(ticket.from)].add(outcome{err: ErrBusy})
		}
		return nil, ErrBusy
	}
	q.taken[ticket.lane]++
	if ticket.from.Network != "" {
		q.networks[ticket.from.Network]++
	}
	return func() { q.giveBack(ticket) }, nil
}

// makePlace refuses the caller of a lane that had the most hashes lately, of the
// same network if that has too many, unless that is the new one. It leaves when it
// learns of that.
func (q *queue) makePlace(ticket ticket, ofNetwork bool) bool {
	if ticket.lane == LaneKnown {
		return false
	}
	waiting, at, most := q.waiting[ticket.lane], -1, -1
	for i, waiter := range waiting {
		if ofNetwork && waiter.from.Network != ticket.from.Network {
			continue
		}
		if n := q.recent.of(waiter.from); n > most {
			at, most = i, n
		}
	}
	if at < 0 || q.recent.of(ticket.from) > most {
		return false
	}
	waiting[at].turn <- ErrBusy
	q.waiting[ticket.lane] = slices.Delete(waiting, at, at+1)
	return true
}

func (q *queue) giveBack(ticket ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken[ticket.lane]--
	if ticket.from.Network == "" {
		return
	}
	if q.networks[ticket.from.Network]--; q.networks[ticket.from.Network] == 0 {
		delete(q.networks, ticket.from.Network)
	}
}

// enter waits for a slot; leave gives it to the next.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	ticket, giveUp, began := ticketOf(ctx), func() {}, stopwatch.Start()
	if ticket.queue != q {
		if giveUp, err = q.take(ticket); err != nil {
			return nil, err
		}
	}
	class := q.class(ticket.from)
	if err := q.wait(ctx, ticket); err != nil {
		q.end(ticket.lane, class, outcome{began.Elapsed(), err})
		giveUp()
		return nil, err
	}
	return func() {
		q.end(ticket.lane, class, outcome{took: began.Elapsed()})
		q.finish(ticket.lane)
		giveUp()
	}, nil
}

// end remembers how the hash of an unknown caller ended.
func (q *queue) end(lane Lane, class int, how outcome) {
	if lane != LaneSignIn {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.outcomes[class].add(how)
}

func (q *queue) class(from Caller) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.recent.class(from)
}

func (q *queue) wait(ctx context.Context, ticket ticket) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	waiter := &waiter{ticket.from, make(chan error, 1)}
	q.mu.Lock()
	q.waiting[ticket.lane] = append(q.waiting[ticket.lane], waiter)
	q.dispatch()
	q.mu.Unlock()
	late := time.NewTimer(q.maxWait)
	defer late.Stop()
	select {
	case err := <-waiter.turn:
		return err
	case <-ctx.Done():
		q.abandon(ticket.lane, waiter)
		return ctx.Err()
	case <-late.C:
		q.abandon(ticket.lane, waiter)
		return ErrBusy
	}
}

// abandon leaves the lane, or gives back the slot that came at the same moment.
func (q *queue) abandon(lane Lane, waiter *waiter) {
	q.mu.Lock()
	i := slices.Index(q.waiting[lane], waiter)
	if i >= 0 {
		q.waiting[lane] = slices.Delete(q.waiting[lane], i, i+1)
	}
	q.mu.Unlock()
	if i < 0 && <-waiter.turn == nil {
		q.finish(lane)
	}
}

func (q *queue) finish(lane Lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
	q.running[lane]--
	q.dispatch()
}

// dispatch gives free slots to those who wait. The caller holds the lock.
func (q *queue) dispatch() {
	for lane := range Lane(lanes) {
		for len(q.waiting[lane]) > 0 && q.free(lane) {
			q.next(lane).turn <- nil
			q.busy++
			q.running[lane]++
		}
	}
}

// free reports whether there is a slot for a lane.
func (q *queue) free(lane Lane) bool {
	switch {
	case q.busy >= q.slots:
		return false
	case lane == LaneKnown:
		return true
	case lane == LaneStranger && q.running[lane] >= max(1, q.slots/2):
		return false
	}
	return q.running[LaneSignIn]+q.running[LaneStranger] < q.crowd
}

// next removes the next caller from a lane.
func (q *queue) next(lane Lane) *waiter {
	at := 0
	if lane != LaneKnown {
		at = q.fewest(lane)
		q.recent.add(q.waiting[lane][at].from)
	}
	waiter := q.waiting[lane][at]
	q.waiting[lane] = slices.Delete(q.waiting[lane], at, at+1)
	return waiter
}

// fewest finds the caller of a lane who had the fewest hashes lately, the last of
// them to come.
func (q *queue) fewest(lane Lane) (at int) {
	least := math.MaxInt
	for i, waiter := range slices.Backward(q.waiting[lane]) {
		if n := q.recent.of(waiter.from); n < least {
			at, least = i, n
		}
	}
	return at
}
