package payment

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Payment is money that came.
type Payment struct {
	Number       int64  // ours, in the order in which they became known
	ID           string // the gateway's
	Provider     string
	Via          string // as the API names the means
	InvoiceID    int64  // which may have been deleted
	Orphan       bool   // it was deleted; List alone says so
	CustomerID   int64
	CustomerName string
	Amount       money.Cents
	Currency     string
	PaidAt       time.Time
	Status       billing.PaymentStatus
	Refund       money.Cents // how much of it went back
	ConfirmedBy  string      // who confirmed it, as Actor.By names them; empty: the gateway
	ReviewID     int64       // of the review that is open; 0: none is

	chargeID int64
}

// Refunded reports whether all of the money went back.
func (p Payment) Refunded() bool { return p.Refund > 0 && p.Refund == p.Amount }

// Applied reports whether the payment counts for its invoice.
func (p Payment) Applied() bool {
	return p.Status == billing.PaymentApplied || p.Status == billing.PaymentPartial
}

// ledger is the payment as the ledger has it.
func (p Payment) ledger() billing.Payment {
	return billing.Payment{
		ID:           p.Number,
		ChargeID:     p.chargeID,
		Provider:     p.Provider,
		PaymentID:    p.ID,
		Via:          p.Via,
		InvoiceID:    p.InvoiceID,
		CustomerID:   p.CustomerID,
		CustomerName: p.CustomerName,
		Amount:       p.Amount,
		Currency:     p.Currency,
		PaidAt:       p.PaidAt,
		Refunded:     p.Refund,
		ConfirmedBy:  p.ConfirmedBy,
	}
}

// paymentOf makes the record of a payment that a charge received.
func paymentOf(charge charge, received Received) Payment {
	payment := Payment{
		chargeID:     charge.id,
		ID:           received.ID,
		Provider:     charge.provider,
		Via:          charge.provider,
		InvoiceID:    charge.invoiceID,
		CustomerID:   charge.customerID,
		CustomerName: charge.customerName,
		Amount:       received.Amount,
		Currency:     received.Currency,
		PaidAt:       received.At.Truncate(time.Microsecond),
	}
	payment.Refund = min(received.Refunded, received.Amount)
	return payment
}

// paymentAction is what happened to a payment, as the audit log names it.
type paymentAction string

const (
	paymentReceived  paymentAction = "payment.received"  // a gateway reported it
	paymentConfirmed paymentAction = "payment.confirmed" // a person did
	paymentRefunded  paymentAction = "payment.refunded"  // the money went back, says the gateway
	paymentReviewed  paymentAction = "payment.reviewed"  // a person decided about it
)

// paymentChange is one change of a payment's record. Before is zero for a
// payment that becomes known.
type paymentChange struct {
	action        paymentAction
	before, after Payment
	reason        Reason           // why a person has to decide: opens a review
	refundedAt    time.Time        // when the money went back, of a payment.refunded; zero: now
	review        Review           // the decided review, of a payment.reviewed
	receipt       *billing.Receipt // with it the payment counts from now on; nil: it does not
	stated        *statedLine      // the line of a bank statement that it is booked from; nil: none

	outcome billing.Outcome // what paying the invoice came to; applyPayment fills it in
}

// applyPayment writes a change of a payment and draws its consequences: billing
// writes the ledger and pays the invoice; the review that it opens or decides,
// the line of a statement that it is booked from and the audit line are written here. It
// is the only place that writes reviews and lines. The charge of a payment must be written before, as settlement.write says.
func (s *Service) applyPayment(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change *paymentChange) error {
	if err := s.writeLedger(ctx, tx, actor, change); err != nil {
		return err
	}
	if err := s.writeReview(ctx, tx, actor, change); err != nil {
		return err
	}
	if err := writeStated(ctx, tx, actor, change); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, actor, change.audit())
}

// writeLedger has billing record what became of the payment.
func (s *Service) writeLedger(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change *paymentChange) (err error) {
	switch {
	case change.receipt != nil:
		return s.payInvoice(ctx, tx, actor, change)
	case change.action == paymentRefunded:
		change.outcome, err = s.billing.RefundTx(ctx, tx, actor, change.refund())
	case change.action == paymentReviewed:
		err = s.billing.DismissTx(ctx, tx, actor, change.after.Number)
	default:
		change.after.Number, err = s.billing.KeepTx(ctx, tx, actor, change.after.ledger())
	}
	return err
}

// refund is what a gateway says has gone back since it was last asked. Gateways
// report the sum of all refunds of a payment, and not every one has an id for
// each: the sum is the id.
func (c *paymentChange) refund() billing.Refund {
	return billing.Refund{
		PaymentID: c.after.Number,
		Amount:    c.after.Refund - c.before.Refund,
		RefundID:  fmt.Sprintf("gateway:%s", c.after.Refund),
		At:        c.refundedAt,
	}
}

func (s *Service) writeReview(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change *paymentChange) error {
	if change.action == paymentReviewed {
		first, err := resolveReview(ctx, tx, actor.Company.ID, change.review)
		if err == nil && !first {
			return fault.Conflict("somebody else has just decided about this payment")
		}
		return err
	}
	if change.reason == "" {
		return nil
	}
	tx.OnCommit(s.metrics.reviews.WithLabelValues(string(change.reason)).Inc)
	return insertReview(ctx, tx, actor.Company.ID, Review{
		paymentRowID: change.after.Number,
		Reason:       change.reason,
	})
}

// payInvoice has the payment count for its invoice.
func (s *Service) payInvoice(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change *paymentChange) (err error) {
	change.outcome, err = s.billing.ReceiveTx(ctx, tx, actor, *change.receipt)
	if err == nil && change.action == paymentReceived {
		lag := tx.Now().Sub(change.after.PaidAt)
		tx.OnCommit(func() { s.metrics.lag.Observe(max(lag, 0).Seconds()) })
	}
	return err
}

// auditedFields are the values that the audit log shows of a payment that a
// person confirmed or decided about.
var auditedFields = []struct {
	name string
	of   func(*paymentChange) any
}{
	{"amount", func(change *paymentChange) any { return change.after.Amount }},
	{"payment_id", func(change *paymentChange) any { return change.after.ID }},
	{"reason", func(change *paymentChange) any { return change.review.Reason }},
	{"resolution", func(change *paymentChange) any { return change.review.Resolution }},
	{"note", func(change *paymentChange) any { return change.review.Note }},
}

// audit is the line of the audit log, which belongs to the invoice. What a
// gateway reports leaves none: the program is its actor.
func (c *paymentChange) audit() account.AuditEntry {
	shown := account.AuditFields{}
	for _, field := range auditedFields {
		shown[field.name] = field.of(c)
	}
	return account.AuditEntry{
		Action: string(c.action),
		Record: "invoice",
		ID:     c.after.InvoiceID,
		Name:   c.after.CustomerName,
		After:  shown,
	}
}
