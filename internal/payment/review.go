package payment

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Review is a payment that a person has to decide about, or has.
type Review struct {
	ID           int64
	Reason       Reason
	Payment      Payment
	CreatedAt    time.Time
	ResolvedAt   time.Time // zero: it is open
	Resolution   Resolution
	ResolvedBy   string
	Note         string
	paymentRowID int64
}

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
	Applied      bool // it paid the invoice
	ConfirmedBy  string
	ReviewID     int64 // of what is to be decided about it; 0: nothing is
}

// Resolution is what a person decided.
type Resolution string

// The resolutions.
const (
	Applied   Resolution = "applied"   // it pays the invoice after all
	Dismissed Resolution = "dismissed" // it was dealt with elsewhere
)

// ReviewFilter chooses reviews; the zero one chooses all.
type ReviewFilter struct {
	Open     bool // only those that are to be decided
	Resolved bool // only those that were
}

// Reviews lists payments that need a person, newest first, and how many there
// are.
func (s *Service) Reviews(ctx context.Context, a account.Actor, f ReviewFilter, p input.Page) ([]Review, int64, error) {
	total, err := countReviews(ctx, s.db, a.Company.ID, f)
	if err != nil {
		return nil, 0, err
	}
	list, err := reviews(ctx, s.db, a.Company.ID, f, p)
	return list, total, err
}

// ResolveReview decides about a payment, from the fields resolution and note.
// Applied, it pays its invoice whatever was wrong with it.
func (s *Service) ResolveReview(ctx context.Context, a account.Actor, reviewID int64, in *input.Form) (Review, error) {
	in.Require("resolution")
	resolution, _ := in.Choice("resolution", string(Applied), string(Dismissed)).Get()
	note, _ := in.Text("note", 2000).Get()
	if err := in.Err(); err != nil {
		return Review{}, err
	}
	var r Review
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if r, err = reviewByID(ctx, tx, a.Company.ID, reviewID); err != nil {
			return err
		}
		if !r.ResolvedAt.IsZero() {
			return fault.Field("resolution", "this payment was "+string(r.Resolution)+" already")
		}
		if Resolution(resolution) == Applied {
			if err := s.applyTx(ctx, tx, a, r); err != nil {
				return err
			}
		}
		r.Resolution, r.Note, r.ResolvedBy, r.ResolvedAt = Resolution(resolution), note, who(a), tx.Now()
		decided, err := resolve(ctx, tx, a.Company.ID, r)
		if err != nil {
			return err
		}
		if !decided {
			return fault.Conflict("somebody else has just decided about this payment")
		}
		return account.WriteAudit(ctx, tx, a, account.AuditEntry{
			Action: "payment.reviewed", Record: "invoice", ID: r.Payment.InvoiceID, Name: r.Payment.CustomerName,
			After: account.AuditFields{"reason": r.Reason, "resolution": r.Resolution, "amount": r.Payment.Amount, "note": r.Note},
		})
	})
	return r, err
}

func (s *Service) applyTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, r Review) error {
	i, err := billing.LockTx(ctx, tx, a, r.Payment.InvoiceID)
	switch {
	case fault.KindOf(err) == fault.KindNotFound:
		return fault.Field("resolution", "the invoice was deleted; give the money back and dismiss this")
	case err != nil:
		return err
	case r.Payment.Refunded:
		return fault.Field("resolution", "the money was given back; dismiss this")
	case i.Status != billing.Open:
		return fault.Field("resolution", fmt.Sprintf("the invoice is %s; give the money back and dismiss this, or open the invoice again first", i.Status))
	}
	if _, err := s.billing.PayTx(ctx, tx, a, i.ID, r.Payment.Provider); err != nil {
		return err
	}
	return markApplied(ctx, tx, a.Company.ID, r.paymentRowID)
}

// ConfirmByHand takes note that somebody paid with a code that no gateway
// watches, from the fields amount, which must be the invoice's, and payment_id,
// the bank's end-to-end id, which may be left out.
func (s *Service) ConfirmByHand(ctx context.Context, a account.Actor, invoiceID int64, in *input.Form) (billing.Outcome, error) {
	in.Require("amount")
	amount, _ := in.Money("amount").Get()
	paymentID, _ := in.Line("payment_id", 100).Get()
	if err := in.Err(); err != nil {
		return billing.Outcome{}, err
	}
	var out billing.Outcome
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		i, err := billing.LockTx(ctx, tx, a, invoiceID)
		if err != nil {
			return err
		}
		if i.Status != billing.Open {
			return fault.Field("invoice", fmt.Sprintf("is %s; only one that is %s can be paid", i.Status, billing.Open))
		}
		if amount != i.Amount {
			return fault.Field("amount", "must be what the invoice says, "+i.Amount.String())
		}
		out, err = s.confirmTx(ctx, tx, a, i, paymentID)
		return err
	})
	return out, err
}

func (s *Service) confirmTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, i billing.Invoice, paymentID string) (billing.Outcome, error) {
	c, err := newestCharge(ctx, tx, a.Company.ID, i.ID)
	if err != nil {
		return billing.Outcome{}, err
	}
	if c.id == 0 || !s.providers[c.provider].Manual {
		return billing.Outcome{}, fault.Field("invoice", "has no code that a person confirms; change its status instead")
	}
	if paymentID == "" {
		paymentID = "manual:" + c.order.Reference
	}
	rowID, err := insertPayment(ctx, tx, c, Received{ID: paymentID, Amount: i.Amount, Currency: "BRL", At: tx.Now()}, who(a))
	if err != nil {
		return billing.Outcome{}, err
	}
	if rowID == 0 {
		return billing.Outcome{}, fault.Field("payment_id", "was confirmed before, for another invoice or for this one")
	}
	c.enter(paid, tx.Now())
	c.claim, c.nextCheck = "", time.Time{}
	if err := saveCharge(ctx, tx, c); err != nil {
		return billing.Outcome{}, err
	}
	out, err := s.billing.PayTx(ctx, tx, a, i.ID, c.provider)
	if err != nil {
		return out, err
	}
	if err := markApplied(ctx, tx, a.Company.ID, rowID); err != nil {
		return out, err
	}
	return out, account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: "payment.confirmed", Record: "invoice", ID: i.ID, Name: i.Customer.Name,
		After: account.AuditFields{"amount": i.Amount, "payment_id": paymentID},
	})
}

// Payments lists the money that came for an invoice, oldest first.
func (s *Service) Payments(ctx context.Context, a account.Actor, invoiceID int64) ([]Payment, error) {
	return paymentsOf(ctx, s.db, a.Company.ID, invoiceID)
}

// who names an actor in what is kept of decisions.
func who(a account.Actor) string {
	switch {
	case a.UserID != 0:
		return strings.TrimSpace(fmt.Sprintf("user %d %s", a.UserID, a.Name))
	case a.TokenID != 0:
		return fmt.Sprintf("token %d", a.TokenID)
	}
	return account.CommandLine
}
