package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// The counters: invoices by due date, plan, product and status, with what they
// are worth; money by the day on which it came or went; and the invoices that
// were paid, by day.
const (
	counter  = tally.Invoices
	receipts = tally.Receipts
	paid     = tally.Paid
)

// countChange counts changes of invoices. What was received for one that is
// deleted stays received.
func countChange(ctx context.Context, tx *sqldb.Tx, a account.Actor, changes ...Change) error {
	var invoices, settled []tally.Change
	for _, c := range changes {
		if c.Action != ActionCreated {
			invoices, settled = append(invoices, counted(c.Before, -1)), append(settled, countedPaid(c.Before, -1)...)
		}
		if c.Action != ActionDeleted {
			invoices, settled = append(invoices, counted(c.After, 1)), append(settled, countedPaid(c.After, 1)...)
		} else {
			settled = append(settled, gone(countedPaid(c.Before, 1))...)
		}
	}
	entries := append(entriesOf(counter, invoices), entriesOf(paid, settled)...)
	for _, c := range changes {
		if c.Action == ActionDeleted {
			continue // its customer goes, and is no debtor any more
		}
		debt, err := settleDebt(ctx, tx, a, c)
		if err != nil {
			return err
		}
		entries = append(entries, debt...)
	}
	return tally.AddAll(ctx, tx, a.Company.ID, entries)
}

func entriesOf(counter tally.Counter, changes []tally.Change) []tally.Entry {
	entries := make([]tally.Entry, len(changes))
	for n, c := range changes {
		entries[n] = tally.Entry{Counter: counter, Change: c}
	}
	return entries
}

// counted is an invoice as the counter of invoices has it. An open one is worth
// what is still to come.
func counted(i Invoice, n int64) tally.Change {
	worth := i.Amount
	if i.Status == Open {
		worth = max(0, i.Amount-i.Received)
	}
	return tally.Change{N: n, Cents: n * int64(worth), Key: tally.Key{
		Bucket: tally.BucketOf(i.ID), Day: i.DueOn.String(), PlanID: i.Plan.ID, ProductID: i.Product.ID, State: string(i.Status),
	}}
}

// The states of the counter of paid invoices.
const (
	onTime = "on_time"
	late   = "late"
)

// countedPaid is an invoice as the counter of paid invoices has it.
func countedPaid(i Invoice, n int64) []tally.Change {
	if i.Status != Paid {
		return nil
	}
	state := onTime
	if i.PaidOn.After(i.DueOn) {
		state = late
	}
	return []tally.Change{{N: n, Cents: n * int64(i.Received), Key: tally.Key{
		Day: i.PaidOn.String(), PlanID: i.Plan.ID, ProductID: i.Product.ID, State: state,
	}}}
}

// gone is where paid invoices are counted that no list has any more.
func gone(changes []tally.Change) []tally.Change {
	for n := range changes {
		changes[n].State += "_gone"
	}
	return changes
}

// countReceipts counts a change of a payment: it begins or ceases to count on
// the day on which it came, and what goes back is a minus on the day on which
// it went.
func countReceipts(ctx context.Context, tx *sqldb.Tx, a account.Actor, c paymentChange) error {
	var changes []tally.Change
	switch before, after := c.before.Status.counts(), c.after.Status.counts(); {
	case after && !before:
		changes = append(changes, receipt(c.after, c.after.PaidOn, 1, c.after.Amount))
	case before && !after:
		changes = append(changes, receipt(c.before, c.before.PaidOn, -1, -c.before.Amount))
	}
	if c.refund != nil {
		changes = append(changes, receipt(c.after, c.refund.on, 0, -c.refund.amount))
	}
	if len(changes) == 0 {
		return nil
	}
	return receipts.Add(ctx, tx, a.Company.ID, changes...)
}

func receipt(p Payment, on civil.Date, n int64, amount money.Cents) tally.Change {
	return tally.Change{N: n, Cents: int64(amount), Key: tally.Key{
		Day: on.String(), PlanID: p.PlanID, ProductID: p.ProductID, State: p.Via,
	}}
}
