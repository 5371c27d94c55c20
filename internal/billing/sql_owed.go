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
