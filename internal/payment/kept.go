package payment

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

var keptCharges = sqldb.Columns("id provider invoice_id customer_name reference gateway_ref amount_cents state created_at updated_at")

// The code of a page is no fact about the customer, and opens it.
var keptPages = sqldb.Columns("created_at")

var keptAuthorisations = sqldb.Columns(`id provider reference gateway_ref journey account every state ended_by reason
	created_at updated_at`)

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(
	ctx context.Context,
	querier sqldb.Querier,
	actor account.Actor,
	subject account.DataSubject,
) ([]sqldb.Kept, error) {
	charges, err := sqldb.ReadKept(ctx, querier, "charges", keptCharges,
		`SELECT `+sqldb.TextColumns(keptCharges)+` FROM charges WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		actor.Company.ID, subject.CustomerID)
	if err != nil {
		return nil, err
	}
	pages, err := sqldb.ReadKept(ctx, querier, "customer_pages", keptPages,
		`SELECT `+sqldb.TextColumns(keptPages)+` FROM customer_pages WHERE company_id = ? AND customer_id = ?`,
		actor.Company.ID, subject.CustomerID)
	if err != nil {
		return nil, err
	}
	authorisations, err := sqldb.ReadKept(ctx, querier, "authorisations", keptAuthorisations,
		`SELECT `+sqldb.TextColumns(keptAuthorisations)+` FROM authorisations WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		actor.Company.ID, subject.CustomerID)
	return []sqldb.Kept{charges, pages, authorisations}, err
}

// EraseTx takes the customer's name off charges, and the bank account off
// authorisations. The money stays: the law makes a
// company keep its books.
func (s *Service) EraseTx(ctx context.Context, tx *sqldb.Tx, actor account.Actor, subject account.DataSubject) error {
	if err := forgetAccounts(ctx, tx, actor.Company.ID, subject.CustomerID); err != nil {
		return err
	}
	return namelessCharges(ctx, tx, actor.Company.ID, subject.CustomerID)
}

func forgetAccounts(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	_, err := tx.Exec(ctx, `UPDATE authorisations SET account = '' WHERE company_id = ? AND customer_id = ?`,
		companyID, customerID)
	return err
}

func namelessCharges(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	_, err := tx.Exec(
		ctx,
		`UPDATE charges SET customer_name = '' WHERE company_id = ? AND customer_id = ?`,
		companyID,
		customerID,
	)
	return err
}
