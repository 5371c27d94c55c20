package billing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
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
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (Outcome, error) {
		return s.statusTx(ctx, tx, invoiceID, change)
	})
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

// paidTime is the instant of a payment on a given day: now, or the beginning of
// a day that has passed.
func paidTime(actor account.Actor, now time.Time, on civil.Date) time.Time {
	if on.IsZero() || on == actor.Today(now) {
		return now
	}
	return on.Start(actor.Company.Zone)
}
