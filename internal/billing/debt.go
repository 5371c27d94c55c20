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
func settleDebt(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change Change) ([]tally.Entry, error) {
	wasOpen, isOpen := change.Before.Status == Open, change.After.Status == Open
	if wasOpen == isOpen && (!isOpen || change.Before.DueOn == change.After.DueOn) {
		return nil, nil
	}
	customerID := change.Invoice().Customer.ID
	if change.first { // nobody can have seen the customer, or changed what it buys
		first := debtor{change.After.DueOn, change.After.Plan.ID, change.After.Product.ID}
		return []tally.Entry{first.entry(+1)}, appendDebtor(ctx, tx, actor.Company.ID, customerID, first)
	}
	if isOpen && !wasOpen { // mostly the first: then one statement does
		first, added, err := addDebtor(ctx, tx, actor.Company.ID, customerID, change.After.DueOn)
		if err != nil || added {
			return []tally.Entry{first.entry(+1)}, err
		}
	}
	return resettleDebt(ctx, tx, actor, customerID)
}

// resettleDebt finds a debtor's oldest open invoice anew.
func resettleDebt(ctx context.Context, tx *sqldb.Tx, actor account.Actor, customerID int64) ([]tally.Entry, error) {
	before, err := debtorByID(ctx, tx, actor.Company.ID, customerID)
	if err != nil {
		return nil, err
	}
	after := before
	after.since, err = oldestOpen(ctx, tx, actor.Company.ID, customerID)
	if err != nil || after == before {
		return nil, err
	}
	if after.since.IsZero() {
		return []tally.Entry{before.entry(-1)}, removeDebtor(ctx, tx, actor.Company.ID, customerID)
	}
	return []tally.Entry{before.entry(-1), after.entry(+1)}, updateDebtor(ctx, tx, actor.Company.ID, customerID, after)
}

// customerMoved counts a debtor at the plan and the product that it has now.
func customerMoved(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change customer.Change) error {
	if change.Before.Plan.ID == change.After.Plan.ID && change.Before.Product.ID == change.After.Product.ID {
		return nil
	}
	before, err := debtorByID(ctx, tx, actor.Company.ID, change.After.ID)
	if err != nil || before.since.IsZero() {
		return err
	}
	after := debtor{before.since, change.After.Plan.ID, change.After.Product.ID}
	if err := updateDebtor(ctx, tx, actor.Company.ID, change.After.ID, after); err != nil {
		return err
	}
	return tally.AddAll(ctx, tx, actor.Company.ID, []tally.Entry{before.entry(-1), after.entry(+1)})
}

// forgetDebt removes a customer who is deleted from the debtors.
func forgetDebt(ctx context.Context, tx *sqldb.Tx, actor account.Actor, customerID int64) error {
	before, err := debtorByID(ctx, tx, actor.Company.ID, customerID)
	if err != nil || before.since.IsZero() {
		return err
	}
	if err := removeDebtor(ctx, tx, actor.Company.ID, customerID); err != nil {
		return err
	}
	return tally.AddAll(ctx, tx, actor.Company.ID, []tally.Entry{before.entry(-1)})
}
