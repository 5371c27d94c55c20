package payment

import (
	"context"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const paymentColumns = `p.id, COALESCE(p.charge_id, 0), p.payment_id, p.provider, p.paid_via, p.invoice_id,
	p.customer_id, p.customer_name,
	p.amount_cents, p.currency, p.paid_at, COALESCE(p.paid_offset, 0), p.status, p.refunded_cents, p.confirmed_by, COALESCE((
		SELECT MIN(o.id) FROM payment_reviews o WHERE o.company_id = p.company_id AND o.payment_id = p.id AND o.resolved_at IS NULL), 0)`

// paidStamp is when a payment was made, by the company's clock of then.
type paidStamp struct {
	micros int64
	offset int // of the clock, in seconds east of UTC
}

func (s paidStamp) time() time.Time { return time.UnixMicro(s.micros).In(time.FixedZone("", s.offset)) }

// places are where a row of paymentColumns is scanned to.
func (p *Payment) places(at *paidStamp) []any {
	return []any{
		&p.Number, &p.chargeID, &p.ID, &p.Provider, &p.Via, &p.InvoiceID, &p.CustomerID, &p.CustomerName, (*int64)(&p.Amount), &p.Currency,
		&at.micros, &at.offset, (*string)(&p.Status), (*int64)(&p.Refund), &p.ConfirmedBy, &p.ReviewID,
	}
}

func scanPayment(r sqldb.Row) (p Payment, err error) {
	var paidAt paidStamp
	err = r.Scan(p.places(&paidAt)...)
	p.PaidAt = paidAt.time()
	return p, err
}

func lockPayment(ctx context.Context, tx *sqldb.Tx, companyID, number int64) (Payment, error) {
	return sqldb.One(ctx, tx, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.id = ? {for update}`, companyID, number)
}

// lockPayments finds those payments of a charge's gateway that are known, by the
// gateway's ids. One may belong to another charge.
func lockPayments(ctx context.Context, tx *sqldb.Tx, c charge, ids []string) (map[string]Payment, error) {
	known := map[string]Payment{}
	if len(ids) == 0 {
		return known, nil
	}
	list, err := sqldb.All(ctx, tx, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p
		WHERE p.company_id = ? AND p.provider = ? AND p.payment_id {in ?} ORDER BY p.id {for update}`, c.companyID, c.provider, ids)
	for _, p := range list {
		known[p.ID] = p
	}
	return known, err
}

func paymentsOf(ctx context.Context, q sqldb.Querier, companyID, invoiceID int64) ([]Payment, error) {
	return sqldb.All(ctx, q, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.invoice_id = ? ORDER BY p.id`, companyID, invoiceID)
}

// insertReview opens a review. A payment has one of each reason.
func insertReview(ctx context.Context, tx *sqldb.Tx, companyID int64, r Review) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO payment_reviews (company_id, payment_id, reason, created_at, resolution, resolved_by, note)
		VALUES (?, ?, ?, ?, '', '', '') ON CONFLICT DO NOTHING`, companyID, r.paymentRowID, string(r.Reason), tx.Now().UnixMicro())
	return err
}

const reviewColumns = `r.id, r.payment_id, r.reason, r.created_at, COALESCE(r.resolved_at, 0), r.resolution,
	r.resolved_by, r.note, ` + paymentColumns

func scanReview(row sqldb.Row) (r Review, err error) {
	var created, resolved int64
	var paidAt paidStamp
	err = row.Scan(append([]any{
		&r.ID, &r.paymentRowID, (*string)(&r.Reason), &created, &resolved, (*string)(&r.Resolution), &r.ResolvedBy, &r.Note,
	}, r.Payment.places(&paidAt)...)...)
	r.CreatedAt, r.ResolvedAt, r.Payment.PaidAt = time.UnixMicro(created), instant(resolved), paidAt.time()
	return r, err
}

func reviewsOf(companyID int64, f ReviewFilter) sqldb.Where {
	var w sqldb.Where
	w.And(`r.company_id = ?`, companyID)
	if f.Open {
		w.And(`r.resolved_at IS NULL`)
	}
	if f.Resolved {
		w.And(`r.resolved_at IS NOT NULL`)
	}
	return w
}

func countReviews(ctx context.Context, q sqldb.Querier, companyID int64, f ReviewFilter) (int64, error) {
	w := reviewsOf(companyID, f)
	return sqldb.Value[int64](ctx, q, `SELECT COUNT(*) FROM payment_reviews r`+w.String(), w.Args...)
}

// reviewQuery is a page of a company's reviews.
type reviewQuery struct {
	companyID int64
	filter    ReviewFilter
	page      input.Page
}

func reviews(ctx context.Context, q sqldb.Querier, query reviewQuery) ([]Review, error) {
	w := reviewsOf(query.companyID, query.filter)
	return sqldb.All(ctx, q, scanReview, `
		SELECT `+reviewColumns+` FROM payment_reviews r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id`+w.String()+`
		ORDER BY r.id DESC LIMIT ? OFFSET ?`, append(w.Args, query.page.Size, query.page.Offset())...)
}

func reviewByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Review, error) {
	r, err := sqldb.One(ctx, q, scanReview, `
		SELECT `+reviewColumns+` FROM payment_reviews r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
		WHERE r.company_id = ? AND r.id = ?`, companyID, id)
	return r, sqldb.Found(err, "review")
}

// resolveReview reports false when another decision was first.
func resolveReview(ctx context.Context, tx *sqldb.Tx, companyID int64, r Review) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE payment_reviews SET resolved_at = ?, resolution = ?, resolved_by = ?, note = ?
		WHERE company_id = ? AND id = ? AND resolved_at IS NULL`,
		r.ResolvedAt.UnixMicro(), string(r.Resolution), r.ResolvedBy, r.Note, companyID, r.ID)
	return n == 1, err
}
