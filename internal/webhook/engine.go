package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
)

const (
	// laneCap is how many deliveries of one webhook are under way at once: the
	// most that a receiver which hangs can take from the others. One that fails
	// gets a single slot until it answers again.
	laneCap        = 4
	failingLaneCap = 1
	// slots is how many deliveries a process sends at once.
	slots = 128
	// lease is how long a claim lasts: longer than the longest attempt, so that
	// nobody sends a delivery that is still being sent.
	lease = Timeout + 20*time.Second
	// poll is how often the engine looks without having been woken.
	poll = time.Second
	// maxFailures in a row switch a webhook off.
	maxFailures = 20
)

// Timeout bounds the whole exchange of one attempt.
const Timeout = 10 * time.Second

// job is a claimed delivery with what is needed to send it.
type job struct {
	id        int64
	companyID int64
	lane      int64
	webhookID int64 // 0: a notification
	eventID   string
	event     event.Name
	body      []byte
	url       string
	to        *recipient
	test      bool
	begun     int // attempts that have begun, which must still be so when this one is closed
	number    int
	step      int
	dueAt     time.Time
	claimed   bool // by somebody who waited for it
	hold      *hold
}

// recipient is where the deliveries of a lane go.
type recipient struct {
	url      string // of a webhook; each notification has its own
	sealed   string
	active   bool
	failures int
	open     sync.Once
	key      []byte
	err      error
}

// secret is what deliveries of the lane are signed with. It is opened once for
// all that were claimed together.
func (r *recipient) secret(box *secret.Box, purpose string) ([]byte, error) {
	r.open.Do(func() { r.key, r.err = box.Open(r.sealed, purpose) })
	return r.key, r.err
}

// Run sends deliveries until ctx ends, then waits for those under way. It goes
// on through any failure of the database, looking again a little later.
func (s *Service) Run(ctx context.Context, log *slog.Logger) {
	e := newEngine(s, log)
	defer e.stop(context.WithoutCancel(ctx))
	pause := time.Duration(0)
	for {
		round := e.round
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-e.low:
			round = e.refill
		case <-time.After(pause):
		}
		_, err := round(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.ErrorContext(ctx, "deliveries cannot be claimed", "error", err)
			pause = min(max(2*pause, 100*time.Millisecond), 10*time.Second)
		default:
			pause = poll
		}
	}
}

// deliver makes one attempt. One that was accepted is closed together with
// others, while its lane goes on; every other is closed at once.
func (e *engine) deliver(ctx context.Context, j job) {
	e.metrics.lag.Observe(e.db.Now().Sub(j.dueAt).Seconds())
	x := closing{j, e.send(ctx, j)}
	crashpoint.Here("after-answer-before-close")
	if x.gathers() {
		e.answered(j)
		e.closer.add(ctx, x)
		return
	}
	if x.outcome.verdict != accepted {
		e.unsettle(j.hold, x.outcome)
	}
	kept, err := e.close(ctx, x.job, x.outcome)
	e.closed(ctx, x, kept, err)
}

// closed takes note of an attempt that has been closed.
func (e *engine) closed(ctx context.Context, x closing, kept bool, err error) {
	crashpoint.Here("after-close")
	j, out := x.job, x.outcome
	switch {
	case err != nil:
		// The claim runs out and the delivery is sent again: at least once.
		e.note(ctx, slog.LevelError, "delivery attempt not recorded", j, out, slog.Any("error", err))
	case !kept:
		e.note(ctx, slog.LevelWarn, "delivery attempt outlived its claim", j, out, slog.Attr{})
	default:
		e.metrics.attempts.WithLabelValues(string(out.verdict)).Inc()
		e.note(ctx, slog.LevelInfo, "delivery attempt", j, out, slog.String("problem", out.problem))
	}
	e.done(ctx, x, err)
}

// note writes the line of an attempt. Every value has a type that slog knows:
// the others take it as long as signing does.
func (e *engine) note(ctx context.Context, level slog.Level, text string, j job, o outcome, more slog.Attr) {
	e.log.LogAttrs(ctx, level, text,
		slog.Int64("company_id", j.companyID), slog.Int64("delivery", j.id), slog.String("event_id", j.eventID),
		slog.String("event", string(j.event)), slog.Int64("webhook_id", j.webhookID), slog.Int("attempt", j.number),
		slog.Int("status", o.response.Status), slog.Duration("took", o.response.Duration), slog.String("outcome", string(o.verdict)), more)
}

// verdict is what an attempt came to.
type verdict string

const (
	accepted verdict = "accepted"
	rejected verdict = "rejected" // for good
	broken   verdict = "broken"   // may be tried again
	held     verdict = "held"     // the webhook was switched off meanwhile: not sent
	ours     verdict = "ours"     // we could not send: no fault of the receiver's, and no attempt
)

// outcome is one attempt.
type outcome struct {
	verdict    verdict
	at         time.Time
	response   outbound.Result
	problem    string
	retryAfter time.Duration
}

// send signs and posts a delivery. Address, secret and switch are those of
// this moment, the body is that of the event.
func (s *Service) send(ctx context.Context, j job) outcome {
	out := outcome{at: s.db.Now()}
	if !j.to.active && !j.test {
		out.verdict = held
		return out
	}
	plain, err := j.to.secret(s.box, j.secretContext())
	if err != nil {
		out.verdict, out.problem = ours, "the signing secret cannot be read"
		return out
	}
	out.response, err = s.client.Post(ctx, j.url, headers(j, out.at, plain), j.body)
	out.judge(err)
	return out
}

func (j job) secretContext() string {
	if j.webhookID == 0 {
		return callbackContext(j.companyID)
	}
	return secretContext(j.webhookID)
}

// headers are those of the contract, spelled as it spells them.
func headers(j job, at time.Time, key []byte) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	return http.Header{
		"Content-Type":        {"application/json"},
		"X-Service-Event":     {string(j.event)},
		"X-Service-Delivery":  {j.eventID},
		"X-Service-Timestamp": {timestamp},
		"X-Service-Signature": {"sha256=" + Sign(key, timestamp, j.body)},
	}
}

// judge decides what an answer means: any 2xx confirms, a 4xx other than 408
// and 429 refuses for good, everything else may pass.
func (o *outcome) judge(err error) {
	status := o.response.Status
	switch {
	case errors.Is(err, outbound.ErrRefused):
		o.verdict, o.problem = rejected, outbound.Public(err)
	case errors.Is(err, outbound.ErrLocal):
		o.verdict, o.problem = ours, outbound.Public(err)
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
