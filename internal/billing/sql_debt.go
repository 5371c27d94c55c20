package billing

import (
	"context"
	"errors"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// addDebtor adds a customer to the debtors; added is false when it is one.
func addDebtor(
	ctx context.Context, tx account.Tx, customerID int64, since civil.Date,
) (debtor debtor, added bool, err error) {
	debtor, err = sqldb.One(ctx, tx, scanDebtor, `
		INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id)
		SELECT company_id, id, ?, COALESCE(plan_id, 0), COALESCE(product_id, 0) FROM customers
		WHERE company_id = ? AND id = ? AND `+customer.Visible+`
		ON CONFLICT DO NOTHING RETURNING since, plan_id, product_id`, since.String(), tx.Company.ID,
		customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return debtor, false, nil
	}
	return debtor, err == nil, err
}

func appendDebtor(ctx context.Context, tx account.Tx, customerID int64, first debtor) error {
	return tx.Queue(ctx, `INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id) VALUES (?, ?, ?, ?, ?)`,
		tx.Company.ID, customerID, first.since.String(), first.planID, first.productID)
}

func scanDebtor(row sqldb.Row) (debtor debtor, err error) {
	err = row.Scan(&debtor.since, &debtor.planID, &debtor.productID)
	return debtor, err
}

// debtorByID returns the zero debtor for a customer who is none.
func debtorByID(ctx context.Context, tx account.Tx, customerID int64) (debtor, error) {
	d, err := sqldb.One(ctx, tx, scanDebtor, `
		SELECT since, plan_id, product_id FROM debtors WHERE company_id = ? AND customer_id = ? {for update}`,
		tx.Company.ID, customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return debtor{}, nil
	}
	return d, err
}

func updateDebtor(ctx context.Context, tx account.Tx, customerID int64, debtor debtor) error {
	return tx.Do(ctx,
		`UPDATE debtors SET since = ?, plan_id = ?, product_id = ? WHERE company_id = ? AND customer_id = ?`,
		debtor.since.String(), debtor.planID, debtor.productID, tx.Company.ID, customerID)
}

func removeDebtor(ctx context.Context, tx account.Tx, customerID int64) error {
	return tx.Do(ctx, `DELETE FROM debtors WHERE company_id = ? AND customer_id = ?`, tx.Company.ID, customerID)
}

// sumRows adds up what invoices are worth, as the counter of invoices does.
func sumRows(ctx context.Context, querier sqldb.Querier, companyID int64, where sqldb.Where) (int64, error) {
	where.And("i.company_id = ?", companyID)
	return sqldb.Value[int64](ctx, querier, `SELECT COALESCE(SUM(CASE WHEN i.status <> 'open' THEN i.amount_cents
		WHEN i.amount_cents > i.received_cents THEN i.amount_cents - i.received_cents ELSE 0 END), 0)
		FROM invoices i`+where.String(), where.Args...)
}

// overdueText goes by the customers. Status and day are written as expressions,
// or SQLite would read all that the company's customers owe for those of a page.
const overdueText = `SELECT customer_id, CAST(SUM(amount_cents - received_cents) AS BIGINT) FROM invoices
	WHERE company_id = ? AND customer_id {in ?} AND status || '' = 'open' AND due_on || '' < ? AND amount_cents > received_cents
	GROUP BY customer_id`

// overdueOf adds up, by customer, what is open past its day.
func overdueOf(
	ctx context.Context, querier sqldb.Querier, companyID int64, customerIDs []int64, today civil.Date,
) (map[int64]money.Cents, error) {
	type debt struct{ customer, cents int64 }
	list, err := sqldb.All(ctx, querier, rows.Into(func(owed *debt) []any {
		return []any{&owed.customer, &owed.cents}
	}), overdueText, companyID, customerIDs, today.String())
	owed := make(map[int64]money.Cents, len(list))
	for _, debt := range list {
		owed[debt.customer] = money.Cents(debt.cents)
	}
	return owed, err
}
