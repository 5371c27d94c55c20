package billing

import (
	"context"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// keepClosed refuses what would change the sums of a day whose books are closed.
// What moves within a day, as at the deletion of a customer, changes none. Only
// changes of past days read the company: no day that has not ended is closed.
func keepClosed(ctx context.Context, tx *sqldb.Tx, actor account.Actor, changes []tally.Change) error {
	today, first := actor.Today(tx.Now()).String(), ""
	sums := map[string]tally.Sums{}
	for _, change := range changes {
		sum := sums[change.Day]
		sums[change.Day] = tally.Sums{N: sum.N + change.N, Cents: sum.Cents + change.Cents}
	}
	for day, sum := range sums {
		if sum != (tally.Sums{}) && day < today && (first == "" || day < first) {
			first = day
		}
	}
	if first == "" {
		return nil
	}
	closed, err := account.ClosedThroughTx(ctx, tx, actor)
	if err == nil && first <= closed.String() {
		return fault.Field("books_closed_through", "the books are closed through "+closed.String())
	}
	return err
}

// firstOpen is the first day of the books that is not closed; zero: all are open.
func firstOpen(actor account.Actor) civil.Date {
	closed := actor.Company.Settings.ClosedThrough
	if closed.IsZero() {
		return closed
	}
	return closed.AddDays(1)
}

// postpone has money that a gateway reports late count on the first open day: it
// came, and cannot be refused.
func (p *Payment) postpone(actor account.Actor, now time.Time) {
	if open := firstOpen(actor); !p.byPerson() && p.PaidOn.Before(open) {
		p.PaidAt, p.PaidOn = paidTime(actor, now, open).In(actor.Company.Zone), open
	}
}

// settledBy is how changes of invoices move the counter of paid ones.
func settledBy(change Change) (settled []tally.Change) {
	if change.Action != ActionCreated {
		settled = countedPaid(change.Before, -1)
	}
	if change.Action == ActionDeleted {
		return append(settled, gone(countedPaid(change.Before, 1))...)
	}
	return append(settled, countedPaid(change.After, 1)...)
}

// refundedByGateway reports whether a gateway says that money of the invoice went
// back, which cannot be refused.
func (c Change) refundedByGateway() bool {
	return slices.ContainsFunc(c.payments, func(p paymentChange) bool { return p.refund != nil && p.refund.by == "" })
}
