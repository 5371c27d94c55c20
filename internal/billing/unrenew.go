package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// RenewalToUndo is a renewal by hand that somebody takes back.
type RenewalToUndo struct {
	CustomerID int64
	From, To   civil.Date // the due date before it and after it
	On         civil.Date // the day on which it was made
}

// UndoRenewal takes a renewal by hand back, as long as the due date is where the
// renewal put it: what was done since relies on it.
func (s *Service) UndoRenewal(ctx context.Context, actor account.Actor, undo RenewalToUndo) (customer.Customer, error) {
	var record customer.Customer
	err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := customer.LockTx(ctx, tx, actor, undo.CustomerID)
		if err != nil {
			return err
		}
		if before.DueOn != undo.To {
			return fault.Conflict("the due date was changed since")
		}
		record, err = s.customers.ReverseRenewalTx(ctx, tx, actor, undo.CustomerID, customer.Reversal{
			DueOn:  undo.From,
			OwnDay: ownDayBefore(before.OwnDay, undo.From),
			On:     undo.On,
		})
		return err
	})
	return record, err
}

// UndoOpening cancels an open invoice again that a piece of work issued or opened.
// why is the withdrawal that it had before, as audit lines have it. The due date is
// billed when its time comes.
func (s *Service) UndoOpening(ctx context.Context, actor account.Actor, invoiceID int64, why Withdrawal) error {
	return actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, owner, err := lock(ctx, tx, actor, invoiceID)
		if err != nil || before.Status == Cancelled {
			return err
		}
		if before.Status != Open || before.Received > 0 {
			return fault.Conflict("money came for the invoice since")
		}
		change := Change{Action: ActionUpdated, Before: before, After: before}
		change.After.withdraw(why)
		if err := s.apply(ctx, tx, actor, &change); err != nil {
			return err
		}
		if !why.revivable() || owner.DueOn != before.IssuedFor || !toBill(owner) {
			return nil
		}
		return schedule(ctx, tx, actor, owner)
	})
}

// ownDayBefore is the own day that a due date had: a date at the end of its month
// may stand for a later day, as 28 February does for the 31st.
func ownDayBefore(ownDay int, dueOn civil.Date) int {
	if dueOn.IsZero() {
		return 0
	}
	if ownDay > dueOn.Day() && dueOn.AddDays(1).Day() == 1 {
		return ownDay
	}
	return dueOn.Day()
}
