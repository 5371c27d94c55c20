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
	InvoiceID    int64 // which may have been deleted
	CustomerID   int64
	CustomerName string
	Amount       money.Cents
	Currency     string
	PaidAt       time.Time
	Refunded     bool
	Applied      bool   // it paid the invoice
	ConfirmedBy  string // who confirmed it, as Actor.By names them; empty: the gateway
	ReviewID     int64  // of the review that is open; 0: none is

	chargeID int64
}

// paymentOf makes the record of a payment that a charge received.
func paymentOf(c charge, r Received) Payment {
	return Payment{
		chargeID: c.id, ID: r.ID, Provider: c.provider, InvoiceID: c.invoiceID, CustomerID: c.customerID, CustomerName: c.customerName,
		Amount: r.Amount, Currency: r.Currency, PaidAt: r.At.Truncate(time.Microsecond), Refunded: r.Refunded,
	}
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
	reason        Reason // why a person has to decide: opens a review
	review        Review // the decided review, of a payment.reviewed

	outcome billing.Outcome // what paying the invoice came to; applyPayment fills it in
}

// applyPayment writes a change of a payment and draws its consequences: the row,
// the review that it opens or decides, the audit line, the invoice that it pays.
// It is the only place that writes payments and reviews. The charge of a payment
// must be written before, as settlement.write says.
func (s *Service) applyPayment(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *paymentChange) error {
	if err := c.writeRow(ctx, tx, a.Company.ID); err != nil {
		return err
	}
	if err := s.writeReview(ctx, tx, a, c); err != nil {
		return err
	}
	if err := account.WriteAudit(ctx, tx, a, c.audit()); err != nil {
		return err
	}
	if c.before.Applied || !c.after.Applied {
		return nil
	}
	return s.payInvoice(ctx, tx, a, c)
}

func (c *paymentChange) writeRow(ctx context.Context, tx *sqldb.Tx, companyID int64) (err error) {
	if c.before.Number != 0 {
		return updatePayment(ctx, tx, companyID, c.after)
	}
	c.after.Number, err = insertPayment(ctx, tx, companyID, c.after)
	if err == nil && c.after.Number == 0 {
		return fmt.Errorf("payment %s of %s was recorded at the same moment for another charge", c.after.ID, c.after.Provider)
	}
	return err
}

func (s *Service) writeReview(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *paymentChange) error {
	if c.action == paymentReviewed {
		first, err := resolveReview(ctx, tx, a.Company.ID, c.review)
		if err == nil && !first {
			return fault.Conflict("somebody else has just decided about this payment")
		}
		return err
	}
	if c.reason == "" {
		return nil
	}
	tx.OnCommit(s.metrics.reviews.WithLabelValues(string(c.reason)).Inc)
	return insertReview(ctx, tx, a.Company.ID, Review{paymentRowID: c.after.Number, Reason: c.reason})
}

// payInvoice pays the invoice with a payment that was applied.
func (s *Service) payInvoice(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *paymentChange) (err error) {
	c.outcome, err = s.billing.PayTx(ctx, tx, a, c.after.InvoiceID, c.after.Provider)
	if err == nil && c.action == paymentReceived {
		lag := tx.Now().Sub(c.after.PaidAt)
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
	{"amount", func(c *paymentChange) any { return c.after.Amount }},
	{"payment_id", func(c *paymentChange) any { return c.after.ID }},
	{"reason", func(c *paymentChange) any { return c.review.Reason }},
	{"resolution", func(c *paymentChange) any { return c.review.Resolution }},
	{"note", func(c *paymentChange) any { return c.review.Note }},
}

// audit is the line of the audit log, which belongs to the invoice. What a
// gateway reports leaves none: the program is its actor.
func (c *paymentChange) audit() account.AuditEntry {
	shown := account.AuditFields{}
	for _, field := range auditedFields {
		shown[field.name] = field.of(c)
	}
	return account.AuditEntry{
		Action: string(c.action), Record: "invoice", ID: c.after.InvoiceID, Name: c.after.CustomerName, After: shown,
	}
}
