package reminder

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

var keptColumns = sqldb.Columns("id due_on status reason channel_id address subject body sent_at arrival arrival_at created_at")

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(
	ctx context.Context,
	querier sqldb.Querier,
	actor account.Actor,
	subject account.DataSubject,
) ([]sqldb.Kept, error) {
	messages, err := sqldb.ReadKept(ctx, querier, "reminder_messages", keptColumns,
		`SELECT `+sqldb.TextColumns(keptColumns)+` FROM reminder_messages WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		actor.Company.ID, subject.CustomerID)
	return []sqldb.Kept{messages}, err
}

// EraseTx removes every message to a customer, those that were sent too.
func (s *Service) EraseTx(ctx context.Context, tx *sqldb.Tx, actor account.Actor, subject account.DataSubject) error {
	_, err := tx.Exec(
		ctx,
		`DELETE FROM reminder_messages WHERE company_id = ? AND customer_id = ?`,
		actor.Company.ID,
		subject.CustomerID,
	)
	return err
}
