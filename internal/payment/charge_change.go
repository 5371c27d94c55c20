package payment

import (
	"context"
	"fmt"

	"carteira/internal/platform/sqldb"
)

// chargeChange is one change of a charge. Before is zero for a charge that is
// reserved.
type chargeChange struct{ before, after charge }

// changeOf begins a change of a charge whose row this transaction has locked.
func changeOf(locked charge) chargeChange {
	return chargeChange{locked, locked}
}

// applyCharge writes a change of a charge and wakes the engine when the charge
// is due at once. It is the only place that writes a charge's state. A charge is
// no audited fact: what people did is in the audit log as the invoice's status
// or as a payment. Three writes of the schedule alone stay outside: claimCharges
// and markHinted, which are the engine's leases, and pauseGateway.
func (s *Service) applyCharge(ctx context.Context, tx *sqldb.Tx, change *chargeChange) error {
	if !change.before.state.leadsTo(change.after.state) {
		return fmt.Errorf(
			"charge %s: no step leads from %q to %q",
			change.after.order.Reference,
			change.before.state,
			change.after.state,
		)
	}
	if err := change.writeRow(ctx, tx); err != nil {
		return err
	}
	if !change.after.nextCheck.IsZero() && !change.after.nextCheck.After(tx.Now()) {
		tx.OnCommit(s.wake.Hint)
	}
	if err := s.pokeAuthorised(ctx, tx, change); err != nil {
		return err
	}
	if s.options.Ended == nil || change.after.state != expired || change.before.state == expired {
		return nil
	}
	return s.options.Ended(ctx, tx, Ended{change.after.companyID, change.after.order.Reference})
}

func (c *chargeChange) writeRow(ctx context.Context, tx *sqldb.Tx) (err error) {
	if c.before.id != 0 {
		return updateCharge(ctx, tx, c.after)
	}
	c.after.id, err = insertCharge(ctx, tx, c.after)
	return err
}

// cancelCharges has the charges of invoices cancelled at the gateway. A charge
// that a worker has claimed at the moment keeps its lease: the worker finds the
// new state when it records its result.
func (s *Service) cancelCharges(ctx context.Context, tx *sqldb.Tx, companyID int64, invoiceIDs []int64) error {
	charges, err := lockUnsettled(ctx, tx, companyID, invoiceIDs)
	if err != nil {
		return err
	}
	return s.cancelLocked(ctx, tx, charges)
}

// cancelLocked is cancelCharges for charges that this transaction has locked.
func (s *Service) cancelLocked(ctx context.Context, tx *sqldb.Tx, charges []charge) error {
	for _, locked := range charges {
		if locked.state == cancelling {
			continue
		}
		change := changeOf(locked)
		change.after.enter(cancelling, tx.Now())
		if !locked.busy(tx.Now()) {
			change.after.nextCheck = tx.Now()
		}
		if err := s.applyCharge(ctx, tx, &change); err != nil {
			return err
		}
	}
	return nil
}
