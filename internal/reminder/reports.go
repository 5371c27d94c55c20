package reminder

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// What is wrong with a carrier's call.
var (
	// ErrForged says that a call does not prove that it comes from the carrier.
	ErrForged = errors.New("the call does not come from the carrier")
	// ErrUnreadable says that a call comes from the carrier and makes no sense.
	ErrUnreadable = errors.New("the call cannot be read")
	// ErrNotAwaited says that the channel has no secret to prove a call.
	ErrNotAwaited = errors.New("the channel awaits no calls")
)

// hearsFor is how long after a carrier's last call its reports, and no longer its
// taking a message, say whether a channel works.
const hearsFor = 24 * time.Hour

// hears reports whether the channel's carrier reports on messages.
func (c Channel) hears(now time.Time) bool { return now.Sub(c.HeardAt) < hearsFor }

// reporting is a channel with a carrier that calls.
type reporting struct {
	companyID int64
	channel   Channel
	kind      Kind
}

// reportingChannel finds the channel that a carrier's address belongs to.
func (s *Service) reportingChannel(ctx context.Context, kind, key string) (reporting, error) {
	found, err := channelByCallback(ctx, s.db, key)
	if errors.Is(err, sqldb.ErrNotFound) || err == nil && found.channel.Kind != kind {
		return found, fault.NotFound("channel")
	}
	if err != nil {
		return found, err
	}
	found.kind, _ = s.kind(kind)
	if found.kind.Reporter == nil {
		return found, fault.NotFound("channel")
	}
	return found, nil
}

// ConfirmCallback answers a carrier that asks whether an address is ours.
func (s *Service) ConfirmCallback(ctx context.Context, kind, key string, query url.Values) (string, error) {
	found, err := s.reportingChannel(ctx, kind, key)
	if err != nil {
		return "", err
	}
	answer, err := found.kind.Reporter.Challenge(found.channel.VerifyToken, query)
	if err != nil {
		s.metrics.call(found.kind.Name, "forged")
		return "", fault.Forbidden("the verify token is not the channel's")
	}
	s.metrics.call(found.kind.Name, "confirmed")
	return answer, nil
}

// KnowsCallback reports whether a key is a channel's, for an edge that reads the
// bodies of strangers no further.
func (s *Service) KnowsCallback(ctx context.Context, kind, key string) error {
	_, err := s.reportingChannel(ctx, kind, key)
	return err
}

// ReceiveReports takes a carrier's call and applies each report in a transaction
// of its own. After an error the carrier calls again: a report that was applied
// changes nothing the second time.
func (s *Service) ReceiveReports(ctx context.Context, kind, key string, call Call) error {
	found, err := s.reportingChannel(ctx, kind, key)
	if err != nil {
		return err
	}
	reports, err := s.readReports(found, call)
	if err != nil {
		return err
	}
	actor, err := s.accounts.Program(ctx, found.companyID, "hear of messages")
	if err != nil {
		return err
	}
	if err := s.noteHeard(ctx, found); err != nil {
		return err
	}
	for _, report := range reports {
		if err := s.applyReport(ctx, actor, found.kind, report); err != nil {
			return err
		}
		crashpoint.Here("reminder-after-report")
	}
	s.metrics.call(found.kind.Name, "accepted")
	return nil
}

// readReports checks a call and reads it.
func (s *Service) readReports(found reporting, call Call) ([]Report, error) {
	options, err := s.open(found.channel)
	if err != nil {
		return nil, err
	}
	maps.Copy(options, found.channel.Options)
	reports, err := found.kind.Reporter.Reports(options, call)
	switch {
	case errors.Is(err, ErrNotAwaited):
		s.metrics.call(found.kind.Name, "forged")
		return nil, fault.New(fault.KindUnauthenticated,
			"the channel has no app_secret, and without it nothing proves where a call comes from")
	case errors.Is(err, ErrForged):
		s.metrics.call(found.kind.Name, "forged")
		return nil, fault.New(fault.KindUnauthenticated, "this does not prove that it comes from the carrier")
	case err != nil:
		s.metrics.call(found.kind.Name, "unreadable")
		return nil, fault.New(fault.KindInvalid, "the call cannot be read")
	}
	return reports, nil
}

// noteHeard writes down, at most once a minute, that the carrier has called.
func (s *Service) noteHeard(ctx context.Context, found reporting) error {
	if s.db.Now().Sub(found.channel.HeardAt) < time.Minute {
		return nil
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return tx.Do(ctx, `UPDATE reminder_channels SET heard_at = ? WHERE company_id = ? AND id = ? AND heard_at < ?`,
			tx.Now().UnixMicro(), found.companyID, found.channel.ID, tx.Now().UnixMicro())
	})
}

// applyReport records what a carrier reports of an attempt, and draws the
// consequences for its message, in one transaction: a failure leads to the next
// channel exactly once, whichever process hears of it and however often.
func (s *Service) applyReport(ctx context.Context, actor account.Actor, kind Kind, report Report) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		attempt, found, err := lockReported(ctx, actor.In(tx), kind.Name, report)
		if err != nil {
			return err
		}
		if !found || !report.Arrival.outweighs(attempt.arrival) {
			tx.OnCommit(func() { s.metrics.report(kind.Name, "ignored") })
			return nil
		}
		attempt.take(report, tx.Now())
		if err := saveReport(ctx, actor.In(tx), attempt); err != nil {
			return err
		}
		tx.OnCommit(func() { s.metrics.report(kind.Name, string(report.Arrival)) })
		crashpoint.Here("reminder-in-report")
		return s.drawReport(ctx, actor.In(tx), attempt)
	})
}

// reportedAttempt is an attempt with what was reported of it; its message is
// locked.
type reportedAttempt struct {
	messageID int64
	status    Status // of the message
	attempts  int    // of the message so far
	number    int
	channelID int64
	kind      string
	recorded  bool // false: its outcome is not written yet
	receipt   string

	arrival Arrival
	at      time.Time
	verdict verdict // what the report means for the message
	problem string
}

// take puts a report in the place of an earlier one.
func (a *reportedAttempt) take(report Report, now time.Time) {
	a.arrival, a.verdict, a.problem = report.Arrival, accepted, ""
	if report.Arrival == ArrivalFailed {
		var out outcome
		out.judge(report.Problem, false)
		a.verdict, a.problem = out.verdict.ofFailure(), out.problem
	}
	if report.Receipt != "" {
		a.receipt = clip(report.Receipt, maxReason)
	}
	a.at = report.At
	if a.at.IsZero() || a.at.After(now) { // the carrier's clock is ahead of ours
		a.at = now
	}
}

// ofFailure is what a failure that the carrier reported means: it may be tried
// again, or never.
func (v verdict) ofFailure() verdict {
	if v == passing {
		return passing
	}
	return refused
}

// drawReport draws the consequences of a report for the message. An attempt
// that was followed by others has no more consequences; while the attempt is
// still being made, the process that makes it reads the report when recording
// its outcome.
func (s *Service) drawReport(ctx context.Context, tx account.Tx, attempt reportedAttempt) error {
	if attempt.number != attempt.attempts || attempt.status == Sending {
		return nil
	}
	if err := setArrival(ctx, tx.Tx, tx.Company.ID, attempt); err != nil {
		return err
	}
	if err := s.reportHealth(ctx, tx, attempt); err != nil {
		return err
	}
	switch {
	case attempt.arrival == ArrivalFailed && (attempt.status == Sent || attempt.status == Unknown):
		return s.fallBack(ctx, tx, attempt)
	case attempt.unsettles():
		return s.settleArrived(ctx, tx, attempt)
	}
	return nil
}

// unsettles reports whether a good report changes what is thought of a message:
// one in doubt was sent after all, and one that waits for another channel, or was
// given up, has arrived. What a person has put aside stays so.
func (a reportedAttempt) unsettles() bool {
	switch a.status {
	case Unknown:
		return true
	case Scheduled, Failed, Skipped:
		return a.arrival.arrived()
	case Sending, Sent, Dismissed:
	}
	return false
}

// reportHealth keeps the channel's health by what is reported.
func (s *Service) reportHealth(ctx context.Context, tx account.Tx, attempt reportedAttempt) error {
	switch {
	case attempt.arrival == ArrivalFailed:
		return addProblem(ctx, tx.Tx, tx.Company.ID, attempt.channelID, attempt.problem)
	case attempt.arrival.arrived():
		return clearProblem(ctx, tx.Tx, tx.Company.ID, attempt.channelID)
	}
	return nil
}

// fallBack treats a failure that was reported later as one that was reported at
// once: the message is tried again or goes to the next channel as its rule says.
// Whether it is still wanted (not paid, not opted out, not too late) is decided
// when its turn comes, as for any message.
func (s *Service) fallBack(ctx context.Context, tx account.Tx, attempt reportedAttempt) error {
	list, err := candidates(ctx, tx, tx.Company.ID, []int64{attempt.messageID})
	if err != nil || len(list) == 0 {
		return err
	}
	state, err := s.companyStateOf(ctx, tx)
	if err != nil {
		return err
	}
	tried := begun{channel: state.channelOf(attempt)}
	next := tried.following(state, list[0], outcome{verdict: attempt.verdict, problem: attempt.problem})
	tx.OnCommit(func() { s.metrics.count(attempt.kind, next.outcome()) })
	if next.status == Scheduled {
		tx.OnCommit(s.wake.Hint)
	}
	return settle(ctx, tx.Tx, tx.Company.ID, attempt.messageID, next)
}

// channelOf is the channel that made an attempt; one that was deleted has only
// the name of its kind.
func (s companyState) channelOf(attempt reportedAttempt) Channel {
	for _, channel := range s.channels {
		if channel.ID == attempt.channelID {
			return channel
		}
	}
	return Channel{ID: attempt.channelID, Name: attempt.kind}
}

// settleArrived ends a message that the carrier says has been sent.
func (s *Service) settleArrived(ctx context.Context, tx account.Tx, attempt reportedAttempt) error {
	tx.OnCommit(func() { s.metrics.count(attempt.kind, string(Sent)) })
	return settle(ctx, tx.Tx, tx.Company.ID, attempt.messageID, transition{
		status:    Sent,
		channelID: attempt.channelID,
		runAt:     tx.Now(),
		receipt:   attempt.receipt,
		sentAt:    attempt.at,
	})
}

// drawEarlier draws the consequences of a report that came before a message was
// given up as unknown.
func (s *Service) drawEarlier(ctx context.Context, tx *sqldb.Tx, lost lostMessage) error {
	attempt, found, err := reportedOf(ctx, tx, lost.companyID, lost.id)
	if err != nil || !found {
		return err
	}
	company, err := account.FindCompany(ctx, tx, lost.companyID)
	if err != nil {
		return err
	}
	return s.drawReport(ctx, account.System(company, "hear of messages").In(tx), attempt)
}

// writeAttempt writes the outcome of an attempt, and returns it as corrected by
// what the carrier has reported already.
func writeAttempt(ctx context.Context, tx *sqldb.Tx, job job, begun begun, made outcome) (outcome, error) {
	reported, early, err := reportedOf(ctx, tx, job.companyID, job.id)
	if err != nil {
		return made, err
	}
	if err := insertAttempt(ctx, tx, job, begun, made); err != nil || !early {
		return made, err
	}
	return made.corrected(reported), setArrival(ctx, tx, job.companyID, reported)
}

// corrected is the outcome of an attempt by what the carrier has reported of it
// already: its own word says more than how the call ended.
func (o outcome) corrected(attempt reportedAttempt) outcome {
	if o.verdict != accepted && o.verdict != doubtful {
		return o
	}
	o.verdict, o.problem, o.after = attempt.verdict, attempt.problem, 0
	if o.receipt == "" {
		o.receipt = attempt.receipt
	}
	return o
}
