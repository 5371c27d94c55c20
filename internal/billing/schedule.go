package billing

import (
	"context"
	"slices"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
)

// The schedule has the due dates without an invoice. It is what the generator
// has still to do, not a record: its rows are written without apply, and leave
// neither audit lines nor events.

// customersChanged bills new customers at once for their first due date, keeps
// the schedule of the others true, and removes what belongs to a deleted one.
func (s *Service) customersChanged(ctx context.Context, tx *sqldb.Tx, changed customer.Changes) error {
	a := changed.Actor
	var imported []customer.Customer
	for _, c := range changed.List {
		var err error
		switch c.Action {
		case customer.ActionCreated:
			_, err = s.issueFor(ctx, tx, a, c.After)
		case customer.ActionImported:
			imported = append(imported, c.After)
		case customer.ActionDeleted:
			err = s.customerDeleting(ctx, tx, a, c.Before)
		default:
			err = s.customerChanged(ctx, tx, a, c)
		}
		if err != nil {
			return err
		}
	}
	return s.customersImported(ctx, tx, a, imported)
}

// customersImported adds the due dates of imported customers to the schedule,
// but not those that have passed: what happened before the import is not billed.
func (s *Service) customersImported(ctx context.Context, tx *sqldb.Tx, a account.Actor, list []customer.Customer) error {
	today := a.Today(tx.Now())
	return schedule(ctx, tx, a.Company.ID, slices.DeleteFunc(slices.Clone(list), func(c customer.Customer) bool {
		return c.Plan.ID == 0 || c.DueOn.IsZero() || c.DueOn.Before(today) || c.IsCancelled()
	})...)
}

// customerChanged has invoices follow a customer that was changed, but not one
// that was renewed, and keeps the schedule true.
func (s *Service) customerChanged(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Change) error {
	if err := customerMoved(ctx, tx, a, c); err != nil {
		return err
	}
	if c.Action == customer.ActionUpdated {
		if err := s.follow(ctx, tx, a, c); err != nil {
			return err
		}
	}
	return s.reschedule(ctx, tx, a, c)
}

// reschedule adds the due date of a customer to the schedule when it is to be
// billed, and removes it when there is nothing to bill.
func (s *Service) reschedule(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Change) error {
	before, after := c.Before, c.After
	if before.DueOn == after.DueOn && before.Plan.ID == after.Plan.ID && before.Price() == after.Price() &&
		before.IsCancelled() == after.IsCancelled() {
		return nil
	}
	if after.IsCancelled() || after.DueOn.IsZero() || after.Plan.ID == 0 {
		return unschedule(ctx, tx, a.Company.ID, after.ID)
	}
	issued, found, err := generatedFor(ctx, tx, after, a.Company.ID)
	if err != nil {
		return err
	}
	if found && !issued.Withdrawn.revivable() {
		return unschedule(ctx, tx, a.Company.ID, after.ID)
	}
	return schedule(ctx, tx, a.Company.ID, after)
}

// PlansChanged bills the present due dates of a plan that cost nothing and now
// has a price. The program has catalog tell it.
func (s *Service) PlansChanged(ctx context.Context, tx *sqldb.Tx, changed catalog.PlanChanges) error {
	for _, c := range changed.List {
		if c.Before.ID == 0 || c.Before.Value != 0 || c.After.Value == 0 {
			continue
		}
		if err := scheduleAll(ctx, tx, changed.Actor.Company.ID, c.After.ID); err != nil {
			return err
		}
	}
	return nil
}

// customerDeleting deletes what belongs to a customer.
func (s *Service) customerDeleting(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Customer) error {
	if err := unschedule(ctx, tx, a.Company.ID, c.ID); err != nil {
		return err
	}
	if err := forgetDebt(ctx, tx, a, c.ID); err != nil {
		return err
	}
	list, err := ofCustomer(ctx, tx, a.Company.ID, c.ID)
	if err != nil {
		return err
	}
	deleted := make([]Change, len(list))
	for n, i := range list {
		deleted[n] = Change{Action: ActionDeleted, Before: i}
	}
	return s.applyDeletion(ctx, tx, a, deleted)
}
