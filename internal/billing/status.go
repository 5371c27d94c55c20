package billing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// transitions is the state machine of an invoice.
var transitions = map[Status][]Status{
	Open:      {Paid, Cancelled},
	Cancelled: {Open},
	Paid:      {Open}, // when a person marked it as paid: money that came through a gateway does not go back by a click
}

// Outcome is an invoice after a change of status, and what came of it.
type Outcome struct {
	Invoice
	Changed   bool
	Renewed   bool // the payment moved the customer's due date forward
	MovedBack bool // taking the payment back moved it back
}

// change is what is asked of an invoice.
type change struct {
	status Status
	paidOn civil.Date // zero: now
	via    string
	note   string
	noted  bool
	renew  bool
}

// ReadOnly are the fields of an invoice's record that a change of status may
// carry and that change nothing, so that what was read can be sent back.
// paid_at is one of them unless the invoice is being paid.
var ReadOnly = []string{
	"id", "total_amount", "description", "due_date", "overdue", "paid_at", "paid_via", "created_at",
	"customer", "plan", "product", "renewed", "due_date_moved_back",
}

// SetStatus changes the status of an invoice by hand, from the fields status,
// paid_at (a date), note and renew.
func (s *Service) SetStatus(ctx context.Context, a account.Actor, id int64, in *input.Form) (Outcome, error) {
	in.Require("status")
	c := change{via: Manual, renew: a.Company.Settings.RenewOnPayment}
	status, _ := in.Choice("status", string(Open), string(Paid), string(Cancelled)).Get()
	c.status = Status(status)
	in.Ignore(ReadOnly...)
	if c.status != Open && c.status != Cancelled {
		c.paidOn, _ = in.Date("paid_at").Get()
	}
	c.note, c.noted = in.Text("note", 2000).Get()
	if renew, ok := in.Bool("renew").Get(); ok && in.Sent("renew") {
		c.renew = renew
	}
	if c.paidOn.After(a.Today(s.db.Now())) {
		in.Refuse("paid_at", "must not be in the future")
	}
	if err := in.Err(); err != nil {
		return Outcome{}, err
	}
	var out Outcome
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		out, err = s.changeTx(ctx, tx, a, id, c)
		return err
	})
	return out, err
}

// PayTx marks an invoice as paid through a gateway, inside the transaction in
// which the payment is settled. One that is paid already is left as it is.
func (s *Service) PayTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64, via string) (Outcome, error) {
	return s.changeTx(ctx, tx, a, id, change{status: Paid, via: via, renew: a.Company.Settings.RenewOnPayment})
}

func (s *Service) changeTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64, c change) (Outcome, error) {
	before, owner, err := lock(ctx, tx, a, id)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Invoice: before}
	if before.Status == c.status {
		return out, nil
	}
	if err := allowed(before, c.status); err != nil {
		return out, err
	}
	out.Changed, out.Status = true, c.status
	if c.noted {
		out.Note = c.note
	}
	switch c.status {
	case Paid:
		err = s.pay(ctx, tx, a, &out, owner, c)
	default:
		err = s.unpay(ctx, tx, a, &out, before, owner)
	}
	if err != nil {
		return out, err
	}
	if err := update(ctx, tx, a.Company.ID, out.Invoice); err != nil {
		return out, err
	}
	if err := counter.Move(ctx, tx, a.Company.ID, counted(before, 1), counted(out.Invoice, 1)); err != nil {
		return out, err
	}
	if err := account.WriteAudit(ctx, tx, a, deed("invoice.updated", before, out.Invoice)); err != nil {
		return out, err
	}
	return out, s.tellChanged(ctx, tx, a, before, out.Invoice)
}

// deed is what the audit log says of an invoice.
func deed(action string, before, after Invoice) account.AuditEntry {
	return account.AuditEntry{Action: action, Record: "invoice", ID: after.ID, Name: after.Customer.Name, Before: fields(before), After: fields(after)}
}

func fields(i Invoice) account.AuditFields {
	return account.AuditFields{
		"status": i.Status, "total_amount": i.Amount.String(), "due_date": i.DueOn.String(), "description": i.Description,
		"paid_on": i.PaidOn.String(), "paid_via": i.PaidVia, "note": i.Note,
	}
}

func allowed(i Invoice, to Status) error {
	next := transitions[i.Status]
	if i.Status == Paid && i.PaidVia != Manual {
		return fault.Field("status", fmt.Sprintf("this invoice was paid through %s and stays %s", i.PaidVia, Paid))
	}
	if slices.Contains(next, to) {
		return nil
	}
	names := make([]string, len(next))
	for n, status := range next {
		names[n] = string(status)
	}
	return fault.Field("status", fmt.Sprintf("an invoice that is %s can only become: %s", i.Status, strings.Join(names, ", ")))
}

// pay notes the payment, tells of it, and renews the customer where it should.
func (s *Service) pay(ctx context.Context, tx *sqldb.Tx, a account.Actor, out *Outcome, owner customer.Customer, c change) error {
	out.PaidAt, out.PaidOn, out.PaidVia = paidTime(a, tx.Now(), c.paidOn), c.paidOn, c.via
	if out.PaidOn.IsZero() {
		out.PaidOn = a.Today(tx.Now())
	}
	if err := receipts.Add(ctx, tx, a.Company.ID, received(out.Invoice, 1)); err != nil {
		return err
	}
	if err := s.events.Record(ctx, tx, a.Source(), event.InvoicePaid, paidData{briefOf(out.Invoice), customerOf(out.Invoice)}); err != nil {
		return err
	}
	if !c.renew || !renews(out.Invoice, owner) {
		return nil
	}
	r, err := s.customers.RenewTx(ctx, tx, a, owner.ID)
	if err != nil {
		return err
	}
	out.Renewed = true
	out.renewal = renewal{from: r.Previous, to: r.DueOn, ownDay: owner.OwnDay}
	return nil
}

// renews decides whether the payment of an invoice buys its customer a period:
// a generated one does, once, while the due date has not already moved past
// the invoice's because somebody renewed first.
func renews(i Invoice, owner customer.Customer) bool {
	return i.Generated && i.renewal.to.IsZero() && owner.Plan.ID != 0 && !owner.DueOn.After(i.DueOn)
}

// unpay cancels, or opens again. The due date goes back to where it was before
// the payment only if it still stands where the payment put it: otherwise
// somebody has relied on it, and paying again will not renew a second time.
func (s *Service) unpay(ctx context.Context, tx *sqldb.Tx, a account.Actor, out *Outcome, before Invoice, owner customer.Customer) error {
	if before.Status != Paid {
		return nil
	}
	if err := receipts.Add(ctx, tx, a.Company.ID, received(before, -1)); err != nil {
		return err
	}
	out.PaidAt, out.PaidOn, out.PaidVia = time.Time{}, civil.Date{}, ""
	r := before.renewal
	if r.to.IsZero() || owner.DueOn != r.to {
		return nil
	}
	if _, err := s.customers.SetDueTx(ctx, tx, a, owner.ID, r.from, r.ownDay); err != nil {
		return err
	}
	out.MovedBack = true
	out.renewal = renewal{}
	return nil
}

// paidTime is the instant of a payment on a given day: now, or the beginning of
// a day that has passed.
func paidTime(a account.Actor, now time.Time, on civil.Date) time.Time {
	if on.IsZero() || on == a.Today(now) {
		return now
	}
	return on.Start(a.Company.Zone)
}
