package webhook

import (
	"context"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

// getsWebhooks says of a company c that its events go out on a day, which is given
// twice.
const getsWebhooks = `c.suspended_at IS NULL AND c.above_suspended_at IS NULL
	AND (c.expires_on IS NULL OR c.expires_on >= ?) AND (c.above_expires_on IS NULL OR c.above_expires_on >= ?)
	AND (c.functions = '*' OR c.functions LIKE '%,webhooks,%')`

// stoppedWithPending finds the companies with deliveries on their way though their
// events do not go out on a day. It leaps through the queue from one webhook to
// the next: an empty queue costs one look, however many companies have ended.
func stoppedWithPending(
	ctx context.Context,
	querier sqldb.Querier,
	day civil.Date,
) ([]int64, error) {
	return sqldb.Values[int64](ctx, querier, stoppedText, day.String(), day.String())
}

const stoppedText = `WITH RECURSIVE lines(line) AS (
		SELECT 0 UNION ALL SELECT 1
	), lanes(line, lane) AS (
		SELECT n.line, (SELECT MIN(q.lane) FROM delivery_queue q WHERE q.line = n.line AND q.lane > 0) FROM lines n
		UNION ALL
		SELECT l.line, (SELECT MIN(q.lane) FROM delivery_queue q WHERE q.line = l.line AND q.lane > l.lane)
		FROM lanes l WHERE l.lane IS NOT NULL
	)
	SELECT DISTINCT t.id FROM (
		SELECT (SELECT c.id FROM webhooks w JOIN companies c ON c.id = w.company_id
			WHERE w.id = l.lane AND NOT (` + getsWebhooks + `)) AS id
		FROM lanes l WHERE l.lane IS NOT NULL
	) AS t WHERE t.id IS NOT NULL /* every company_id */`

// enqueueWebhooks writes nothing for a company whose subscription has ended, is
// suspended or has no webhooks, or that is below a company that is stopped. It returns the lanes it wrote to.
func enqueueWebhooks(ctx context.Context, tx *sqldb.Tx, recorded event.Event) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT company_id, id, CAST(? AS BIGINT), CAST(? AS TEXT), '', id, 'pending', ?, 0, CAST(? AS BIGINT)
		FROM webhooks WHERE company_id = ? AND active = ? AND events LIKE ? AND EXISTS (
			SELECT 1 FROM companies c WHERE c.id = webhooks.company_id AND `+getsWebhooks+`) {for key share} RETURNING lane`,
		recorded.RowID, string(recorded.Name), false, recorded.At.UnixMicro(), recorded.CompanyID,
		true, "%,"+string(recorded.Name)+",%",
		civil.Of(recorded.At.In(recorded.Zone)).String(),
		civil.Of(recorded.At.In(recorded.Zone)).String())
}

func enqueueNotifications(
	ctx context.Context,
	tx *sqldb.Tx,
	recorded event.Event,
) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `
		INSERT INTO deliveries (company_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT company_id, CAST(? AS BIGINT), CAST(? AS TEXT), url, -company_id, 'pending', ?, 0, CAST(? AS BIGINT)
		FROM invoice_notifications WHERE company_id = ? AND invoice_id = ? RETURNING lane`,
		recorded.RowID, string(recorded.Name), false, recorded.At.UnixMicro(), recorded.CompanyID,
		recorded.Subject)
}

func insertTest(
	ctx context.Context,
	tx *sqldb.Tx,
	recorded event.Event,
	webhookID int64,
) (int64, error) {
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		VALUES (?, ?, ?, ?, '', ?, 'pending', ?, 0, ?) RETURNING id`,
		recorded.CompanyID, webhookID, recorded.RowID, string(recorded.Name), webhookID, true,
		recorded.At.UnixMicro())
	if err != nil {
		return 0, err
	}
	return id, sender.EnqueueEvent(ctx, tx, recorded)
}
