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
func (s *Service) Issue(ctx context.Context, a account.Actor) (int, error) {
	horizon := a.Today(s.db.Now()).AddDays(a.Company.Settings.LeadDays)
	due, err := anyScheduled(ctx, s.db, a.Company.ID, horizon)
	if err != nil || !due {
		return 0, err
	}
	total := 0
	for claimed := 1; claimed > 0; {
		issued := 0
		err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
			claimed, issued, err = s.issueSome(ctx, tx, a, horizon)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("issue invoices of company %d: %w", a.Company.ID, err)
		}
		total += issued
	}
	return total, nil
}

// issueSome claims a batch of customers from the schedule and bills those who
// have no invoice yet for their due date.
func (s *Service) issueSome(ctx context.Context, tx *sqldb.Tx, a account.Actor, horizon civil.Date) (claimed, issued int, err error) {
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

// issueFor bills a customer for its due date, unless that has been done. A price
// of nothing is not billed, nor is a cancelled customer.
func (s *Service) issueFor(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Customer) (issued bool, err error) {
	if !billable(c) || c.DueOn.IsZero() || c.IsCancelled() {
		return false, nil
	}
	plan, err := catalog.FindPlan(ctx, tx, a, c.Plan.ID)
	if err != nil {
		return false, err
	}
	change := Change{Action: ActionCreated, After: generated(c, plan, tx.Now())}
	err = s.apply(ctx, tx, a, &change)
	if errors.Is(err, errIssued) {
		return false, s.reviveFor(ctx, tx, a, c)
	}
	return err == nil, err
}

// generated is the invoice of a customer's due date.
func generated(c customer.Customer, plan catalog.Plan, now time.Time) Invoice {
	i := newInvoice(c, now)
	i.Generated, i.Description, i.DueOn, i.IssuedFor = true, c.Plan.Name, c.DueOn, c.DueOn
	i.reprice(c, plan.Period)
	return i
}

// newInvoice is an open invoice of a customer, for the plan and the product
// that it has now.
func newInvoice(c customer.Customer, now time.Time) Invoice {
	return Invoice{Customer: Customer{c.ID, c.UUID, c.Name}, Status: Open, Plan: c.Plan, Product: c.Product, CreatedAt: now}
}
