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
// are worth; payments by day, status and means, as their list is filtered; money
// by the day on which it came or went; and the invoices that were paid, by day.
const (
	counter  = tally.Invoices
	payments = tally.Payments
	receipts = tally.Receipts
	paid     = tally.Paid
)

// countChange counts changes of invoices. What was received for one that is
// deleted stays received.
func countChange(ctx context.Context, tx *sqldb.Tx, actor account.Actor, changes ...Change) error {
	var invoices, settled, bound []tally.Change
	for _, change := range changes {
		if change.Action != ActionCreated {
			invoices = append(invoices, counted(change.Before, -1))
		}
		if change.Action != ActionDeleted {
			invoices = append(invoices, counted(change.After, 1))
		}
		moved := settledBy(change)
		settled = append(settled, moved...)
		if !change.refundedByGateway() {
			bound = append(bound, moved...)
		}
	}
	if err := keepClosed(ctx, tx, actor, bound); err != nil {
		return err
	}
	entries := append(entriesOf(counter, invoices), entriesOf(paid, settled)...)
	for _, change := range changes {
		if change.Action == ActionDeleted {
			continue // its customer goes, and is no debtor any more
		}
		debt, err := settleDebt(ctx, tx, actor, change)
		if err != nil {
			return err
		}
		entries = append(entries, debt...)
	}
	return tally.AddAll(ctx, tx, actor.Company.ID, entries)
}

func entriesOf(counter tally.Counter, changes []tally.Change) []tally.Entry {
	entries := make([]tally.Entry, len(changes))
	for n, change := range changes {
		entries[n] = tally.Entry{Counter: counter, Change: change}
	}
	return entries
}

// counted is an invoice as the counter of invoices has it. An open one is worth
// what is still to come.
func counted(invoice Invoice, n int64) tally.Change {
	worth := invoice.Amount
	if invoice.Status == Open {
		worth = max(0, invoice.Amount-invoice.Received)
	}
	return tally.Change{N: n, Cents: n * int64(worth), Key: tally.Key{
		Bucket:    tally.BucketOf(invoice.ID),
		Day:       invoice.DueOn.String(),
		PlanID:    invoice.Plan.ID,
		ProductID: invoice.Product.ID,
		State:     string(invoice.Status),
	}}
}

// The states of the counter of paid invoices.
const (
	onTime = "on_time"
	late   = "late"
)

// countedPaid is an invoice as the counter of paid invoices has it.
func countedPaid(invoice Invoice, n int64) []tally.Change {
	if invoice.Status != Paid {
		return nil
	}
	state := onTime
	if invoice.PaidOn.After(invoice.DueOn) {
		state = late
	}
	return []tally.Change{{N: n, Cents: n * int64(invoice.Received), Key: tally.Key{
		Day:       invoice.PaidOn.String(),
		PlanID:    invoice.Plan.ID,
		ProductID: invoice.Product.ID,
		State:     state,
	}}}
}

// gone is where paid invoices are counted that no list has any more.
func gone(changes []tally.Change) []tally.Change {
	for n := range changes {
		changes[n].State += "_gone"
	}
	return changes
}

// countPayment counts a change of a payment: as a row of the list, and as money.
func countPayment(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change paymentChange) error {
	moved := change.receipts()
	if err := keepClosed(ctx, tx, actor, moved); err != nil {
		return err
	}
	entries := entriesOf(receipts, moved)
	if change.before.ID == 0 {
		entries = append(entries, tally.Entry{Counter: payments, Change: countedPayment(change.after)})
	} else {
		entries = append(entries, payments.Moved(countedPayment(change.before), countedPayment(change.after))...)
	}
	return tally.AddAll(ctx, tx, actor.Company.ID, entries)
}

// countedPayment is a payment as the counter of payments has it.
func countedPayment(payment Payment) tally.Change {
	return tally.Change{N: 1, Key: tally.Key{
		Bucket: tally.BucketOf(payment.ID),
		Day:    payment.PaidOn.String(),
		State:  string(payment.Status) + "/" + payment.Via,
	}}
}

// receipts is how a change of a payment moves the counter of money: it begins or ceases to count on
// the day on which it came, and what goes back is a minus on the day on which
// it went.
func (c paymentChange) receipts() (changes []tally.Change) {
	switch before, after := c.before.Status.counts(), c.after.Status.counts(); {
	case after && !before:
		changes = append(changes, receipt(c.after, c.after.PaidOn, 1, c.after.Amount))
	case before && !after:
		changes = append(changes, receipt(c.before, c.before.PaidOn, -1, -c.before.Amount))
	}
	if c.refund != nil {
		changes = append(changes, receipt(c.after, c.refund.on, 0, -c.refund.amount))
	}
	return changes
}

func receipt(payment Payment, on civil.Date, n int64, amount money.Cents) tally.Change {
	return tally.Change{N: n, Cents: int64(amount), Key: tally.Key{
		Day: on.String(), PlanID: payment.PlanID, ProductID: payment.ProductID, State: payment.Via,
	}}
}
