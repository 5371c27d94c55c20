package secret

import (
	"context"
	"slices"
	"sync"
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
var ErrBusy = fault.Unavailable(
	"too many people are signing in at the moment; try again in a few seconds",
	nil,
)

// Lane is one of the queues in which callers wait for a hash. A slot that gets
// free goes to the first of the earliest lane, so that a crowd of strangers does
// not keep those who have been here before from signing in.
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
	places  int // of each lane: those who have a slot or wait for one

	mu       sync.Mutex
	busy     int
	running  [lanes]int // slots in use, by lane
	taken    [lanes]int // places in use, by lane
	networks map[string]int
	waiting  [lanes][]chan struct{} // closed when its caller has a slot
}

func newQueue(slots int) *queue {
	return &queue{
		slots:    slots,
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
	lane    Lane
	network string // whose callers are counted together; "": they are not
	queue   *queue // set once the caller has a place
}

type ticketKey struct{}

func ticketOf(ctx context.Context) ticket {
	t, _ := ctx.Value(ticketKey{}).(ticket)
	return t
}

// InLane has hashes under the context it returns wait in a lane, for a caller
// of a network. Other hashes wait in LaneKnown.
func InLane(ctx context.Context, lane Lane, network string) context.Context {
	return context.WithValue(ctx, ticketKey{}, ticket{lane: lane, network: network})
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
	if q.taken[ticket.lane] >= q.places || ticket.network != "" && q.networks[ticket.network] >= perNetwork {
		return nil, ErrBusy
	}
	q.taken[ticket.lane]++
	if ticket.network != "" {
		q.networks[ticket.network]++
	}
	return func() { q.giveBack(ticket) }, nil
}

func (q *queue) giveBack(ticket ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken[ticket.lane]--
	if ticket.network == "" {
		return
	}
	if q.networks[ticket.network]--; q.networks[ticket.network] == 0 {
		delete(q.networks, ticket.network)
	}
}

// enter waits for a slot; leave gives it to the next.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	ticket, giveUp := ticketOf(ctx), func() {}
	if ticket.queue != q {
		if giveUp, err = q.take(ticket); err != nil {
			return nil, err
		}
	}
	if err := q.wait(ctx, ticket.lane); err != nil {
		giveUp()
		return nil, err
	}
	return func() { q.finish(ticket.lane); giveUp() }, nil
}

func (q *queue) wait(ctx context.Context, lane Lane) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	turn := make(chan struct{})
	q.mu.Lock()
	q.waiting[lane] = append(q.waiting[lane], turn)
	q.dispatch()
	q.mu.Unlock()
	late := time.NewTimer(q.maxWait)
	defer late.Stop()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		q.abandon(lane, turn)
		return ctx.Err()
	case <-late.C:
		q.abandon(lane, turn)
		return ErrBusy
	}
}

// abandon leaves the lane, or gives back the slot that came at the same moment.
func (q *queue) abandon(lane Lane, turn chan struct{}) {
	q.mu.Lock()
	i := slices.Index(q.waiting[lane], turn)
	if i >= 0 {
		q.waiting[lane] = slices.Delete(q.waiting[lane], i, i+1)
	}
	q.mu.Unlock()
	if i < 0 {
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
		for q.busy < q.slots && len(q.waiting[lane]) > 0 && (lane != LaneStranger || q.running[lane] < max(1, q.slots/2)) {
			close(q.waiting[lane][0])
			q.waiting[lane] = q.waiting[lane][1:]
			q.busy++
			q.running[lane]++
		}
	}
}
