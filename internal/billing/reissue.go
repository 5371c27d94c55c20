package billing

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Reissue issues the invoice of a customer's due date, for what the customer buys
// now, although that date has had one: it was cancelled, or paid without
// renewing. The old one stays in the books as superseded. A due date that has
// none yet is billed ahead of its time.
func (s *Service) Reissue(ctx context.Context, actor account.Actor, customerID int64, extra Extra) (Invoice, error) {
	change := Change{Action: ActionCreated, chosen: true}
	err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		owner, err := customer.LockTx(ctx, tx, actor, customerID)
		if err != nil {
			return err
		}
		if err := extra.Problems.With(extra.notReissued(owner)).Err(); err != nil {
			return err
		}
		change.After = extra.generated(owner, tx.Now())
		if err := extra.Problems.With(extra.refused(change.After)).Err(); err != nil {
			return err
		}
		if err := s.supersede(ctx, tx, actor, owner, extra.names.due); err != nil {
			return err
		}
		return s.apply(ctx, tx, actor, &change)
	})
	return change.After, err
}

// notReissued says why a customer's due date cannot be billed.
func (e Extra) notReissued(owner customer.Customer) (refused fault.Fields) {
	switch {
	case owner.IsCancelled():
		refused.Add("customer_id", "the customer is cancelled")
	case owner.Plan.ID == 0:
		refused.Add("renews", "the customer has no plan; set one to renew by its period")
	case owner.DueOn.IsZero():
		refused.Add("renews", "the customer has no due date")
	case e.DueOn.HasValue() && e.DueOn.Value != owner.DueOn:
		refused.Add(
			e.names.due,
			fmt.Sprintf("must be the customer's due date, %s, for an invoice that renews", owner.DueOn),
		)
	}
	return refused
}

// generated is the invoice of the customer's due date. One with an amount of its
// own follows nobody.
func (e Extra) generated(owner customer.Customer, now time.Time) Invoice {
	invoice := generated(owner, now)
	invoice.Amount = e.Amount.Or(invoice.Amount)
	invoice.Edited = invoice.Amount != owner.Price()
	invoice.Description = e.Description.Or(invoice.Description)
	return invoice
}

// supersede has the invoice of the customer's due date make room for another.
func (s *Service) supersede(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	owner customer.Customer,
	dueField string,
) error {
	old, found, err := generatedFor(ctx, tx, owner, actor.Company.ID)
	switch {
	case err != nil:
		return err
	case !found:
		return unschedule(ctx, tx, actor.Company.ID, owner.ID)
	case old.Status == Open:
		return fault.Field(dueField, fmt.Sprintf("has invoice %d, which is %s", old.ID, old.Status))
	case old.Status == Paid && !old.renewal.to.IsZero():
		return fault.Field(dueField, fmt.Sprintf("has invoice %d, whose payment renewed the customer", old.ID))
	}
	change := Change{Action: ActionUpdated, Before: old, After: old}
	change.After.Superseded, change.After.Withdrawn = true, ""
	if err := s.apply(ctx, tx, actor, &change); err != nil {
		return err
	}
	return unschedule(ctx, tx, actor.Company.ID, owner.ID)
}
