package webhook

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

// Overlap is how long the old secret signs too after a rotation, so that no
// delivery fails while the receiver learns the new one.
const Overlap = 24 * time.Hour

// RotateSecret replaces the secret of a webhook. What it returns is not shown
// again. A second rotation within the overlap ends the first secret at once.
func (s *Service) RotateSecret(ctx context.Context, actor account.Actor, webhookID int64) (string, error) {
	secret := newSecret()
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := lockWebhook(ctx, tx, webhookID)
		if err != nil {
			return err
		}
		after := before
		after.sealed = s.box.Seal([]byte(secret), sender.SecretContext(webhookID))
		after.oldSealed, after.oldUntil = before.sealed, overlapEnd(tx.Tx)
		return s.apply(ctx, tx, change{before: &before, after: &after})
	})
	return secret, err
}

// RotateCallbackSecret replaces the secret that signs the notifications of
// single invoices.
func (s *Service) RotateCallbackSecret(ctx context.Context, actor account.Actor) (string, error) {
	return s.saveCallbackSecret(ctx, actor, true)
}

func overlapEnd(tx *sqldb.Tx) time.Time { return tx.Real().Add(Overlap) }

// Reseal seals with the current key what an older one sealed, so that after a
// change of key the old one can be put away. A run with nothing to do reads two
// small lists.
func (s *Service) Reseal(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stale, err := sealedBefore(ctx, tx, s.box.CurrentID())
		if err != nil {
			return err
		}
		for _, old := range stale {
			plain, err := s.box.Open(old.sealed, old.context())
			if err != nil {
				return fmt.Errorf("reseal %s: %w", old.context(), err)
			}
			if err := old.replace(ctx, tx, s.box.Seal(plain, old.context())); err != nil {
				return err
			}
		}
		return nil
	})
}

// sealedSecret is a secret of a webhook, or the callback secret of a company, the
// current one or the one before it.
type sealedSecret struct {
	companyID int64
	webhookID int64 // 0: the callback secret
	old       bool
	sealed    string
}

func (o sealedSecret) context() string {
	if o.webhookID == 0 {
		return sender.CallbackContext(o.companyID)
	}
	return sender.SecretContext(o.webhookID)
}

func (o sealedSecret) replace(ctx context.Context, tx *sqldb.Tx, sealed string) error {
	column := `secret`
	if o.old {
		column = `old_secret`
	}
	if o.webhookID == 0 {
		return tx.Do(ctx, `UPDATE callback_secrets SET `+column+` = ? WHERE company_id = ? AND `+column+` = ?`,
			sealed, o.companyID, o.sealed)
	}
	return tx.Do(ctx, `UPDATE webhooks SET `+column+` = ? WHERE company_id = ? AND id = ? AND `+column+` = ?`,
		sealed, o.companyID, o.webhookID, o.sealed)
}

// sealedBefore finds what is not sealed with a key, of every company_id.
func sealedBefore(ctx context.Context, querier sqldb.Querier, keyID string) ([]sealedSecret, error) {
	current := "v1." + keyID + ".%"
	return sqldb.All(ctx, querier, rows.Into(func(secret *sealedSecret) []any {
		return []any{&secret.companyID, &secret.webhookID, &secret.old, &secret.sealed}
	}), `SELECT company_id, id, false, secret FROM webhooks WHERE secret NOT LIKE ? AND secret <> ''
		UNION ALL SELECT company_id, id, true, old_secret FROM webhooks WHERE old_secret NOT LIKE ? AND old_secret <> ''
		UNION ALL SELECT company_id, 0, false, secret FROM callback_secrets WHERE secret NOT LIKE ?
		UNION ALL SELECT company_id, 0, true, old_secret FROM callback_secrets WHERE old_secret NOT LIKE ? AND old_secret <> ''
		/* every company_id */`, current, current, current, current)
}
