package billing

import (
	"context"

	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

func insertScheduled(ctx context.Context, tx *sqldb.Tx, companyID int64, customers []customer.Customer) error {
	for piece := range sqldb.Pieces(customers) {
		var values []any
		for _, record := range piece {
			values = append(values, companyID, record.ID, record.DueOn)
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO invoice_schedule (company_id, customer_id, due_on) VALUES `+sqldb.Tuples(len(piece), len(values)/len(piece))+`
			ON CONFLICT (company_id, customer_id) DO UPDATE SET due_on = excluded.due_on`, values...)
		if err != nil {
			return err
		}
	}
	return nil
}

// insertRepriced puts the due dates of a plan's customers on the schedule,
// except of those who have a price of their own.
func insertRepriced(ctx context.Context, tx *sqldb.Tx, of customer.Repriced) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO invoice_schedule (company_id, customer_id, due_on)
		SELECT company_id, id, due_on FROM customers
		WHERE company_id = ? AND plan_id = ? AND id BETWEEN ? AND ? AND due_on IS NOT NULL AND cancelled_at IS NULL
			AND price_cents IS NULL AND {visible id}
		ON CONFLICT (company_id, customer_id) DO UPDATE SET due_on = excluded.due_on`,
		of.Actor.Company.ID, of.PlanID, of.From, of.To)
	return err
}

func unschedule(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	_, err := tx.Exec(
		ctx,
		`DELETE FROM invoice_schedule WHERE company_id = ? AND customer_id = ?`,
		companyID,
		customerID,
	)
	return err
}

// anyScheduled spares a run with nothing due its write transaction.
func anyScheduled(ctx context.Context, querier sqldb.Querier, companyID int64, until civil.Date) (bool, error) {
	n, err := sqldb.Value[int64](ctx, querier, anyScheduledText, companyID, until)
	return n > 0, err
}

// The order keeps PostgreSQL from the table even where it expects many.
const anyScheduledText = `SELECT count(*) FROM (
	SELECT customer_id FROM invoice_schedule WHERE company_id = ? AND due_on <= ? ORDER BY due_on, customer_id LIMIT 1) AS due`

func withScheduled(ctx context.Context, querier sqldb.Querier, companyIDs []int64, until civil.Date) ([]int64, error) {
	return sqldb.Values[int64](ctx, querier, withScheduledText, companyIDs, until)
}

const withScheduledText = `SELECT DISTINCT company_id FROM invoice_schedule
	WHERE company_id {in ?} AND due_on <= ? /* every company_id */`

// scheduled locks customers who are to be billed, and skips those that another
// transaction is billing or changing. The rows of the schedule are not locked:
// who writes one has locked its customer, and two locks taken in one statement
// would leave the first behind where the second is not to be had.
func scheduled(ctx context.Context, tx *sqldb.Tx, companyID int64, until civil.Date, limit int) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, scheduledText, companyID, until, limit)
}

const scheduledText = `SELECT s.customer_id FROM invoice_schedule s CROSS JOIN customers c
	WHERE s.company_id = ? AND s.due_on <= ? AND c.company_id = s.company_id AND c.id = s.customer_id
	ORDER BY s.due_on, s.customer_id LIMIT ? {for update of c skip locked}`
