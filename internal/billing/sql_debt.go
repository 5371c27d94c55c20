package billing

import (
	"context"
	"errors"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// addDebtor adds a customer to the debtors; added is false when it is one.
func addDebtor(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID, customerID int64,
	since civil.Date,
) (debtor debtor, added bool, err error) {
	debtor, err = sqldb.One(ctx, tx, scanDebtor, `
		INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id)
		SELECT company_id, id, ?, COALESCE(plan_id, 0), COALESCE(product_id, 0) FROM customers WHERE company_id = ? AND id = ? AND {visible id}
		ON CONFLICT DO NOTHING RETURNING since, plan_id, product_id`, since.String(), companyID,
		customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return debtor, false, nil
	}
	return debtor, err == nil, err
}

func appendDebtor(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64, first debtor) error {
	return tx.Queue(ctx, `INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id) VALUES (?, ?, ?, ?, ?)`,
		companyID, customerID, first.since.String(), first.planID, first.productID)
}

func scanDebtor(row sqldb.Row) (debtor debtor, err error) {
	err = row.Scan(&debtor.since, &debtor.planID, &debtor.productID)
	return debtor, err
}

// debtorByID returns the zero debtor for a customer who is none.
func debtorByID(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) (debtor, error) {
	d, err := sqldb.One(ctx, tx, scanDebtor, `
		SELECT since, plan_id, product_id FROM debtors WHERE company_id = ? AND customer_id = ? {for update}`, companyID,
		customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return debtor{}, nil
	}
	return d, err
}

// oldestOpen is the due date of a customer's oldest open invoice; zero when it
// has none. The least of an expression: for that of the column SQLite walks along
// the due dates of the whole company until it meets one of the customer's.
func oldestOpen(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) (civil.Date, error) {
	return sqldb.One(ctx, querier, func(row sqldb.Row) (on civil.Date, err error) {
		err = row.Scan(&on)
		return on, err
	}, `SELECT MIN(due_on || '') FROM invoices WHERE company_id = ? AND customer_id = ? AND status = ?`,
		companyID, customerID, string(Open))
}

func updateDebtor(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64, debtor debtor) error {
	_, err := tx.Exec(ctx,
		`UPDATE debtors SET since = ?, plan_id = ?, product_id = ? WHERE company_id = ? AND customer_id = ?`,
		debtor.since.String(), debtor.planID, debtor.productID, companyID, customerID)
	return err
}

func removeDebtor(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	_, err := tx.Exec(
		ctx,
		`DELETE FROM debtors WHERE company_id = ? AND customer_id = ?`,
		companyID,
		customerID,
	)
	return err
}
