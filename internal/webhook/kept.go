package webhook

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

var keptEvents = sqldb.Columns("event_id name occurred_at body")

// aboutPerson finds the events that bear the uuid of a customer.
func aboutPerson(subject account.DataSubject) string {
	return `%"uuid":"` + subject.UUID + `"%`
}

// KeptAbout lists the events about a customer, as they were sent.
func (s *Service) KeptAbout(
	ctx context.Context,
	querier sqldb.Querier,
	actor account.Actor,
	subject account.DataSubject,
) ([]sqldb.Kept, error) {
	events, err := sqldb.ReadKept(ctx, querier, "events", keptEvents,
		`SELECT `+sqldb.TextColumns(keptEvents)+` FROM events WHERE company_id = ? AND body LIKE ? ORDER BY id`,
		actor.Company.ID, aboutPerson(subject))
	return []sqldb.Kept{events}, err
}

// EraseTx removes the events about a customer, those that wait to be sent too, with
// the history of their deliveries.
func (s *Service) EraseTx(ctx context.Context, tx *sqldb.Tx, actor account.Actor, subject account.DataSubject) error {
	ids, err := sqldb.Values[int64](ctx, tx, `SELECT id FROM events WHERE company_id = ? AND body LIKE ?`,
		actor.Company.ID, aboutPerson(subject))
	if err != nil || len(ids) == 0 {
		return err
	}
	return eraseEvents(ctx, tx, actor.Company.ID, ids)
}

func eraseEvents(ctx context.Context, tx *sqldb.Tx, companyID int64, ids []int64) error {
	if err := sender.Drop(ctx, tx, companyID, ids); err != nil {
		return err
	}
	deliveries, err := sqldb.Values[int64](ctx, tx,
		`DELETE FROM deliveries WHERE company_id = ? AND event_id {in ?} RETURNING id`, companyID, ids)
	if err != nil {
		return err
	}
	if err := removeAttempts(ctx, tx, companyID, deliveries); err != nil {
		return err
	}
	removed, err := sqldb.All(ctx, tx, event.ScanRemoved,
		`DELETE FROM events WHERE company_id = ? AND id {in ?} RETURNING event_id, position`, companyID, ids)
	if err != nil {
		return err
	}
	return event.ErasedTx(ctx, tx, companyID, removed)
}
