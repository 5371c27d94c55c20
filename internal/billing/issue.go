package billing

import (
	"context"
	"fmt"
	"slices"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

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
			err = s.customerChanged(ctx, tx, a, c.Before, c.After)
		}
		if err != nil {
			return err
		}
	}
	return s.customersImported(ctx, tx, a, imported)
}

// customersImported puts the due dates of imported customers on the schedule,
// but not those that have passed: what happened before the import is not billed.
func (s *Service) customersImported(ctx context.Context, tx *sqldb.Tx, a account.Actor, list []customer.Customer) error {
	today := a.Today(tx.Now())
	return schedule(ctx, tx, a.Company.ID, slices.DeleteFunc(slices.Clone(list), func(c customer.Customer) bool {
		return c.Plan.ID == 0 || c.DueOn.IsZero() || c.DueOn.Before(today)
	})...)
}

// customerChanged puts the due date of a customer on the schedule when it is a
// new one, and takes it off when there is nothing to bill.
func (s *Service) customerChanged(ctx context.Context, tx *sqldb.Tx, a account.Actor, before, after customer.Customer) error {
	if before.DueOn == after.DueOn && before.Plan.ID == after.Plan.ID {
		return nil
	}
	if after.DueOn.IsZero() || after.Plan.ID == 0 {
		return unschedule(ctx, tx, a.Company.ID, after.ID)
	}
	return schedule(ctx, tx, a.Company.ID, after)
}

// customerDeleting removes what belongs to a customer.
func (s *Service) customerDeleting(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Customer) error {
	if err := unschedule(ctx, tx, a.Company.ID, c.ID); err != nil {
		return err
	}
	list, err := ofCustomer(ctx, tx, a.Company.ID, c.ID)
	if err != nil {
		return err
	}
	if err := s.tellDeleting(ctx, tx, a, list); err != nil {
		return err
	}
	for _, i := range list {
		if err := counter.Add(ctx, tx, a.Company.ID, counted(i, -1)); err != nil {
			return err
		}
		if i.Status == Paid {
			if err := receipts.Add(ctx, tx, a.Company.ID, received(i, -1)); err != nil {
				return err
			}
		}
	}
	return removeOf(ctx, tx, a.Company.ID, c.ID)
}

// issueBatch bounds one transaction of Issue.
const issueBatch = 100

// Issue issues the invoices of the company whose due date is near: as many days
// ahead as the company has chosen. It works off a schedule that holds only due
// dates without an invoice, so a run with nothing due costs one look; what was
// missed while no process ran is found by the next run, and any number of
// processes may run it at once. It returns how many it issued.
func (s *Service) Issue(ctx context.Context, a account.Actor) (int, error) {
	horizon := a.Today(s.db.Now()).AddDays(a.Company.Settings.LeadDays)
	due, err := anyScheduled(ctx, s.db, a.Company.ID, horizon)
	if err != nil || !due {
		return 0, err
	}
	total := 0
	for taken := issueBatch; taken == issueBatch; {
		issued := 0
		err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
			taken, issued, err = s.issueSome(ctx, tx, a, horizon)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("issue invoices of company %d: %w", a.Company.ID, err)
		}
		total += issued
	}
	return total, nil
}

// issueSome takes customers off the schedule and bills those of them who have
// no invoice yet for their due date.
func (s *Service) issueSome(ctx context.Context, tx *sqldb.Tx, a account.Actor, horizon civil.Date) (taken, issued int, err error) {
	ids, err := scheduled(ctx, tx, a.Company.ID, horizon, issueBatch)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range ids {
		made, err := s.issueScheduled(ctx, tx, a, id)
		if err != nil {
			return 0, 0, fmt.Errorf("customer %d: %w", id, err)
		}
		if made {
			issued++
		}
	}
	return len(ids), issued, nil
}

func (s *Service) issueScheduled(ctx context.Context, tx *sqldb.Tx, a account.Actor, customerID int64) (issued bool, err error) {
	c, err := customer.FindTx(ctx, tx, a, customerID)
	if err != nil {
		return false, err
	}
	if err := unschedule(ctx, tx, a.Company.ID, customerID); err != nil {
		return false, err
	}
	return s.issueFor(ctx, tx, a, c)
}

// issueFor bills a customer for its due date, unless that has been done. A plan
// that costs nothing is not billed.
func (s *Service) issueFor(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Customer) (issued bool, err error) {
	if c.Plan.ID == 0 || c.DueOn.IsZero() || c.Plan.Value == 0 {
		return false, nil
	}
	i, err := s.issueTx(ctx, tx, a, Invoice{
		Customer: Customer{c.ID, c.UUID, c.Name}, Generated: true, Amount: c.Plan.Value, Description: c.Plan.Name,
		DueOn: c.DueOn, Plan: c.Plan, Product: c.Product,
	})
	return i.ID != 0, err
}

// issueTx writes an invoice, counts it and records its event. One that exists
// already for the customer and due date is left as it is.
func (s *Service) issueTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, i Invoice) (Invoice, error) {
	i.Status, i.CreatedAt = Open, tx.Now()
	var err error
	if i.ID, err = insert(ctx, tx, a, i); err != nil || i.ID == 0 {
		return i, err
	}
	if err := counter.Add(ctx, tx, a.Company.ID, counted(i, 1)); err != nil {
		return i, err
	}
	return i, s.events.Record(ctx, tx, a.Source(), event.InvoiceCreated, createdData{invoiceWithDue{briefOf(i), i.DueOn}, customerOf(i)})
}

// CreateExtra issues an invoice beside the generated ones, from the fields
// amount (default: the plan's value), due (default: today) and description.
// Paying it renews nothing.
func (s *Service) CreateExtra(ctx context.Context, a account.Actor, customerID int64, in *input.Form) (Invoice, error) {
	amount, hasAmount := in.Money("amount").Get()
	due, hasDue := in.Date("due").Get()
	description, _ := in.Line("description", 255).Get()
	var i Invoice
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		c, err := customer.LockTx(ctx, tx, a, customerID)
		if err != nil {
			return err
		}
		i = Invoice{
			Customer: Customer{c.ID, c.UUID, c.Name}, Amount: c.Plan.Value, Description: description,
			DueOn: a.Today(tx.Now()), Plan: c.Plan, Product: c.Product,
		}
		if hasAmount {
			i.Amount = amount
		}
		if hasDue && !due.IsZero() {
			i.DueOn = due
		}
		switch {
		case i.Amount > 0:
		case in.Sent("amount"):
			in.Refuse("amount", "must be more than zero")
		default:
			in.Refuse("amount", "is required: the customer has no plan that costs something")
		}
		if err := in.Err(); err != nil {
			return err
		}
		if i, err = s.issueTx(ctx, tx, a, i); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, deed("invoice.created", Invoice{}, i))
	})
	return i, err
}
