package payment

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Confirmation says that the money for an invoice came by a code that no gateway
// watches. An edge reads it from a form; Go callers fill it in.
type Confirmation struct {
	InvoiceID  int64
	Amount     money.Cents        // what came
	Difference billing.Difference // needed when it is less than is to pay, now or on the day of the newest code
	PaymentID  string             // the bank's end-to-end id; may be empty
	PaidOn     civil.Date         // the day that counts; zero: today
	Note       string

	Problems input.Problems // what the form had wrong
}

// ReadConfirmation reads the confirmation of an invoice's payment from the
// fields amount, difference, payment_id, paid_at or paid_on (a date) and note.
func ReadConfirmation(in *input.Form, invoiceID int64) Confirmation {
	in.Require("amount")
	confirmation := Confirmation{
		InvoiceID:  invoiceID,
		Amount:     in.Money("amount").Value,
		Difference: billing.ReadDifference(in),
		PaymentID:  in.Line("payment_id", 100).Value,
		PaidOn:     in.Date("paid_at").Value,
		Note:       in.Text("note", billing.MaxNote).Value,
	}
	if typed := in.Date("paid_on"); typed.HasValue() {
		confirmation.PaidOn = typed.Value
	}
	confirmation.Problems = in.Problems()
	return confirmation
}

// ConfirmByHand records a payment that a person saw in the bank account.
func (s *Service) ConfirmByHand(
	ctx context.Context,
	actor account.Actor,
	confirmed Confirmation,
) (billing.Outcome, error) {
	refused := billing.RefusedDay("paid_at", confirmed.PaidOn, actor.Today(s.db.Now()))
	if err := confirmed.Problems.With(refused).Err(); err != nil {
		return billing.Outcome{}, err
	}
	var out billing.Outcome
	err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
		out, err = s.confirmTx(ctx, tx, confirmed)
		return err
	})
	return out, err
}

func (s *Service) confirmTx(ctx context.Context, tx account.Tx, confirmed Confirmation) (out billing.Outcome, err error) {
	invoice, err := billing.LockTx(ctx, tx, confirmed.InvoiceID)
	switch {
	case err != nil:
		return out, err
	case invoice.Status != billing.Open:
		return out, errNotOpen(invoice)
	}
	if tx, err = tx.Refreshed(ctx); err != nil { // its terms decide what is to pay
		return out, err
	}
	newest, err := newestCharge(ctx, tx, invoice.ID)
	if err != nil {
		return out, err
	}
	payment, err := s.confirmedPayment(ctx, tx.Tx, newest, confirmed)
	if err != nil {
		return out, err
	}
	payment.ConfirmedBy = tx.Actor.By()
	// The charge first, as settlement.write says.
	change := changeOf(newest)
	change.after.enter(paid, tx.Now())
	change.after.claim, change.after.nextCheck = "", time.Time{}
	if err := s.applyCharge(ctx, tx.Tx, &change); err != nil {
		return out, err
	}
	received := paymentChange{action: paymentConfirmed, after: payment}
	ledger := payment.ledger()
	ledger.Note = confirmed.Note
	if !confirmed.PaidOn.IsZero() {
		ledger.PaidAt, ledger.PaidOn = time.Time{}, confirmed.PaidOn
	}
	received.receipt = &billing.Receipt{
		Payment:    ledger,
		AsOf:       confirmed.asOf(tx.Actor, invoice, newest),
		Difference: confirmed.Difference,
		Renew:      tx.Company.Settings.RenewOnPayment,
	}
	err = s.applyPayment(ctx, tx, &received)
	return received.outcome, err
}

// asOf is the day of the payable amount that came: that of the code if its amount
// came, which a payer may have paid the day before; zero: the day of the payment.
func (c Confirmation) asOf(actor account.Actor, invoice billing.Invoice, newest charge) civil.Date {
	on := newest.payableOn
	if on.IsZero() || c.Amount != newest.order.Amount || c.Amount != invoice.PayableOn(actor.Company, on).Rest {
		return civil.Date{}
	}
	return on
}

// confirmedPayment is the payment of the newest charge that a person confirms.
func (s *Service) confirmedPayment(
	ctx context.Context,
	tx *sqldb.Tx,
	newest charge,
	confirmed Confirmation,
) (Payment, error) {
	if newest.id == 0 || !s.providers[newest.provider].Manual {
		return Payment{}, fault.Field("invoice", "has no code that a person confirms; change its status instead")
	}
	paymentID := confirmed.PaymentID
	if paymentID == "" { // the code may be paid in several parts
		paymentID = "manual:" + newest.order.Reference + ":" + id.NewCode(8)
	}
	known, err := lockPayments(ctx, tx, newest, []string{paymentID})
	if err != nil {
		return Payment{}, err
	}
	if len(known) > 0 {
		return Payment{}, fault.Field("payment_id", "was confirmed before, for another invoice or for this one")
	}
	return paymentOf(newest, Received{
		ID:       paymentID,
		Amount:   confirmed.Amount,
		Currency: billing.Real,
		At:       tx.Now(),
	}), nil
}
