package webhook

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Overlap is how long the old secret signs too after a rotation, so that no
// delivery fails while the receiver learns the new one.
const Overlap = 24 * time.Hour

// RotateSecret replaces the secret of a webhook. What it returns is not shown
// again. A second rotation within the overlap ends the first secret at once.
func (s *Service) RotateSecret(ctx context.Context, actor account.Actor, webhookID int64) (string, error) {
	secret := newSecret()
	err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := lockWebhook(ctx, tx, actor.Company.ID, webhookID)
		if err != nil {
			return err
		}
		after := before
		after.sealed = s.box.Seal([]byte(secret), secretContext(webhookID))
		after.oldSealed, after.oldUntil = before.sealed, overlapEnd(tx)
		return s.apply(ctx, tx, actor, change{before: &before, after: &after})
	})
	return secret, err
}

// RotateCallbackSecret replaces the secret that signs the notifications of
// single invoices.
func (s *Service) RotateCallbackSecret(ctx context.Context, actor account.Actor) (string, error) {
	return s.saveCallbackSecret(ctx, actor, true)
}

func overlapEnd(tx *sqldb.Tx) time.Time { return tx.Real().Add(Overlap) }
