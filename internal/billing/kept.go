package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

var keptColumns = sqldb.Columns("id status amount_cents description due_on paid_at paid_on paid_via note created_at updated_at")

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(ctx context.Context, q sqldb.Querier, a account.Actor, p account.DataSubject) ([]sqldb.Kept, error) {
	invoices, err := sqldb.ReadKept(ctx, q, "invoices", keptColumns,
		`SELECT `+sqldb.TextColumns(keptColumns)+` FROM invoices WHERE company_id = ? AND customer_id = ? ORDER BY id`, a.Company.ID, p.CustomerID)
	return []sqldb.Kept{invoices}, err
}

// EraseTx takes what it says of the customer out of the audit lines of invoices.
// The invoices themselves go with the customer, and their sums stay.
func (s *Service) EraseTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, p account.DataSubject) error {
	ids, err := sqldb.Values[int64](ctx, tx, `SELECT id FROM invoices WHERE company_id = ? AND customer_id = ?`, a.Company.ID, p.CustomerID)
	if err != nil {
		return err
	}
	return account.EraseAuditTx(ctx, tx, a, "invoice", ids...)
}
