package sender

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"carteira/internal/platform/outbound"
	task "carteira/internal/platform/worker"
)

// verdict is what an attempt came to.
type verdict string

const (
	accepted     verdict = "accepted"
	rejected     verdict = "rejected" // for good
	broken       verdict = "broken"   // may be tried again
	disabled     verdict = "held"     // the webhook was switched off before anything was sent
	localFailure verdict = "ours"     // this machine could not send: not counted as an attempt
	panicked     verdict = "panicked" // our own code failed: not counted against the receiver
)

// outcome is how an attempt ended.
type outcome struct {
	verdict    verdict
	at         time.Time
	response   outbound.Result
	problem    string
	retryAfter time.Duration
}

// attempt is a delivery together with how sending it ended.
type attempt struct {
	job     Job
	outcome outcome
}

// batchable reports whether the attempt is recorded together with others:
// only plain successes are.
func (a attempt) batchable() bool {
	return a.outcome.verdict == accepted && !a.job.test
}

// failed reports whether the attempt counts as a failure of the receiver.
func (a attempt) failed() bool {
	return a.outcome.verdict == broken || a.outcome.verdict == rejected
}

// judge decides what an answer means: any 2xx confirms, a 4xx other than 408
// and 429 refuses for good, everything else may pass.
func (o *outcome) judge(err error) {
	status := o.response.Status
	switch {
	case errors.Is(err, outbound.ErrRefused):
		o.verdict, o.problem = rejected, outbound.Public(err)
	case errors.Is(err, outbound.ErrLocal):
		o.verdict, o.problem = localFailure, outbound.Public(err)
	case err != nil:
		o.verdict, o.problem = broken, outbound.Public(err)
	case status >= 200 && status < 300:
		o.verdict = accepted
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests:
		o.verdict, o.problem = rejected, fmt.Sprintf("the receiver answered %d", status)
	default:
		o.verdict, o.problem = broken, fmt.Sprintf("the receiver answered %d", status)
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			o.retryAfter = o.response.RetryAfter
		}
	}
}

// transition is what becomes of a delivery after an attempt.
type transition struct {
	status    Status
	step      int
	wait      time.Duration // before the next attempt
	delivered bool
	panics    int
}

const (
	// localDelay is the wait after a failure of our own.
	localDelay = 10 * time.Second
	// maxPanics of our own code over one delivery set it aside.
	maxPanics = 3
	// panicProblem is what the owner of a webhook reads about such a delivery.
	panicProblem = "Carteira failed while it sent this delivery; the receiver was not at fault, and the operator's log has the details"
)

// schedule is the waits before each attempt.
type schedule []time.Duration

// decide returns what becomes of a delivery, given whether its webhook is
// active.
func (s schedule) decide(attempt attempt, active bool) transition {
	t := transition{status: Pending, step: attempt.job.step, panics: attempt.job.panics}
	last := attempt.job.step+1 >= len(s)
	switch verdict := attempt.outcome.verdict; {
	case verdict == accepted:
		t.status, t.delivered = Delivered, true
	case verdict == disabled:
		t.status = Parked
	case verdict == panicked:
		t.panics++
		t.wait = localDelay
		if t.panics >= maxPanics || attempt.job.test {
			t.status = Failed
		}
	case verdict == localFailure && !attempt.job.test:
		t.wait = localDelay
	case verdict == rejected:
		t.status = Refused
	case attempt.job.test || last:
		t.status = Failed
	default:
		t.step++
		t.wait = s.delay(t.step, attempt.outcome.retryAfter)
		if !active {
			t.status = Parked
		}
	}
	return t
}

// delay is the wait before an attempt: that of the schedule, lengthened by up
// to a tenth so that deliveries that failed together are not retried
// together. A receiver may ask for more, up to the wait after it.
func (s schedule) delay(step int, asked time.Duration) time.Duration {
	wait := s[step]
	longest := wait
	if step+1 < len(s) {
		longest = max(wait, s[step+1])
	}
	wait = max(wait, min(asked, longest))
	return task.Jitter(wait)
}

// inHistory reports whether the attempt is shown to the owner of the webhook.
// What was never sent is not, unless it was the last word.
func (a attempt) inHistory(transition transition) bool {
	switch a.outcome.verdict {
	case disabled:
		return false
	case localFailure:
		return a.job.test
	case panicked:
		return transition.status == Failed
	default:
		return true
	}
}
