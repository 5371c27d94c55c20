package sender

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
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
	worker    worker
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

// worker is a goroutine that makes one request after the other. It is kept as
// long as there is work: its stack has grown to what a request needs.
type worker chan *flight

// work makes requests until the dispatcher has no more.
func (d *dispatcher) work(worker worker) {
	for flight := range worker {
		flight.outcome = d.sender.execute(flight.ctx, flight.job, d.log)
		crashpoint.Here("after-answer-before-close")
		select {
		case d.finished <- flight:
		case <-d.done:
			return
		}
	}
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
	signer, err := job.to.signer(s.box, job.secretContext)
	if err != nil {
		o.verdict, o.problem = localFailure, "the signing secret cannot be read"
		return o
	}
	header := job.headers(s.db.Real(), signer)
	job.to.signers.Put(signer)
	o.response, err = s.post(ctx, job.url, header, job.body)
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
	return newSigner(key).sign(timestamp, body)
}

// signer signs with one secret. It is one goroutine's at a time.
type signer struct {
	own      hash.Hash
	standard hash.Hash // nil: the secret encodes no bytes
	text     []byte
	old      *signer   // of the secret before the last rotation; nil: there is none
	oldUntil time.Time // it signs too until then
}

func newSigner(secret []byte) *signer {
	s := &signer{own: hmac.New(sha256.New, secret)}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), "whsec_"))
	if err == nil {
		s.standard = hmac.New(sha256.New, key)
	}
	return s
}

func (s *signer) sign(timestamp string, body []byte) string {
	s.text = append(append(s.text[:0], timestamp...), '.')
	sum := s.sum(s.own, body)
	s.text = hex.AppendEncode(s.text[:0], sum)
	return string(s.text)
}

func (s *signer) signStandard(eventID, timestamp string, body []byte) string {
	if s.standard == nil {
		return ""
	}
	s.text = append(append(s.text[:0], eventID...), '.')
	s.text = append(append(s.text, timestamp...), '.')
	sum := s.sum(s.standard, body)
	s.text = base64.StdEncoding.AppendEncode(append(s.text[:0], "v1,"...), sum)
	return string(s.text)
}

// sum is the code of the text and the body.
func (s *signer) sum(mac hash.Hash, body []byte) []byte {
	mac.Reset()
	mac.Write(s.text)
	mac.Write(body)
	return mac.Sum(nil)
}
