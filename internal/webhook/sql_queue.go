package webhook

import (
	"context"
	"strconv"
	"time"

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

// forWebhooks writes a delivery of an event for each webhook that wants it. There is none if the company's subscription has
// ended, is suspended or has no webhooks, or if a company above it is stopped. Most companies have no webhook at all, so the
// webhooks come first.
const forWebhooks = `
	INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
	SELECT w.company_id, w.id, e.id, e.name, '', w.id, 'pending', FALSE, 0, e.occurred_at
	FROM webhooks w CROSS JOIN events e
	WHERE w.company_id = ? AND w.active = TRUE AND e.company_id = ? AND e.event_id = ?
		AND w.events LIKE '%,' || e.name || ',%'
		AND EXISTS (SELECT 1 FROM companies c WHERE c.id = w.company_id AND ` + getsWebhooks + `)
	ORDER BY w.id {for key share of w} RETURNING lane`

// forAddresses makes the deliveries of an event to the addresses that are to hear
// of the payment of an invoice.
const forAddresses = `
	INSERT INTO deliveries (company_id, event_id, event, url, lane, status, test, attempts, created_at)
	SELECT n.company_id, e.id, e.name, n.url, -n.company_id, 'pending', FALSE, 0, e.occurred_at
	FROM invoice_notifications n CROSS JOIN events e
	WHERE n.company_id = ? AND n.invoice_id = ? AND e.company_id = ? AND e.event_id = ? RETURNING lane`

// insertDeliveries makes the deliveries of an event and puts them into the queue.
// Their lanes are known once the transaction is committed.
func insertDeliveries(ctx context.Context, tx *sqldb.Tx, recorded event.Event, lanes *[]int64) error {
	scan := func(row sqldb.Row) error {
		var lane int64
		err := row.Scan(&lane)
		*lanes = append(*lanes, lane)
		return err
	}
	day := civil.Of(recorded.At.In(recorded.Zone)).String()
	args := []any{recorded.CompanyID, recorded.CompanyID, recorded.ID, day, day}
	if err := tx.QueueScan(ctx, forWebhooks, args, scan); err != nil {
		return err
	}
	if recorded.Name == event.InvoicePaid {
		args := []any{recorded.CompanyID, recorded.Subject, recorded.CompanyID, recorded.ID}
		if err := tx.QueueScan(ctx, forAddresses, args, scan); err != nil {
			return err
		}
	}
	if tx.Engine() == sqldb.SQLite && len(*lanes) == 0 {
		return nil // the statements have run, and found no one
	}
	queue := sender.IntoQueue(tx.DueClock(), recorded.CompanyID, []string{recorded.ID})
	return tx.Queue(ctx, queue.Text, queue.Args...)
}

func insertTest(ctx context.Context, tx *sqldb.Tx, recorded event.Event, webhookID int64) (int64, error) {
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT company_id, CAST(? AS BIGINT), id, name, '', CAST(? AS BIGINT), 'pending', TRUE, 0, occurred_at
		FROM events WHERE company_id = ? AND event_id = ? RETURNING id`,
		webhookID, webhookID, recorded.CompanyID, recorded.ID)
	if err != nil {
		return 0, err
	}
	queue := sender.IntoQueue(tx.DueClock(), recorded.CompanyID, []string{recorded.ID})
	_, err = tx.Exec(ctx, queue.Text, queue.Args...)
	return id, err
}

// oldRow is a row that may be old enough to go.
type oldRow struct {
	id        int64
	companyID int64
	at        time.Time
	needed    bool
}

func scanOldRow(row sqldb.Row) (oldRow oldRow, err error) {
	var at int64
	err = row.Scan(&oldRow.id, &oldRow.companyID, &at, &oldRow.needed)
	oldRow.at = time.UnixMicro(at)
	return oldRow, err
}

// oldDeliveries reads deliveries in the order in which they were written. What
// is still to be sent is needed; what is parked goes with its webhook and not
// before.
func oldDeliveries(ctx context.Context, querier sqldb.Querier, after int64, limit int) ([]oldRow, error) {
	return sqldb.All(ctx, querier, scanOldRow, `
		SELECT id, company_id, created_at, status = 'pending' FROM deliveries
		WHERE id > ? ORDER BY id LIMIT ? /* every company_id */`, after, limit)
}

// oldEvents does so for events, which are needed as long as their deliveries.
func oldEvents(ctx context.Context, querier sqldb.Querier, after int64, limit int) ([]oldRow, error) {
	return sqldb.All(ctx, querier, scanOldRow, `
		SELECT e.id, e.company_id, e.occurred_at, EXISTS (
			SELECT 1 FROM deliveries d WHERE d.company_id = e.company_id AND d.event_id = e.id) FROM events e
		WHERE e.id > ? ORDER BY e.id LIMIT ? /* every company_id */`, after, limit)
}

// newestEvent is the number of the newest event of all companies.
func newestEvent(ctx context.Context, querier sqldb.Querier) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `SELECT COALESCE(MAX(id), 0) FROM events /* every company_id */`)
}

// removeDeliveries looks at the status again, because a resend may have been
// requested meanwhile.
func removeDeliveries(ctx context.Context, tx *sqldb.Tx, companyID int64, ids []int64) (names []string, err error) {
	gone, err := sqldb.Values[int64](ctx, tx, `
		DELETE FROM deliveries WHERE company_id = ? AND status <> 'pending' AND id {in ?} RETURNING id`, companyID,
		ids)
	if err != nil {
		return nil, err
	}
	for _, id := range gone {
		names = append(names, strconv.FormatInt(id, 10))
	}
	return names, removeAttempts(ctx, tx, companyID, gone)
}

func removeAttempts(ctx context.Context, tx *sqldb.Tx, companyID int64, deliveryIDs []int64) error {
	return tx.Do(ctx, `DELETE FROM delivery_attempts WHERE company_id = ? AND delivery_id {in ?}`, companyID, deliveryIDs)
}

// removeEvents leaves one that has got a delivery meanwhile.
func removeEvents(ctx context.Context, tx *sqldb.Tx, companyID int64, ids []int64) (names []string, err error) {
	if err := event.LockFeedTx(ctx, tx, companyID); err != nil {
		return nil, err
	}
	removed, err := sqldb.All(ctx, tx, event.ScanRemoved, `
		DELETE FROM events WHERE company_id = ? AND id {in ?}
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.company_id = events.company_id AND d.event_id = events.id)
		RETURNING event_id, position`, companyID, ids)
	if err != nil {
		return nil, err
	}
	for _, one := range removed {
		names = append(names, one.ID)
	}
	return names, event.PrunedTx(ctx, tx, companyID, removed)
}

func pruneReplays(ctx context.Context, tx *sqldb.Tx, before time.Time) error {
	return tx.Do(ctx, `DELETE FROM replays WHERE finished_at < ? /* every company_id */`, before.UnixMicro())
}
