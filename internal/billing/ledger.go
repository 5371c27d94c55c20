package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
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
)

// counts reports whether a payment is among the receipts of its day.
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

// left is what of a payment did not go back.
func (p Payment) left() money.Cents { return p.Amount - p.Refunded }

// byPerson reports whether a person reported the payment, and so may undo it.
func (p Payment) byPerson() bool {
	return p.Provider == Hand || p.ConfirmedBy != ""
}

// paymentChange is one change of a payment's row. Before is zero for a payment
// that becomes known.
type paymentChange struct {
	before, after Payment
	refund        *refundRow // money that went back with this change
}

// errKnownPayment says that the ledger has the payment.
var errKnownPayment = errors.New("the payment has been recorded")

// applyPayment writes a change of a payment and counts it. It is the only place
// that writes the ledger.
func applyPayment(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change *paymentChange) (err error) {
	if change.before.ID != 0 {
		err = updatePayment(ctx, tx, actor.Company.ID, change.after)
	} else {
		change.after.ID, err = insertPayment(ctx, tx, actor, change.after)
		if err == nil && change.after.ID == 0 {
			return fmt.Errorf("payment %s of %s: %w", change.after.PaymentID, change.after.Provider, errKnownPayment)
		}
	}
	if err != nil {
		return err
	}
	if change.refund != nil {
		if err := insertRefund(ctx, tx, actor.Company.ID, *change.refund); err != nil {
			return err
		}
	}
	return countPayment(ctx, tx, actor, *change)
}

// KeepTx records money that does not count before a person decides about it.
// The invoice need not exist any more. It returns the number of the payment.
func (s *Service) KeepTx(ctx context.Context, tx *sqldb.Tx, actor account.Actor, payment Payment) (int64, error) {
	payment.PaidAt = payment.PaidAt.In(actor.Company.Zone)
	payment.Status, payment.PaidOn = PaymentReview, actor.Today(payment.PaidAt)
	change := paymentChange{after: payment}
	err := applyPayment(ctx, tx, actor, &change)
	return change.after.ID, err
}

// DismissTx records that a payment under review does not count.
func (s *Service) DismissTx(ctx context.Context, tx *sqldb.Tx, actor account.Actor, paymentID int64) error {
	before, err := lockPayment(ctx, tx, actor.Company.ID, paymentID)
	if err != nil || before.Status != PaymentReview {
		return err
	}
	change := paymentChange{before: before, after: before}
	change.after.Status = PaymentDismissed
	return applyPayment(ctx, tx, actor, &change)
}
