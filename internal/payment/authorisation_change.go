package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// authorisationChange is one change of an authorisation. Before is zero for one
// that is reserved.
type authorisationChange struct{ before, after authorisation }

// applyAuthorisation writes a change of an authorisation and draws its
// consequences: the line of its history, the customer's state with its event and
// its audit line, and the debits of one that ends. It is the only place that
// writes an authorisation's state. The caller has locked the customer first.
func (s *Service) applyAuthorisation(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	change *authorisationChange,
) error {
	before, after := change.before.state, change.after.state
	if !before.leadsTo(after) {
		return fmt.Errorf("authorisation %s: no step leads from %q to %q", change.after.Reference, before, after)
	}
	if err := change.writeRow(ctx, tx); err != nil {
		return err
	}
	if at := change.after.nextCheck; !at.IsZero() && !at.After(tx.Now()) {
		tx.OnCommit(s.wake.Hint)
	}
	if before.shown() == after.shown() {
		return nil
	}
	step := authorisationStep{State: after.shown(), At: tx.Now()}
	if !after.live() {
		step.By, step.Reason = string(change.after.endedBy), change.after.reason
	}
	if err := insertStep(ctx, tx, change.after, step); err != nil {
		return err
	}
	if err := s.cancelDebits(ctx, tx, change.after); err != nil {
		return err
	}
	return s.showAutopay(ctx, tx, actor, change.after, step)
}

func (c *authorisationChange) writeRow(ctx context.Context, tx *sqldb.Tx) (err error) {
	if c.before.id != 0 {
		return updateAuthorisation(ctx, tx, c.after)
	}
	c.after.id, err = insertAuthorisation(ctx, tx, c.after)
	return err
}

// cancelDebits has the debits of an authorisation that ends cancelled.
func (s *Service) cancelDebits(ctx context.Context, tx *sqldb.Tx, ended authorisation) error {
	if ended.state.live() {
		return nil
	}
	debits, err := lockDebits(ctx, tx, ended)
	if err != nil {
		return err
	}
	return s.cancelLocked(ctx, tx, debits)
}

// showAutopay brings the state to the customer's record, unless the customer has
// been asked anew since, or is deleted.
func (s *Service) showAutopay(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	changed authorisation,
	step authorisationStep,
) error {
	newest, err := newestAuthorisation(ctx, tx, changed.companyID, changed.customerID)
	if err != nil || newest.id != changed.id {
		return err
	}
	err = s.customers.SetAutopayTx(ctx, tx, actor, changed.customerID, customer.AutopayStep{
		To:     step.State,
		By:     step.By,
		Reason: step.Reason,
	})
	if fault.KindOf(err) == fault.KindNotFound {
		return nil
	}
	return err
}

// authorisationStep is a line of an authorisation's history.
type authorisationStep struct {
	State  customer.Autopay
	By     string
	Reason string
	At     time.Time
}

// changeAuthorisation applies a change to an authorisation in a transaction of
// its own, which commits even when the time of the request is over.
func (s *Service) changeAuthorisation(
	ctx context.Context,
	known authorisation,
	change func(tx *sqldb.Tx, a *authorisation) error,
) (changed authorisation, err error) {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	company, err := account.FindCompany(ctx, s.db, known.companyID)
	if err != nil {
		return known, err
	}
	actor := account.System(company, "autopay")
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := customer.LockTx(ctx, tx, actor, known.customerID)
		if err != nil && fault.KindOf(err) != fault.KindNotFound {
			return err
		}
		locked, err := lockAuthorisation(ctx, tx, known.companyID, known.id)
		if err != nil {
			return err
		}
		change1 := authorisationChange{locked, locked}
		if err := change(tx, &change1.after); err != nil {
			if errors.Is(err, errUnchanged) {
				changed = locked
				return nil
			}
			return err
		}
		err = s.applyAuthorisation(ctx, tx, actor, &change1)
		changed = change1.after
		return err
	})
	return changed, err
}

// errUnchanged says that there is nothing to change.
var errUnchanged = errors.New("unchanged")
