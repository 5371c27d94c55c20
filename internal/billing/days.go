package billing

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/tally"
)

// An instant of the books is read by the clock that it was written with: PaidAt
// and CreatedAt have the offset of the company's zone at that time, and a row
// stores it with the day. So the date inside paid_at is always the day that
// lists, filters and sums use, wherever the company moves.

// instantAt is an instant by the clock of its row; zero where there is none.
func instantAt(micros int64, offset int) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).In(time.FixedZone("", offset))
}

// offsetOf is how far east of UTC the clock of an instant is, in seconds.
func offsetOf(at time.Time) int {
	_, offset := at.Zone()
	return offset
}

// keepClosed refuses a change of the sums of a day with closed books. A move
// within a day, as at the deletion of a customer, changes none. Only changes of
// past days read the company: a day that has not ended is never closed.
func keepClosed(ctx context.Context, tx account.Tx, changes []tally.Change) error {
	today, first := tx.Today(tx.Now()).String(), ""
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
	closed, err := account.ClosedThroughTx(ctx, tx)
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

// writtenOffBy is how a change moves what is written off on a day.
func writtenOffBy(change Change) (moved []tally.Change) {
	if change.Action == ActionDeleted {
		return nil
	}
	for n, invoice := range map[int64]Invoice{-1: change.Before, 1: change.After} {
		if !invoice.WrittenOffOn.IsZero() {
			moved = append(moved, tally.Change{N: n, Cents: n * int64(invoice.WrittenOff), Key: tally.Key{Day: invoice.WrittenOffOn.String()}})
		}
	}
	return moved
}
