package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

const (
	keptInvoices = "id status amount_cents description due_on paid_at paid_on paid_via note created_at updated_at"
	keptPayments = `id provider payment_id paid_via invoice_id customer_name amount_cents
		paid_at paid_on status note created_at`
	keptRefunds = "id payment_id amount_cents refunded_on note created_at"
)

// refundsOfCustomer are the refunds of a customer's payments.
const refundsOfCustomer = `company_id = ? AND payment_id IN (SELECT id FROM payments WHERE company_id = ? AND customer_id = ?)`

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, subject account.DataSubject,
) ([]account.Kept, error) {
	about := []any{actor.Company.ID, subject.CustomerID}
	return account.ReadKept(ctx, querier,
		account.KeptRows{
			Table: "invoices", Columns: keptInvoices, Args: about,
			Text: `SELECT ` + account.TextColumns(keptInvoices) + ` FROM invoices WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		},
		account.KeptRows{
			Table: "payments", Columns: keptPayments, Args: about,
			Text: `SELECT ` + account.TextColumns(keptPayments) + ` FROM payments WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		},
		account.KeptRows{
			Table: "payment_refunds", Columns: keptRefunds, Args: []any{actor.Company.ID, actor.Company.ID, subject.CustomerID},
			Text: `SELECT ` + account.TextColumns(keptRefunds) + ` FROM payment_refunds WHERE ` + refundsOfCustomer + ` ORDER BY id`,
		},
	)
}

// EraseTx takes what is said of the customer out of the audit lines of invoices
// and payments, and the name off payments. Invoices go with the customer; the
// money stays, since the law makes a company keep its books.
func (s *Service) EraseTx(ctx context.Context, tx account.Tx, subject account.DataSubject) error {
	for _, of := range []struct{ record, ids string }{
		{"invoice", `SELECT id FROM invoices WHERE company_id = ? AND customer_id = ?`},
		{"payment", `SELECT id FROM payments WHERE company_id = ? AND customer_id = ?`},
	} {
		ids, err := sqldb.Values[int64](ctx, tx, of.ids, tx.Company.ID, subject.CustomerID)
		if err != nil {
			return err
		}
		if err := account.EraseAuditTx(ctx, tx, of.record, ids...); err != nil {
			return err
		}
	}
	return namelessPayments(ctx, tx, subject.CustomerID)
}

func namelessPayments(ctx context.Context, tx account.Tx, customerID int64) error {
	_, err := tx.Exec(ctx, `UPDATE payment_refunds SET note = '' WHERE `+refundsOfCustomer, tx.Company.ID, tx.Company.ID, customerID)
	if err != nil {
		return err
	}
	return tx.Do(ctx, `UPDATE payments SET customer_name = '', note = '' WHERE company_id = ? AND customer_id = ?`,
		tx.Company.ID, customerID)
}
