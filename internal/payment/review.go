package payment

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// Reason is why a payment needs a person.
type Reason string

// The reasons.
const (
	ReasonLate             Reason = "late"              // after the charge had expired or been cancelled
	ReasonDouble           Reason = "double"            // the invoice or the charge was paid already
	ReasonWrongAmount      Reason = "wrong_amount"      // not what the invoice says
	ReasonWrongCurrency    Reason = "wrong_currency"    // not reais
	ReasonWrongReference   Reason = "wrong_reference"   // the gateway says that it is for something else
	ReasonCancelledInvoice Reason = "cancelled_invoice" // it was not owed any more
	ReasonDeletedInvoice   Reason = "deleted_invoice"   // deleted with its customer
	ReasonRefunded         Reason = "refunded"          // given back at the gateway
)

// Reasons lists all of them.
var Reasons = []Reason{
	ReasonLate, ReasonDouble, ReasonWrongAmount, ReasonWrongCurrency, ReasonWrongReference,
	ReasonCancelledInvoice,
	ReasonDeletedInvoice, ReasonRefunded,
}

// Review is a payment that a person has to decide about, or has.
type Review struct {
	ID           int64
	Reason       Reason
	Payment      Payment
	CreatedAt    time.Time
	ResolvedAt   time.Time // zero: it is open
	Resolution   Resolution
	ResolvedBy   string // as Actor.By names them
	Note         string
	paymentRowID int64
}

// Resolution is what a person decided.
type Resolution string

// The resolutions.
const (
	Applied   Resolution = "applied"   // it pays an invoice after all
	Credited  Resolution = "credit"    // it is the customer's credit
	Dismissed Resolution = "dismissed" // it was dealt with elsewhere
)

// ReviewFilter chooses reviews; the zero one chooses all.
type ReviewFilter struct {
	Open     bool // only those that are to be decided
	Resolved bool // only those that were
}

// Reviews lists payments that need a person, newest first, and how many there
// are.
func (s *Service) Reviews(
	ctx context.Context, actor account.Actor, filter ReviewFilter, page input.Page,
) ([]Review, int64, error) {
	total, err := countReviews(ctx, s.db, actor.Company.ID, filter)
	if err != nil {
		return nil, 0, err
	}
	list, err := reviews(ctx, s.db, reviewQuery{actor.Company.ID, filter, page})
	return list, total, err
}

// CountReviews returns how many payments a filter of reviews has.
func (s *Service) CountReviews(ctx context.Context, actor account.Actor, filter ReviewFilter) (int64, error) {
	return countReviews(ctx, s.db, actor.Company.ID, filter)
}

// Decision is what a person decides about a payment under review. An edge reads
// it from a form; Go callers fill it in.
type Decision struct {
	ReviewID   int64 // 0: of the payment with PaymentID
	PaymentID  int64
	Resolution Resolution
	InvoiceID  int64              // that an applied one pays, of the same customer; 0: the one that it came for
	Difference billing.Difference // what less money than is to pay means; needed when it is less
	Note       string

	Problems input.Problems // what the form had wrong
}

// maxNote bounds the text of a decision.
const maxNote = 2000

// ReadDecision reads the decision about a review from the fields resolution,
// invoice_id, difference and note.
func ReadDecision(in *input.Form, reviewID int64) Decision {
	in.Require("resolution")
	return Decision{
		ReviewID:   reviewID,
		Resolution: Resolution(in.Choice("resolution", string(Applied), string(Credited), string(Dismissed)).Value),
		InvoiceID:  in.ID("invoice_id").Value,
		Difference: billing.ReadDifference(in),
		Note:       in.Text("note", maxNote).Value,
		Problems:   in.Problems(),
	}
}

// ReadApplication reads what becomes of a payment from the fields invoice_id or
// credit, difference and note.
func ReadApplication(in *input.Form, paymentID int64) Decision {
	decision := Decision{
		PaymentID:  paymentID,
		Resolution: Applied,
		InvoiceID:  in.ID("invoice_id").Value,
		Difference: billing.ReadDifference(in),
		Note:       in.Text("note", maxNote).Value,
	}
	credit := in.Bool("credit").Value
	decision.Problems = in.Problems()
	var refused fault.Fields
	switch {
	case credit && decision.InvoiceID != 0:
		refused.Add("credit", "must not be true with an invoice_id: it is the one or the other")
	case credit:
		decision.Resolution = Credited
	case decision.InvoiceID == 0 && !decision.Problems.Has("invoice_id"):
		refused.Add("invoice_id", "is required: the invoice that it pays, or credit: true")
	}
	decision.Problems = decision.Problems.With(refused)
	return decision
}

// ReadDismissal reads that a payment does not count from the field note, which says
// why.
func ReadDismissal(in *input.Form, paymentID int64) Decision {
	in.Require("note")
	return Decision{PaymentID: paymentID, Resolution: Dismissed, Note: in.Text("note", maxNote).Value, Problems: in.Problems()}
}

func (d Decision) check() error {
	if !d.Problems.Any() && d.Resolution != Applied && d.Resolution != Credited && d.Resolution != Dismissed {
		return fault.Field("resolution", fmt.Sprintf("must be one of: %s, %s, %s", Applied, Credited, Dismissed))
	}
	return d.Problems.Err()
}

// DecidePayment is Decide for the payment itself. Of one that is the customer's
// credit, what the credit pays of an invoice is the payment that it returns.
func (s *Service) DecidePayment(ctx context.Context, actor account.Actor, decision Decision) (billing.PaymentRecord, error) {
	if err := decision.check(); err != nil {
		return billing.PaymentRecord{}, err
	}
	before, err := s.billing.FindPayment(ctx, actor, decision.PaymentID)
	if err != nil {
		return before, err
	}
	if before.Status == billing.PaymentCredit && decision.Resolution == Applied {
		return s.spendCredit(ctx, actor, before, decision.InvoiceID)
	}
	// The oldest open review; 0: there is none.
	review, err := sqldb.Value[int64](ctx, s.db, `SELECT COALESCE(MIN(id), 0) FROM payment_reviews
		WHERE company_id = ? AND payment_id = ? AND resolved_at IS NULL`, actor.Company.ID, decision.PaymentID)
	if err != nil {
		return before, err
	}
	if review == 0 || before.Status != billing.PaymentReview {
		return before, fault.Field("payment", fmt.Sprintf("does not wait for a decision: it is %s", before.Status))
	}
	decision.ReviewID = review
	if _, err := s.Decide(ctx, actor, decision); err != nil {
		return before, err
	}
	return s.billing.FindPayment(ctx, actor, decision.PaymentID)
}

// spendCredit pays an invoice with the credit of the customer of a payment.
func (s *Service) spendCredit(
	ctx context.Context, actor account.Actor, credit billing.PaymentRecord, invoiceID int64,
) (billing.PaymentRecord, error) {
	invoice, err := s.billing.Find(ctx, actor, invoiceID)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return credit, err
	}
	if err != nil || invoice.Customer.ID != credit.CustomerID {
		return credit, errOtherInvoice
	}
	out, err := s.billing.UseCredit(ctx, actor, invoiceID)
	if err != nil {
		return credit, err
	}
	return s.billing.FindPayment(ctx, actor, out.PaymentID)
}

// errOtherInvoice refuses an invoice that the money of a customer cannot pay.
var errOtherInvoice = fault.Field("invoice_id", "must be an open invoice of the customer who paid")

// Decide records a decision about a payment. Applied, the payment pays its
// invoice whatever was wrong with it, or another one of its customer. The decision
// closes every review of the payment that is open.
func (s *Service) Decide(ctx context.Context, actor account.Actor, decision Decision) (Review, error) {
	if err := decision.check(); err != nil {
		return Review{}, err
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (decided Review, err error) {
		review, err := reviewByID(ctx, tx, actor.Company.ID, decision.ReviewID)
		if err != nil {
			return decided, err
		}
		if !review.ResolvedAt.IsZero() {
			return decided, fault.Field("resolution", "this payment was "+string(review.Resolution)+" already")
		}
		change, err := decision.change(ctx, tx, review)
		if err != nil {
			return decided, err
		}
		if err := s.applyPayment(ctx, tx, &change); err != nil {
			return decided, err
		}
		return reviewByID(ctx, tx, actor.Company.ID, decision.ReviewID)
	})
}

// change is the change of the payment that the decision makes. It locks the
// invoice before the payment, as a settlement does.
func (d Decision) change(ctx context.Context, tx account.Tx, review Review) (change paymentChange, err error) {
	invoiceID := cmp.Or(d.InvoiceID, review.Payment.InvoiceID)
	switch d.Resolution {
	case Applied:
		err = checkApplicable(ctx, tx, review.Payment, invoiceID)
	case Credited:
		_, err = customer.LockTx(ctx, tx, review.Payment.CustomerID)
		if fault.KindOf(err) == fault.KindNotFound {
			err = fault.Field("resolution", "the customer was deleted; give the money back and dismiss this")
		}
	case Dismissed:
	}
	if err != nil {
		return change, err
	}
	change.before, err = sqldb.One(ctx, tx, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.id = ? {for update}`,
		tx.Company.ID, review.paymentRowID)
	if err != nil {
		return change, err
	}
	change.action, change.after, change.review = paymentReviewed, change.before, review
	if d.Resolution == Applied {
		change.receipt = &billing.Receipt{
			Payment:    change.before.ledger(),
			Difference: d.Difference,
			Renew:      tx.Company.Settings.RenewOnPayment,
		}
		change.receipt.InvoiceID, change.after.InvoiceID = invoiceID, invoiceID
	}
	change.review.Resolution = d.Resolution
	change.review.Note = d.Note
	change.review.ResolvedBy = tx.Actor.By()
	change.review.ResolvedAt = tx.Now()
	return change, nil
}

// checkApplicable locks the invoice that a payment is to pay and refuses what cannot
// pay it.
func checkApplicable(ctx context.Context, tx account.Tx, payment Payment, invoiceID int64) error {
	invoice, err := billing.LockTx(ctx, tx, invoiceID)
	other := invoiceID != payment.InvoiceID
	switch {
	case other && (fault.KindOf(err) == fault.KindNotFound || err == nil && invoice.Customer.ID != payment.CustomerID):
		return errOtherInvoice
	case fault.KindOf(err) == fault.KindNotFound:
		return fault.Field("resolution", "the invoice was deleted; give the money back and dismiss this")
	case err != nil:
		return err
	case payment.Refunded():
		return fault.Field("resolution", "the money was given back; dismiss this")
	case other && invoice.Status != billing.Open:
		return errOtherInvoice
	case invoice.Status != billing.Open:
		return fault.Field("resolution", fmt.Sprintf(
			"the invoice is %s; give the money back and dismiss this, or open the invoice again first",
			invoice.Status))
	}
	return nil
}

// Review returns one payment that needs a person, or did.
func (s *Service) Review(ctx context.Context, actor account.Actor, reviewID int64) (Review, error) {
	return reviewByID(ctx, s.db, actor.Company.ID, reviewID)
}

// insertReview opens a review. A payment has one of each reason.
func insertReview(ctx context.Context, tx account.Tx, review Review) error {
	return tx.Do(ctx, `
		INSERT INTO payment_reviews (company_id, payment_id, reason, created_at, resolution, resolved_by, note)
		VALUES (?, ?, ?, ?, '', '', '') ON CONFLICT DO NOTHING`, tx.Company.ID, review.paymentRowID,
		string(review.Reason), tx.Now().UnixMicro())
}

const reviewColumns = `r.id, r.payment_id, r.reason, r.created_at, r.resolved_at, r.resolution,
	r.resolved_by, r.note, ` + paymentColumns

func scanReview(row sqldb.Row) (review Review, err error) {
	var paidAt paidStamp
	err = row.Scan(append([]any{
		&review.ID, &review.paymentRowID, (*string)(&review.Reason), (*civil.Instant)(&review.CreatedAt),
		(*civil.Instant)(&review.ResolvedAt), (*string)(&review.Resolution), &review.ResolvedBy, &review.Note,
	}, review.Payment.places(&paidAt)...)...)
	review.Payment.PaidAt = paidAt.time()
	return review, err
}

func reviewsOf(companyID int64, filter ReviewFilter) sqldb.Where {
	var where sqldb.Where
	where.And(`r.company_id = ?`, companyID)
	where.If(filter.Open, `r.resolved_at IS NULL`)
	where.If(filter.Resolved, `r.resolved_at IS NOT NULL`)
	return where
}

func countReviews(ctx context.Context, querier sqldb.Querier, companyID int64, filter ReviewFilter) (int64, error) {
	where := reviewsOf(companyID, filter)
	return sqldb.Value[int64](ctx, querier, `SELECT COUNT(*) FROM payment_reviews r`+where.String(), where.Args...)
}

// reviewQuery is a page of a company's reviews.
type reviewQuery struct {
	companyID int64
	filter    ReviewFilter
	page      input.Page
}

func reviews(ctx context.Context, querier sqldb.Querier, query reviewQuery) ([]Review, error) {
	where := reviewsOf(query.companyID, query.filter)
	return sqldb.All(ctx, querier, scanReview, `
		SELECT `+reviewColumns+` FROM payment_reviews r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id`+where.String()+`
		ORDER BY r.id DESC LIMIT ? OFFSET ?`, append(where.Args, query.page.Size, query.page.Offset())...)
}

func reviewByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Review, error) {
	return sqldb.Find(ctx, querier, "review", scanReview, `
		SELECT `+reviewColumns+` FROM payment_reviews r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
		WHERE r.company_id = ? AND r.id = ?`, companyID, id)
}

// resolveReview closes the open reviews of a payment. It reports false when another
// decision was first.
func resolveReview(ctx context.Context, tx account.Tx, review Review) (bool, error) {
	return rows.Changed(ctx, tx, `
		UPDATE payment_reviews SET resolved_at = ?, resolution = ?, resolved_by = ?, note = ?
		WHERE company_id = ? AND payment_id = ? AND resolved_at IS NULL`,
		review.ResolvedAt.UnixMicro(), string(review.Resolution), review.ResolvedBy, review.Note,
		tx.Company.ID, review.paymentRowID)
}
