package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// The counters: invoices by due date, plan, product and status, with their
// amounts; and what was received, by day.
const (
	counter  = tally.Invoices
	receipts = tally.Receipts
)

// countChange counts changes in both counters.
func countChange(ctx context.Context, tx *sqldb.Tx, a account.Actor, changes ...Change) error {
	var invoices, received []tally.Change
	for _, c := range changes {
		if c.Action != ActionCreated {
			invoices, received = append(invoices, counted(c.Before, -1)), append(received, receipt(c.Before, -1)...)
		}
		if c.Action != ActionDeleted {
			invoices, received = append(invoices, counted(c.After, 1)), append(received, receipt(c.After, 1)...)
		}
	}
	if err := counter.Add(ctx, tx, a.Company.ID, invoices...); err != nil || len(received) == 0 {
		return err
	}
	return receipts.Add(ctx, tx, a.Company.ID, received...)
}

// counted is an invoice as the counter of invoices has it.
func counted(i Invoice, n int64) tally.Change {
	return tally.Change{N: n, Cents: n * int64(i.Amount), Key: tally.Key{
		Bucket: tally.BucketOf(i.ID), Day: i.DueOn.String(), PlanID: i.Plan.ID, ProductID: i.Product.ID, State: string(i.Status),
	}}
}

// receipt is what was received for an invoice: nothing unless it is paid.
func receipt(i Invoice, n int64) []tally.Change {
	if i.Status != Paid {
		return nil
	}
	return []tally.Change{{N: n, Cents: n * int64(i.Amount), Key: tally.Key{Day: i.PaidOn.String()}}}
}
