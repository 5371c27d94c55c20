package payment

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

var (
	keptCharges  = sqldb.Columns("id provider invoice_id customer_name reference gateway_ref amount_cents state created_at updated_at")
	keptPayments = sqldb.Columns("id provider payment_id invoice_id customer_name amount_cents currency paid_at confirmed_by created_at")
)

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(ctx context.Context, q sqldb.Querier, a account.Actor, p account.DataSubject) ([]sqldb.Kept, error) {
	charges, err := sqldb.ReadKept(ctx, q, "charges", keptCharges,
		`SELECT `+sqldb.TextColumns(keptCharges)+` FROM charges WHERE company_id = ? AND customer_id = ? ORDER BY id`, a.Company.ID, p.CustomerID)
	if err != nil {
		return nil, err
	}
	payments, err := sqldb.ReadKept(ctx, q, "payments", keptPayments,
		`SELECT `+sqldb.TextColumns(keptPayments)+` FROM payments WHERE company_id = ? AND customer_id = ? ORDER BY id`, a.Company.ID, p.CustomerID)
	return []sqldb.Kept{charges, payments}, err
}

// EraseTx takes the customer's name off charges and payments. The money stays:
// the law makes a company keep its books.
func (s *Service) EraseTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, p account.DataSubject) error {
	if err := namelessCharges(ctx, tx, a.Company.ID, p.CustomerID); err != nil {
		return err
	}
	ids, err := sqldb.Values[int64](ctx, tx, `SELECT id FROM payments WHERE company_id = ? AND customer_id = ?`, a.Company.ID, p.CustomerID)
	if err != nil {
		return err
	}
	if err := account.EraseAuditTx(ctx, tx, a, "payment", ids...); err != nil {
		return err
	}
	return namelessPayments(ctx, tx, a.Company.ID, p.CustomerID)
}

func namelessCharges(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	_, err := tx.Exec(ctx, `UPDATE charges SET customer_name = '' WHERE company_id = ? AND customer_id = ?`, companyID, customerID)
	return err
}

func namelessPayments(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	_, err := tx.Exec(ctx, `UPDATE payments SET customer_name = '' WHERE company_id = ? AND customer_id = ?`, companyID, customerID)
	return err
}
