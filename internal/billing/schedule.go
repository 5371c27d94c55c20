package billing

import (
	"context"
	"slices"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
)

// The schedule has the due dates without an invoice. It is what the generator
// has still to do, not a record: its rows are written without apply, and leave
// neither audit lines nor events.

// customersChanged bills new customers at once for their first due date, keeps
// the schedule of the others true, and removes what belongs to a deleted one.
func (s *Service) customersChanged(ctx context.Context, tx *sqldb.Tx, changed customer.Changes) error {
	actor := changed.Actor
	var imported []customer.Customer
	for _, change := range changed.List {
		var err error
		switch change.Action {
		case customer.ActionCreated:
			err = s.issueFirst(ctx, actor.In(tx), change.After)
		case customer.ActionImported:
			imported = append(imported, change.After)
		case customer.ActionDeleted:
			err = s.customerDeleting(ctx, actor.In(tx), change.Before)
		default:
			err = s.customerChanged(ctx, actor.In(tx), change)
		}
		if err != nil {
			return err
		}
	}
	return s.customersImported(ctx, actor.In(tx), imported)
}

// customersImported adds the due dates of imported customers to the schedule,
// but not those that have passed: what happened before the import is not billed.
func (s *Service) customersImported(ctx context.Context, tx account.Tx, list []customer.Customer) error {
	today := tx.Today(tx.Now())
	return schedule(ctx, tx, slices.DeleteFunc(slices.Clone(list), func(record customer.Customer) bool {
		return record.Plan.ID == 0 || record.DueOn.IsZero() || record.DueOn.Before(today) || record.IsCancelled()
	})...)
}

// customerChanged has invoices follow a customer that was changed, but not one
// that was renewed, and keeps the schedule true.
func (s *Service) customerChanged(ctx context.Context, tx account.Tx, change customer.Change) error {
	if err := customerMoved(ctx, tx, change); err != nil {
		return err
	}
	if change.Action == customer.ActionUpdated {
		if err := s.follow(ctx, tx, change); err != nil {
			return err
		}
	}
	return s.reschedule(ctx, tx, change)
}

// reschedule adds the due date of a customer to the schedule when it is to be
// billed, and removes it when there is nothing to bill.
func (s *Service) reschedule(ctx context.Context, tx account.Tx, change customer.Change) error {
	before, after := change.Before, change.After
	if before.DueOn == after.DueOn && before.Plan.ID == after.Plan.ID && before.Price() == after.Price() &&
		before.IsCancelled() == after.IsCancelled() {
		return nil
	}
	if after.IsCancelled() || after.DueOn.IsZero() || after.Plan.ID == 0 {
		return unschedule(ctx, tx, after.ID)
	}
	issued, found, err := generatedFor(ctx, tx, after, tx.Company.ID)
	if err != nil {
		return err
	}
	if found && !issued.Withdrawn.revivable() {
		return unschedule(ctx, tx, after.ID)
	}
	return schedule(ctx, tx, after)
}

// planRepriced bills the present due dates of customers on a plan that was free
// and now has a price.
func (s *Service) planRepriced(ctx context.Context, tx *sqldb.Tx, repriced customer.Repriced) error {
	if !repriced.WasFree {
		return nil
	}
	if err := insertRepriced(ctx, tx, repriced); err != nil {
		return err
	}
	return account.AskDayWork(ctx, tx, repriced.Actor.Company.ID)
}

// schedule adds due dates to the schedule, and has the company's day looked at
// when one is to be billed so soon that the look of that day may be over already.
func schedule(ctx context.Context, tx account.Tx, customers ...customer.Customer) error {
	if len(customers) == 0 {
		return nil
	}
	if err := insertScheduled(ctx, tx, customers); err != nil {
		return err
	}
	first := customers[0].DueOn
	for _, record := range customers {
		if record.DueOn.Before(first) {
			first = record.DueOn
		}
	}
	return account.AskDayWorkFrom(ctx, tx, first)
}

// customerDeleting deletes what belongs to a customer.
func (s *Service) customerDeleting(ctx context.Context, tx account.Tx, record customer.Customer) error {
	if err := unschedule(ctx, tx, record.ID); err != nil {
		return err
	}
	if err := forgetDebt(ctx, tx, record.ID); err != nil {
		return err
	}
	list, err := ofCustomer(ctx, tx, tx.Company.ID, record.ID)
	if err != nil {
		return err
	}
	deleted := make([]Change, len(list))
	for n, invoice := range list {
		deleted[n] = Change{Action: ActionDeleted, Before: invoice}
	}
	return s.applyDeletion(ctx, tx, deleted)
}
