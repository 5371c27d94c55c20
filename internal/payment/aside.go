package payment

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

const (
	// asideFor is how long a charge that keeps panicking is left alone. It is
	// checked again then, since money may have come and the program may have been
	// mended; a callback has it checked sooner.
	asideFor     = 24 * time.Hour
	asideProblem = "looking after this charge fails inside the program; it is set aside for a day: look at the gateway whether it was paid"
)

// strike counts a panic over a charge. Its claim runs out and it is claimed
// again, until it has panicked too often.
func (s *Service) strike(ctx context.Context, work check, cause error) {
	attrs := []any{
		"company_id", work.charge.companyID, "reference", work.charge.order.Reference, "error",
		cause,
	}
	if !s.strikes.Add(work.charge.id) {
		s.options.Log.ErrorContext(ctx, "charge panicked; it will be looked after again", attrs...)
		return
	}
	s.options.Log.ErrorContext(ctx, "charge set aside: it keeps panicking", attrs...)
	if err := s.setAside(ctx, work); err != nil {
		attrs[len(attrs)-1] = err
		s.options.Log.ErrorContext(ctx, "charge cannot be set aside", attrs...)
	}
}

// setAside has a charge checked no more for asideFor, with a notice at the
// charge and at its gateway.
func (s *Service) setAside(ctx context.Context, work check) error {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		locked, err := lockCharge(ctx, tx, work.charge.companyID, work.charge.id)
		if err != nil || locked.claim != "" && locked.claim != work.charge.claim {
			return err
		}
		change := changeOf(locked)
		change.after.claim, change.after.problem, change.after.hintedAt = "", asideProblem, time.Time{}
		change.after.nextCheck = tx.Now().Add(worker.Jitter(asideFor))
		if err := s.applyCharge(ctx, tx, &change); err != nil {
			return err
		}
		tx.OnCommit(s.metrics.aside.WithLabelValues("charge").Inc)
		if work.setup.ID == 0 {
			return nil
		}
		_, err = countFailure(ctx, tx, work.setup, asideProblem)
		return err
	})
}

// strikeCallback gives up a callback that keeps panicking: reconciliation finds
// what it is about. Its tries are counted where it is stored.
func (s *Service) strikeCallback(ctx context.Context, callback storedCallback, cause error) {
	attrs := []any{"company_id", callback.companyID, "callback", callback.id, "error", cause}
	if callback.tries < worker.MaxStrikes {
		s.options.Log.ErrorContext(ctx, "callback panicked; it will be looked into again", attrs...)
		return
	}
	s.options.Log.ErrorContext(ctx, "callback set aside: it keeps panicking", attrs...)
	if err := s.rescheduleCallback(ctx, callback, nil); err != nil {
		attrs[len(attrs)-1] = err
		s.options.Log.ErrorContext(ctx, "callback cannot be set aside", attrs...)
		return
	}
	s.metrics.aside.WithLabelValues("callback").Inc()
}
