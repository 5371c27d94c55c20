package billing

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

func owed(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) (Invoice, error) {
	return sqldb.One(ctx, querier, scan, `SELECT `+columns+` FROM invoices i`+joins+`
		WHERE i.company_id = ? AND i.customer_id = ? AND i.status = ? ORDER BY i.due_on, i.id LIMIT 1`, companyID,
		customerID, string(Open))
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
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	customerIDs []int64,
	today civil.Date,
) (map[int64]money.Cents, error) {
	type debt struct{ customer, cents int64 }
	list, err := sqldb.All(ctx, querier, func(row sqldb.Row) (owed debt, err error) {
		err = row.Scan(&owed.customer, &owed.cents)
		return owed, err
	}, overdueText, companyID, customerIDs, today.String())
	owed := make(map[int64]money.Cents, len(list))
	for _, debt := range list {
		owed[debt.customer] = money.Cents(debt.cents)
	}
	return owed, err
}
