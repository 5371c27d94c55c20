package sender

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	// maxReady bounds what a process has prefetched.
	maxReady = 16 * quickSlots
	// pollEvery is how often the dispatcher looks for due lanes when no lookout
	// does it: for retries, and for what other processes have queued.
	pollEvery = time.Second
	// tickEvery is how often it looks at its own clock.
	tickEvery = 100 * time.Millisecond
)

// dispatcher owns the state of all lanes. Only its goroutine, which is that of
// run, touches the fields above the channels; all others speak to it through
// these.
type dispatcher struct {
	sender   *Sender
	store    store
	log      *slog.Logger
	ctx      context.Context // of all that the run has begun
	cancel   context.CancelFunc
	lanes    map[int64]*lane
	paces    paces
	slots    slots
	queues   [queues][]*lane  // lanes that can send: see queueOf
	wanted   [classes][]*lane // lanes to be leased, by class
	refills  []*lane          // leased lanes that need more
	gathered []attempt        // to be recorded by themselves, at the next tick
	freed    []int64          // lanes given back, in which something may have become due meanwhile
	releases []lease          // to be given back
	shunned  map[int64]time.Duration
	flights  map[*flight]struct{}
	launch   func(*flight) // fly, but in tests
	begun    int           // attempts that have begun and are not recorded
	claims   int           // deliveries claimed so far
	once     bool
	stopping bool
	now      time.Duration // when the dispatcher last looked at its clock
	calls    calls

	finished chan *flight
	recorded chan []report
	replies  chan func() // what a call of the store came to
	recorder *recorder
	singles  chan struct{}
	done     chan struct{} // closed when the dispatcher is gone
	running  sync.WaitGroup
}

func newDispatcher(sender *Sender) *dispatcher {
	d := &dispatcher{
		sender:   sender,
		store:    sender.store,
		log:      sender.log,
		lanes:    map[int64]*lane{},
		paces:    paces{},
		shunned:  map[int64]time.Duration{},
		flights:  map[*flight]struct{}{},
		now:      sender.elapsed(),
		finished: make(chan *flight, quickSlots),
		recorded: make(chan []report, maxSingles),
		replies:  make(chan func(), 8),
		singles:  make(chan struct{}, maxSingles),
		done:     make(chan struct{}),
	}
	d.launch = d.fly
	d.recorder = newRecorder(sender.store, d.recorded, d.done)
	return d
}

// run is the dispatcher's loop. It ends when ctx has ended, or a single round
// is over, and nothing is in flight.
func (d *dispatcher) run(ctx context.Context) error {
	d.ctx, d.cancel = context.WithCancel(context.WithoutCancel(ctx))
	d.running.Go(func() { d.recorder.run(d.ctx) })
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	pace := tickEvery
	stop, wake, look := ctx.Done(), d.sender.wake, d.sender.look
	if d.once {
		wake, look = nil, nil
	}
	for d.advance(); !d.over(); d.advance() {
		if rest := d.rest(); rest != pace {
			pace = rest
			tick.Reset(pace)
		}
		select {
		case <-stop:
			stop = nil
			d.stop()
		case lanes := <-wake:
			d.wantAll(lanes)
		case <-look:
			d.calls.lookAt = 0
		case flight := <-d.finished:
			d.onFinished(flight)
		case reports := <-d.recorded:
			d.onRecorded(reports)
		case reply := <-d.replies:
			reply()
		case <-tick.C:
			d.onTick()
		}
	}
	return d.calls.failure
}

// rest is how long the dispatcher may sleep. With nothing in hand only the next
// look is due: an idle server need not wake ten times a second.
func (d *dispatcher) rest() time.Duration {
	busy := len(d.lanes) + len(d.gathered) + len(d.freed) + len(d.releases) + len(d.flights) + d.calls.pending
	if d.once || d.stopping || busy > 0 {
		return tickEvery
	}
	return max(tickEvery, d.calls.lookAt-d.now)
}

// over says that there is nothing to do any more.
func (d *dispatcher) over() bool {
	ended := d.stopping || d.once && d.calls.looked
	return ended && len(d.lanes) == 0 && d.calls.pending == 0
}

// advance takes in what else has come, and begins what can begin.
func (d *dispatcher) advance() {
	for len(d.finished) > 0 {
		d.onFinished(<-d.finished)
	}
	d.now = d.sender.elapsed()
	d.dispatch()
	d.callStore()
}

// close ends all goroutines of the dispatcher, also after a panic.
func (d *dispatcher) close() {
	if d.cancel != nil {
		d.cancel()
	}
	close(d.done)
	close(d.recorder.in)
	d.running.Wait()
}

// stop ends the sending: what is in flight is finished and recorded.
func (d *dispatcher) stop() {
	d.stopping, d.refills = true, nil
	d.recordGathered()
	for _, lane := range d.lanes {
		lane.wanted = false
		if lane.state == idle {
			d.forget(lane)
			continue
		}
		lane.stop()
		d.update(lane)
	}
}

// The queues of lanes that can send, in the order in which they are served.
const (
	firstQueue   = iota // of quick lanes, with a first attempt next
	retryQueue          // of quick lanes, with a retry next
	unknownQueue        // of lanes with unknown receivers
	slowQueue
	failingQueue
	queues
)

func (d *dispatcher) classOf(lane *lane) class {
	return classOf(d.paces[lane.id], lane.limit == failingLaneLimit)
}

func (d *dispatcher) queueOf(lane *lane) int {
	class := d.classOf(lane)
	if class == quick {
		return firstQueue + lineOf(lane.ready[0].step)
	}
	return slices.Index(classOfQueue[:], class)
}

var classOfQueue = [queues]class{quick, quick, unknown, slow, failing}

// dispatch begins requests as long as there are slots. The lanes of a queue take
// turns, one delivery each.
func (d *dispatcher) dispatch() {
	for at := range d.queues {
		for len(d.queues[at]) > 0 && d.begun < maxUnrecorded && d.slots.free(classOfQueue[at], d.now) > 0 {
			lane := d.queues[at][0]
			d.queues[at] = d.queues[at][1:]
			lane.queued = false
			lane.dropStale(d.now, d.sender.Generation())
			if d.canSend(lane) && d.queueOf(lane) == at {
				d.begin(lane)
			}
			d.update(lane)
		}
	}
}

// canSend reports whether a lane may make a request now. A receiver gets one
// at a time until it has answered.
func (d *dispatcher) canSend(lane *lane) bool {
	if !lane.runnable() || lane.inFlight == 0 {
		return lane.runnable()
	}
	class := d.classOf(lane)
	return class == quick || class == slow
}

// begin makes a request for the next delivery of a lane.
func (d *dispatcher) begin(lane *lane) {
	f := &flight{lane: lane, job: lane.next(), ctx: lane.ctx, startedAt: d.now, class: d.classOf(lane)}
	d.sender.metrics.lag.Observe((f.job.waited + d.now - f.job.claimedAt).Seconds())
	d.begun++
	d.slots.take(f)
	d.flights[f] = struct{}{}
	d.launch(f)
}

// onFinished takes in the end of a request.
func (d *dispatcher) onFinished(flight *flight) {
	delete(d.flights, flight)
	d.slots.giveBack(flight, d.now, flight.outcome.verdict == accepted && !flight.outcome.response.Truncated)
	lane, a := flight.lane, attempt{flight.job, flight.outcome}
	if flight.ctx.Err() != nil {
		lane.cutOff(flight.job.id)
		d.begun--
		d.running.Go(func() { d.logAttempt(report{attempt: a}) })
		d.update(lane)
		return
	}
	if a.outcome.verdict == accepted || a.failed() {
		d.paces.note(a)
	}
	if lane.finish(a) {
		d.recorder.in <- a
	}
	d.update(lane)
}

// update draws the consequences of a change in a lane.
func (d *dispatcher) update(lane *lane) {
	if attempt, ok := lane.nextHeld(); ok {
		d.recordAlone(attempt)
	}
	if !lane.wanted && !d.stopping && !d.once && d.refillOf(lane) > 0 {
		lane.wanted = true
		d.refills = append(d.refills, lane)
	}
	before := lane.state
	lane.settle()
	switch {
	case lane.state == releasing && before != releasing:
		d.releases = append(d.releases, lease{lane.id, lane.token})
	case lane.state == idle && !lane.wanted:
		d.forget(lane)
	case d.canSend(lane) && !lane.queued:
		lane.queued = true
		at := d.queueOf(lane)
		d.queues[at] = append(d.queues[at], lane)
	}
}

// forget lets go of a lane that is idle.
func (d *dispatcher) forget(lane *lane) {
	delete(d.lanes, lane.id)
	if lane.end != nil {
		lane.end()
	}
	switch {
	case d.stopping || d.once:
	case lane.more:
		d.want(lane.id, lane.limit == failingLaneLimit)
	case lane.token != "":
		d.freed = append(d.freed, lane.id)
	}
}

func (d *dispatcher) wantAll(lanes []int64) {
	for _, id := range lanes {
		d.want(id, false)
	}
}

// want asks for a lane in which something is due. One that this process has is
// claimed again when what it has is sent.
func (d *dispatcher) want(id int64, failing bool) {
	if d.stopping || d.shunned[id] > d.now {
		return
	}
	if lane := d.lanes[id]; lane != nil {
		lane.more = true
		d.update(lane)
		return
	}
	l := &lane{id: id, wanted: true}
	d.lanes[id] = l
	at := classOf(d.paces[id], failing)
	d.wanted[at] = append(d.wanted[at], l)
}

// onTick looks after what only time changes.
func (d *dispatcher) onTick() {
	d.recordGathered()
	for flight := range d.flights {
		if to := flight.slotAfter(d.now - flight.startedAt); to != flight.slot {
			d.slots.move(flight, to, d.now)
			d.paces.dawdle(flight.lane.id, to)
			d.update(flight.lane)
		}
	}
	for _, lane := range d.lanes {
		if lane.state.leased() && d.now-lane.leasedAt > leaseTime {
			d.log.WarnContext(d.ctx, "lease of a lane not renewed in time", "lane", lane.id)
			lane.expire()
			d.update(lane)
		}
	}
}
