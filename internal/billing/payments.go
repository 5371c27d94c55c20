package billing

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// PaymentStatuses lists the statuses of a payment.
var PaymentStatuses = []PaymentStatus{PaymentApplied, PaymentPartial, PaymentReview, PaymentRefunded, PaymentDismissed}

// PaymentRecord is a payment with what is shown of its invoice and its customer.
type PaymentRecord struct {
	Payment
	ReceivedAt   time.Time // when it became known
	CustomerUUID string    // empty: the customer was deleted
	// Of the invoice; Status is empty where it was deleted.
	InvoiceStatus Status
	InvoiceAmount money.Cents
}

// PaymentFilter chooses payments; the zero one chooses all.
type PaymentFilter struct {
	CustomerID int64
	InvoiceID  int64
	Via        string
	Status     PaymentStatus
	From, To   civil.Date // of the day on which they were paid
}

// ReadPaymentFilter reads a filter from a query. Wrong values are left to in.Err.
func ReadPaymentFilter(in *input.Form) PaymentFilter {
	statuses := make([]string, len(PaymentStatuses))
	for n, status := range PaymentStatuses {
		statuses[n] = string(status)
	}
	return PaymentFilter{
		CustomerID: in.ID("customer_id").Value,
		InvoiceID:  in.ID("invoice_id").Value,
		Via:        in.Line("paid_via", maxVia).Value,
		Status:     PaymentStatus(in.Choice("status", statuses...).Value),
		From:       in.Date("from").Value,
		To:         in.Date("to").Value,
	}
}

// Payments lists payments, newest first, and how many there are.
func (s *Service) Payments(ctx context.Context, a account.Actor, f PaymentFilter, p input.Page) ([]PaymentRecord, int64, error) {
	query := paymentQuery{a.Company.ID, f, p}
	total, err := countPayments(ctx, s.db, query)
	if err != nil || p.Offset() >= total {
		return []PaymentRecord{}, total, err
	}
	list, err := paymentRecords(ctx, s.db, query)
	return list, total, err
}

// FindPayment returns a payment of the company.
func (s *Service) FindPayment(ctx context.Context, a account.Actor, paymentID int64) (PaymentRecord, error) {
	return paymentRecord(ctx, s.db, a.Company.ID, paymentID)
}

// RefundByHand is what a person says about money that was given back.
type RefundByHand struct {
	Amount input.Opt[money.Cents] // no value: all that is left
	On     input.Opt[civil.Date]  // no value: today
	Note   input.Opt[string]

	Problems input.Problems // what the form had wrong
}

// ReadRefund reads a refund from the fields amount, refunded_at (a date) and note.
func ReadRefund(in *input.Form) RefundByHand {
	r := RefundByHand{Amount: in.Money("amount"), On: in.Date("refunded_at"), Note: in.Text("note", maxNote)}
	r.Problems = in.Problems()
	return r
}

// RefundPayment records that a person gave money back. It calls no gateway.
func (s *Service) RefundPayment(ctx context.Context, a account.Actor, paymentID int64, r RefundByHand) (PaymentRecord, error) {
	var refunded PaymentRecord
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		p, err := paymentRecord(ctx, tx, a.Company.ID, paymentID)
		if err != nil {
			return err
		}
		if err := r.Problems.With(r.refused(p, a.Today(tx.Now()))).Err(); err != nil {
			return err
		}
		_, err = s.RefundTx(ctx, tx, a, Refund{
			PaymentID: paymentID, Amount: r.Amount.Value, RefundID: "hand:" + id.NewCode(16),
			At: paidTime(a, tx.Now(), r.On.Value), By: a.By(), Note: r.Note.Value, byHand: true,
		})
		if err != nil {
			return err
		}
		refunded, err = paymentRecord(ctx, tx, a.Company.ID, paymentID)
		return err
	})
	return refunded, err
}

func (r RefundByHand) refused(p PaymentRecord, today civil.Date) (refused fault.Fields) {
	if r.Amount.HasValue() && r.Amount.Value == 0 {
		refused.Add("amount", "must be more than zero")
	}
	switch on := r.On.Or(today); {
	case on.After(today):
		refused.Add("refunded_at", "must not be in the future")
	case on.Before(p.PaidOn):
		refused.Add("refunded_at", "must not be before the payment, "+p.PaidOn.String())
	}
	return refused
}

// refusedByHand says why a person cannot give a payment back.
func (p Payment) refusedByHand() error {
	switch {
	case p.Status == PaymentDismissed:
		return fault.Field("payment", "does not count: it was undone or dismissed")
	case p.left() == 0:
		return fault.Field("payment", "was given back already")
	}
	return nil
}

// UndoPayment takes one payment back that a person reported: it never happened.
func (s *Service) UndoPayment(ctx context.Context, a account.Actor, paymentID int64) (Outcome, error) {
	var out Outcome
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		invoiceID, err := invoiceOfPayment(ctx, tx, a.Company.ID, paymentID)
		if err != nil {
			return err
		}
		before, owner, err := lock(ctx, tx, a, invoiceID)
		if err != nil {
			return err
		}
		p, err := lockPayment(ctx, tx, a.Company.ID, paymentID)
		if err != nil {
			return err
		}
		d := decisionOn(before, owner)
		if err := d.undoOne(p); err != nil {
			return err
		}
		out, err = s.applyDecision(ctx, tx, a, &d)
		return err
	})
	return out, err
}

// undoOne dismisses one payment. The invoice is open again when the others do not
// cover it.
func (d *decision) undoOne(p Payment) error {
	switch {
	case !p.Status.counts():
		return fault.Field("payment", "does not count: it was undone or dismissed")
	case !p.byPerson():
		return fault.Field("payment", "came through a gateway; give it back instead")
	case p.Refunded > 0:
		return fault.Field("payment", "a part of it was given back; give back the rest instead")
	}
	d.dismiss(p)
	if d.Before.Status == Paid && d.After.Received < d.Before.cost() {
		d.reopen()
	}
	return nil
}
