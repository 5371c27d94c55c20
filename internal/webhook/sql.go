package webhook

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

// Only the queue knows what is parked.
const deliveryColumns = `d.id, e.event_id, d.event, COALESCE(d.webhook_id, 0),
	CASE WHEN d.webhook_id IS NULL THEN d.url ELSE COALESCE(w.url, '') END, CASE WHEN q.line = 2 THEN 'parked' ELSE d.status END,
	COALESCE(q.run_at, 0), e.body, d.created_at, COALESCE(d.delivered_at, 0)`

const deliveryJoins = ` JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
	LEFT JOIN webhooks w ON w.company_id = d.company_id AND w.id = d.webhook_id
	LEFT JOIN delivery_queue q ON q.company_id = d.company_id AND q.delivery_id = d.id`

var deliveryTable = listing.Table[Delivery]{
	From: "deliveries d", ID: "d.id", Owner: "d.company_id", Columns: deliveryColumns, Joins: deliveryJoins, Scan: scanDelivery,
	RowID: func(delivery Delivery) int64 { return delivery.ID },
}

func scanDelivery(row sqldb.Row) (delivery Delivery, err error) {
	var body string
	var runAt, created, delivered int64
	err = row.Scan(&delivery.ID, &delivery.EventID, (*string)(&delivery.Event), &delivery.WebhookID, &delivery.URL,
		(*string)(&delivery.Status), &runAt, &body, &created, &delivered)
	delivery.Payload, delivery.CreatedAt, delivery.DeliveredAt = []byte(body), time.UnixMicro(created), instant(delivered)
	if delivery.Status == Pending {
		delivery.NextAttempt = time.UnixMicro(runAt)
	}
	return delivery, err
}

func (f DeliveryFilter) query(actor account.Actor, webhookID int64) listing.Query {
	query := listing.Query{CompanyID: actor.Company.ID}
	where := &query.Where
	where.And(`d.webhook_id = ?`, webhookID)
	const parked = `EXISTS (SELECT 1 FROM delivery_queue k WHERE k.company_id = d.company_id AND k.delivery_id = d.id AND k.line = 2)`
	switch f.Status {
	case "":
	case Parked:
		where.And(`d.status = 'pending' AND ` + parked)
	case Pending:
		where.And(`d.status = 'pending' AND NOT ` + parked)
	default:
		where.And(`d.status = ?`, string(f.Status))
	}
	where.If(f.Event != "", `d.event = ?`, string(f.Event))
	where.If(!f.From.IsZero(), `d.created_at >= ?`, f.From.Start(actor.Company.Zone).UnixMicro())
	where.If(!f.To.IsZero(), `d.created_at < ?`, f.To.AddDays(1).Start(actor.Company.Zone).UnixMicro())
	return query
}

func deliveryByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Delivery, error) {
	return sqldb.Find(ctx, querier, "delivery", scanDelivery,
		`SELECT `+deliveryColumns+` FROM deliveries d`+deliveryJoins+` WHERE d.company_id = ? AND d.id = ?`, companyID, id)
}

func deliveryOfEvent(ctx context.Context, querier sqldb.Querier, companyID int64, eventID string) (int64, error) {
	id, err := sqldb.Value[int64](ctx, querier, `
		SELECT d.id FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
		WHERE d.company_id = ? AND e.event_id = ? ORDER BY d.id DESC LIMIT 1`, companyID, eventID)
	return id, sqldb.Found(err, "delivery")
}

// lockDelivery reads a delivery for a change, and reports whether it is being
// sent. Its row of the queue is locked before the delivery, in the order of the
// sender.
func lockDelivery(ctx context.Context, tx account.Tx, id int64) (delivery Delivery, sending bool, err error) {
	lane, err := sqldb.Value[int64](ctx, tx, `SELECT lane FROM deliveries WHERE company_id = ? AND id = ?`, tx.Company.ID, id)
	if err != nil {
		return delivery, false, sqldb.Found(err, "delivery")
	}
	if sending, err = sender.LockDelivery(ctx, tx.Tx, tx.Company.ID, lane, id); err != nil {
		return delivery, false, err
	}
	if _, err := sqldb.Value[int64](ctx, tx, `SELECT id FROM deliveries WHERE company_id = ?
		AND id = ? {for update}`, tx.Company.ID, id); err != nil {
		return delivery, false, sqldb.Found(err, "delivery")
	}
	delivery, err = deliveryByID(ctx, tx, tx.Company.ID, id)
	return delivery, sending, err
}

func attempts(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	deliveryIDs []int64,
	add func(deliveryID int64, attempt Attempt),
) error {
	if len(deliveryIDs) == 0 {
		return nil
	}
	return sqldb.Each(ctx, querier, `
		SELECT delivery_id, number, at, duration_ms, response_status, response_body, error FROM delivery_attempts
		WHERE company_id = ? AND delivery_id {in ?} ORDER BY delivery_id, number`,
		[]any{companyID, deliveryIDs}, func(row sqldb.Row) error {
			var id, at, millis int64
			var attempt Attempt
			err := row.Scan(&id, &attempt.Number, &at, &millis, &attempt.ResponseStatus, &attempt.ResponseBody, &attempt.Error)
			attempt.At, attempt.Duration = time.UnixMicro(at), time.Duration(millis)*time.Millisecond
			add(id, attempt)
			return err
		})
}

// eventSpan is from where to where the events since a time stand. Between them
// may be earlier ones: what begins first is not always numbered first.
func eventSpan(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	since time.Time,
) (before, last int64, err error) {
	last, err = sqldb.Value[int64](ctx, querier, `SELECT COALESCE(MAX(id), 0) FROM events WHERE company_id = ?`, companyID)
	if err != nil {
		return 0, 0, err
	}
	before, err = sqldb.Value[int64](ctx, querier, `
		SELECT COALESCE(MIN(id) - 1, CAST(? AS BIGINT)) FROM events WHERE company_id = ? AND occurred_at >= ?`,
		last, companyID, since.UnixMicro())
	return before, last, err
}

const replayColumns = `id, company_id, webhook_id, since, cursor, until, queued, COALESCE(finished_at, 0)`

func scanReplay(row sqldb.Row) (replay Replay, err error) {
	var since, finished int64
	err = row.Scan(&replay.ID, &replay.companyID, &replay.WebhookID, &since, &replay.cursor, &replay.until, &replay.Queued,
		&finished)
	replay.Since, replay.Finished = time.UnixMicro(since), finished != 0
	return replay, err
}

func insertReplay(ctx context.Context, tx *sqldb.Tx, replay Replay) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO replays (company_id, webhook_id, since, cursor, until, queued, created_at) VALUES (?, ?, ?, ?, ?, 0, ?) RETURNING id`,
		replay.companyID, replay.WebhookID, replay.Since.UnixMicro(), replay.cursor, replay.until,
		tx.Now().UnixMicro())
}

func unfinishedReplays(ctx context.Context, querier sqldb.Querier) ([]Replay, error) {
	return sqldb.All(ctx, querier, scanReplay,
		`SELECT `+replayColumns+` FROM replays WHERE finished_at IS NULL ORDER BY company_id, id /* every company_id */`)
}

const anyReplay = `SELECT 1 FROM replays WHERE finished_at IS NULL /* every company_id */`

// requeue writes a delivery for each wanted event of a batch that has none, and
// takes up again those that were given up.
func requeue(ctx context.Context, tx *sqldb.Tx, replay Replay, last int64, wanted []event.Name) (int, error) {
	names := make([]string, len(wanted))
	for i, name := range wanted {
		names[i] = string(name)
	}
	ids, err := sqldb.Values[int64](ctx, tx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT company_id, CAST(? AS BIGINT), id, name, '', CAST(? AS BIGINT), 'pending', ?, 0, CAST(? AS BIGINT)
		FROM events WHERE company_id = ? AND id > ? AND id <= ? AND occurred_at >= ? AND name {in ?}
		ON CONFLICT (company_id, event_id, lane, url) DO UPDATE SET status = 'pending'
		WHERE deliveries.status IN ('failed', 'refused') RETURNING id`,
		replay.WebhookID, replay.WebhookID, false, tx.Now().UnixMicro(), replay.companyID,
		replay.cursor, last, replay.Since.UnixMicro(), names)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return len(ids), sender.EnqueueAll(ctx, tx, replay.companyID, ids)
}

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
	return tx.Do(ctx, `
		UPDATE webhooks SET url = ?, description = ?, events = ?, active = ?, failures = ?, disabled_at = ?, notice = ?, updated_at = ?,
			retry_refused = ?, secret = ?, old_secret = ?, old_until = ?
		WHERE company_id = ? AND id = ?`,
		webhook.URL, webhook.Description, joinEvents(webhook.Events), webhook.Active,
		webhook.Failures, sqldb.RefTo(civil.Micros(webhook.DisabledAt)), webhook.Notice, tx.Now().UnixMicro(), webhook.RetryRefused,
		webhook.sealed, webhook.oldSealed, civil.Micros(webhook.oldUntil), tx.Company.ID, webhook.ID)
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
