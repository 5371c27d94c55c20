package payment

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

const (
	// asideFor is how long a charge that keeps panicking is left alone. It is
	// looked at again then, since money may have come and the program may have
	// been mended; a callback has it looked at sooner.
	asideFor     = 24 * time.Hour
	asideProblem = "looking after this charge fails inside the program; it is set aside for a day: look at the gateway whether it was paid"
)

// strike deals with a charge that made the program panic: its claim runs out
// and it is claimed again, until it has panicked too often.
func (s *Service) strike(ctx context.Context, u Setup, c charge, cause error) {
	attrs := []any{"company_id", c.companyID, "reference", c.order.Reference, "error", cause}
	if !s.strikes.Add(c.id) {
		s.options.Log.ErrorContext(ctx, "charge panicked; it will be looked after again", attrs...)
		return
	}
	s.options.Log.ErrorContext(ctx, "charge set aside: it keeps panicking", attrs...)
	if err := s.setAside(ctx, u, c); err != nil {
		s.options.Log.ErrorContext(ctx, "charge cannot be set aside", "company_id", c.companyID, "reference", c.order.Reference, "error", err)
	}
}

// setAside has a charge looked at no more for asideFor, with a notice at the
// charge and at its gateway.
func (s *Service) setAside(ctx context.Context, u Setup, c charge) error {
	ctx, cancel := closing(ctx)
	defer cancel()
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		now, err := lockCharge(ctx, tx, c.companyID, c.id)
		if err != nil || now.claim != "" && now.claim != c.claim {
			return err
		}
		now.claim, now.problem, now.hintedAt = "", asideProblem, time.Time{}
		now.nextCheck = tx.Now().Add(worker.Jitter(asideFor))
		if err := saveCharge(ctx, tx, now); err != nil {
			return err
		}
		tx.OnCommit(s.metrics.aside.WithLabelValues("charge").Inc)
		if u.ID == 0 {
			return nil
		}
		_, err = countFailure(ctx, tx, u, asideProblem)
		return err
	})
}

// strikeCallback gives up a callback that keeps panicking: what it is about is
// found by reconciliation. Its tries are counted where it is stored.
func (s *Service) strikeCallback(ctx context.Context, c stored, cause error) {
	attrs := []any{"company_id", c.companyID, "callback", c.id, "error", cause}
	if c.tries < worker.MaxStrikes {
		s.options.Log.ErrorContext(ctx, "callback panicked; it will be looked into again", attrs...)
		return
	}
	s.options.Log.ErrorContext(ctx, "callback set aside: it keeps panicking", attrs...)
	if err := s.putBack(ctx, c, nil); err != nil {
		s.options.Log.ErrorContext(ctx, "callback cannot be set aside", "company_id", c.companyID, "callback", c.id, "error", err)
		return
	}
	s.metrics.aside.WithLabelValues("callback").Inc()
}
