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
	DifferencePartial  Difference = "partial"  // the rest is still to come
	DifferenceDiscount Difference = "discount" // it is enough
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
func (s *Service) ReceiveTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, r Receipt) (Outcome, error) {
	before, owner, err := lock(ctx, tx, a, r.InvoiceID)
	if err != nil {
		return Outcome{}, err
	}
	if before.Status != Open {
		return Outcome{Invoice: before}, allowed(before, Paid)
	}
	if a, err = a.Refreshed(ctx, tx); err != nil {
		return Outcome{Invoice: before}, err
	}
	return s.receive(ctx, tx, a, decisionOn(before, owner), r)
}

// receive is ReceiveTx for an open invoice that the transaction has locked, and an
// actor whose company is as the transaction sees it.
func (s *Service) receive(ctx context.Context, tx *sqldb.Tx, a account.Actor, d decision, r Receipt) (Outcome, error) {
	out := Outcome{Invoice: d.Before}
	came, err := r.change(ctx, tx, a, d.Before)
	if err != nil {
		return out, err
	}
	d.payments = []paymentChange{came}
	r.note.To(&d.After.Note)
	if err := r.settle(a, &d); err != nil {
		return out, err
	}
	if d.After.Status == Paid && r.Renew {
		if err := d.renew(a); err != nil {
			return out, err
		}
	}
	return s.applyDecision(ctx, tx, a, &d)
}

// change is the change that makes the payment count.
func (r Receipt) change(ctx context.Context, tx *sqldb.Tx, a account.Actor, i Invoice) (c paymentChange, err error) {
	c.after = r.Payment
	if r.ID != 0 {
		if c.before, err = lockPayment(ctx, tx, a.Company.ID, r.ID); err != nil {
			return c, err
		}
		if c.before.Status.counts() {
			return c, fmt.Errorf("payment %d: %w", r.ID, errKnownPayment)
		}
		c.after = c.before
		c.after.PaidOn = civil.Date{}
	}
	p := &c.after
	p.CustomerID, p.CustomerName, p.PlanID, p.ProductID = i.Customer.ID, i.Customer.Name, i.Plan.ID, i.Product.ID
	if p.Currency == "" {
		p.Currency = Real
	}
	p.dated(a, tx.Now())
	return c, nil
}

// dated fills in when the money came: now, unless the payment says another
// instant or another day.
func (p *Payment) dated(a account.Actor, now time.Time) {
	switch {
	case !p.PaidOn.IsZero() && p.PaidAt.IsZero():
		p.PaidAt = paidTime(a, now, p.PaidOn).In(a.Company.Zone)
		return
	case p.PaidAt.IsZero() || p.PaidAt.After(now):
		p.PaidAt = now
	}
	p.PaidAt = p.PaidAt.Truncate(time.Microsecond).In(a.Company.Zone)
	p.PaidOn = a.Today(p.PaidAt)
}

// settle decides what the money does to the invoice.
func (r Receipt) settle(a account.Actor, d *decision) error {
	came, i := &d.payments[0].after, &d.After
	asOf := r.AsOf
	if asOf.IsZero() {
		asOf = came.PaidOn
	}
	due := d.Before.PayableOn(a.Company, asOf)
	i.Received += came.Amount
	came.Status = PaymentApplied
	switch {
	case came.Amount <= 0:
		return fault.Field("amount", "must be more than zero")
	case came.Amount >= due.Rest:
	case r.Difference == DifferencePartial:
		came.Status = PaymentPartial
		return nil
	case r.Difference == DifferenceDiscount:
		i.Forgiven = due.Rest - came.Amount
	default:
		return fault.Field("difference", fmt.Sprintf("is required: %s is less than the %s to pay; say %s or %s",
			came.Amount, due.Rest, DifferencePartial, DifferenceDiscount))
	}
	d.pay(due, *came)
	return nil
}
