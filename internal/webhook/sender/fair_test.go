package sender

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"carteira/internal/platform/outbound"
)

// play is a dispatcher in a time that the test moves on: its store is a count of
// due deliveries for each lane, and its receivers answer after a given time.
type play struct {
	*dispatcher

	answers map[int64]time.Duration   // by lane; Timeout: it hangs
	due     map[int64][]time.Duration // when each delivery of a lane became due
	bornAt  map[int64]time.Duration   // by delivery
	nextID  int64
	flights map[*flight]struct{}      // that receivers have got
	took    map[int64][]time.Duration // from due to answered, by lane
}

func newPlay(t *testing.T) *play {
	t.Helper()
	sender := New(Config{Log: slog.New(slog.DiscardHandler)})
	p := &play{
		dispatcher: newDispatcher(sender), answers: map[int64]time.Duration{}, due: map[int64][]time.Duration{},
		bornAt: map[int64]time.Duration{}, flights: map[*flight]struct{}{}, took: map[int64][]time.Duration{},
	}
	p.ctx, p.cancel = context.WithCancel(t.Context())
	p.now = 0
	p.launch = func(flight *flight) { p.flights[flight] = struct{}{} }
	return p
}

// happen makes one delivery due in every lane.
func (p *play) happen() {
	for lane := range p.answers {
		p.due[lane] = append(p.due[lane], p.now)
		p.want(lane, false)
	}
}

// claim answers what the dispatcher asks its store for.
func (p *play) claim(whom int) {
	requests, lanes := p.requests(whom)
	var grants []grant
	for _, request := range requests {
		count := min(request.size, len(p.due[request.lane]))
		if count == 0 {
			continue
		}
		grant := grant{lane: request.lane, token: "t", limit: laneLimit, more: len(p.due[request.lane]) > count}
		if p.paces[request.lane].failing && p.answers[request.lane] == Timeout {
			grant.limit, count = failingLaneLimit, 1
		}
		for _, at := range p.due[request.lane][:count] {
			p.nextID++
			p.bornAt[p.nextID] = at
			grant.jobs = append(grant.jobs, Job{id: p.nextID, lane: request.lane})
		}
		p.due[request.lane] = p.due[request.lane][count:]
		grants = append(grants, grant)
	}
	p.onClaimed(lanes, grants, p.now, p.sender.Generation())
}

// finish ends the requests that have been answered by now.
func (p *play) finish() {
	for flight := range p.flights {
		used, answer := p.now-flight.startedAt, p.answers[flight.lane.id]
		if used < answer {
			continue
		}
		flight.outcome = outcome{verdict: accepted, response: outbound.Result{Status: 200, Duration: used}}
		if answer == Timeout {
			flight.outcome.verdict = broken
		} else {
			p.took[flight.lane.id] = append(p.took[flight.lane.id], p.now-p.bornAt[flight.job.id])
		}
		delete(p.flights, flight)
		p.onFinished(flight)
	}
}

// record answers what is handed over to be recorded, and gives leases back.
func (p *play) record() {
	for len(p.recorder.in) > 0 {
		attempt := <-p.recorder.in
		p.onRecorded([]report{{attempt: attempt, kept: true}})
	}
	attempts := p.gathered
	p.gathered = nil
	for _, attempt := range attempts {
		p.onRecorded([]report{{attempt: attempt, kept: true}})
	}
	leases := p.releases
	p.releases = nil
	for _, given := range leases {
		if lane := p.lanes[given.lane]; lane != nil && lane.state == releasing {
			lane.state = lane.state.on(released)
			p.update(lane)
		}
	}
	freed := p.freed
	p.freed = nil
	for _, lane := range freed {
		if len(p.due[lane]) > 0 {
			p.want(lane, p.paces[lane].failing)
		}
	}
}

// live lets a while pass, with one event a second.
func (p *play) live(seconds int) {
	const step = 10 * time.Millisecond
	for end := p.now + time.Duration(seconds)*time.Second; p.now < end; p.now += step {
		if p.now%time.Second == 0 {
			p.happen()
		}
		p.finish()
		p.record()
		if p.now%tickEvery == 0 {
			for _, lane := range p.lanes {
				lane.leasedAt = p.now // renewed
			}
			p.onTickWithoutRecords()
		}
		p.claim(forQuick)
		p.claim(forOthers)
		p.dispatch()
	}
}

// onTickWithoutRecords is onTick without the store.
func (p *play) onTickWithoutRecords() {
	attempts := p.gathered
	p.gathered = nil
	p.onTick()
	p.gathered = attempts
}

// median is that of all deliveries to lanes that answered.
func (p *play) median() time.Duration {
	var all []time.Duration
	for _, took := range p.took {
		all = append(all, took...)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// TestSlowReceiversDoNotWaitForThoseThatHang has 20 receivers that accept after
// 0.7 or 3 s together with 60 and 100 that never answer, with one event a
// second for each. Time is the test's own, so the result is the same on every
// machine.
func TestSlowReceiversDoNotWaitForThoseThatHang(t *testing.T) {
	for _, answer := range []time.Duration{700 * time.Millisecond, 3 * time.Second} {
		run := func(hanging int) *play {
			p := newPlay(t)
			defer p.close()
			for lane := range int64(20) {
				p.answers[lane+1] = answer
			}
			for lane := range int64(hanging) {
				p.answers[1000+lane] = Timeout
			}
			p.live(40)
			return p
		}
		alone := run(0)
		for _, hanging := range []int{60, 100} {
			p := run(hanging)
			if p.median() > 2*alone.median() {
				t.Errorf("%v beside %d that hang: p50 is %v, alone %v", answer, hanging, p.median(), alone.median())
			}
		}
	}
}
