package billing

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Refund is money of a payment that went back.
type Refund struct {
	PaymentID int64       // the number of the payment
	Amount    money.Cents // 0: all that is left of it
	RefundID  string      // by which a repetition is known
	At        time.Time   // zero: now
	By        string      // who reported it; empty: the gateway
	Note      string

	byHand bool // what cannot be given back is refused, not passed over
}

// refundRow is a refund as the ledger has it.
type refundRow struct {
	payment int64
	id      string
	amount  money.Cents
	at      time.Time
	on      civil.Date
	by      string
	note    string
}

// RefundTx records that money went back, inside the transaction of another use
// case. It is a minus on the day of the refund; an invoice that is no longer
// covered is open again, and a renewal is taken back where it still stands. A
// refund that is known changes nothing. Of a payment that never counted it only
// records that the money is gone.
func (s *Service) RefundTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, r Refund) (Outcome, error) {
	invoiceID, err := invoiceOfPayment(ctx, tx, a.Company.ID, r.PaymentID)
	if err != nil {
		return Outcome{}, err
	}
	before, owner, err := lock(ctx, tx, a, invoiceID)
	deleted := fault.KindOf(err) == fault.KindNotFound
	if err != nil && !deleted {
		return Outcome{}, err
	}
	back, err := r.change(ctx, tx, a)
	if err != nil || back == nil {
		return Outcome{Invoice: before}, err
	}
	if deleted || back.refund == nil {
		return Outcome{Invoice: before}, applyPayment(ctx, tx, a, back)
	}
	d := refunded(before, owner, *back)
	return s.applyDecision(ctx, tx, a, &d)
}

// change is the change of the payment; nil when the refund is known.
func (r Refund) change(ctx context.Context, tx *sqldb.Tx, a account.Actor) (*paymentChange, error) {
	p, err := lockPayment(ctx, tx, a.Company.ID, r.PaymentID)
	if err != nil {
		return nil, err
	}
	if r.byHand {
		if err := p.refusedByHand(); err != nil {
			return nil, err
		}
	}
	row := refundRow{payment: p.ID, id: r.RefundID, amount: r.Amount, at: r.At, by: r.By, note: r.Note}
	known, err := refundKnown(ctx, tx, a.Company.ID, row)
	if err != nil || known || p.left() == 0 {
		return nil, err
	}
	if row.amount == 0 {
		row.amount = p.left()
	}
	if row.amount < 0 || row.amount > p.left() {
		return nil, fault.Field("amount", fmt.Sprintf("must be more than zero and not more than the %s that are left of the payment", p.left()))
	}
	if row.at.IsZero() || row.at.After(tx.Now()) {
		row.at = tx.Now()
	}
	row.at = row.at.In(a.Company.Zone)
	row.on = a.Today(row.at)
	c := &paymentChange{before: p, after: p}
	c.after.Refunded += row.amount
	if !p.Status.counts() {
		return c, nil
	}
	c.refund = &row
	if c.after.left() == 0 {
		c.after.Status = PaymentRefunded
	}
	return c, nil
}

// refunded decides what a refund does to the invoice.
func refunded(before Invoice, owner customer.Customer, back paymentChange) decision {
	d := decisionOn(before, owner)
	d.payments = []paymentChange{back}
	d.After.Received -= back.refund.amount
	if before.Status == Paid && d.After.Received < before.cost() {
		d.reopen()
	}
	return d
}

// cost is what a paid invoice cost when it was paid, less what was forgiven.
func (i Invoice) cost() money.Cents {
	return i.Amount + i.LateFee + i.LateInterest - i.Discount - i.Forgiven
}
