package webhook

import (
	"context"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// enqueueWebhooks writes nothing for a company whose subscription has ended, is
// suspended or has no webhooks.
func enqueueWebhooks(ctx context.Context, tx *sqldb.Tx, e event.Event) (int64, error) {
	return tx.Exec(ctx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT company_id, id, CAST(? AS BIGINT), CAST(? AS TEXT), '', id, 'pending', ?, 0, CAST(? AS BIGINT)
		FROM webhooks WHERE company_id = ? AND active = ? AND events LIKE ? AND EXISTS (
			SELECT 1 FROM companies c WHERE c.id = webhooks.company_id AND c.suspended_at IS NULL
				AND (c.expires_on IS NULL OR c.expires_on >= ?) AND (c.functions = '*' OR c.functions LIKE '%,webhooks,%')) {for key share}`,
		e.RowID, string(e.Name), false, e.At.UnixMicro(), e.CompanyID, true, "%,"+string(e.Name)+",%",
		civil.Of(e.At.In(e.Zone)).String())
}

func enqueueNotifications(ctx context.Context, tx *sqldb.Tx, e event.Event) (int64, error) {
	return tx.Exec(ctx, `
		INSERT INTO deliveries (company_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT company_id, CAST(? AS BIGINT), CAST(? AS TEXT), url, -company_id, 'pending', ?, 0, CAST(? AS BIGINT)
		FROM invoice_notifications WHERE company_id = ? AND invoice_id = ?`,
		e.RowID, string(e.Name), false, e.At.UnixMicro(), e.CompanyID, e.Subject)
}

// intoQueue puts deliveries of a company at the beginning of their schedule.
const intoQueue = `
	INSERT INTO delivery_queue (delivery_id, company_id, event_id, lane, url, test, line, step, attempts, run_at, claim)
	SELECT id, company_id, event_id, lane, url, test, 0, 0, attempts, CAST(? AS BIGINT), '' FROM deliveries WHERE company_id = ? AND `

// queueUp does so with those of a new event.
func queueUp(ctx context.Context, tx *sqldb.Tx, e event.Event) error {
	_, err := tx.Exec(ctx, intoQueue+`event_id = ?`, e.At.UnixMicro(), e.CompanyID, e.RowID)
	return err
}

func insertTest(ctx context.Context, tx *sqldb.Tx, e event.Event, webhookID int64) (int64, error) {
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		VALUES (?, ?, ?, ?, '', ?, 'pending', ?, 0, ?) RETURNING id`,
		e.CompanyID, webhookID, e.RowID, string(e.Name), webhookID, true, e.At.UnixMicro())
	if err != nil {
		return 0, err
	}
	return id, queueUp(ctx, tx, e)
}
