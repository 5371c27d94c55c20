package payment

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// create has the gateway make the reserved charge.
func (j *charging) create(ctx context.Context) error {
	gateway, err := j.service.openFor(ctx, check{j.setup, j.charge})
	if err != nil {
		return errors.Join(fault.Internal(err), j.recordFailure(ctx, err))
	}
	var made Charge
	about := callAbout{j.setup, "create", j.charge.order.Reference}
	err = j.service.call(ctx, about, func(ctx context.Context) (err error) {
		made, err = gateway.Create(ctx, j.charge.order)
		if err == nil {
			err = j.charge.validate(made)
		}
		return err
	})
	crashpoint.Here("charge-created")
	if err != nil {
		return errors.Join(explain(j.setup, err), j.recordFailure(ctx, err))
	}
	return j.recordCreated(ctx, made)
}

// validate refuses a charge that no gateway can mean.
func (c charge) validate(made Charge) error {
	switch {
	case made.ID == "":
		return errors.New("the gateway made a charge without an id")
	case made.PixCode == "" && made.CheckoutURL == "" && !c.isDebit():
		return errors.New("the gateway made a charge with neither a code nor a page")
	}
	return nil
}

// recordCreated stores what the gateway made. If the charge was closed while the
// gateway made it, there is now something to cancel.
func (j *charging) recordCreated(ctx context.Context, made Charge) error {
	err := j.record(ctx, nil, func(charge *charge, now time.Time) {
		charge.merge(made)
		switch {
		case charge.state == reserved:
			charge.enter(pending, now)
		case charge.state.closed() && charge.state != paid:
			charge.enter(cancelling, now)
		}
	})
	crashpoint.Here("charge-adopted")
	if err == nil {
		j.service.metrics.charges.WithLabelValues(j.setup.name, "made").Inc()
	}
	return err
}

// recordFailure stores that the gateway did not make the charge. After a refusal
// there is none; after any other failure it stays reserved, since it may exist.
func (j *charging) recordFailure(ctx context.Context, cause error) error {
	j.service.metrics.charges.WithLabelValues(j.setup.name, "failed").Inc()
	return j.record(ctx, cause, func(charge *charge, now time.Time) {
		charge.problem = publicProblem(j.setup, cause)
		if errors.Is(cause, ErrRefused) && (charge.state == reserved || charge.state == cancelling) {
			charge.enter(refused, now)
		}
	})
}

// record applies a change to the charge and ends our claim of it, with the
// gateway's health.
func (j *charging) record(ctx context.Context, cause error, change func(c *charge, now time.Time)) error {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	return j.service.db.Write(ctx, func(tx *sqldb.Tx) error {
		locked, err := lockCharge(ctx, tx, j.charge.companyID, j.charge.id)
		if err != nil {
			return err
		}
		changed := changeOf(locked)
		change(&changed.after, tx.Now())
		if locked.claim == j.charge.claim || changed.after.state == cancelling && cause == nil {
			changed.after.release(j.setup.Provider, tx.Now())
		}
		if err := j.service.applyCharge(ctx, tx, &changed); err != nil {
			return err
		}
		return recordGatewayHealth(ctx, tx, j.setup, cause)
	})
}

// cancelPrevious cancels a charge at its gateway, so that another can replace
// it. If the company has left that gateway and it does not answer, the charge is
// left to the reconciliation.
func (j *charging) cancelPrevious(ctx context.Context) error {
	setup, err := j.service.setupByID(ctx, j.charge.companyID, j.charge.gatewayID)
	if err != nil {
		return err
	}
	j.cancelled[j.charge.id] = true
	err = j.service.cancelAtGateway(ctx, check{setup, j.charge})
	if err == nil {
		return nil
	}
	if setup.ID != j.setup.ID && !j.charge.isDebit() {
		j.skipped[j.charge.id] = true
		return nil
	}
	return explain(setup, err)
}

// waitALittle is the step while another process has claimed the charge.
func waitALittle(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return errStillBusy(ctx.Err())
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}

// finishContext is the context of a transaction that records what has happened:
// it must commit even when the time of the request is over.
func finishContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}

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
