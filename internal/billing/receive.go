package billing

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Difference is what a person says about less money than an invoice costs.
type Difference string

// The differences.
const (
	DifferencePartial  Difference = "partial"   // the rest is still to come
	DifferenceDiscount Difference = "discount"  // it is enough
	DifferenceWriteOff Difference = "write_off" // the rest will never come; a note says why
)

// ReadDifference reads what a form says about less money; none when it says
// nothing.
func ReadDifference(in *input.Form) Difference {
	return Difference(in.Choice("difference", string(DifferencePartial), string(DifferenceDiscount)).Value)
}

// Receipt is money that came for an open invoice.
type Receipt struct {
	Payment               // Amount, Provider, PaymentID, Via and, perhaps, PaidOn and PaidAt; ID of a payment that is under review
	AsOf       civil.Date // the day whose payable amount it was to pay; zero: PaidOn
	Difference Difference
	Renew      bool
	note       input.Opt[string]
}

// ReceiveTx records money for an open invoice, inside the transaction of another
// use case. It pays the invoice when it is enough, or when a person says that it
// is, and then renews the customer.
func (s *Service) ReceiveTx(ctx context.Context, tx *sqldb.Tx, actor account.Actor, r Receipt) (Outcome, error) {
	before, owner, err := lock(ctx, tx, actor, r.InvoiceID)
	if err != nil {
		return Outcome{}, err
	}
	if before.Status != Open {
		return Outcome{Invoice: before}, allowed(before, Paid)
	}
	if actor, err = actor.Refreshed(ctx, tx); err != nil {
		return Outcome{Invoice: before}, err
	}
	return s.receive(ctx, tx, actor, decisionOn(before, owner), r)
}

// receive is ReceiveTx for an open invoice that the transaction has locked, and an
// actor whose company is as the transaction sees it.
func (s *Service) receive(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	decision decision,
	r Receipt,
) (Outcome, error) {
	out := Outcome{Invoice: decision.Before}
	came, err := r.change(ctx, tx, actor, decision.Before)
	if err != nil {
		return out, err
	}
	decision.payments = []paymentChange{came}
	r.note.To(&decision.After.Note)
	if err := r.settle(actor, &decision); err != nil {
		return out, err
	}
	if decision.After.Status == Paid && r.Renew {
		if err := decision.renew(actor); err != nil {
			return out, err
		}
	}
	return s.applyDecision(ctx, tx, actor, &decision)
}

// change is the change that makes the payment count.
func (r Receipt) change(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	invoice Invoice,
) (change paymentChange, err error) {
	change.after = r.Payment
	if r.ID != 0 {
		if change.before, err = lockPayment(ctx, tx, actor.Company.ID, r.ID); err != nil {
			return change, err
		}
		if change.before.Status.counts() {
			return change, fmt.Errorf("payment %d: %w", r.ID, errKnownPayment)
		}
		change.after = change.before
		change.after.PaidOn = civil.Date{}
	}
	payment := &change.after
	payment.CustomerID = invoice.Customer.ID
	payment.CustomerName = invoice.Customer.Name
	payment.PlanID = invoice.Plan.ID
	payment.ProductID = invoice.Product.ID
	if payment.Currency == "" {
		payment.Currency = Real
	}
	payment.dated(actor, tx.Now())
	payment.postpone(actor, tx.Now())
	return change, nil
}

// dated fills in when the money came: now, unless the payment says another
// instant or another day.
func (p *Payment) dated(actor account.Actor, now time.Time) {
	switch {
	case !p.PaidOn.IsZero() && p.PaidAt.IsZero():
		p.PaidAt = paidTime(actor, now, p.PaidOn).In(actor.Company.Zone)
		return
	case p.PaidAt.IsZero() || p.PaidAt.After(now):
		p.PaidAt = now
	}
	p.PaidAt = p.PaidAt.Truncate(time.Microsecond).In(actor.Company.Zone)
	p.PaidOn = actor.Today(p.PaidAt)
}

// settle decides what the money does to the invoice.
func (r Receipt) settle(actor account.Actor, decision *decision) error {
	came, invoice := &decision.payments[0].after, &decision.After
	asOf := r.AsOf
	if asOf.IsZero() {
		asOf = came.PaidOn
	}
	due := decision.Before.PayableOn(actor.Company, asOf)
	invoice.Received += came.Amount
	came.Status = PaymentApplied
	switch {
	case came.Amount <= 0:
		return fault.Field("amount", "must be more than zero")
	case came.Amount >= due.Rest:
	case r.Difference == DifferencePartial:
		came.Status = PaymentPartial
		return nil
	case r.Difference == DifferenceDiscount, r.Difference == DifferenceWriteOff:
		invoice.Forgiven = due.Rest - came.Amount
	default:
		return fault.Field("difference", fmt.Sprintf(
			"is required: %s is less than the %s to pay; say %s or %s",
			came.Amount, due.Rest, DifferencePartial, DifferenceDiscount))
	}
	decision.pay(due, *came)
	return nil
}
