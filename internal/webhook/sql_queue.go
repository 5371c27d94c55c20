package webhook

import (
	"context"
	"slices"

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

// forWebhooks makes a delivery of each event for each webhook that wants it, in
// the order of the events. There is none for a company whose subscription has
// ended, is suspended or has no webhooks, or that is below a company that is
// stopped. Most companies have no webhook at all, so the webhooks come first.
const forWebhooks = `
	INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
	SELECT w.company_id, w.id, e.id, e.name, '', w.id, 'pending', FALSE, 0, e.occurred_at
	FROM webhooks w CROSS JOIN events e
	WHERE w.company_id = ? AND w.active = TRUE AND e.company_id = ? AND e.event_id {in ?}
		AND w.events LIKE '%,' || e.name || ',%'
		AND EXISTS (SELECT 1 FROM companies c WHERE c.id = w.company_id AND ` + getsWebhooks + `)
	ORDER BY e.id, w.id {for key share of w} RETURNING lane`

// forAddresses makes the deliveries of an event to the addresses that are to hear
// of the payment of an invoice.
const forAddresses = `
	INSERT INTO deliveries (company_id, event_id, event, url, lane, status, test, attempts, created_at)
	SELECT n.company_id, e.id, e.name, n.url, -n.company_id, 'pending', FALSE, 0, e.occurred_at
	FROM invoice_notifications n CROSS JOIN events e
	WHERE n.company_id = ? AND n.invoice_id = ? AND e.company_id = ? AND e.event_id = ? RETURNING lane`

// enqueuing are the deliveries of a company's events, which are made at the end
// of the transaction that has recorded them.
type enqueuing struct {
	enqueuingOf

	events []string
	paid   []event.Event // those of invoices that were paid
	due    sqldb.Ref
	lanes  []int64 // of the deliveries that were made
}

// Tables are those that decide who gets a delivery, and those of deliveries.
func (e *enqueuing) Tables() []string {
	return []string{"deliveries", "delivery_queue", "webhooks", "invoice_notifications", "companies"}
}

// Statements make the deliveries and put them into the queue.
func (e *enqueuing) Statements() []sqldb.Statement {
	day := e.day.String()
	text, events := sqldb.Few(forWebhooks, e.events)
	statements := []sqldb.Statement{{
		Text: text,
		Args: slices.Concat([]any{e.companyID, e.companyID}, events, []any{day, day}),
		Scan: e.scanLane,
	}}
	for _, paid := range e.paid {
		statements = append(statements, sqldb.Statement{
			Text: forAddresses,
			Args: []any{e.companyID, paid.Subject, e.companyID, paid.ID},
			Scan: e.scanLane,
		})
	}
	queue := sender.IntoQueue(e.due, e.companyID, e.events)
	queue.Needless = func() bool { return len(e.lanes) == 0 }
	return append(statements, queue)
}

// Merge adds the events of another transaction. Who has put off the first of them
// wakes the sender for all.
func (e *enqueuing) Merge(other sqldb.Late) {
	more := other.(*enqueuing) //nolint:forcetypeassert // the key says so
	e.events = append(e.events, more.events...)
	e.paid = append(e.paid, more.paid...)
}

func (e *enqueuing) scanLane(row sqldb.Row) error {
	var lane int64
	err := row.Scan(&lane)
	e.lanes = append(e.lanes, lane)
	return err
}

func insertTest(
	ctx context.Context,
	tx *sqldb.Tx,
	recorded event.Event,
	webhookID int64,
) (int64, error) {
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
