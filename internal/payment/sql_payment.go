package payment

import (
	"context"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment/statement"
	"carteira/internal/platform/civil"
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

func (s paidStamp) time() time.Time {
	return time.UnixMicro(s.micros).In(time.FixedZone("", s.offset))
}

// places are where a row of paymentColumns is scanned to.
func (p *Payment) places(at *paidStamp) []any {
	return []any{
		&p.Number, &p.chargeID, &p.ID, &p.Provider, &p.Via, &p.InvoiceID, &p.CustomerID,
		&p.CustomerName, (*int64)(&p.Amount), &p.Currency,
		&at.micros, &at.offset, (*string)(&p.Status), (*int64)(&p.Refund), &p.ConfirmedBy,
		&p.ReviewID,
	}
}

func scanPayment(row sqldb.Row) (payment Payment, err error) {
	var paidAt paidStamp
	err = row.Scan(payment.places(&paidAt)...)
	payment.PaidAt = paidAt.time()
	return payment, err
}

func lockPayment(ctx context.Context, tx account.Tx, number int64) (Payment, error) {
	return sqldb.One(ctx, tx, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.id = ? {for update}`, tx.Company.ID,
		number)
}

// lockPayments finds those payments of a charge's gateway that are known, by the
// gateway's ids. One may belong to another charge.
func lockPayments(ctx context.Context, tx *sqldb.Tx, charge charge, ids []string) (map[string]Payment, error) {
	known := map[string]Payment{}
	if len(ids) == 0 {
		return known, nil
	}
	list, err := sqldb.All(ctx, tx, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p
		WHERE p.company_id = ? AND p.provider = ? AND p.payment_id {in ?} ORDER BY p.id {for update}`,
		charge.companyID, charge.provider, ids)
	for _, payment := range list {
		known[payment.ID] = payment
	}
	return known, err
}

func paymentsOf(ctx context.Context, querier sqldb.Querier, companyID, invoiceID int64) ([]Payment, error) {
	return sqldb.All(ctx, querier, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.invoice_id = ? ORDER BY p.id`, companyID,
		invoiceID)
}

// insertReview opens a review. A payment has one of each reason.
func insertReview(ctx context.Context, tx account.Tx, review Review) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO payment_reviews (company_id, payment_id, reason, created_at, resolution, resolved_by, note)
		VALUES (?, ?, ?, ?, '', '', '') ON CONFLICT DO NOTHING`, tx.Company.ID, review.paymentRowID,
		string(review.Reason), tx.Now().UnixMicro())
	return err
}

const reviewColumns = `r.id, r.payment_id, r.reason, r.created_at, COALESCE(r.resolved_at, 0), r.resolution,
	r.resolved_by, r.note, ` + paymentColumns

func scanReview(row sqldb.Row) (review Review, err error) {
	var created, resolved int64
	var paidAt paidStamp
	err = row.Scan(append([]any{
		&review.ID, &review.paymentRowID, (*string)(&review.Reason), &created, &resolved,
		(*string)(&review.Resolution), &review.ResolvedBy, &review.Note,
	}, review.Payment.places(&paidAt)...)...)
	review.CreatedAt, review.ResolvedAt, review.Payment.PaidAt = time.UnixMicro(created), instant(resolved), paidAt.time()
	return review, err
}

func reviewsOf(companyID int64, filter ReviewFilter) sqldb.Where {
	var where sqldb.Where
	where.And(`r.company_id = ?`, companyID)
	if filter.Open {
		where.And(`r.resolved_at IS NULL`)
	}
	if filter.Resolved {
		where.And(`r.resolved_at IS NOT NULL`)
	}
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
	review, err := sqldb.One(ctx, querier, scanReview, `
		SELECT `+reviewColumns+` FROM payment_reviews r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
		WHERE r.company_id = ? AND r.id = ?`, companyID, id)
	return review, sqldb.Found(err, "review")
}

// resolveReview closes the open reviews of a payment. It reports false when another
// decision was first.
func resolveReview(ctx context.Context, tx account.Tx, review Review) (bool, error) {
	changed, err := tx.Exec(ctx, `
		UPDATE payment_reviews SET resolved_at = ?, resolution = ?, resolved_by = ?, note = ?
		WHERE company_id = ? AND payment_id = ? AND resolved_at IS NULL`,
		review.ResolvedAt.UnixMicro(), string(review.Resolution), review.ResolvedBy, review.Note,
		tx.Company.ID, review.paymentRowID)
	return changed > 0, err
}

// openReviewOf finds the oldest open review of a payment; 0: there is none.
func openReviewOf(ctx context.Context, querier sqldb.Querier, companyID, paymentID int64) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `SELECT COALESCE(MIN(id), 0) FROM payment_reviews
		WHERE company_id = ? AND payment_id = ? AND resolved_at IS NULL`, companyID, paymentID)
}

// bookedLines are the lines that were booked for some days, and were not undone.
func bookedLines(
	ctx context.Context, querier sqldb.Querier, companyID int64, first, last civil.Date,
) ([]bookedLine, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (line bookedLine, err error) {
		err = row.Scan(&line.on, (*int64)(&line.amount), &line.account, &line.bankID, &line.paymentID, &line.note)
		return line, err
	}, `SELECT l.line_on, l.amount_cents, l.account, l.bank_id, p.payment_id, p.note
		FROM statement_lines l JOIN payments p ON p.company_id = l.company_id AND p.id = l.payment_id
		WHERE l.company_id = ? AND l.line_on >= ? AND l.line_on <= ? AND p.status <> 'dismissed'
		ORDER BY l.line_on, l.amount_cents, l.occurrence`, companyID, first, last)
}

// nextOccurrence is the number that the next booked line of a day and amount has.
func nextOccurrence(ctx context.Context, tx account.Tx, line statement.Line) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		SELECT 1 + COUNT(*) FROM statement_lines WHERE company_id = ? AND line_on = ? AND amount_cents = ?`,
		tx.Company.ID, line.On, int64(line.Amount))
}

// insertBookedLine writes that a line was booked as a payment; false: another
// transaction has just booked one of the same occurrence.
func insertBookedLine(ctx context.Context, tx account.Tx, line statedLine, payment Payment) (first bool, err error) {
	written, err := tx.Exec(ctx, `
		INSERT INTO statement_lines (company_id, line_on, amount_cents, occurrence, account, bank_id, payment_id, created_at)
		SELECT p.company_id, CAST(? AS TEXT), p.amount_cents, CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT), p.id,
			CAST(? AS BIGINT)
		FROM payments p WHERE p.company_id = ? AND p.provider = ? AND p.payment_id = ?
		ON CONFLICT DO NOTHING`,
		line.On, line.occurrence, line.Account, line.ID, tx.Now().UnixMicro(), tx.Company.ID, billing.Hand, payment.ID)
	return written == 1, err
}

// recordedIDs are those of some end-to-end ids that a payment has which was not
// dismissed.
func recordedIDs(
	ctx context.Context, querier sqldb.Querier, companyID int64, providers, ids []string,
) (map[string]bool, error) {
	recorded := map[string]bool{}
	if len(ids) == 0 {
		return recorded, nil
	}
	list, err := sqldb.Values[string](ctx, querier, `
		SELECT payment_id FROM payments
		WHERE company_id = ? AND provider {in ?} AND payment_id {in ?} AND status <> 'dismissed'`, companyID, providers, ids)
	for _, id := range list {
		recorded[id] = true
	}
	return recorded, err
}

// chargesByTxID finds the charges of some txids. A static code has the beginning of
// the reference, and banks change the case of letters.
func chargesByTxID(
	ctx context.Context, querier sqldb.Querier, companyID int64, txids []string,
) (map[string]statementCharge, error) {
	charges := map[string]statementCharge{}
	if len(txids) == 0 {
		return charges, nil
	}
	list, err := sqldb.All(ctx, querier, func(row sqldb.Row) (charge statementCharge, err error) {
		err = row.Scan(&charge.txid, &charge.reference, &charge.invoiceID, (*int64)(&charge.amount))
		return charge, err
	}, `SELECT gateway_ref, reference, invoice_id, amount_cents FROM charges
		WHERE company_id = ? AND (lower(gateway_ref) {in ?} OR lower(reference) {in ?}) ORDER BY id`, companyID, txids, txids)
	for _, charge := range list {
		charges[strings.ToLower(charge.txid)] = charge
		charges[strings.ToLower(charge.reference)] = charge
	}
	return charges, err
}

// unstatedPayments are the payments of some days that count and that no line of a
// statement was booked as.
func unstatedPayments(
	ctx context.Context, querier sqldb.Querier, companyID int64, first, last civil.Date,
) ([]statementPayment, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (paid statementPayment, err error) {
		err = row.Scan(&paid.id, &paid.customerID, &paid.customerName, (*int64)(&paid.amount), &paid.paidOn)
		return paid, err
	}, `SELECT p.id, p.customer_id, p.customer_name, p.amount_cents, p.paid_on FROM payments p
		WHERE p.company_id = ? AND p.paid_on >= ? AND p.paid_on <= ? AND p.status <> 'dismissed' AND NOT EXISTS (
			SELECT 1 FROM statement_lines l WHERE l.company_id = p.company_id AND l.payment_id = p.id)
		ORDER BY p.paid_on, p.id`, companyID, first, last)
}
