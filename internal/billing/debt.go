package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// debtors counts the customers with open invoices by the due date of the oldest
// one, each once: how old a debt is, is how long its customer has owed.
const debtors = tally.Debtors

// debtor is a customer with open invoices.
type debtor struct {
	since     civil.Date // zero: nothing is open
	planID    int64      // the customer's, as they are counted
	productID int64
}

func (d debtor) entry(n int64) tally.Entry {
	return tally.Entry{Counter: debtors, Change: tally.Change{N: n, Key: tally.Key{
		Day: d.since.String(), PlanID: d.planID, ProductID: d.productID,
	}}}
}

// settleDebt writes what a change of an invoice makes of its customer's debt,
// and returns how the counter of debtors moves.
func settleDebt(ctx context.Context, tx *sqldb.Tx, a account.Actor, c Change) ([]tally.Entry, error) {
	wasOpen, isOpen := c.Before.Status == Open, c.After.Status == Open
	if wasOpen == isOpen && (!isOpen || c.Before.DueOn == c.After.DueOn) {
		return nil, nil
	}
	customerID := c.Invoice().Customer.ID
	if isOpen && !wasOpen { // mostly the first: then one statement does
		first, added, err := addDebtor(ctx, tx, a.Company.ID, customerID, c.After.DueOn)
		if err != nil || added {
			return []tally.Entry{first.entry(+1)}, err
		}
	}
	return resettleDebt(ctx, tx, a, customerID)
}

// resettleDebt finds a debtor's oldest open invoice anew.
func resettleDebt(ctx context.Context, tx *sqldb.Tx, a account.Actor, customerID int64) ([]tally.Entry, error) {
	before, err := debtorByID(ctx, tx, a.Company.ID, customerID)
	if err != nil {
		return nil, err
	}
	after := before
	if after.since, err = oldestOpen(ctx, tx, a.Company.ID, customerID); err != nil || after == before {
		return nil, err
	}
	if after.since.IsZero() {
		return []tally.Entry{before.entry(-1)}, removeDebtor(ctx, tx, a.Company.ID, customerID)
	}
	return []tally.Entry{before.entry(-1), after.entry(+1)}, updateDebtor(ctx, tx, a.Company.ID, customerID, after)
}

// customerMoved counts a debtor at the plan and the product that it has now.
func customerMoved(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Change) error {
	if c.Before.Plan.ID == c.After.Plan.ID && c.Before.Product.ID == c.After.Product.ID {
		return nil
	}
	before, err := debtorByID(ctx, tx, a.Company.ID, c.After.ID)
	if err != nil || before.since.IsZero() {
		return err
	}
	after := debtor{before.since, c.After.Plan.ID, c.After.Product.ID}
	if err := updateDebtor(ctx, tx, a.Company.ID, c.After.ID, after); err != nil {
		return err
	}
	return tally.AddAll(ctx, tx, a.Company.ID, []tally.Entry{before.entry(-1), after.entry(+1)})
}

// forgetDebt removes a customer who is deleted from the debtors.
func forgetDebt(ctx context.Context, tx *sqldb.Tx, a account.Actor, customerID int64) error {
	before, err := debtorByID(ctx, tx, a.Company.ID, customerID)
	if err != nil || before.since.IsZero() {
		return err
	}
	if err := removeDebtor(ctx, tx, a.Company.ID, customerID); err != nil {
		return err
	}
	return tally.AddAll(ctx, tx, a.Company.ID, []tally.Entry{before.entry(-1)})
}
