package billing

import (
	"cmp"
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Credit is the provider and the means of a payment that a customer's credit
// makes. It is no money that comes: that counted when it became credit.
const Credit = "credit"

// Again is money that came for an invoice that was paid already: the customer's
// credit.
type Again struct {
	Amount money.Cents
	PaidOn input.Opt[civil.Date] // no value: today
	Via    input.Opt[string]     // one of HandMeans; no value: Manual
	Note   string

	Problems input.Problems // what the form had wrong
}

// ReadAgain reads such money from the fields amount, paid_at (a date), paid_via
// and note.
func ReadAgain(in *input.Form) Again {
	in.Require("amount")
	return Again{
		Amount:   in.Money("amount").Value,
		PaidOn:   in.Date("paid_at"),
		Via:      in.Choice("paid_via", HandMeans...),
		Note:     in.Text("note", MaxNote).Value,
		Problems: in.Problems(),
	}
}

// ReceiveAgain records money that came for a paid invoice, which a person saw.
func (s *Service) ReceiveAgain(ctx context.Context, actor account.Actor, invoiceID int64, again Again) (PaymentRecord, error) {
	refused := RefusedDay("paid_at", again.PaidOn.Value, actor.Today(s.db.Now()))
	if again.Amount <= 0 && !again.Problems.Has("amount") {
		refused.Add("amount", "must be more than zero")
	}
	if err := again.Problems.With(refused).Err(); err != nil {
		return PaymentRecord{}, err
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (record PaymentRecord, err error) {
		invoice, _, err := lock(ctx, tx, invoiceID)
		if err != nil {
			return record, err
		}
		if invoice.Status != Paid {
			return record, fault.Field("status", "the invoice is "+invoice.Status.String()+"; money that comes for it pays it")
		}
		change := StatusChange{PaidOn: again.PaidOn, Via: again.Via, Note: input.Some(again.Note)}
		came := change.receipt(actor, tx.Now(), invoice).Payment
		came.Amount, came.Status, came.Currency = again.Amount, PaymentCredit, Real
		came.CustomerID, came.CustomerName = invoice.Customer.ID, invoice.Customer.Name
		came.PlanID, came.ProductID = invoice.Plan.ID, invoice.Product.ID
		came.dated(actor, tx.Now())
		kept := paymentChange{after: came}
		if err := s.moveCredit(ctx, tx, &kept); err != nil {
			return record, err
		}
		return paymentRecord(ctx, tx, actor.Company.ID, kept.after.ID)
	})
}

// KeepCreditTx keeps a payment under review as the customer's credit, inside the
// transaction of another use case.
func (s *Service) KeepCreditTx(ctx context.Context, tx account.Tx, paymentID int64) error {
	if _, err := lockOwner(ctx, tx, paymentID); err != nil {
		return err
	}
	tx, err := tx.Refreshed(ctx)
	if err != nil {
		return err
	}
	payment, err := lockPayment(ctx, tx, paymentID)
	switch {
	case err != nil:
		return err
	case payment.Status != PaymentReview:
		return errDecided(payment)
	case payment.Currency != Real:
		return fault.Field("credit", "the money came in "+payment.Currency)
	case payment.left() == 0:
		return fault.Field("credit", "the money was given back")
	}
	change := paymentChange{before: payment, after: payment}
	change.after.Status = PaymentCredit
	change.after.PaidOn = civil.Date{}
	change.after.dated(tx.Actor, tx.Now())
	change.after.postpone(tx.Actor, tx.Now())
	return s.moveCredit(ctx, tx, &change)
}

// errDecided says that a payment does not wait for a decision.
func errDecided(payment Payment) error {
	return fault.Field("payment", fmt.Sprintf("does not wait for a decision: it is %s", payment.Status))
}

// lockOwner locks the customer of a payment, as every transaction does before it
// locks the payment.
func lockOwner(ctx context.Context, tx account.Tx, paymentID int64) (customer.Customer, error) {
	record, err := paymentRecord(ctx, tx, tx.Company.ID, paymentID)
	if err != nil {
		return customer.Customer{}, err
	}
	owner, err := customer.LockTx(ctx, tx, record.CustomerID)
	if fault.KindOf(err) == fault.KindNotFound {
		return owner, fault.Field("credit", "the customer was deleted; give the money back")
	}
	return owner, err
}

// moveCredit writes a change of a payment that is the customer's credit, before
// or after it.
func (s *Service) moveCredit(ctx context.Context, tx account.Tx, change *paymentChange) error {
	if err := s.applyPayment(ctx, tx, change); err != nil {
		return err
	}
	_, err := s.customers.AddCreditTx(ctx, tx, change.after.CustomerID, change.after.credit()-change.before.credit())
	return err
}

// credit is what a payment is of its customer's credit.
func (p Payment) credit() money.Cents {
	switch {
	case p.Status == PaymentCredit:
		return p.left()
	case p.Provider == Credit && p.Status.counts():
		return -p.left()
	}
	return 0
}

// UseCredit pays an open invoice with its customer's credit, as far as that goes.
func (s *Service) UseCredit(ctx context.Context, actor account.Actor, invoiceID int64) (Outcome, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (Outcome, error) {
		return s.UseCreditTx(ctx, tx, invoiceID)
	})
}

// UseCreditTx is UseCredit inside the transaction of another use case.
func (s *Service) UseCreditTx(ctx context.Context, tx account.Tx, invoiceID int64) (Outcome, error) {
	before, owner, err := lock(ctx, tx, invoiceID)
	out := Outcome{Invoice: before}
	switch {
	case err != nil:
		return out, err
	case before.Status != Open:
		return out, allowed(before, Paid)
	case owner.Credit <= 0:
		return out, fault.Field("credit", "the customer has none")
	}
	return s.spend(ctx, tx, before, owner)
}

// spend has the credit of a customer pay an invoice that the transaction has
// locked. The credit goes before the invoice is paid: the renewal that follows
// writes the customer's row as it was read.
func (s *Service) spend(ctx context.Context, tx account.Tx, invoice Invoice, owner customer.Customer) (Outcome, error) {
	tx, err := tx.Refreshed(ctx)
	if err != nil {
		return Outcome{Invoice: invoice}, err
	}
	amount := min(owner.Credit, invoice.PayableOn(tx.Company, tx.Today(tx.Now())).Rest)
	if amount <= 0 {
		return Outcome{Invoice: invoice}, nil
	}
	if owner, err = s.customers.AddCreditTx(ctx, tx, owner.ID, -amount); err != nil {
		return Outcome{Invoice: invoice}, err
	}
	return s.receive(ctx, tx, decisionOn(invoice, owner), Receipt{
		Payment: Payment{
			Provider: Credit, PaymentID: "credit:" + id.NewCode(16), Via: Credit,
			InvoiceID: invoice.ID, Amount: amount, ConfirmedBy: tx.Actor.By(),
		},
		Difference: DifferencePartial,
		Renew:      tx.Company.Settings.RenewOnPayment,
	})
}

// spendOnIssue has a customer's credit pay an invoice that was just issued.
func (s *Service) spendOnIssue(ctx context.Context, tx account.Tx, issued Invoice, record customer.Customer) error {
	if record.Credit <= 0 {
		return nil
	}
	invoice, owner, err := lock(ctx, tx, issued.ID)
	if err != nil {
		return err
	}
	_, err = s.spend(ctx, tx, invoice, owner)
	return err
}

// refundCredit writes that money went back that was the customer's credit. A
// person cannot give back more than is left of the credit; what a gateway reports
// has happened, and leaves the customer less than nothing.
func (s *Service) refundCredit(ctx context.Context, tx account.Tx, back *paymentChange) error {
	owner, err := customer.LockTx(ctx, tx, back.after.CustomerID)
	if fault.KindOf(err) == fault.KindNotFound { // the credit went with the customer
		return s.applyPayment(ctx, tx, back)
	}
	if err != nil {
		return err
	}
	if back.refund.by != "" && back.refund.amount > owner.Credit {
		return errSpent(owner)
	}
	return s.moveCredit(ctx, tx, back)
}

// undoCredit takes back money that a person registered and that is credit now.
func (s *Service) undoCredit(ctx context.Context, tx account.Tx, payment Payment) error {
	owner, err := lockOwner(ctx, tx, payment.ID)
	if err != nil {
		return err
	}
	if payment, err = lockPayment(ctx, tx, payment.ID); err != nil {
		return err
	}
	switch {
	case payment.Status != PaymentCredit || !payment.byPerson() || payment.Refunded > 0:
		return cmp.Or(payment.notUndone(), errDecided(payment))
	case owner.Credit < payment.left():
		return errSpent(owner)
	}
	change := paymentChange{before: payment, after: payment}
	change.after.undone()
	return s.moveCredit(ctx, tx, &change)
}

// errSpent says that the money of a credit has paid invoices.
func errSpent(owner customer.Customer) error {
	return fault.Field("amount", fmt.Sprintf("is more than the customer's credit, %s: the rest has paid invoices", max(owner.Credit, 0)))
}

// CreditOf lists the payments that made and spent a customer's credit, newest
// first.
func (s *Service) CreditOf(ctx context.Context, actor account.Actor, customerID int64) ([]PaymentRecord, error) {
	return sqldb.All(ctx, s.db, scanRecord, `SELECT `+recordColumns+` FROM payments p`+recordJoins+`
		WHERE p.company_id = ? AND p.customer_id = ? AND (p.status = 'credit' OR p.provider = 'credit' AND p.status <> 'dismissed')
		ORDER BY p.id DESC LIMIT 100`, actor.Company.ID, customerID)
}

// CheckCredit compares the credit of customers with the payments that made and
// spent it.
func (s *Service) CheckCredit(ctx context.Context) (checkup.Finding, error) {
	wrong, err := sqldb.Values[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT c.id FROM customers c LEFT JOIN payments p ON p.company_id = c.company_id AND p.customer_id = c.id
			AND (p.status = 'credit' OR p.provider = 'credit' AND p.status IN ('applied', 'partial'))
		WHERE `+customer.VisibleC+`
		GROUP BY c.id, c.credit_cents
		HAVING c.credit_cents <> COALESCE(SUM(CASE WHEN p.status = 'credit' THEN p.amount_cents - p.refunded_cents
			ELSE p.refunded_cents - p.amount_cents END), 0)
		ORDER BY c.id LIMIT 100 /* every company_id */`)
	if err != nil || len(wrong) == 0 {
		return checkup.Good("credits and payments agree"), err
	}
	return checkup.Bad("restore a backup from before it happened, or ask for help with these customers",
		"the credit of %d customers is not what their payments made of it, the first are %v", len(wrong),
		wrong[:min(len(wrong), 5)]), nil
}
