package billing

import (
	"context"

	"carteira/internal/platform/sqldb"
)

func owed(
	ctx context.Context,
	querier sqldb.Querier,
	companyID, customerID int64,
) (Invoice, error) {
	return sqldb.One(ctx, querier, scan, `SELECT `+columns+` FROM invoices i`+joins+`
		WHERE i.company_id = ? AND i.customer_id = ? AND i.status = ? ORDER BY i.due_on, i.id LIMIT 1`, companyID,
		customerID, string(Open))
}

// sumRows adds up what invoices are worth, as the counter of invoices does.
func sumRows(ctx context.Context, querier sqldb.Querier, source sqldb.Source) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `SELECT COALESCE(SUM(CASE WHEN i.status <> 'open' THEN i.amount_cents
		WHEN i.amount_cents > i.received_cents THEN i.amount_cents - i.received_cents ELSE 0 END), 0)
		FROM `+source.From+source.Where.String(), source.Where.Args...)
}
