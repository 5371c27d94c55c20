package sender

import (
	"context"
	"slices"
	"time"
)

const (
	// laneLimit is how many requests are made to one webhook at once: the most
	// that a receiver which hangs can take from the others. A receiver that
	// fails gets one at a time until it answers again.
	laneLimit        = 4
	failingLaneLimit = 1
	// laneUnrecorded bounds the attempts of a lane that have begun and are not
	// recorded yet: a crash repeats them.
	laneUnrecorded = 16
	// freshness is how long a prefetched delivery may wait to be sent: address,
	// secret and switch were read when it was claimed.
	freshness = time.Second
)

// lane is the deliveries of one webhook, or the notifications of one company,
// as this process sees them. Only the dispatcher's goroutine touches it. Its
// methods do no input or output.
type lane struct {
	id         int64
	state      state
	token      string             // of the lease, as it is in the database
	leasedAt   time.Duration      // when the lease was last known to be ours
	generation int64              // how often webhooks had changed when it was claimed
	end        context.CancelFunc // ends the requests that are in flight
	ctx        context.Context    // of the requests that are in flight
	limit      int                // requests at once
	ready      []Job              // prefetched: claimed and not begun
	open       map[int64]struct{} // claimed and not recorded, by delivery
	inFlight   int                // requests that are being made
	unrecorded int                // attempts that are being recorded
	held       []attempt          // ended attempts that wait for those before them to be recorded
	refilling  bool               // a claim for more is on its way
	more       bool               // there may be more to claim
	queued     bool               // the lane is in a run queue
	wanted     bool               // the lane is to be claimed, or claimed from, next
}

// grant puts the deliveries of a claim at the end of those that are ready.
func (l *lane) grant(grant grant) {
	if l.state == claiming {
		l.limit = grant.limit
	}
	l.token, l.generation = grant.token, grant.generation
	l.limit, l.more = min(l.limit, grant.limit), l.more || grant.more
	l.leasedAt = grant.askedAt
	for _, job := range grant.jobs {
		job.claimedAt = grant.askedAt
		l.ready = append(l.ready, job)
		l.open[job.id] = struct{}{}
	}
	l.state = l.state.on(granted)
}

// full says that no further request may be made for now.
func (l *lane) full() bool {
	return l.inFlight >= l.limit || l.inFlight+l.unrecorded+len(l.held) >= laneUnrecorded
}

// runnable says that the lane has something to send and may send it.
func (l *lane) runnable() bool {
	return l.state == sending && len(l.ready) > 0 && !l.full()
}

// next takes the first delivery that is ready.
func (l *lane) next() Job {
	job := l.ready[0]
	l.ready = l.ready[1:]
	l.inFlight++
	return job
}

// dropStale gives up the prefetched deliveries if they were read too long ago,
// or before a webhook was changed. They are claimed and read again.
func (l *lane) dropStale(now time.Duration, generation int64) {
	if l.generation != generation {
		l.drop()
		return
	}
	fresh := slices.IndexFunc(l.ready, func(job Job) bool { return now-job.claimedAt <= freshness })
	if fresh < 0 {
		fresh = len(l.ready)
	}
	if fresh > 0 {
		l.dropFirst(fresh)
	}
}

// drop gives up everything that is prefetched.
func (l *lane) drop() { l.dropFirst(len(l.ready)) }

func (l *lane) dropFirst(n int) {
	for _, job := range l.ready[:n] {
		delete(l.open, job.id)
	}
	l.ready = l.ready[n:]
	l.more = l.more || n > 0
}

// finish records the end of a request, and reports whether its outcome can be
// recorded together with others: failures are counted in a row, so from the
// first one on every outcome waits for those before it.
func (l *lane) finish(attempt attempt) (batch bool) {
	l.inFlight--
	if !attempt.batchable() {
		l.state = l.state.on(failed)
		l.drop()
	}
	if attempt.failed() {
		l.limit = failingLaneLimit
	}
	if attempt.batchable() && (l.state == sending || l.state == finishing) {
		l.unrecorded++
		return true
	}
	l.held = append(l.held, attempt)
	return false
}

// cutOff records a request that was cut off when the lease had expired.
func (l *lane) cutOff(deliveryID int64) {
	l.inFlight--
	delete(l.open, deliveryID)
}

// nextHeld takes the next attempt to record by itself: when nothing is in
// flight, and successes before failures. The attempts overlapped, and a
// success recorded last would reset the count of failures.
func (l *lane) nextHeld() (a attempt, ok bool) {
	if l.inFlight+l.unrecorded > 0 || len(l.held) == 0 {
		return a, false
	}
	at := max(0, slices.IndexFunc(l.held, attempt.batchable))
	a = l.held[at]
	l.held = slices.Delete(l.held, at, at+1)
	l.unrecorded++
	return a, true
}

// recorded is called when an attempt was recorded, or could not be.
func (l *lane) recorded(deliveryID int64, err error) {
	l.unrecorded--
	if err != nil {
		l.state = l.state.on(unrecordable)
		l.drop()
		return
	}
	delete(l.open, deliveryID)
}

// quiet says that nothing is ready, begun or on its way.
func (l *lane) quiet() bool {
	return l.inFlight+l.unrecorded+len(l.held)+len(l.ready) == 0 && !l.refilling && !l.wanted
}

// settle moves a lane on that has nothing left to do in its state.
func (l *lane) settle() {
	if l.quiet() {
		l.state = l.state.on(drained)
	}
}

// stop ends the sending: what is in flight is finished, the rest is given up.
func (l *lane) stop() {
	l.drop()
	l.state = l.state.on(stopped)
}

// expire records that the lease was not renewed in time. Another process may
// have the lane now, so requests that are still in flight are cut off: together
// the two must not make more than the limit.
func (l *lane) expire() {
	l.drop()
	l.state = l.state.on(expired)
	if l.end != nil {
		l.end()
	}
}

// refill is how many more deliveries to claim for a lane that is leased.
func (l *lane) refill(pace pace) int {
	if l.state != sending || l.refilling || !l.more || l.limit < laneLimit {
		return 0
	}
	if pace.slow() || pace.streak < laneLimit {
		if pace.streak < laneLimit && l.inFlight+l.unrecorded > 0 {
			return 0 // nothing is known of the receiver yet
		}
		return max(0, l.limit-l.inFlight-len(l.ready))
	}
	if size := pace.claimSize(l.limit); len(l.ready) <= size/2 {
		return size
	}
	return 0
}

// openIDs are the deliveries that are claimed and not recorded.
func (l *lane) openIDs() []int64 {
	ids := make([]int64, 0, len(l.open))
	for id := range l.open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
