package billing

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Manual is the PaidVia of an invoice that a person marked as paid.
const Manual = "manual"

const maxNote = 2000

// StatusChange is what a person asks of an invoice.
type StatusChange struct {
	Status Status
	PaidOn input.Opt[civil.Date] // no value: today
	Note   input.Opt[string]
	Renew  input.Opt[bool] // no value: as the company has chosen

	Problems input.Problems // what the form had wrong
}

// ReadOnly are the fields of an invoice's record that a change of status may
// carry and that change nothing, so that what was read can be sent back.
// paid_at is one of them unless the invoice is being paid.
var ReadOnly = []string{
	"id", "total_amount", "description", "due_date", "overdue", "paid_at", "paid_via", "created_at",
	"customer", "plan", "product", "renewed", "due_date_moved_back",
}

// ReadStatusChange reads a change of status from the fields status, paid_at (a
// date), note and renew.
func ReadStatusChange(in *input.Form) StatusChange {
	in.Require("status")
	c := StatusChange{Status: readStatus(in)}
	in.Ignore(ReadOnly...)
	if c.Status != Open && c.Status != Cancelled {
		c.PaidOn = in.Date("paid_at")
	}
	c.Note = in.Text("note", maxNote)
	c.Renew = in.Bool("renew")
	c.Problems = in.Problems()
	return c
}

// Outcome is an invoice after a change of status, and what came of it.
type Outcome struct {
	Invoice
	Changed   bool
	Renewed   bool // the payment moved the customer's due date forward
	MovedBack bool // undoing the payment moved it back
}

// SetStatus changes the status of an invoice by hand.
func (s *Service) SetStatus(ctx context.Context, a account.Actor, id int64, c StatusChange) (Outcome, error) {
	var refused fault.Fields
	if c.PaidOn.Value.After(a.Today(s.db.Now())) {
		refused.Add("paid_at", "must not be in the future")
	}
	if err := c.Problems.With(refused).Err(); err != nil {
		return Outcome{}, err
	}
	t := transition{
		invoiceID: id, to: c.Status, paidOn: c.PaidOn.Value, via: Manual, note: c.Note,
		renew: c.Renew.Or(a.Company.Settings.RenewOnPayment),
	}
	var out Outcome
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		out, err = s.transitTx(ctx, tx, a, t)
		return err
	})
	return out, err
}

// PayTx marks an invoice as paid through a gateway, inside the transaction in
// which the payment is settled. One that is paid already is left as it is.
func (s *Service) PayTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64, via string) (Outcome, error) {
	t := transition{invoiceID: id, to: Paid, via: via, renew: a.Company.Settings.RenewOnPayment}
	return s.transitTx(ctx, tx, a, t)
}

// transition is a change of status that has been checked.
type transition struct {
	invoiceID int64
	to        Status
	paidOn    civil.Date // zero: today
	via       string
	note      input.Opt[string]
	renew     bool
}

// decision is what a transition does to an invoice and to its customer.
type decision struct {
	Change
	owner    customer.Customer
	renewal  *customer.Renewal // nil: none
	moveBack bool              // of the owner's due date, to before the renewal
}

// transitTx decides what a transition does and applies it. The invoice's change
// is applied before that of its customer: invoice.paid comes before
// customer.renewed.
func (s *Service) transitTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, t transition) (Outcome, error) {
	before, owner, err := lock(ctx, tx, a, t.invoiceID)
	if err != nil || before.Status == t.to {
		return Outcome{Invoice: before}, err
	}
	if err := allowed(before, t.to); err != nil {
		return Outcome{Invoice: before}, err
	}
	d, err := t.decide(ctx, tx, a, before, owner)
	if err != nil {
		return Outcome{Invoice: before}, err
	}
	if err := s.apply(ctx, tx, a, &d.Change); err != nil {
		return Outcome{Invoice: before}, err
	}
	out := Outcome{Invoice: d.After, Changed: true, Renewed: d.renewal != nil, MovedBack: d.moveBack}
	return out, s.moveDueDate(ctx, tx, a, d)
}

func (t transition) decide(ctx context.Context, tx *sqldb.Tx, a account.Actor, before Invoice, owner customer.Customer) (decision, error) {
	d := decision{Change: Change{Action: ActionUpdated, Before: before, After: before}, owner: owner}
	d.After.Status = t.to
	t.note.To(&d.After.Note)
	switch {
	case t.to == Paid:
		return d, t.pay(ctx, tx, a, &d)
	case before.Status == Paid:
		d.undo()
	}
	return d, nil
}

// pay sets when and how the invoice was paid, and decides the renewal.
func (t transition) pay(ctx context.Context, tx *sqldb.Tx, a account.Actor, d *decision) error {
	i := &d.After
	i.PaidAt, i.PaidOn, i.PaidVia = paidTime(a, tx.Now(), t.paidOn), t.paidOn, t.via
	if i.PaidOn.IsZero() {
		i.PaidOn = a.Today(tx.Now())
	}
	if !t.renew || !renews(*i, d.owner) {
		return nil
	}
	r, err := customer.PrepareRenewalTx(ctx, tx, a, d.owner)
	if err != nil {
		return err
	}
	d.renewal = &r
	i.renewal = renewal{from: r.Previous, to: r.DueOn, ownDay: d.owner.OwnDay}
	return nil
}

// renews decides whether the payment of an invoice buys its customer a period:
// a generated one does, once, while the due date has not already moved past
// the invoice's because the customer was renewed first.
func renews(i Invoice, owner customer.Customer) bool {
	return i.Generated && i.renewal.to.IsZero() && owner.Plan.ID != 0 && !owner.DueOn.After(i.DueOn)
}

// undo clears the payment. The due date goes back to where it was before the
// payment only if it is still where the payment put it: otherwise a later
// change relies on it, and paying again will not renew a second time.
func (d *decision) undo() {
	i := &d.After
	i.PaidAt, i.PaidOn, i.PaidVia = time.Time{}, civil.Date{}, ""
	if put := d.Before.renewal.to; put.IsZero() || d.owner.DueOn != put {
		return
	}
	d.moveBack = true
	i.renewal = renewal{}
}

// moveDueDate applies what the decision does to the customer.
func (s *Service) moveDueDate(ctx context.Context, tx *sqldb.Tx, a account.Actor, d decision) error {
	if d.renewal != nil {
		return s.customers.ApplyRenewalTx(ctx, tx, a, d.renewal)
	}
	if !d.moveBack {
		return nil
	}
	was := d.Before.renewal
	_, err := s.customers.SetDueTx(ctx, tx, a, d.owner.ID, was.from, was.ownDay)
	return err
}

// paidTime is the instant of a payment on a given day: now, or the beginning of
// a day that has passed.
func paidTime(a account.Actor, now time.Time, on civil.Date) time.Time {
	if on.IsZero() || on == a.Today(now) {
		return now
	}
	return on.Start(a.Company.Zone)
}
