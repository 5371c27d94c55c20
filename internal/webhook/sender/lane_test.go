package sender

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"carteira/internal/platform/outbound"
)

func newLane(limit int, jobs ...int64) *lane {
	l := &lane{id: 1, state: claiming, open: map[int64]struct{}{}}
	g := grant{lane: 1, token: "t", limit: limit}
	for _, id := range jobs {
		g.jobs = append(g.jobs, Job{id: id, lane: 1})
	}
	l.grant(g)
	return l
}

func ended(job Job, verdict verdict) attempt {
	return attempt{job: job, outcome: outcome{verdict: verdict, response: outbound.Result{Duration: time.Millisecond}}}
}

// The table in the code is the picture in docs/webhooks.md; this is what it must
// never allow.
func TestTransitionsOfALane(t *testing.T) {
	for state := idle; state <= abandoned; state++ {
		if len(transitions[state]) == 0 {
			t.Errorf("nothing leads out of %s", state)
		}
		for in, next := range transitions[state] {
			if next == sending && state != claiming {
				t.Errorf("%s becomes sending by input %d, without a claim", state, in)
			}
			if next == releasing && in != drained {
				t.Errorf("%s is released by input %d, before all is recorded", state, in)
			}
		}
	}
	for _, s := range []state{sending, finishing, draining} {
		if s.on(unrecordable) != abandoned || s.on(expired) != abandoned {
			t.Errorf("%s goes on though its lease is worth nothing", s)
		}
	}
	if abandoned.on(released) != abandoned || abandoned.leased() {
		t.Error("a lane that was abandoned is given back, or its lease kept alive")
	}
	if draining.on(granted) != draining {
		t.Error("a lane begins again before its failures are recorded")
	}
}

func TestLaneMakesFourRequestsAtOnce(t *testing.T) {
	lane := newLane(laneLimit, 1, 2, 3, 4, 5, 6)
	n := 0
	for ; lane.runnable(); n++ {
		lane.next()
	}
	if n != laneLimit || len(lane.ready) != 2 {
		t.Errorf("%d at once, %d are left", n, len(lane.ready))
	}
	if lane := newLane(failingLaneLimit, 1, 2); !lane.runnable() || lane.next().id != 1 || lane.runnable() {
		t.Error("a failing lane does not make one request at a time")
	}
}

func TestLaneWaitsForTheRecordOfSixteen(t *testing.T) {
	var ids []int64
	for id := range int64(40) {
		ids = append(ids, id)
	}
	lane := newLane(laneLimit, ids...)
	n := 0
	for ; lane.runnable(); n++ {
		if job := lane.next(); !lane.finish(ended(job, accepted)) {
			t.Fatal("a success is not recorded with others")
		}
	}
	if n != laneUnrecorded {
		t.Errorf("%d are unrecorded", n)
	}
	lane.recorded(0, nil)
	if !lane.runnable() {
		t.Error("it does not go on when one is recorded")
	}
}

// Failures are counted in a row, so what overlapped with one is recorded before
// it, and nothing new begins.
func TestFailureDrainsTheLane(t *testing.T) {
	lane := newLane(laneLimit, 1, 2, 3, 4, 5)
	jobs := []Job{lane.next(), lane.next(), lane.next()}
	if !lane.finish(ended(jobs[0], accepted)) || lane.finish(ended(jobs[1], broken)) || lane.state != draining {
		t.Fatalf("%s after a failure", lane.state)
	}
	if lane.runnable() || len(lane.ready) != 0 || !lane.more {
		t.Error("what was prefetched is still sent")
	}
	if _, ok := lane.nextHeld(); ok {
		t.Error("the failure is recorded beside a success before it")
	}
	lane.recorded(jobs[0].id, nil)
	if _, ok := lane.nextHeld(); ok {
		t.Error("the failure is recorded while a request is in flight")
	}
	if lane.finish(ended(jobs[2], accepted)) {
		t.Error("a success is recorded beside the failure")
	}
	var order []int64
	for attempt, ok := lane.nextHeld(); ok; attempt, ok = lane.nextHeld() {
		order = append(order, attempt.job.id)
		lane.settle()
		lane.recorded(attempt.job.id, nil)
	}
	if lane.settle(); !slices.Equal(order, []int64{3, 2}) || lane.state != releasing || len(lane.open) != 0 {
		t.Errorf("recorded in the order %v, then %s", order, lane.state)
	}
}

func TestOutcomeThatCannotBeRecordedAbandonsTheLease(t *testing.T) {
	lane := newLane(laneLimit, 1, 2, 3)
	jobs := []Job{lane.next(), lane.next()}
	lane.finish(ended(jobs[0], accepted))
	lane.recorded(jobs[0].id, errors.New("the database is away"))
	if lane.state != abandoned || lane.runnable() {
		t.Errorf("%s, runnable: %t", lane.state, lane.runnable())
	}
	lane.finish(ended(jobs[1], accepted))
	attempt, ok := lane.nextHeld()
	if !ok || attempt.job.id != jobs[1].id {
		t.Error("what is in flight is not recorded any more")
	}
	lane.recorded(attempt.job.id, nil)
	if lane.settle(); lane.state != idle {
		t.Errorf("%s in the end", lane.state)
	}
}

func TestExpiredLeaseCutsRequestsOff(t *testing.T) {
	lane := newLane(laneLimit, 1, 2)
	var ctx context.Context
	ctx, lane.end = context.WithCancel(t.Context())
	job := lane.next()
	if lane.expire(); ctx.Err() == nil || lane.state != abandoned || lane.runnable() {
		t.Fatalf("%s, and the request goes on: %v", lane.state, ctx.Err())
	}
	lane.cutOff(job.id)
	if lane.settle(); lane.state != idle {
		t.Errorf("%s in the end", lane.state)
	}
}

func TestLaneIsGivenBackWhenAllIsRecorded(t *testing.T) {
	lane := newLane(laneLimit, 1, 2)
	first, second := lane.next(), lane.next()
	lane.finish(ended(first, accepted))
	lane.recorded(first.id, nil)
	if lane.settle(); lane.state != sending {
		t.Errorf("%s while a request is in flight", lane.state)
	}
	lane.finish(ended(second, accepted))
	if lane.settle(); lane.state != sending {
		t.Errorf("%s while a record is on its way", lane.state)
	}
	lane.recorded(second.id, nil)
	if lane.settle(); lane.state != releasing {
		t.Errorf("%s when all is recorded", lane.state)
	}
	if lane.state = lane.state.on(released); lane.state != idle {
		t.Errorf("%s once it is released", lane.state)
	}
}

func TestPrefetchedIsDroppedWhenItIsStale(t *testing.T) {
	lane := newLane(laneLimit, 1, 2)
	lane.ready[1].claimedAt = freshness
	if lane.dropStale(freshness, 0); len(lane.ready) != 2 {
		t.Errorf("%d are left while they are fresh", len(lane.ready))
	}
	if lane.dropStale(freshness+1, 0); len(lane.ready) != 1 || lane.ready[0].id != 2 || len(lane.open) != 1 || !lane.more {
		t.Errorf("left are %v, open %v", lane.ready, lane.openIDs())
	}
	if lane.dropStale(freshness+1, 1); len(lane.ready) != 0 {
		t.Error("it is sent as it was before a webhook was changed")
	}
}

// Whatever happens in whatever order, the limits hold and the lane comes to its
// end.
func TestLimitsHoldInAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 0))
		var ids []int64
		for id := range 1 + dice.Int64N(30) {
			ids = append(ids, id)
		}
		lane := newLane(laneLimit, ids...)
		flying, recording := map[int64]Job{}, map[int64]bool{}
		for step := 0; lane.state != idle; step++ {
			if step > 10_000 {
				t.Fatalf("seed %d: %s for ever: %d in flight, %d unrecorded, %d held", seed, lane.state, lane.inFlight, lane.unrecorded, len(lane.held))
			}
			playLane(dice, lane, flying, recording)
			if lane.inFlight > laneLimit || lane.inFlight+lane.unrecorded+len(lane.held) > laneUnrecorded || lane.inFlight != len(flying) || lane.unrecorded != len(recording) {
				t.Fatalf("seed %d: %d in flight, %d unrecorded", seed, lane.inFlight, lane.unrecorded)
			}
		}
		if len(lane.ready)+len(flying)+len(recording)+len(lane.held) > 0 {
			t.Fatalf("seed %d: it is idle with work left", seed)
		}
	}
}

// playLane lets one thing happen to a lane.
func playLane(dice *rand.Rand, lane *lane, flying map[int64]Job, recording map[int64]bool) {
	switch throw := dice.IntN(100); {
	case throw < 40 && lane.runnable():
		job := lane.next()
		flying[job.id] = job
	case throw < 70 && len(flying) > 0:
		job := flying[slices.Sorted(maps.Keys(flying))[dice.IntN(len(flying))]]
		delete(flying, job.id)
		v := accepted
		if dice.IntN(20) == 0 {
			v = []verdict{broken, rejected, localFailure, panicked, disabled}[dice.IntN(5)]
		}
		if lane.finish(ended(job, v)) {
			recording[job.id] = true
		}
	case throw < 95 && len(recording) > 0:
		id := slices.Sorted(maps.Keys(recording))[dice.IntN(len(recording))]
		delete(recording, id)
		var err error
		if dice.IntN(50) == 0 {
			err = errors.New("not recorded")
		}
		lane.recorded(id, err)
	case throw == 99 && dice.IntN(20) == 0:
		lane.stop()
	}
	if attempt, ok := lane.nextHeld(); ok {
		recording[attempt.job.id] = true
	}
	if lane.settle(); lane.state == releasing {
		lane.state = lane.state.on(released)
	}
}

func TestClaimSizeGrowsWithTheStreakAndShrinksWithTheTime(t *testing.T) {
	for _, c := range []struct {
		pace pace
		want int
	}{
		{pace{}, 4},
		{pace{average: time.Millisecond, streak: 3}, 4},
		{pace{average: time.Millisecond, streak: 4}, 16},
		{pace{average: time.Millisecond, streak: 16}, 64},
		{pace{average: 100 * time.Millisecond, streak: 16}, 20},
		{pace{average: 5 * time.Second, streak: 16}, 4},
	} {
		if got := c.pace.claimSize(laneLimit); got != c.want {
			t.Errorf("%+v: %d, want %d", c.pace, got, c.want)
		}
	}
}

func TestPaceFollowsTheLastRequests(t *testing.T) {
	var p pace
	long, short := ended(Job{}, accepted), ended(Job{}, accepted)
	long.outcome.response.Duration = 10 * time.Second
	if p = p.after(long); !p.slow() {
		t.Error("a receiver that took ten seconds is not slow")
	}
	n := 0
	for ; p.slow(); n++ {
		p = p.after(short)
	}
	if n < 5 || n > 20 {
		t.Errorf("it is quick again after %d quick answers", n)
	}
	if classOf(p, false) != quick {
		t.Errorf("its class is %d", classOf(p, false))
	}
	short.outcome.response.Truncated = true
	if p = p.after(short); classOf(p, false) != failing {
		t.Error("answers that are cut short are made with those that answer well")
	}
}

// However many receivers hang, those that answer find as many slots as without
// them, and what hangs is bounded.
func TestHangingRequestsTakeNoSlotOfThoseThatAnswer(t *testing.T) {
	var s slots
	var flights []*flight
	begin := func(class class, now time.Duration) bool {
		if s.free(class, now) == 0 {
			return false
		}
		f := &flight{class: class, startedAt: now}
		s.take(f)
		flights = append(flights, f)
		return true
	}
	for now := time.Duration(0); now < time.Minute; now += tickEvery {
		for begin(unknown, now) || begin(failing, now) {
		}
		for _, flight := range flights {
			if to := flight.slotAfter(now - flight.startedAt); to != flight.slot {
				s.move(flight, to, now)
			}
		}
		if s.free(quick, now) != slotsOf[quick] || s.free(slow, now) != slotsOf[slow] {
			t.Fatalf("after %v slots are taken: %+v", now, s)
		}
	}
	if n := s.taken[failing]; n < maxHanging || n > maxHanging+slotsOf[unknown] {
		t.Errorf("%d requests hang", n)
	}
	for _, flight := range flights {
		s.giveBack(flight, time.Hour, true)
	}
	if s.taken != [classes]int{} || s.free(failing, time.Hour) != failingBurst {
		t.Errorf("left are %+v", s)
	}
}

func TestRequestMovesToTheSlotsOfWhatItProvesToBe(t *testing.T) {
	for _, step := range []struct {
		slot, want class
		used       time.Duration
	}{
		{quick, quick, dawdling - 1},
		{quick, slow, dawdling},
		{slow, slow, hanging - 1},
		{slow, failing, hanging},
		{quick, failing, hanging},
		{unknown, unknown, dawdling - 1},
		{unknown, failing, dawdling},
		{failing, failing, 0},
		{failing, failing, hanging},
	} {
		f := &flight{slot: step.slot}
		if got := f.slotAfter(step.used); got != step.want {
			t.Errorf("class %d after %v: %d, want %d", step.slot, step.used, got, step.want)
		}
	}
}

// Receivers that fail at once share processor time as those that hang share
// slots, and evenly.
func TestRequestsToFailingReceiversAreSpread(t *testing.T) {
	var s slots
	count := 0
	const span, tick = 10 * time.Second, 10 * time.Millisecond
	for now := time.Duration(0); now < span; now += tick {
		before := count
		for s.free(failing, now) > 0 {
			f := &flight{class: failing, startedAt: now}
			s.take(f)
			s.giveBack(f, now, false)
			count++
		}
		if count-before > failingBurst {
			t.Fatalf("%d at once", count-before)
		}
	}
	if want := int(span / failingEvery); count > want+failingBurst || count < want-failingBurst {
		t.Errorf("%d in %v, want %d", count, span, want)
	}
}

// Slow lanes that have a backlog do not keep their leases while others wait.
func TestSlowLanesTakeTurns(t *testing.T) {
	d := &dispatcher{paces: paces{1: {average: time.Second, streak: 100}, 2: {average: time.Millisecond, streak: 100}}}
	leased, swift := newLane(laneLimit), newLane(laneLimit)
	leased.id, swift.id = 1, 2
	leased.more, swift.more = true, true
	if n := d.refillOf(leased); n != laneLimit {
		t.Errorf("alone it claims %d more", n)
	}
	d.wanted[failing] = []*lane{{id: 4, wanted: true}}
	if n := d.refillOf(leased); n != laneLimit {
		t.Errorf("it claims %d more while one that fails waits", n)
	}
	d.wanted[slow] = []*lane{{id: 3, wanted: true}}
	if n := d.refillOf(leased); n != 0 {
		t.Errorf("it claims %d more while another one waits", n)
	}
	if d.refillOf(swift) == 0 {
		t.Error("a quick lane waits for slow ones")
	}
	d.update(leased)
	if leased.state != releasing || len(d.releases) != 1 {
		t.Errorf("its lease is not given back: %v", leased.state)
	}
	leased.state = leased.state.on(released)
	d.lanes = map[int64]*lane{1: leased}
	d.update(leased)
	if waiting := d.wanted[slow]; len(waiting) != 2 || waiting[1].id != 1 {
		t.Errorf("it does not wait behind the other: %v", waiting)
	}
}

// Hundreds of receivers that always hang do not keep one waiting that failed
// once.
func TestQuickestFailingLaneIsPromotedNowAndThen(t *testing.T) {
	d := &dispatcher{paces: paces{1: {average: 3 * time.Second}, 2: {average: time.Second}, 4: {average: 600 * time.Millisecond}}}
	for id := range int64(5) { // nothing is known of two of them
		d.wanted[failing] = append(d.wanted[failing], &lane{id: id})
	}
	order := func() (ids []int64) {
		for _, lane := range d.wanted[failing] {
			ids = append(ids, lane.id)
		}
		return ids
	}
	d.promoteQuickest()
	if got := order(); !slices.Equal(got, []int64{4, 0, 1, 2, 3}) {
		t.Errorf("promoted: %v", got)
	}
	d.wanted[failing] = append(d.wanted[failing][1:], d.wanted[failing][0])
	d.promoteQuickest()
	if got := order(); !slices.Equal(got, []int64{0, 1, 2, 3, 4}) {
		t.Errorf("promoted again at once: %v", got)
	}
	d.now += promoteEvery
	d.paces[4] = pace{average: 2 * time.Second}
	d.promoteQuickest()
	if got := order(); !slices.Equal(got, []int64{2, 0, 1, 3, 4}) {
		t.Errorf("promoted later: %v", got)
	}
}

// Trials that fail or hang are paid for like requests to failing receivers;
// others are not.
func TestFailedTrialsAreCharged(t *testing.T) {
	for _, well := range []bool{true, false} {
		var s slots
		count := 0
		for ; count < 1000 && s.free(unknown, 0) > 0; count++ {
			f := &flight{class: unknown}
			s.take(f)
			s.giveBack(f, 0, well)
		}
		before := s.paidTo
		hangs := &flight{class: unknown}
		s.take(hangs)
		s.move(hangs, failing, dawdling)
		if s.giveBack(hangs, Timeout, false); s.paidTo != max(before, dawdling)+failingEvery {
			t.Errorf("a trial that hangs is charged %v", s.paidTo-before)
		}
		if failed := int(trialDebt/failingEvery) + 1; well && count != 1000 || !well && count != failed {
			t.Errorf("%d trials at once that ended well: %t", count, well)
		}
	}
}

func TestPanicsSetADeliveryAside(t *testing.T) {
	delays := schedule{0, time.Minute}
	for panics := range maxPanics {
		a := attempt{job: Job{panics: panics}, outcome: outcome{verdict: panicked}}
		got := delays.decide(a, true)
		if last := panics == maxPanics-1; (got.status == Failed) != last || got.panics != panics+1 || a.inHistory(got) != last {
			t.Errorf("after %d: %+v", panics+1, got)
		}
		if a.failed() {
			t.Error("our panic is counted against the receiver")
		}
	}
}

func TestStatesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for state := idle; state <= abandoned; state++ {
		seen[fmt.Sprint(state)] = true
	}
	if len(seen) != int(abandoned)+1 {
		t.Errorf("%v", seen)
	}
}
