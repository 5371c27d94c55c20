package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

var keptColumns = sqldb.Columns(`id uuid name whatsapp email usuario external_id cpf_cnpj address custom notes
	due_on own_day plan_id product_id price_cents cancelled_at cancel_reason autopay created_at created_on updated_at name_key`)

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(
	ctx context.Context,
	querier sqldb.Querier,
	actor account.Actor,
	subject account.DataSubject,
) ([]sqldb.Kept, error) {
	record, err := sqldb.ReadKept(ctx, querier, "customers", keptColumns,
		`SELECT `+sqldb.TextColumns(keptColumns)+` FROM customers WHERE company_id = ? AND id = ? AND {visible id}`,
		actor.Company.ID, subject.CustomerID)
	if err != nil {
		return nil, err
	}
	texts, err := sqldb.ReadKept(ctx, querier, "customer_texts", []string{"text"},
		`SELECT text FROM customer_texts WHERE company_id = ? AND id = ?`, actor.Company.ID, subject.CustomerID)
	if err != nil {
		return nil, err
	}
	expiries, err := sqldb.ReadKept(ctx, querier, "customer_expiries", []string{"due_on"},
		`SELECT due_on FROM customer_expiries WHERE company_id = ? AND customer_id = ? ORDER BY due_on`,
		actor.Company.ID, subject.CustomerID)
	if err != nil {
		return nil, err
	}
	renewals, err := sqldb.ReadKept(ctx, querier, "customer_renewals", []string{"month", "n"},
		`SELECT month, CAST(n AS TEXT) FROM customer_renewals WHERE company_id = ? AND customer_id = ? ORDER BY month`,
		actor.Company.ID, subject.CustomerID)
	return []sqldb.Kept{record, texts, expiries, renewals}, err
}

// LockTx reads a customer for a change inside another use case's transaction.
func (s *Service) LockTx(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	id int64,
) (Customer, error) {
	return lock(ctx, tx, actor.Company.ID, id)
}

// EraseTx deletes a customer without saying who it was: neither the event nor
// the audit line of the deletion bears a name, a phone or an address.
func (s *Service) EraseTx(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	customer Customer,
) error {
	nameless := customer
	nameless.Name, nameless.Whatsapp, nameless.Email, nameless.Usuario, nameless.Notes = "", "", "", "", ""
	nameless.ExternalID, nameless.CpfCnpj, nameless.CancelReason = "", "", ""
	nameless.Address, nameless.Custom = Customer{}.Address, Customer{}.Custom
	return s.apply(ctx, tx, actor, &Change{Action: ActionDeleted, Before: nameless})
}
