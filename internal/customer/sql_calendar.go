package customer

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// addRenewal reports whether this is the customer's first renewal of the
// month.
func addRenewal(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID, id int64,
	month string,
) (bool, error) {
	count, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO customer_renewals AS r (company_id, customer_id, month, n) VALUES (?, ?, ?, 1)
		ON CONFLICT (company_id, customer_id, month) DO UPDATE SET n = r.n + 1 RETURNING n`, companyID,
		id, month)
	return count == 1, err
}

// removeRenewal takes one renewal of a month back. It reports whether it was
// the only one.
func removeRenewal(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID, id int64,
	month string,
) (bool, error) {
	changed, err := tx.Exec(ctx, `
		DELETE FROM customer_renewals WHERE company_id = ? AND customer_id = ? AND month = ? AND n = 1`, companyID,
		id, month)
	if err != nil || changed == 1 {
		return changed == 1, err
	}
	_, err = tx.Exec(ctx, `
		UPDATE customer_renewals SET n = n - 1 WHERE company_id = ? AND customer_id = ? AND month = ?`, companyID,
		id, month)
	return false, err
}

// lapsed locks customers whose due date has passed unrecorded, passing over
// those that another process has locked.
func lapsed(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID int64,
	today string,
	limit int,
) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, lapsedText, companyID, today, limit)
}

// expiry_on has an index of its own, without those who have none: as conditions
// on the due date PostgreSQL takes nearly all rows to meet them, and reads the
// table to find none.
const lapsedText = `SELECT id FROM customers WHERE company_id = ? AND expiry_on < ? AND {visible id}
	ORDER BY expiry_on, id LIMIT ? {for update skip locked}`

// anyLapsed keeps a run with nothing due away from the writer.
func anyLapsed(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	today string,
) (bool, error) {
	n, err := sqldb.Value[int64](ctx, querier, anyLapsedText, companyID, today)
	return n > 0, err
}

// The order keeps PostgreSQL from the table even where it expects many.
const anyLapsedText = `SELECT count(*) FROM (
	SELECT id FROM customers WHERE company_id = ? AND expiry_on < ? AND {visible id} ORDER BY expiry_on, id LIMIT 1) AS due`

// markExpired reports whether customer.expired is new for the due date.
func markExpired(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID int64,
	customer Customer,
) (bool, error) {
	first, err := tx.Exec(ctx, `
		INSERT INTO customer_expiries (company_id, customer_id, due_on) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		companyID, customer.ID, customer.DueOn)
	if err != nil {
		return false, err
	}
	args := append([]any{true}, customer.recurring.values()...)
	_, err = tx.Exec(ctx, `
		UPDATE customers SET expired = ?, expiry_on = NULL,
			mrr_cents = ?, mrr_month = ?, mrr_start_cents = ?, mrr_start_plan = ?, mrr_start_product = ?
		WHERE company_id = ? AND id = ?`, append(args, companyID, customer.ID)...)
	return first == 1, err
}

// markImported writes down the due dates of imported customers who count as
// expired, as if customer.expired had been recorded for them.
func markImported(ctx context.Context, tx *sqldb.Tx, companyID int64, ids []int64) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO customer_expiries (company_id, customer_id, due_on)
		SELECT company_id, id, due_on FROM customers WHERE company_id = ? AND id {in ?} AND expired`, companyID,
		ids)
	return err
}

func nextDue(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	today civil.Date,
) (day civil.Date, err error) {
	text, err := sqldb.Value[string](ctx, querier, `
		SELECT COALESCE(MIN(due_on), '') FROM customers WHERE company_id = ? AND due_on > ? AND cancelled_at IS NULL
			AND {visible id}`,
		companyID, today.String())
	if err != nil || text == "" {
		return day, err
	}
	return civil.Parse(text)
}
