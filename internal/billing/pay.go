package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

// Manual is the PaidVia of an invoice that a person marked as paid.
const Manual = "manual"

// HandMeans are how money comes that a person reports.
var HandMeans = []string{Manual, "cash", "pix", "card", "transfer", "boleto", "other"}

// MaxNote is how many characters a note may have.
const MaxNote = 2000

const maxVia = 100

// StatusChange is what a person asks of an invoice.
type StatusChange struct {
	Status Status
	PaidOn input.Opt[civil.Date] // no value: today
	Note   input.Opt[string]
	Renew  input.Opt[bool] // no value: as the company has chosen

	Amount     input.Opt[money.Cents] // what came; no value: what is to pay
	Via        input.Opt[string]      // one of HandMeans; no value: Manual
	Difference Difference             // needed when less came than is to pay
	Money      string                 // what becomes of the money on an invoice that is cancelled; MoneyRefund or MoneyCredit

	Problems input.Problems // what the form had wrong
}

// What becomes of the money on an invoice that is cancelled.
const (
	MoneyRefund = "refund" // it was given back
	MoneyCredit = "credit" // it is the customer's credit
)

// ReadOnly are the fields of an invoice's record that a change of status may
// carry and that change nothing, so that what was read can be sent back.
// paid_at is one of them unless the invoice is being paid.
var ReadOnly = []string{
	"id", "total_amount", "description", "due_date", "overdue", "paid_at", "paid_via", "created_at",
	"updated_at", "customer", "plan", "product", "renewed", "renewal_problem", "due_date_moved_back",
	"amount_received", "payable_amount", "late_fee", "late_interest", "discount", "period_unit",
	"period_count", "payment_link",
}

// ReadStatusChange reads a change of status from the fields status, paid_at (a
// date), amount, paid_via, difference, note and renew.
func ReadStatusChange(in *input.Form) StatusChange {
	in.Require("status")
	change := StatusChange{Status: readStatus(in)}
	in.Ignore(ReadOnly...)
	in.Ignore("amount", "difference")
	if change.Status != Open && change.Status != Cancelled {
		change.PaidOn = in.Day("paid_at")
		change.Amount = in.Money("amount")
		change.Via = in.Line("paid_via", maxVia)
		change.Difference = input.OneOf(in, "difference", Differences...).Value
	}
	change.Money = in.Choice("money", MoneyRefund, MoneyCredit).Value
	change.Note = in.Text("note", MaxNote)
	change.Renew = in.Bool("renew")
	change.Problems = in.Problems()
	return change
}

// Outcome is an invoice after a change of status, and what came of it.
type Outcome struct {
	Invoice
	Changed bool
	Renewed bool // the payment moved the customer's due date forward
	// RenewalProblem is why the payment, which is recorded, could not renew.
	RenewalProblem string
	MovedBack      bool  // undoing the payment moved it back
	PaymentID      int64 // of the money that came with it; 0: none did
}

// firstDay is the first day that money can have come on: an earlier one is a slip.
var firstDay = civil.MustParse("2000-01-01")

// RefusedDay says why money cannot have come, or gone back, on the day that a person
// typed. The zero day is none.
func RefusedDay(field string, on, today civil.Date) (refused fault.Fields) {
	switch {
	case on.IsZero():
	case on.After(today):
		refused.Add(field, "must not be in the future")
	case on.Before(firstDay):
		refused.Add(field, "must not be before "+firstDay.String())
	}
	return refused
}

// SetStatus changes the status of an invoice by hand.
func (s *Service) SetStatus(
	ctx context.Context, actor account.Actor, invoiceID int64, change StatusChange,
) (Outcome, error) {
	refused := RefusedDay("paid_at", change.PaidOn.Value, actor.Today(s.db.Now()))
	if err := change.Problems.With(refused).With(change.Difference.Refused(change.Note.Value)).Err(); err != nil {
		return Outcome{}, err
	}
	var out Outcome
	err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
		out, err = s.statusTx(ctx, tx, invoiceID, change)
		return err
	})
	return out, err
}

// statusTx changes a status inside a transaction. The same status again changes
// nothing.
func (s *Service) statusTx(ctx context.Context, tx account.Tx, invoiceID int64, change StatusChange) (Outcome, error) {
	before, owner, err := lock(ctx, tx, invoiceID)
	out := Outcome{Invoice: before}
	if err != nil || before.Status == change.Status {
		return out, err
	}
	if err := allowed(before, change.Status); err != nil {
		return out, err
	}
	if change.Status == Paid && !slices.Contains(HandMeans, change.via()) {
		return out, fault.Field("paid_via", "must be one of: "+strings.Join(HandMeans, ", "))
	}
	decision := decisionOn(before, owner)
	if change.Status == Paid {
		return s.payByHand(ctx, tx, decision, change)
	}
	decision.After.open() // a person decides now
	decision.After.Status = change.Status
	change.Note.To(&decision.After.Note)
	if change.Status == Cancelled && before.Received > 0 {
		if err := decision.giveBack(ctx, tx, change); err != nil {
			return out, err
		}
	}
	if before.Status == Paid {
		if err := decision.undo(ctx, tx); err != nil {
			return out, err
		}
	}
	return s.applyDecision(ctx, tx, &decision)
}

// payByHand pays an open invoice with what a person reports. Where nothing is left
// to pay, since the terms changed after money came in part, no payment is needed.
// What is given up with no more money is paid by what came before, or cancelled where
// nothing did.
func (s *Service) payByHand(ctx context.Context, tx account.Tx, decision decision, change StatusChange) (Outcome, error) {
	tx, err := tx.Refreshed(ctx)
	if err != nil {
		return Outcome{Invoice: decision.Before}, err
	}
	r := change.receipt(tx.Actor, tx.Now(), decision.Before)
	givenUp := change.Difference == DifferenceWriteOff && change.Amount.Value == 0
	if !givenUp && (r.Amount > 0 || change.Amount.HasValue()) {
		return s.receive(ctx, tx, decision, r)
	}
	invoice := &decision.After
	r.note.To(&invoice.Note)
	r.dated(tx.Actor, tx.Now())
	due := decision.Before.PayableOn(tx.Company, r.PaidOn)
	switch {
	case givenUp && invoice.Received == 0:
		invoice.Status, invoice.Withdrawn, invoice.WrittenOff, invoice.WrittenOffOn = Cancelled, "", invoice.Amount, r.PaidOn
		return s.applyDecision(ctx, tx, &decision)
	case givenUp:
		invoice.Forgiven, invoice.WrittenOff = due.Rest, due.Rest
	}
	decision.pay(due, r.Payment)
	return s.renewAndApply(ctx, tx, decision, r)
}

// renewAndApply applies the payment of an invoice, with the renewal that it buys.
func (s *Service) renewAndApply(ctx context.Context, tx account.Tx, decision decision, r Receipt) (Outcome, error) {
	if decision.After.Status == Paid && r.Renew {
		if err := decision.renew(ctx, tx); err != nil {
			return Outcome{Invoice: decision.Before}, err
		}
	}
	return s.applyDecision(ctx, tx, &decision)
}

// pay makes the invoice paid, for what it cost, by the payment that completed it.
func (d *decision) pay(due Payable, came Payment) {
	invoice := &d.After
	invoice.LateFee, invoice.LateInterest, invoice.Discount = due.Fee, due.Interest, due.Discount
	invoice.Status, invoice.PaidAt, invoice.PaidOn, invoice.PaidVia = Paid, came.PaidAt, came.PaidOn, came.Via
	invoice.Settled = invoice.Received
	if invoice.WrittenOff > 0 {
		invoice.WrittenOffOn = came.PaidOn
	}
}

// via is how the money came: no value, or null in a record that was sent back,
// is Manual.
func (c StatusChange) via() string { return cmp.Or(c.Via.Value, Manual) }

// receipt is the payment that a person reports.
func (c StatusChange) receipt(actor account.Actor, now time.Time, invoice Invoice) Receipt {
	on := c.PaidOn.Or(actor.Today(now))
	return Receipt{
		Payment: Payment{
			Provider:    Hand,
			PaymentID:   "hand:" + id.NewCode(16),
			Via:         c.via(),
			InvoiceID:   invoice.ID,
			Amount:      c.Amount.Or(invoice.PayableOn(actor.Company, on).Rest),
			PaidOn:      c.PaidOn.Value,
			ConfirmedBy: actor.By(),
			Note:        c.Note.Value,
		},
		Difference: c.Difference,
		Renew:      c.Renew.Or(actor.Company.Settings.RenewOnPayment),
		note:       c.Note,
	}
}

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

// paidTime is the instant of a payment on a given day: now, or the beginning of
// a day that has passed.
func paidTime(actor account.Actor, now time.Time, on civil.Date) time.Time {
	if on.IsZero() || on == actor.Today(now) {
		return now
	}
	return on.Start(actor.Company.Zone)
}
