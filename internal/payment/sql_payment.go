package payment

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// insertPayment returns 0 when the payment is known.
func insertPayment(ctx context.Context, tx *sqldb.Tx, c charge, p Received, by string) (int64, error) {
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO payments (company_id, charge_id, provider, payment_id, invoice_id, customer_id, customer_name, amount_cents, currency,
			paid_at, refunded, applied, confirmed_by, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
		c.companyID, c.id, c.provider, p.ID, c.invoiceID, c.customerID, c.customerName, int64(p.Amount), p.Currency,
		p.At.UnixMicro(), p.Refunded, false, by, tx.Now().UnixMicro())
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

func markApplied(ctx context.Context, tx *sqldb.Tx, companyID, rowID int64) error {
	_, err := tx.Exec(ctx, `UPDATE payments SET applied = ? WHERE company_id = ? AND id = ?`, true, companyID, rowID)
	return err
}

// markRefunded returns 0 when that was known.
func markRefunded(ctx context.Context, tx *sqldb.Tx, companyID int64, provider, paymentID string) (int64, error) {
	id, err := sqldb.Value[int64](ctx, tx, `
		UPDATE payments SET refunded = ? WHERE company_id = ? AND provider = ? AND payment_id = ? AND refunded = ? RETURNING id`,
		true, companyID, provider, paymentID, false)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

const paymentColumns = `p.id, p.payment_id, p.provider, p.invoice_id, p.customer_id, p.customer_name, p.amount_cents, p.currency, p.paid_at,
	p.refunded, p.applied, p.confirmed_by, COALESCE((
		SELECT MIN(o.id) FROM payment_reviews o WHERE o.company_id = p.company_id AND o.payment_id = p.id AND o.resolved_at IS NULL), 0)`

func (p *Payment) into(paidAt *int64) []any {
	return []any{
		&p.Number, &p.ID, &p.Provider, &p.InvoiceID, &p.CustomerID, &p.CustomerName, (*int64)(&p.Amount), &p.Currency, paidAt,
		&p.Refunded, &p.Applied, &p.ConfirmedBy, &p.ReviewID,
	}
}

func scanPayment(r sqldb.Row) (p Payment, err error) {
	var paidAt int64
	err = r.Scan(p.into(&paidAt)...)
	p.PaidAt = time.UnixMicro(paidAt)
	return p, err
}

func paymentsOf(ctx context.Context, q sqldb.Querier, companyID, invoiceID int64) ([]Payment, error) {
	return sqldb.All(ctx, q, scanPayment, `SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.invoice_id = ? ORDER BY p.id`, companyID, invoiceID)
}

func insertReview(ctx context.Context, tx *sqldb.Tx, companyID, paymentRowID int64, reason Reason) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO payment_reviews (company_id, payment_id, reason, created_at, resolution, resolved_by, note)
		VALUES (?, ?, ?, ?, '', '', '') ON CONFLICT DO NOTHING`, companyID, paymentRowID, string(reason), tx.Now().UnixMicro())
	return err
}

const reviewColumns = `r.id, r.payment_id, r.reason, r.created_at, COALESCE(r.resolved_at, 0), r.resolution, r.resolved_by, r.note, ` + paymentColumns

func scanReview(r sqldb.Row) (v Review, err error) {
	var created, resolved, paidAt int64
	err = r.Scan(append([]any{
		&v.ID, &v.paymentRowID, (*string)(&v.Reason), &created, &resolved, (*string)(&v.Resolution), &v.ResolvedBy, &v.Note,
	}, v.Payment.into(&paidAt)...)...)
	v.CreatedAt, v.ResolvedAt, v.Payment.PaidAt = time.UnixMicro(created), instant(resolved), time.UnixMicro(paidAt)
	return v, err
}

func ofReviews(companyID int64, f ReviewFilter) sqldb.Where {
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
	w := ofReviews(companyID, f)
	return sqldb.Value[int64](ctx, q, `SELECT COUNT(*) FROM payment_reviews r`+w.String(), w.Args...)
}

func reviews(ctx context.Context, q sqldb.Querier, companyID int64, f ReviewFilter, p input.Page) ([]Review, error) {
	w := ofReviews(companyID, f)
	return sqldb.All(ctx, q, scanReview, `
		SELECT `+reviewColumns+` FROM payment_reviews r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id`+w.String()+`
		ORDER BY r.id DESC LIMIT ? OFFSET ?`, append(w.Args, p.Size, p.Offset())...)
}

func reviewByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Review, error) {
	v, err := sqldb.One(ctx, q, scanReview, `
		SELECT `+reviewColumns+` FROM payment_reviews r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
		WHERE r.company_id = ? AND r.id = ?`, companyID, id)
	return v, sqldb.Found(err, "review")
}

// resolve reports false when somebody else was first.
func resolve(ctx context.Context, tx *sqldb.Tx, companyID int64, v Review) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE payment_reviews SET resolved_at = ?, resolution = ?, resolved_by = ?, note = ? WHERE company_id = ? AND id = ? AND resolved_at IS NULL`,
		v.ResolvedAt.UnixMicro(), string(v.Resolution), v.ResolvedBy, v.Note, companyID, v.ID)
	return n == 1, err
}

// insertCallback reports whether the callback is new.
func insertCallback(ctx context.Context, tx *sqldb.Tx, u Setup, key string, body []byte) (fresh bool, err error) {
	if body == nil {
		body = []byte{}
	}
	seen, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO gateway_callbacks (company_id, gateway_id, event_key, body, hints, seen, tries, created_at) VALUES (?, ?, ?, ?, '', 1, 0, ?)
		ON CONFLICT (company_id, gateway_id, event_key) DO UPDATE SET seen = gateway_callbacks.seen + 1 RETURNING seen`,
		u.CompanyID, u.ID, key, body, tx.Now().UnixMicro())
	return seen == 1, err
}

func setHints(ctx context.Context, tx *sqldb.Tx, u Setup, key, hints string) error {
	_, err := tx.Exec(ctx, `
		UPDATE gateway_callbacks SET hints = ?, next_try_at = ? WHERE company_id = ? AND gateway_id = ? AND event_key = ?`,
		hints, tx.Now().UnixMicro(), u.CompanyID, u.ID, key)
	return err
}

func anyCallbackDue(ctx context.Context, q sqldb.Querier, now time.Time) (bool, error) {
	n, err := sqldb.Value[int64](ctx, q, `
		SELECT COUNT(*) FROM (SELECT id FROM gateway_callbacks WHERE next_try_at <= ? LIMIT 1) AS due /* every company_id */`, now.UnixMicro())
	return n > 0, err
}

func claimCallbacks(ctx context.Context, tx *sqldb.Tx, limit int, until time.Time) ([]stored, error) {
	return sqldb.All(ctx, tx, func(r sqldb.Row) (c stored, err error) {
		var hints string
		if err := r.Scan(&c.id, &c.companyID, &c.gatewayID, &hints, &c.tries); err != nil {
			return c, err
		}
		return c, json.Unmarshal([]byte(hints), &c.refs)
	}, `UPDATE gateway_callbacks SET next_try_at = ?, tries = tries + 1 WHERE id IN (
			SELECT id FROM gateway_callbacks WHERE next_try_at <= ? ORDER BY next_try_at LIMIT ? {for update skip locked}
		) RETURNING id, company_id, gateway_id, hints, tries /* every company_id */`, until.UnixMicro(), tx.Now().UnixMicro(), limit)
}

func updateCallback(ctx context.Context, tx *sqldb.Tx, c stored, hints string, again time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE gateway_callbacks SET hints = ?, next_try_at = ? WHERE company_id = ? AND id = ?`,
		hints, orNull(again), c.companyID, c.id)
	return err
}

func pruneCallbacks(ctx context.Context, tx *sqldb.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM gateway_callbacks WHERE created_at < ? AND next_try_at IS NULL /* every company_id */`, before.UnixMicro())
	return err
}
