package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

// Hand is the provider of a payment that a person reports, without a gateway.
const Hand = "hand"

// Real is the currency of the books.
const Real = "BRL"

// PaymentStatus is what a payment means for the books.
type PaymentStatus string

// The statuses of a payment.
const (
	PaymentApplied   PaymentStatus = "applied"   // it counts, and the invoice was paid with it
	PaymentPartial   PaymentStatus = "partial"   // it counts, and left the invoice open
	PaymentReview    PaymentStatus = "review"    // it does not count before a person decides
	PaymentRefunded  PaymentStatus = "refunded"  // it counted, and all of it went back
	PaymentDismissed PaymentStatus = "dismissed" // it does not count: a person decided so, or undid it
	PaymentCredit    PaymentStatus = "credit"    // it came, and is the customer's credit: for no invoice
)

// counts reports whether a payment counts for its invoice.
func (s PaymentStatus) counts() bool {
	return s == PaymentApplied || s == PaymentPartial || s == PaymentRefunded
}

// Payment is money that came for an invoice: a row of the ledger.
type Payment struct {
	ID           int64
	ChargeID     int64  // 0: none
	Provider     string // Hand, or the gateway's name
	PaymentID    string // by which the provider knows it
	Via          string // as the API names the means
	InvoiceID    int64  // which may have been deleted
	CustomerID   int64
	CustomerName string
	PlanID       int64 // the invoice's, for the sums
	ProductID    int64
	Amount       money.Cents
	Currency     string
	PaidAt       time.Time
	PaidOn       civil.Date // the company's day
	Status       PaymentStatus
	Refunded     money.Cents // how much of it went back
	ConfirmedBy  string      // who reported it, as Actor.By names them; empty: the gateway
	Note         string
}

// Left is what of a payment did not go back.
func (p Payment) Left() money.Cents { return p.left() }

// left is what of a payment did not go back.
func (p Payment) left() money.Cents { return p.Amount - p.Refunded }

// byPerson reports whether a person reported the payment, and so may undo it; what
// credit paid is undone likewise.
func (p Payment) byPerson() bool {
	return p.Provider == Hand || p.Provider == Credit || p.ConfirmedBy != ""
}

// came reports whether a payment is money among the receipts of its day.
func (p Payment) came() bool {
	return p.Provider != Credit && (p.Status.counts() || p.Status == PaymentCredit)
}

// paymentChange is one change of a payment's row. Before is zero for a payment
// that becomes known.
type paymentChange struct {
	before, after Payment
	refund        *refundRow  // money that went back with this change
	earlier       []refundRow // what went back before the payment counted
}

// goneBack is the money that goes back among the receipts with the change: what went
// back before a payment counted begins to count with it.
func (c paymentChange) goneBack() []refundRow {
	switch {
	case !c.after.came():
		return nil
	case c.refund != nil:
		return append(slices.Clone(c.earlier), *c.refund)
	}
	return c.earlier
}

// errKnownPayment says that the ledger has the payment.
var errKnownPayment = errors.New("the payment has been recorded")

// applyPayment writes a change of a payment, counts it and records its events. It
// is the only place that writes the ledger.
func (s *Service) applyPayment(ctx context.Context, tx account.Tx, change *paymentChange) (err error) {
	if change.before.ID != 0 {
		err = updatePayment(ctx, tx, change.after)
	} else {
		change.after.ID, err = insertPayment(ctx, tx, change.after)
		if err == nil && change.after.ID == 0 {
			return fmt.Errorf("payment %s of %s: %w", change.after.PaymentID, change.after.Provider, errKnownPayment)
		}
	}
	if err != nil {
		return err
	}
	if change.after.came() && !change.before.came() && change.after.Refunded > 0 {
		if change.earlier, err = refundsBefore(ctx, tx, change.after); err != nil {
			return err
		}
	}
	if change.refund != nil {
		change.refund.payment = change.after.ID
		if err := insertRefund(ctx, tx, *change.refund); err != nil {
			return err
		}
	}
	if err := countPayment(ctx, tx, *change); err != nil {
		return err
	}
	return s.recordPayment(ctx, tx, *change)
}

// paymentData is what the events of a payment carry. Their amounts add up to what
// was received: they are recorded for what countPayment counts.
type paymentData struct {
	Payment paymentInEvent `json:"payment"`
}

type paymentInEvent struct {
	ID         int64       `json:"id"`
	Amount     money.Cents `json:"amount"`                // negative where money goes back
	PaidAt     *string     `json:"paid_at,omitempty"`     // of money that came
	RefundedOn *civil.Date `json:"refunded_on,omitempty"` // of money that went back
	PaidVia    string      `json:"paid_via"`
	InvoiceID  int64       `json:"invoice_id"`
	Customer   *payer      `json:"customer"` // null: deleted
}

type payer struct {
	ID   int64  `json:"id"`
	UUID string `json:"uuid"`
	Name string `json:"name"`
}

// SubjectID is the payment.
func (d paymentData) SubjectID() int64 { return d.Payment.ID }

// recordPayment records that money came, went back, or never came after all.
func (s *Service) recordPayment(ctx context.Context, tx account.Tx, change paymentChange) error {
	payment, before, after := change.after, change.before.came(), change.after.came()
	back := change.goneBack()
	if before == after && len(back) == 0 {
		return nil
	}
	data := paymentInEvent{ID: payment.ID, PaidVia: payment.Via, InvoiceID: payment.InvoiceID}
	var err error
	if data.Customer, err = payerOf(ctx, tx, payment.CustomerID); err != nil {
		return err
	}
	record := func(name event.Name, data paymentInEvent) error {
		return s.events.Record(ctx, tx.Tx, tx.Actor.Source(), name, paymentData{data})
	}
	came := data
	came.PaidAt, came.Amount = timeOrNull(payment.PaidAt), payment.Amount
	switch {
	case after && !before:
		err = record(event.PaymentReceived, came)
	case before && !after:
		came.Amount = -came.Amount
		err = record(event.PaymentUndone, came)
	}
	for n := 0; n < len(back) && err == nil; n++ {
		data.Amount, data.RefundedOn = -back[n].amount, &back[n].on
		err = record(event.PaymentRefunded, data)
	}
	return err
}

// KeepTx records money that does not count before a person decides about it.
// The invoice need not exist any more. What went back of it did so at refundedAt; zero:
// now. It returns the number of the payment.
func (s *Service) KeepTx(ctx context.Context, tx account.Tx, payment Payment, refundedAt time.Time) (int64, error) {
	payment.PaidAt = payment.PaidAt.In(tx.Company.Zone)
	payment.Status, payment.PaidOn = PaymentReview, tx.Today(payment.PaidAt)
	change := paymentChange{after: payment}
	if payment.Refunded > 0 {
		change.refund = &refundRow{id: "first", amount: payment.Refunded, at: refundedAt}
		change.refund.date(tx.Actor, tx.Now())
	}
	err := s.applyPayment(ctx, tx, &change)
	return change.after.ID, err
}

// DismissTx records that a payment under review does not count.
func (s *Service) DismissTx(ctx context.Context, tx account.Tx, paymentID int64) error {
	before, err := lockPayment(ctx, tx, paymentID)
	if err != nil || before.Status != PaymentReview {
		return err
	}
	change := paymentChange{before: before, after: before}
	change.after.Status = PaymentDismissed
	return s.applyPayment(ctx, tx, &change)
}

// Difference is what a person says about less money than an invoice costs.
type Difference string

// The differences.
const (
	DifferencePartial  Difference = "partial"   // the rest is still to come
	DifferenceDiscount Difference = "discount"  // it is enough
	DifferenceWriteOff Difference = "write_off" // the rest will never come; a note says why
)

// Differences are what a person may say of money that is reported by hand.
var Differences = []Difference{DifferencePartial, DifferenceDiscount, DifferenceWriteOff}

// Refused says what is missing of a difference: what is written off needs its reason.
func (d Difference) Refused(note string) (refused fault.Fields) {
	if d == DifferenceWriteOff && note == "" {
		refused.Add("note", "is required: say why it is written off")
	}
	return refused
}

// ReadDifference reads what a form says about less money that waited for a decision; none when it says
// nothing.
func ReadDifference(in *input.Form) Difference {
	return input.OneOf(in, "difference", DifferencePartial, DifferenceDiscount).Value
}

// Receipt is money that came for an open invoice.
type Receipt struct {
	Payment               // Amount, Provider, PaymentID, Via and, perhaps, PaidOn and PaidAt; ID of a payment that is under review
	AsOf       civil.Date // the day of the payable amount that it was to pay; zero: PaidOn
	Difference Difference
	Renew      bool
	note       input.Opt[string]
}

// ReceiveTx records money for an open invoice, inside the transaction of another
// use case. It pays the invoice when it is enough, or when a person says that it
// is, and then renews the customer.
func (s *Service) ReceiveTx(ctx context.Context, tx account.Tx, r Receipt) (Outcome, error) {
	before, owner, err := lock(ctx, tx, r.InvoiceID)
	if err != nil {
		return Outcome{}, err
	}
	if before.Status != Open {
		return Outcome{Invoice: before}, allowed(before, Paid)
	}
	if tx, err = tx.Refreshed(ctx); err != nil {
		return Outcome{Invoice: before}, err
	}
	return s.receive(ctx, tx, decisionOn(before, owner), r)
}

// receive is ReceiveTx for an open invoice that the transaction has locked, and an
// actor with the company as the transaction sees it.
func (s *Service) receive(ctx context.Context, tx account.Tx, decision decision, r Receipt) (Outcome, error) {
	out := Outcome{Invoice: decision.Before}
	came, err := r.change(ctx, tx, decision.Before)
	if err != nil {
		return out, err
	}
	if r.AsOf.IsZero() {
		r.AsOf = came.after.PaidOn
	}
	came.after.postpone(tx.Actor, tx.Now())
	decision.payments = []paymentChange{came}
	r.note.To(&decision.After.Note)
	if err := r.settle(tx.Actor, &decision); err != nil {
		return out, err
	}
	return s.renewAndApply(ctx, tx, decision, r)
}

// change is the change that makes the payment count.
func (r Receipt) change(ctx context.Context, tx account.Tx, invoice Invoice) (change paymentChange, err error) {
	change.after = r.Payment
	if r.ID != 0 {
		if change.before, err = lockPayment(ctx, tx, r.ID); err != nil {
			return change, err
		}
		if change.before.came() {
			return change, errDecided(change.before)
		}
		change.after = change.before
		change.after.PaidOn, change.after.InvoiceID = civil.Date{}, invoice.ID
	}
	payment := &change.after
	payment.CustomerID = invoice.Customer.ID
	payment.CustomerName = invoice.Customer.Name
	payment.PlanID = invoice.Plan.ID
	payment.ProductID = invoice.Product.ID
	if payment.Currency == "" {
		payment.Currency = Real
	}
	payment.dated(tx.Actor, tx.Now())
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
	due := decision.Before.PayableOn(actor.Company, r.AsOf)
	invoice.Received += came.left()
	came.Status = PaymentApplied
	switch {
	case came.left() <= 0:
		return fault.Field("amount", "must be more than zero")
	case came.left() >= due.Rest:
	case r.Difference == DifferencePartial:
		came.Status = PaymentPartial
		return nil
	case r.Difference == DifferenceDiscount:
		invoice.Forgiven = due.Rest - came.left()
		invoice.Given = invoice.Forgiven
	case r.Difference == DifferenceWriteOff:
		invoice.Forgiven = due.Rest - came.left()
		invoice.WrittenOff = invoice.Forgiven
	default:
		return fault.Field("difference", fmt.Sprintf("is required: %s is less than the %s to pay; say %s or %s",
			came.left(), due.Rest, DifferencePartial, DifferenceDiscount))
	}
	decision.pay(due, *came)
	return nil
}
