package reminder

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/civil"
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
func (e *engine) deliver(ctx context.Context, job job) {
	crashpoint.Here("reminder-after-claim")
	e.service.metrics.lag.Observe(max(0, e.service.db.Now().Sub(job.dueAt).Seconds()))
	prepared, err := e.prepare(ctx, job)
	if err != nil {
		e.log.ErrorContext(ctx, "message cannot be prepared", "company_id", job.companyID, "message", job.id, "error", err)
		return // the claim runs out, and it is tried again: nothing was sent
	}
	begun, ok, err := e.service.begin(ctx, job, prepared)
	if err != nil || !ok {
		if err != nil {
			e.log.ErrorContext(ctx, "message cannot be begun", "company_id", job.companyID, "message", job.id, "error", err)
		}
		return
	}
	crashpoint.Here("reminder-after-begin")
	out := e.service.send(ctx, begun)
	crashpoint.Here("reminder-after-answer")
	e.finish(ctx, job, begun, out)
}

// prepared is what was asked for before a message is begun.
type prepared struct {
	link, pix string
	problem   error      // why the link or the code could not be had
	debitOn   civil.Date // the invoice is debited then, and the customer is not asked to pay; zero: it is not
	look      *Look      // of a mail
}

func (e *engine) prepare(ctx context.Context, job job) (prepared prepared, err error) {
	list, err := candidates(ctx, e.service.db, job.companyID, []int64{job.id})
	if err != nil || len(list) == 0 {
		return prepared, err
	}
	candidate := list[0]
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	filling := candidate.filling(job.actor, job.actor.Today(e.service.db.Now()))
	prepared.problem = e.service.fillPayment(ctx, job.actor, candidate.template, candidate.about, &filling)
	prepared.link, prepared.pix = filling.link, filling.pix
	prepared.tellDebit()
	if job.reach == ByEmail && prepared.problem == nil {
		prepared.look = e.service.mailLook(ctx, job.actor, candidate, prepared)
	}
	return prepared, nil
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
func (s *Service) begin(ctx context.Context, job job, prepared prepared) (b begun, ok bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		b, ok = begun{}, false
		// The claim may have run out: then the message is another process's.
		mine, err := locked(sqldb.Value[int64](ctx, tx, `
			SELECT id FROM reminder_messages WHERE company_id = ? AND id = ? AND claim = ? AND status = 'scheduled' {for update}`,
			job.companyID, job.id, job.claim))
		if err != nil || !mine {
			return err
		}
		list, err := candidates(ctx, tx, job.companyID, []int64{job.id})
		if err != nil || len(list) == 0 {
			return err
		}
		state, err := s.companyStateOf(ctx, job.actor.In(tx))
		if err != nil {
			return err
		}
		candidate := list[0]
		decision := s.decideSending(state, candidate)
		if decision.status != Sending || decision.channel.ID != candidate.message.ChannelID {
			return s.settleUnsent(ctx, tx, job.companyID, candidate, decision)
		}
		if prepared.problem != nil {
			return s.settleUnfilled(ctx, tx, state, candidate, prepared.problem)
		}
		b, ok = s.write(state, candidate, decision, prepared), true
		if b.kind.Approved && !prepared.debitOn.IsZero() { // no template of theirs says it
			b, ok = begun{}, false
			debited := debited{prepared.debitOn}
			return s.settleUnsent(ctx, tx, job.companyID, candidate, skip(debited.Error()))
		}
		return beginSending(ctx, tx, job, b)
	})
	return b, ok && err == nil, err
}

// write makes the letter of a message.
func (s *Service) write(state companyState, candidate candidate, decision sendDecision, prepared prepared) begun {
	filling := candidate.filling(state.actor, state.actor.Today(state.now))
	filling.link, filling.pix = prepared.link, prepared.pix
	subject, text, approved := fill(candidate.template, filling)
	if !prepared.debitOn.IsZero() {
		subject, text = debitLetter(prepared.debitOn, filling)
	}
	if subject == "" {
		subject = state.actor.Company.Name
	}
	kind, _ := s.kind(decision.channel.Kind)
	return begun{
		candidate: candidate,
		channel:   decision.channel,
		kind:      kind,
		number:    candidate.message.Attempts + 1,
		Letter: Letter{
			ID:        candidate.message.Key,
			CompanyID: state.actor.Company.ID,
			Company:   state.actor.Company.Name,
			To:        decision.to,
			Name:      candidate.customer.Name,
			Subject:   subject,
			Text:      text,
			At:        state.now.In(state.actor.Company.Zone),
			Mark: Mark{
				MessageID: candidate.message.ID,
				Key:       candidate.message.Key,
				Number:    candidate.message.Attempts + 1,
			},
			Look:         prepared.look,
			Template:     approved,
			CustomerID:   candidate.customer.ID,
			CustomerUUID: candidate.customer.UUID,
			Whatsapp:     candidate.customer.Whatsapp,
			Email:        candidate.customer.Email,
			DueOn:        candidate.message.DueOn,
		},
	}
}

// settleUnfilled ends or puts off a message if its link or code is not
// available.
func (s *Service) settleUnfilled(
	ctx context.Context, tx *sqldb.Tx, state companyState, candidate candidate, problem error,
) error {
	decision := skip(problemText(problem))
	if at, ok := candidate.again(state, 0); ok && !forGood(problem) {
		n := transition{
			status:    Scheduled,
			reason:    decision.reason,
			channelID: candidate.message.ChannelID,
			step:      candidate.step + 1,
			runAt:     at,
		}
		return settle(ctx, tx, state.actor.Company.ID, candidate.message.ID, n)
	}
	return s.settleUnsent(ctx, tx, state.actor.Company.ID, candidate, decision)
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
func (s *Service) send(ctx context.Context, begun begun) outcome {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	began := s.db.Real()
	out := outcome{at: s.db.Now()}
	var sender Sender
	err := worker.Guard(ctx, func() (err error) {
		sender, err = s.sender(begun.channel)
		return err
	})
	if err != nil {
		out.cause = err
		out.verdict, out.problem = passing, "the channel cannot be opened"
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			out.verdict, out.problem = refused, refusal.Reason
		}
		return out
	}
	err = worker.Guard(ctx, func() (err error) {
		out.receipt, err = sender.Send(ctx, begun.Letter)
		return err
	})
	out.duration, out.cause = s.db.Real().Sub(began), err
	out.judge(err, begun.kind.Idempotent)
	return out
}

func (o *outcome) judge(err error, idempotent bool) {
	if err == nil {
		o.verdict = accepted
		return
	}
	o.verdict, o.problem = doubtful, "it may or may not have been sent"
	if doubt, ok := errors.AsType[*Doubt](err); ok {
		o.problem = doubt.Reason
	}
	if idempotent {
		o.verdict = passing
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		o.verdict, o.problem = refused, refusal.Reason
	}
	if p, ok := errors.AsType[*Passing](err); ok {
		o.verdict, o.problem, o.after = passing, p.Reason, p.After
	}
	o.problem = clip(o.problem, maxReason)
}

// finish closes an attempt and reports it.
func (e *engine) finish(ctx context.Context, job job, begun begun, out outcome) {
	kept, err := e.service.recordAttempt(ctx, job, begun, out)
	attrs := []any{
		"company_id", job.companyID, "message", job.id, "key", begun.ID, "channel_id",
		begun.channel.ID, "kind", begun.kind.Name,
		"attempt", begun.number, "took", out.duration, "outcome", out.verdict,
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
// when the message is no longer ours. One that was given up as unknown meanwhile gets
// the true outcome, unless a person has decided.
func (s *Service) recordAttempt(ctx context.Context, job job, begun begun, outcome outcome) (kept bool, err error) {
	return sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (kept bool, err error) {
		if kept, err = lockSending(ctx, tx, job); err != nil || !kept {
			return kept, err
		}
		list, err := candidates(ctx, tx, job.companyID, []int64{job.id})
		if err != nil || len(list) == 0 {
			return kept, err
		}
		state, err := s.companyStateOf(ctx, job.actor.In(tx))
		if err != nil {
			return kept, err
		}
		outcome, err := writeAttempt(ctx, tx, job, begun, outcome)
		if err != nil {
			return kept, err
		}
		transition := begun.following(state, list[0], outcome)
		if err := recordHealth(ctx, tx, job.companyID, begun.channel, outcome); err != nil {
			return kept, err
		}
		tx.OnCommit(func() { s.metrics.count(begun.kind.Name, transition.outcome()) })
		if transition.status == Scheduled {
			tx.OnCommit(s.wake.Hint)
		} else if err := s.options.Settled(ctx, tx, Settled{job.companyID, job.id, transition.status}); err != nil {
			return kept, err
		}
		return kept, settle(ctx, tx, job.companyID, job.id, transition)
	})
}

// outcome is what the metrics call it.
func (n transition) outcome() string {
	if n.status == Scheduled {
		return "retried"
	}
	return string(n.status)
}

// following decides what becomes of a message after an attempt.
func (b begun) following(state companyState, candidate candidate, outcome outcome) transition {
	n := transition{channelID: b.channel.ID, step: candidate.step, runAt: state.now, reason: outcome.problem}
	switch outcome.verdict {
	case accepted:
		n.status, n.receipt, n.sentAt, n.reason = Sent, clip(outcome.receipt, maxReason), state.now, ""
		return n
	case doubtful:
		n.status, n.keepClaim = Unknown, true
		return n
	case passing:
		if at, ok := candidate.again(state, outcome.after); ok {
			n.status, n.step, n.runAt = Scheduled, candidate.step+1, at
			return n
		}
		n.reason = b.channel.Name + " did not succeed: " + outcome.problem
	case refused:
		n.reason = "channel refused: " + outcome.problem
	}
	if id, ok := candidate.rule.channelAfter(b.channel.ID); ok {
		n.status, n.channelID, n.step = Scheduled, id, 0
		return n
	}
	n.status = Failed
	return n
}

// again is when a message is tried again through the same channel: later and
// later, in no quiet hour, and not after its day.
func (c candidate) again(state companyState, asked time.Duration) (time.Time, bool) {
	if c.step >= len(retryDelays) || c.rule.ID == 0 {
		return time.Time{}, false
	}
	at := state.now.Add(worker.Jitter(max(retryDelays[c.step], asked)))
	if c.message.manual {
		return at, true
	}
	_, late := c.moment(state)
	at = state.quiet.after(at, state.actor.Company.Zone)
	return at, at.Before(late)
}
