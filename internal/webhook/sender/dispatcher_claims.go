package sender

import (
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/platform/sqldb"
)

const (
	// maxLanesPerClaim bounds the length of a claiming transaction.
	maxLanesPerClaim = 256
	// shunTime is how long the dispatcher leaves a lane alone after its claim
	// failed while others succeeded.
	shunTime = time.Minute
	// promoteEvery is how often the quickest failing lane goes before the others.
	promoteEvery = 250 * time.Millisecond
)

// Two claims may be on their way at once, so that quick lanes do not wait for
// the claim of others.
const (
	forQuick  = iota // lanes that need more, and quick ones that are wanted
	forOthers        // all others that are wanted
)

// callClaim claims for lanes that need more, and leases lanes that are wanted.
func (d *dispatcher) callClaim(whom int) {
	if d.calls.claiming[whom] || d.now < d.calls.claimAt {
		return
	}
	requests, lanes := d.requests(whom)
	if len(requests) == 0 {
		return
	}
	d.calls.claiming[whom] = true
	askedAt, generation := d.sender.elapsed(), d.sender.Generation()
	claim := func(ctx context.Context) (claimed, error) { return d.store.claimSome(ctx, requests) }
	call(d, claim, func(came claimed, err error) {
		d.calls.claiming[whom] = false
		d.onClaimed(lanes, came.grants, askedAt, generation)
		if err != nil {
			d.calls.claimAt = d.failed(err, &d.calls.claimPause)
		} else {
			d.calls.claimPause = 0
		}
		for lane, err := range came.shunned {
			d.shunned[lane] = d.now + shunTime
			d.log.ErrorContext(d.ctx, "deliveries of a lane cannot be claimed", "lane", lane, "error", err)
		}
	})
}

// claimSome claims, and if that fails tries the lanes one by one: what is in the
// way of one is none of the others' business. A database that is away is in the
// way of all.
func (s store) claimSome(ctx context.Context, requests []request) (came claimed, err error) {
	try := func(requests ...request) error {
		some, err := guarded(func(ctx context.Context) ([]grant, error) { return s.claim(ctx, requests) })(ctx)
		came.grants = append(came.grants, some...)
		return err
	}
	err = try(requests...)
	away := errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrBusy) || errors.Is(err, context.DeadlineExceeded)
	if err == nil || away || len(requests) == 1 {
		return came, err
	}
	shunned := map[int64]error{}
	for _, request := range requests {
		if err := try(request); err != nil {
			shunned[request.lane] = err
		}
	}
	if len(shunned) == len(requests) {
		return came, err // it is not about single lanes
	}
	came.shunned = shunned
	return came, nil
}

// claimed is what a claim brought, and why which lanes could not be claimed.
type claimed struct {
	grants  []grant
	shunned map[int64]error
}

// requests are what to claim now. A lane for which there is no slot waits
// unclaimed: another process may have one.
func (d *dispatcher) requests(whom int) (requests []request, lanes []*lane) {
	classes := []class{quick}
	refills := d.refills
	if whom == forOthers {
		classes, refills = []class{unknown, slow, failing}, nil
	}
	if len(refills) == 0 && !slices.ContainsFunc(classes, func(class class) bool { return len(d.wanted[class]) > 0 }) {
		return nil, nil
	}
	asking := d.newAsking()
	if whom == forQuick {
		d.refills = nil
	}
	for _, refill := range refills {
		size := d.refillOf(refill)
		if refill.wanted = false; size == 0 || !asking.ask(refill, size) {
			d.update(refill)
		}
	}
	for _, class := range classes {
		free := d.freeFor(class)
		if class == failing && free > 0 {
			d.calls.failingAt = d.now + tickEvery/2 // once in a tick, and so in one transaction
			d.promoteQuickest()
		}
		d.wanted[class] = askFrom(d.wanted[class], func(lane *lane) bool {
			size := min(d.paces[lane.id].claimSize(laneLimit), free)
			if size <= 0 || !asking.ask(lane, size) {
				return false
			}
			if class != quick {
				free -= size
			}
			return true
		})
	}
	return asking.requests, asking.lanes
}

// refillOf is how many more deliveries to claim for a lane that is leased. One
// that is not quick gets none while others of its class wait for a lease: it
// gives its own back and waits behind them, or lanes with a backlog would share
// all slots of the class among themselves.
func (d *dispatcher) refillOf(lane *lane) int {
	if class := d.classOf(lane); class != quick && len(d.wanted[class]) > 0 {
		return 0
	}
	return lane.refill(d.paces[lane.id])
}

// promoteQuickest puts the quickest of the failing lanes before the others, now
// and then: a receiver that failed once, among hundreds that always hang, soon
// gets the chance to prove it.
func (d *dispatcher) promoteQuickest() {
	list := d.wanted[failing]
	if len(list) == 0 || d.now < d.calls.promoteAt {
		return
	}
	d.calls.promoteAt = d.now + promoteEvery
	quickest := 0
	for i, lane := range list {
		if d.paces[lane.id].before(d.paces[list[quickest].id]) {
			quickest = i
		}
	}
	first := list[quickest]
	d.wanted[failing] = slices.Insert(slices.Delete(list, quickest, quickest+1), 0, first)
}

// asking collects requests, for no more than may be prefetched.
type asking struct {
	room     int
	requests []request
	lanes    []*lane
}

func (d *dispatcher) newAsking() *asking {
	a := &asking{room: maxReady}
	for _, lane := range d.lanes {
		a.room -= len(lane.ready)
	}
	return a
}

func (a *asking) ask(lane *lane, size int) bool {
	if a.room < laneLimit || len(a.lanes) >= maxLanesPerClaim {
		return false
	}
	size = min(size, a.room)
	a.room -= size
	lane.more, lane.wanted = false, false
	lane.refilling = lane.state == sending
	lane.state = lane.state.on(asked)
	a.requests = append(a.requests, request{lane: lane.id, size: size, token: lane.token, open: lane.openIDs()})
	a.lanes = append(a.lanes, lane)
	return true
}

// freeFor is for how many deliveries of a class there will be slots. An unknown
// receiver gets one request, however much was claimed for it.
func (d *dispatcher) freeFor(class class) int {
	if class == quick {
		return quickSlots
	}
	if class == failing && d.now < d.calls.failingAt {
		return 0
	}
	free, queue := d.slots.free(class, d.now), d.queues[slices.Index(classOfQueue[:], class)]
	if class == unknown {
		return laneLimit * (free - len(queue))
	}
	for _, lane := range queue {
		free -= len(lane.ready)
	}
	return free
}

// askFrom asks for the lanes of a list as long as ask does, and returns the rest.
func askFrom(list []*lane, ask func(*lane) bool) []*lane {
	for i, lane := range list {
		if lane.state == idle && lane.wanted && !ask(lane) {
			return list[i:]
		}
	}
	return nil
}

func (d *dispatcher) onClaimed(lanes []*lane, grants []grant, askedAt time.Duration, generation int64) {
	granted := make(map[int64]grant, len(grants))
	for _, grant := range grants {
		grant.askedAt, grant.generation = askedAt, generation
		granted[grant.lane] = grant
		d.claims += len(grant.jobs)
	}
	for _, lane := range lanes {
		lane.refilling = false
		grant, ok := granted[lane.id]
		switch {
		case ok && lane.state == claiming:
			lane.ctx, lane.end = context.WithCancel(d.ctx)
			lane.open = make(map[int64]struct{}, len(grant.jobs))
			lane.grant(grant)
		case ok:
			lane.grant(grant)
		default:
			lane.state = lane.state.on(denied)
		}
		if lane.state != sending {
			lane.drop()
		}
		if d.stopping {
			lane.stop()
		}
		d.update(lane)
	}
}
