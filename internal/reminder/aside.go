package reminder

import (
	"context"
	"errors"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// reasonAside is what people read of a message that made the program panic.
const reasonAside = "set aside: the program fails over this message"

// attend delivers a claimed message. One that makes the program panic is left
// until its claim has run out and then claimed again; one that keeps panicking
// is set aside.
func (e *engine) attend(ctx context.Context, job job) {
	err := worker.Guard(ctx, func() error {
		e.deliver(ctx, job)
		return nil
	})
	if err == nil {
		e.service.strikes.Clear(job.id)
		return
	}
	attrs := []any{"company_id", job.companyID, "message", job.id, "error", err}
	if !e.service.strikes.Add(job.id) {
		e.log.ErrorContext(ctx, "message panicked; it will be claimed again", attrs...)
		return
	}
	e.log.ErrorContext(ctx, "message set aside: it keeps panicking", attrs...)
	if err := e.service.setAside(ctx, job); err != nil {
		e.log.ErrorContext(ctx, "message cannot be set aside", "company_id", job.companyID, "message", job.id, "error", err)
		return
	}
	e.service.strikes.Clear(job.id)
}

// setAside ends a message that nobody can send, with a notice at its channel.
// One that may have been sent waits for a person.
func (s *Service) setAside(ctx context.Context, job job) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		channelID, err := setMessageAside(ctx, tx, job)
		if errors.Is(err, sqldb.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		tx.OnCommit(s.metrics.aside.Inc)
		return addProblem(ctx, tx, job.companyID, channelID, reasonAside)
	})
}

// ruleSafely decides about a message in the middle of a claim. The decision
// depends on nothing but rows: over one that makes it panic it would panic
// again, and no message of any channel would be claimed. That one fails at once.
func (s *Service) ruleSafely(
	ctx context.Context,
	tx *sqldb.Tx,
	state companyState,
	candidate candidate,
) (decision sendDecision) {
	err := worker.Guard(ctx, func() error {
		decision = s.decideSending(state, candidate)
		return nil
	})
	if err == nil {
		return decision
	}
	tx.OnCommit(func() {
		s.metrics.aside.Inc()
		s.options.Env.Log.ErrorContext(
			ctx,
			"message set aside: deciding about it panics",
			"message",
			candidate.message.ID,
			"error",
			err,
		)
	})
	return sendDecision{status: Failed, reason: reasonAside}
}
