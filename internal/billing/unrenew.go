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
func (s *Service) UndoRenewal(
	ctx context.Context,
	actor account.Actor,
	undo RenewalToUndo,
) (customer.Customer, error) {
	var record customer.Customer
	err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := customer.LockTx(ctx, tx, actor, undo.CustomerID)
		if err != nil {
			return err
		}
		if before.DueOn != undo.To || undo.From.IsZero() {
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

// ownDayBefore is the own day that a due date had: a date at the end of its month
// may stand for a later day, as 28 February does for the 31st.
func ownDayBefore(ownDay int, dueOn civil.Date) int {
	if ownDay > dueOn.Day() && dueOn.AddDays(1).Day() == 1 {
		return ownDay
	}
	return dueOn.Day()
}
