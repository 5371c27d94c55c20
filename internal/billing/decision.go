package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/money"
)

// decision is what is done to an invoice and to its customer.
type decision struct {
	Change
	owner    customer.Customer
	renewal  *customer.Renewal // nil: none
	moveBack bool              // of the owner's due date, to before the renewal
	credit   money.Cents       // by which the owner's credit rises
	problem  string            // why there is no renewal
}

// decisionOn begins a decision about an invoice that the transaction has locked.
func decisionOn(invoice Invoice, owner customer.Customer) decision {
	return decision{Change: Change{Action: ActionUpdated, Before: invoice, After: invoice}, owner: owner}
}

// applyDecision applies the invoice's change before that of its customer:
// invoice.paid comes before customer.renewed.
func (s *Service) applyDecision(ctx context.Context, tx account.Tx, decision *decision) (Outcome, error) {
	if err := s.apply(ctx, tx, &decision.Change); err != nil {
		return Outcome{Invoice: decision.Before}, err
	}
	out := Outcome{
		Invoice:        decision.After,
		Changed:        true,
		Renewed:        decision.renewal != nil,
		RenewalProblem: decision.problem,
		MovedBack:      decision.moveBack,
	}
	for _, change := range decision.payments {
		if change.before.ID == 0 {
			out.PaymentID = change.after.ID
		}
	}
	if err := s.moveDueDate(ctx, tx, *decision); err != nil || decision.credit == 0 {
		return out, err
	}
	_, err := s.customers.AddCreditTx(ctx, tx, decision.owner.ID, decision.credit)
	return out, err
}

// renew decides whether the payment renews the customer.
func (d *decision) renew(ctx context.Context, tx account.Tx) error {
	if !renews(d.After, d.owner) {
		return nil
	}
	if err := d.takeTurn(ctx, tx); err != nil {
		return err
	}
	r, err := customer.PrepareExtension(tx.Actor, d.owner, customer.Extension{
		Period: d.After.Period,
		On:     d.After.PaidOn,
	})
	if errors.Is(err, civil.ErrOverflow) { // the money came all the same
		d.problem = fault.Public(err)
		return nil
	}
	if err != nil {
		return err
	}
	d.renewal = &r
	d.After.renewal = renewal{from: r.Previous, to: r.DueOn, ownDay: d.owner.OwnDay, on: d.After.PaidOn}
	return nil
}

// takeTurn has an invoice that is paid before an older open one renew the due date of
// that, which will renew the later one: each payment buys a period, in whatever order.
func (d *decision) takeTurn(ctx context.Context, tx account.Tx) error {
	if d.After.IssuedFor == d.owner.DueOn {
		return nil
	}
	older, found, err := generatedFor(ctx, tx, d.owner, tx.Company.ID)
	if err == nil && found && older.Status == Open {
		d.turnOf, d.After.IssuedFor = older.ID, older.IssuedFor
	}
	return err
}

// renews decides whether the payment of an invoice buys its customer a period:
// a generated one does, once, by the period that it was issued for, while the due
// date has not already moved past the one it was issued for because the customer was renewed
// first. A cancelled customer is not renewed.
func renews(invoice Invoice, owner customer.Customer) bool {
	issued := invoice.Generated && invoice.Period.Unit != ""
	return issued && invoice.renewal.to.IsZero() && !owner.DueOn.After(invoice.IssuedFor) && !owner.IsCancelled()
}

// undo takes back the payment that completed the invoice, if a person reported it.
// Parts that came before stay. An invoice that no payment completed, since nothing
// was left to pay, is open again and nothing else.
func (d *decision) undo(ctx context.Context, tx account.Tx) error {
	payments, err := lockPaymentsOf(ctx, tx, d.Before.ID)
	if err != nil {
		return err
	}
	for _, payment := range slices.Backward(payments) {
		switch {
		case payment.Status != PaymentApplied:
			continue
		case !payment.byPerson():
			return errPaidThrough(d.Before)
		case payment.Refunded > 0:
			return fault.Field("status", "a part of the payment was given back; give back the rest instead")
		}
		d.dismiss(payment)
		break
	}
	d.reopen(payments)
	return nil
}

// giveBack books that the money on an invoice that is cancelled went back today, or
// is the customer's credit. What credit paid is credit again.
func (d *decision) giveBack(ctx context.Context, tx account.Tx, change StatusChange) error {
	if change.Money == "" {
		return fault.Field("money", fmt.Sprintf("is required: %s came for the invoice; say %s or %s",
			d.Before.Received, MoneyRefund, MoneyCredit))
	}
	payments, err := lockPaymentsOf(ctx, tx, d.Before.ID)
	if err != nil {
		return err
	}
	for _, payment := range payments {
		switch {
		case !payment.Status.counts() || payment.left() == 0:
			continue
		case payment.Provider == Credit:
			d.dismiss(payment)
			continue
		case change.Money == MoneyCredit:
			d.keepCredit(payment)
			continue
		}
		back, err := Refund{
			PaymentID: payment.ID, RefundID: "hand:" + id.NewCode(16), By: tx.Actor.By(), Note: change.Note.Value,
		}.change(ctx, tx)
		if err != nil {
			return err
		}
		d.payments = append(d.payments, *back)
		d.After.Received -= back.refund.amount
	}
	return nil
}

// dismiss takes a payment back: it never happened.
func (d *decision) dismiss(payment Payment) {
	change := paymentChange{before: payment, after: payment}
	change.after.undone()
	d.payments = append(d.payments, change)
	d.After.Received -= payment.Amount
	d.After.Settled = max(0, d.After.Settled-payment.Amount)
	d.credit += change.after.credit() - change.before.credit()
}

// undone makes a payment one that never happened. The same one may be reported again.
func (p *Payment) undone() {
	p.Status = PaymentDismissed
	p.PaymentID += fmt.Sprint("#undone-", p.ID)
}

// keepCredit has what is left of a payment be the customer's credit.
func (d *decision) keepCredit(payment Payment) {
	change := paymentChange{before: payment, after: payment}
	change.after.Status = PaymentCredit
	d.payments = append(d.payments, change)
	d.After.Received -= payment.left()
	d.credit += payment.left()
}

// reopen makes a paid invoice open. What stays of its payments is a part. The due
// date goes back to where it was before the payment only if it is still where the
// payment put it: otherwise a later change relies on it, and paying again will not
// renew a second time.
func (d *decision) reopen(payments []Payment) {
	invoice := &d.After
	invoice.open()
	if invoice.Superseded { // the invoice that was issued after it claims the money
		invoice.Status = Cancelled
	}
	invoice.PaidAt, invoice.PaidOn, invoice.PaidVia = time.Time{}, civil.Date{}, ""
	invoice.LateFee, invoice.LateInterest, invoice.Discount, invoice.Forgiven = 0, 0, 0, 0
	invoice.Settled, invoice.Given = 0, 0
	d.leaveParts(payments)
	if put := d.Before.renewal.to; put.IsZero() || d.owner.DueOn != put {
		return
	}
	d.moveBack = true
	invoice.renewal = renewal{}
}

// leaveParts has the payments that stay with an invoice that is open again be
// parts: at most one payment of an invoice is the one that completed it.
func (d *decision) leaveParts(payments []Payment) {
	for _, payment := range payments {
		n := slices.IndexFunc(d.payments, func(c paymentChange) bool { return c.before.ID == payment.ID })
		if n < 0 && payment.Status == PaymentApplied {
			d.payments = append(d.payments, paymentChange{before: payment, after: payment})
			n = len(d.payments) - 1
		}
		if n >= 0 && d.payments[n].after.Status == PaymentApplied {
			d.payments[n].after.Status = PaymentPartial
		}
	}
}

// moveDueDate applies what the decision does to the customer.
func (s *Service) moveDueDate(ctx context.Context, tx account.Tx, decision decision) error {
	if decision.renewal != nil {
		return s.customers.ApplyRenewalTx(ctx, tx, decision.renewal)
	}
	if !decision.moveBack {
		return nil
	}
	was := decision.Before.renewal
	_, err := s.customers.ReverseRenewalTx(ctx, tx, decision.owner.ID, customer.Reversal{
		DueOn:  was.from,
		OwnDay: was.ownDay,
		On:     was.on,
	})
	return err
}
