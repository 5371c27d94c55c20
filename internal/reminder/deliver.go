package reminder

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// retryDelays are the waits before a message is tried again through the same
// channel.
var retryDelays = []time.Duration{time.Minute, 5 * time.Minute, 20 * time.Minute, time.Hour}

// maxReason keeps what a carrier says within reason.
const maxReason = 500

// deliver takes a claimed message all the way: what a gateway has to say is
// asked first; then one transaction decides once more and marks the message as
// being sent; then it is sent; then it is closed.
func (e *engine) deliver(ctx context.Context, j job) {
	crashpoint.Here("reminder-after-claim")
	e.service.metrics.lag.Observe(max(0, e.service.db.Now().Sub(j.dueAt).Seconds()))
	p, err := e.prepare(ctx, j)
	if err != nil {
		e.log.ErrorContext(ctx, "message cannot be prepared", "company_id", j.companyID, "message", j.id, "error", err)
		return // the claim runs out, and it is tried again: nothing was sent
	}
	l, ok, err := e.service.begin(ctx, j, p)
	if err != nil || !ok {
		if err != nil {
			e.log.ErrorContext(ctx, "message cannot be begun", "company_id", j.companyID, "message", j.id, "error", err)
		}
		return
	}
	crashpoint.Here("reminder-after-begin")
	out := e.service.send(ctx, l)
	crashpoint.Here("reminder-after-answer")
	e.finish(ctx, j, l, out)
}

// prepared is what was asked for before a message is begun.
type prepared struct {
	link, pix string
	problem   error // why it could not be had
}

func (e *engine) prepare(ctx context.Context, j job) (p prepared, err error) {
	list, err := candidates(ctx, e.service.db, j.companyID, []int64{j.id})
	if err != nil || len(list) == 0 {
		return p, err
	}
	c := list[0]
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	f := fillingOf(j.actor, c.about, j.actor.Today(e.service.db.Now()))
	p.problem = e.service.fillPayment(ctx, j.actor, c.template, c.about, &f)
	p.link, p.pix = f.link, f.pix
	return p, nil
}

// begun is a message that is marked as being sent.
type begun struct {
	Letter
	candidate candidate
	channel   Channel
	kind      Kind
	number    int // of the attempt
}

// begin decides once more about a claimed message, by what is true now, and
// marks it as being sent. From then on it is sent at most once.
func (s *Service) begin(ctx context.Context, j job, p prepared) (b begun, ok bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		b, ok = begun{}, false
		mine, err := lockClaimed(ctx, tx, j)
		if err != nil || !mine {
			return err
		}
		list, err := candidates(ctx, tx, j.companyID, []int64{j.id})
		if err != nil || len(list) == 0 {
			return err
		}
		w, err := s.companyStateOf(ctx, tx, j.actor)
		if err != nil {
			return err
		}
		c := list[0]
		r := s.decideSending(w, c)
		if r.status != Sending || r.channel.ID != c.message.ChannelID {
			return s.settleUnsent(ctx, tx, j.companyID, c, r)
		}
		if p.problem != nil {
			return s.settleUnfilled(ctx, tx, w, c, p.problem)
		}
		b, ok = s.write(w, c, r, p), true
		return beginSending(ctx, tx, j, b)
	})
	return b, ok && err == nil, err
}

// write makes the letter of a message.
func (s *Service) write(w companyState, c candidate, r sendDecision, p prepared) begun {
	f := fillingOf(w.actor, c.about, w.actor.Today(w.now))
	f.link, f.pix = p.link, p.pix
	subject, text, params := fill(c.template, f)
	if subject == "" {
		subject = w.actor.Company.Name
	}
	kind, _ := s.kind(r.channel.Kind)
	return begun{candidate: c, channel: r.channel, kind: kind, number: c.message.Attempts + 1, Letter: Letter{
		ID: c.message.Key, CompanyID: w.actor.Company.ID, Company: w.actor.Company.Name, To: r.to, Name: c.customer.Name,
		Subject: subject, Text: text, At: w.now.In(w.actor.Company.Zone),
		Template:   ApprovedTemplate{Name: c.template.Approved.Name, Language: c.template.Approved.Language, Params: params},
		CustomerID: c.customer.ID, CustomerUUID: c.customer.UUID, Whatsapp: c.customer.Whatsapp, Email: c.customer.Email, DueOn: c.message.DueOn,
	}}
}

// settleUnfilled ends or puts off a message whose link or code could not be
// had.
func (s *Service) settleUnfilled(ctx context.Context, tx *sqldb.Tx, w companyState, c candidate, problem error) error {
	r := skip(problemText(problem))
	if at, ok := c.again(w, 0); ok && !forGood(problem) {
		n := transition{status: Scheduled, reason: r.reason, channelID: c.message.ChannelID, step: c.step + 1, runAt: at}
		return settle(ctx, tx, w.actor.Company.ID, c.message.ID, n)
	}
	return s.settleUnsent(ctx, tx, w.actor.Company.ID, c, r)
}

// outcome is one attempt.
type outcome struct {
	verdict  verdict
	at       time.Time
	duration time.Duration
	receipt  string
	problem  string
	after    time.Duration
	cause    error // for the log
}

type verdict string

const (
	accepted verdict = "accepted"
	refused  verdict = "refused" // for good
	passing  verdict = "passing" // may be tried again
	doubtful verdict = "unknown" // it may have been sent
)

// send sends a letter. What a channel that knows repeated ones leaves open is
// tried again.
func (s *Service) send(ctx context.Context, b begun) outcome {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	out := outcome{at: s.db.Now()}
	var sender Sender
	err := worker.Guard(ctx, func() (err error) {
		sender, err = s.sender(b.channel)
		return err
	})
	if err != nil {
		out.cause = err
		out.verdict, out.problem = passing, "the channel cannot be opened"
		if r, ok := errors.AsType[*Refusal](err); ok {
			out.verdict, out.problem = refused, r.Reason
		}
		return out
	}
	err = worker.Guard(ctx, func() (err error) {
		out.receipt, err = sender.Send(ctx, b.Letter)
		return err
	})
	out.duration, out.cause = s.db.Now().Sub(out.at), err
	out.judge(err, b.kind.Idempotent)
	return out
}

func (o *outcome) judge(err error, idempotent bool) {
	if err == nil {
		o.verdict = accepted
		return
	}
	o.verdict, o.problem = doubtful, "it may or may not have been sent"
	if d, ok := errors.AsType[*Doubt](err); ok {
		o.problem = d.Reason
	}
	if idempotent {
		o.verdict = passing
	}
	if r, ok := errors.AsType[*Refusal](err); ok {
		o.verdict, o.problem = refused, r.Reason
	}
	if p, ok := errors.AsType[*Passing](err); ok {
		o.verdict, o.problem, o.after = passing, p.Reason, p.After
	}
	o.problem = clip(o.problem, maxReason)
}

// finish closes an attempt and tells of it.
func (e *engine) finish(ctx context.Context, j job, b begun, out outcome) {
	kept, err := e.service.recordAttempt(ctx, j, b, out)
	attrs := []any{
		"company_id", j.companyID, "message", j.id, "key", b.ID, "channel_id", b.channel.ID, "kind", b.kind.Name,
		"attempt", b.number, "took", out.duration, "outcome", out.verdict,
	}
	switch {
	case err != nil:
		e.log.ErrorContext(ctx, "message attempt not recorded", append(attrs, "error", err)...)
	case !kept:
		e.log.WarnContext(ctx, "message attempt outlived its claim", attrs...)
	case worker.Panicked(out.cause):
		e.log.ErrorContext(ctx, "message attempt panicked", append(attrs, "problem", out.problem, "error", out.cause)...)
	default:
		e.log.InfoContext(ctx, "message attempt", append(attrs, "problem", out.problem)...)
	}
}

// transition is what becomes of a message.
type transition struct {
	status    Status
	reason    string
	channelID int64
	step      int
	runAt     time.Time
	receipt   string
	sentAt    time.Time
	keepClaim bool
}

// recordAttempt writes the outcome of an attempt in one transaction. It reports false
// when the message is no longer ours. One that was given up as unknown
// meanwhile is told the truth, unless a person has decided.
func (s *Service) recordAttempt(ctx context.Context, j job, b begun, o outcome) (kept bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if kept, err = lockSending(ctx, tx, j); err != nil || !kept {
			return err
		}
		list, err := candidates(ctx, tx, j.companyID, []int64{j.id})
		if err != nil || len(list) == 0 {
			return err
		}
		w, err := s.companyStateOf(ctx, tx, j.actor)
		if err != nil {
			return err
		}
		n := b.following(w, list[0], o)
		if err := insertAttempt(ctx, tx, j, b, o); err != nil {
			return err
		}
		if err := recordHealth(ctx, tx, j.companyID, b.channel.ID, o); err != nil {
			return err
		}
		tx.OnCommit(func() { s.metrics.count(b.kind.Name, n.outcome()) })
		if n.status == Scheduled {
			tx.OnCommit(s.wake.Hint)
		}
		return settle(ctx, tx, j.companyID, j.id, n)
	})
	return kept, err
}

// outcome is what the metrics call it.
func (n transition) outcome() string {
	if n.status == Scheduled {
		return "retried"
	}
	return string(n.status)
}

// following decides what becomes of a message after an attempt.
func (b begun) following(w companyState, c candidate, o outcome) transition {
	n := transition{channelID: b.channel.ID, step: c.step, runAt: w.now, reason: o.problem}
	switch o.verdict {
	case accepted:
		n.status, n.receipt, n.sentAt, n.reason = Sent, clip(o.receipt, maxReason), w.now, ""
		return n
	case doubtful:
		n.status, n.keepClaim = Unknown, true
		return n
	case passing:
		if at, ok := c.again(w, o.after); ok {
			n.status, n.step, n.runAt = Scheduled, c.step+1, at
			return n
		}
		n.reason = b.channel.Name + " did not succeed: " + o.problem
	case refused:
		n.reason = "channel refused: " + o.problem
	}
	if id, ok := c.rule.channelAfter(b.channel.ID); ok {
		n.status, n.channelID, n.step = Scheduled, id, 0
		return n
	}
	n.status = Failed
	return n
}

// again is when a message is tried again through the same channel: later and
// later, in no quiet hour, and not after its day.
func (c candidate) again(w companyState, asked time.Duration) (time.Time, bool) {
	if c.step >= len(retryDelays) || c.rule.ID == 0 {
		return time.Time{}, false
	}
	at := w.now.Add(worker.Jitter(max(retryDelays[c.step], asked)))
	if c.manual {
		return at, true
	}
	_, late := c.moment(w)
	at = w.quiet.after(at, w.actor.Company.Zone)
	return at, at.Before(late)
}
