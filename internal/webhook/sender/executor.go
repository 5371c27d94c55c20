package sender

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"carteira/internal/platform/crashpoint"
)

// flight is a request that is being made.
type flight struct {
	lane      *lane
	job       Job
	ctx       context.Context // of the lane's lease
	startedAt time.Duration
	class     class
	slot      class // the class of the slot that it occupies now
	outcome   outcome
}

// slotAfter returns the class of the slot that a request occupies after running
// for so long. A request to an unknown receiver may be the first of many that
// hang, so it takes no slot of the receivers that answer slowly.
func (f *flight) slotAfter(used time.Duration) class {
	switch {
	case used < dawdling || f.slot == failing:
		return f.slot
	case used >= hanging || f.slot == unknown:
		return failing
	}
	return slow
}

// fly makes a request in a goroutine of its own.
func (d *dispatcher) fly(flight *flight) {
	d.running.Go(func() {
		flight.outcome = d.sender.execute(flight.ctx, flight.job, d.log)
		crashpoint.Here("after-answer-before-close")
		select {
		case d.finished <- flight:
		case <-d.done:
		}
	})
}

// execute sends a delivery and turns a panic into an outcome: a panic over
// one row must not stop the others.
func (s *Sender) execute(ctx context.Context, job Job, log *slog.Logger) (o outcome) {
	defer func() {
		if cause := recover(); cause != nil {
			s.metrics.panics.Inc()
			o = outcome{verdict: panicked, at: s.db.Now(), problem: panicProblem}
			log.LogAttrs(ctx, slog.LevelError, "sending a delivery panicked", slog.Int64("company_id", job.companyID),
				slog.Int64("delivery", job.id), slog.String("panic", fmt.Sprint(cause)),
				slog.String("stack", string(debug.Stack())))
		}
	}()
	return s.send(ctx, job)
}

// send signs and posts a delivery. Address, secret and switch are those that
// were read with the claim, the body is that of the event.
func (s *Sender) send(ctx context.Context, job Job) outcome {
	o := outcome{at: s.db.Now()}
	if !job.to.active && !job.test {
		o.verdict = disabled
		return o
	}
	err := job.to.open(s.box, job.secretContext())
	if err != nil {
		o.verdict, o.problem = localFailure, "the signing secret cannot be read"
		return o
	}
	o.response, err = s.post(ctx, job.url, job.headers(s.db.Real()), job.body)
	o.judge(err)
	if job.to.retry4xx && o.verdict == rejected && o.response.Status > 0 {
		o.verdict = broken
	}
	return o
}

// Attempt is one try to deliver.
type Attempt struct {
	Number         int
	At             time.Time
	Duration       time.Duration
	ResponseStatus int // 0: no answer
	ResponseBody   string
	Error          string
}

// SendNow sends a delivery that ClaimNow has claimed, records the outcome, and
// reports whether it was accepted. The caller's going away does not cut it short:
// what was sent is recorded.
func (s *Sender) SendNow(ctx context.Context, job Job) (made Attempt, delivered bool, err error) {
	ctx = context.WithoutCancel(ctx)
	a := attempt{job: job, outcome: s.execute(ctx, job, s.log)}
	if _, err := s.store.record(ctx, a); err != nil {
		return Attempt{}, false, err
	}
	outcome, response := a.outcome, a.outcome.response
	s.metrics.attempts.WithLabelValues(string(outcome.verdict)).Inc()
	made = Attempt{job.number, outcome.at, response.Duration, response.Status, string(response.Body), outcome.problem}
	return made, outcome.verdict == accepted, nil
}

// Sign is the signature of a body at a time: the hex HMAC-SHA256 of timestamp,
// a dot and the body exactly as it is sent.
func Sign(key []byte, timestamp string, body []byte) string {
	return hex.EncodeToString(code(key, timestamp, body))
}

// signStandard is a signature as Standard Webhooks has it; "" where the secret
// encodes no bytes.
func signStandard(secret []byte, eventID, timestamp string, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), "whsec_"))
	if err != nil {
		return ""
	}
	return "v1," + base64.StdEncoding.EncodeToString(code(key, eventID+"."+timestamp, body))
}

func code(key []byte, head string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(head + "."))
	mac.Write(body)
	return mac.Sum(nil)
}
