package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// issueBatch bounds one transaction of Issue.
const issueBatch = 100

// Issue issues the invoices of the company whose due date is near: as many days
// ahead as the company has chosen. It reads a schedule that has only due dates
// without an invoice, so a run with nothing due costs one query; what was missed
// while no process ran is found by the next run, and any number of processes
// may run it at once. It returns how many it issued.
func (s *Service) Issue(ctx context.Context, actor account.Actor) (int, error) {
	until := horizon(actor, s.db.Now())
	due, err := anyScheduled(ctx, s.db, actor.Company.ID, until)
	if err != nil || !due {
		return 0, err
	}
	total := 0
	for claimed := 1; claimed > 0; {
		issued := 0
		err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
			claimed, issued, err = s.issueSome(ctx, tx, actor, until)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("issue invoices of company %d: %w", actor.Company.ID, err)
		}
		total += issued
	}
	return total, nil
}

// horizon is the last due date that a company bills on the day of an instant.
func horizon(actor account.Actor, at time.Time) civil.Date {
	return actor.Today(at).AddDays(actor.Company.Settings.LeadDays)
}

// WithScheduled returns those of the companies that have something for Issue to do
// up to a day that is the horizon of all of them. It takes one statement for any
// number of them.
func (s *Service) WithScheduled(ctx context.Context, companyIDs []int64, until civil.Date) ([]int64, error) {
	return withScheduled(ctx, s.db, companyIDs, until)
}

// issueSome claims a batch of customers from the schedule and bills those who
// have no invoice yet for their due date.
func (s *Service) issueSome(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	until civil.Date,
) (claimed, issued int, err error) {
	// A plan that is being given a price must not have its customers taken off the
	// schedule at the old one; and it is locked before its customers.
	if err := catalog.HoldPlans(ctx, tx, actor); err != nil {
		return 0, 0, err
	}
	ids, err := scheduled(ctx, tx, actor.Company.ID, until, issueBatch)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range ids {
		made, err := s.issueScheduled(ctx, tx, actor, id)
		if err != nil {
			return 0, 0, fmt.Errorf("customer %d: %w", id, err)
		}
		if made {
			issued++
		}
	}
	return len(ids), issued, nil
}

func (s *Service) issueScheduled(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	customerID int64,
) (issued bool, err error) {
	record, err := customer.FindTx(ctx, tx, actor, customerID)
	if err != nil {
		return false, err
	}
	if err := unschedule(ctx, tx, actor.Company.ID, customerID); err != nil {
		return false, err
	}
	return s.issueFor(ctx, tx, actor, record)
}

// issueFor bills a customer for its due date, unless that has been done. A price
// of nothing is not billed, nor is a cancelled customer.
func (s *Service) issueFor(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	record customer.Customer,
) (issued bool, err error) {
	if !toBill(record) {
		return false, nil
	}
	err = s.apply(ctx, tx, actor, &Change{Action: ActionCreated, After: generated(record, tx.Now())})
	if errors.Is(err, errIssued) {
		return false, s.reviveFor(ctx, tx, actor, record)
	}
	return err == nil, err
}

// issueFirst is issueFor for a customer who is being created, and so has no
// invoice and no debt.
func (s *Service) issueFirst(ctx context.Context, tx *sqldb.Tx, actor account.Actor, record customer.Customer) error {
	if !toBill(record) {
		return nil
	}
	return s.apply(ctx, tx, actor, &Change{Action: ActionCreated, After: generated(record, tx.Now()), first: true})
}

// toBill reports whether the customer's due date is to be billed.
func toBill(record customer.Customer) bool {
	return billable(record) && !record.DueOn.IsZero() && !record.IsCancelled()
}

// generated is the invoice of a customer's due date.
func generated(record customer.Customer, now time.Time) Invoice {
	invoice := newInvoice(record, now)
	invoice.Generated, invoice.Description, invoice.DueOn, invoice.IssuedFor = true, record.Plan.Name, record.DueOn, record.DueOn
	invoice.reprice(record)
	return invoice
}

// newInvoice is an open invoice of a customer, for the plan and the product
// that it has now.
func newInvoice(record customer.Customer, now time.Time) Invoice {
	return Invoice{
		Customer:  ownedBy(record),
		Status:    Open,
		Plan:      record.Plan,
		Product:   record.Product,
		CreatedAt: now,
	}
}

// ownedBy is what an invoice's record has of its customer.
func ownedBy(record customer.Customer) Customer {
	return Customer{
		ID:         record.ID,
		UUID:       record.UUID,
		Name:       record.Name,
		Whatsapp:   record.Whatsapp,
		Email:      record.Email,
		ExternalID: record.ExternalID,
	}
}
