package webhook

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

const webhookColumns = `id, url, description, events, active, secret, failures, COALESCE(disabled_at, 0), notice, created_at,
	retry_refused, old_secret, old_until`

func scanWebhook(row sqldb.Row) (webhook Webhook, err error) {
	var events string
	var disabled, created, oldUntil int64
	err = row.Scan(&webhook.ID, &webhook.URL, &webhook.Description, &events, &webhook.Active, &webhook.sealed, &webhook.Failures,
		&disabled, &webhook.Notice, &created, &webhook.RetryRefused, &webhook.oldSealed, &oldUntil)
	webhook.Events, webhook.CreatedAt = splitEvents(events), time.UnixMicro(created)
	webhook.DisabledAt, webhook.oldUntil = instant(disabled), instant(oldUntil)
	return webhook, err
}

// instant reads 0 as no time at all.
func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}

func webhooks(ctx context.Context, querier sqldb.Querier, companyID int64) ([]Webhook, error) {
	return sqldb.All(ctx, querier, scanWebhook, `SELECT `+webhookColumns+` FROM webhooks WHERE company_id = ? ORDER BY id`,
		companyID)
}

func webhookByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Webhook, error) {
	return sqldb.Find(ctx, querier, "webhook", scanWebhook, `SELECT `+webhookColumns+` FROM webhooks WHERE company_id = ? AND id = ?`,
		companyID, id)
}

func lockWebhook(ctx context.Context, tx account.Tx, id int64) (Webhook, error) {
	return sqldb.Find(ctx, tx, "webhook", scanWebhook, `
		SELECT `+webhookColumns+` FROM webhooks WHERE company_id = ? AND id = ? {for update}`,
		tx.Company.ID, id)
}

func insertWebhook(ctx context.Context, tx account.Tx, webhook Webhook) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO webhooks (company_id, url, description, events, active, secret, failures, notice, created_at, updated_at, retry_refused)
		VALUES (?, ?, ?, ?, ?, '', 0, '', ?, ?, ?) RETURNING id`,
		tx.Company.ID, webhook.URL, webhook.Description, joinEvents(webhook.Events), webhook.Active,
		tx.Now().UnixMicro(), tx.Now().UnixMicro(), webhook.RetryRefused)
}

func setSecret(ctx context.Context, tx account.Tx, id int64, sealed string) error {
	return tx.Do(ctx, `UPDATE webhooks SET secret = ? WHERE company_id = ? AND id = ?`, sealed, tx.Company.ID, id)
}

func updateWebhook(ctx context.Context, tx account.Tx, webhook Webhook) error {
	var disabled sqldb.Ref
	var oldUntil int64
	if !webhook.oldUntil.IsZero() {
		oldUntil = webhook.oldUntil.UnixMicro()
	}
	if !webhook.DisabledAt.IsZero() {
		disabled = sqldb.RefTo(webhook.DisabledAt.UnixMicro())
	}
	return tx.Do(ctx, `
		UPDATE webhooks SET url = ?, description = ?, events = ?, active = ?, failures = ?, disabled_at = ?, notice = ?, updated_at = ?,
			retry_refused = ?, secret = ?, old_secret = ?, old_until = ?
		WHERE company_id = ? AND id = ?`,
		webhook.URL, webhook.Description, joinEvents(webhook.Events), webhook.Active,
		webhook.Failures, disabled, webhook.Notice, tx.Now().UnixMicro(), webhook.RetryRefused,
		webhook.sealed, webhook.oldSealed, oldUntil, tx.Company.ID, webhook.ID)
}

// removeWebhook removes it with its history. Attempts go after their deliveries:
// one that is being closed is waited for, and then seen.
func removeWebhook(ctx context.Context, tx account.Tx, id int64) error {
	if err := sender.CloseLane(ctx, tx.Tx, tx.Company.ID, id); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM replays WHERE company_id = ? AND webhook_id = ?`, tx.Company.ID, id); err != nil {
		return err
	}
	gone, err := sqldb.Values[int64](ctx, tx, `DELETE FROM deliveries WHERE company_id = ? AND webhook_id = ? RETURNING id`,
		tx.Company.ID, id)
	if err != nil {
		return err
	}
	if err := removeAttempts(ctx, tx.Tx, tx.Company.ID, gone); err != nil {
		return err
	}
	return tx.Do(ctx, `DELETE FROM webhooks WHERE company_id = ? AND id = ?`, tx.Company.ID, id)
}

func callbackSecret(ctx context.Context, querier sqldb.Querier, companyID int64) (string, error) {
	sealed, err := sqldb.Value[string](ctx, querier, `SELECT secret FROM callback_secrets WHERE company_id = ?`, companyID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return "", nil
	}
	return sealed, err
}

// saveCallback writes the secret, with the one it replaces kept for the overlap,
// or leaves the one that is there, and returns which counts.
func saveCallback(ctx context.Context, tx account.Tx, change secretChange) (string, error) {
	action := `DO NOTHING`
	if change.replace {
		action = `(company_id) DO UPDATE SET old_secret = callback_secrets.secret, old_until = excluded.old_until,
			secret = excluded.secret, created_at = excluded.created_at`
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO callback_secrets (company_id, secret, created_at, old_until) VALUES (?, ?, ?, ?) ON CONFLICT `+action,
		tx.Company.ID, change.sealed, tx.Now().UnixMicro(), overlapEnd(tx.Tx).UnixMicro())
	if err != nil {
		return "", err
	}
	if err := sender.OpenLane(ctx, tx.Tx, -tx.Company.ID); err != nil {
		return "", err
	}
	return callbackSecret(ctx, tx, tx.Company.ID)
}

func lastNotification(
	ctx context.Context,
	querier sqldb.Querier,
	companyID, invoiceID int64,
) (url string, found bool, err error) {
	url, err = sqldb.Value[string](ctx, querier, `
		SELECT url FROM invoice_notifications WHERE company_id = ? AND invoice_id = ? ORDER BY created_at DESC, url LIMIT 1`,
		companyID, invoiceID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return "", false, nil
	}
	return url, err == nil, err
}
