package webhook

import (
	"context"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

// What is parked stands so in the queue only.
const deliverySelect = `SELECT d.id, e.event_id, d.event, COALESCE(d.webhook_id, 0),
	CASE WHEN d.webhook_id IS NULL THEN d.url ELSE COALESCE(w.url, '') END, CASE WHEN q.line = 2 THEN 'parked' ELSE d.status END,
	COALESCE(q.run_at, 0), e.body, d.created_at, COALESCE(d.delivered_at, 0)
	FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
	LEFT JOIN webhooks w ON w.company_id = d.company_id AND w.id = d.webhook_id
	LEFT JOIN delivery_queue q ON q.company_id = d.company_id AND q.delivery_id = d.id`

func scanDelivery(r sqldb.Row) (d Delivery, err error) {
	var body string
	var runAt, created, delivered int64
	err = r.Scan(&d.ID, &d.EventID, (*string)(&d.Event), &d.WebhookID, &d.URL, (*string)(&d.Status), &runAt, &body, &created, &delivered)
	d.Payload, d.CreatedAt, d.DeliveredAt = []byte(body), time.UnixMicro(created), instant(delivered)
	if d.Status == Pending {
		d.NextAttempt = time.UnixMicro(runAt)
	}
	return d, err
}

func (f DeliveryFilter) where(a account.Actor, webhookID int64) (w sqldb.Where) {
	w.And(`d.company_id = ? AND d.webhook_id = ?`, a.Company.ID, webhookID)
	const parked = `EXISTS (SELECT 1 FROM delivery_queue k WHERE k.company_id = d.company_id AND k.delivery_id = d.id AND k.line = 2)`
	switch f.Status {
	case "":
	case Parked:
		w.And(`d.status = 'pending' AND ` + parked)
	case Pending:
		w.And(`d.status = 'pending' AND NOT ` + parked)
	default:
		w.And(`d.status = ?`, string(f.Status))
	}
	if f.Event != "" {
		w.And(`d.event = ?`, string(f.Event))
	}
	if !f.From.IsZero() {
		w.And(`d.created_at >= ?`, f.From.Start(a.Company.Zone).UnixMicro())
	}
	if !f.To.IsZero() {
		w.And(`d.created_at < ?`, f.To.AddDays(1).Start(a.Company.Zone).UnixMicro())
	}
	return w
}

func countDeliveries(ctx context.Context, q sqldb.Querier, a account.Actor, webhookID int64, f DeliveryFilter) (int64, error) {
	w := f.where(a, webhookID)
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM deliveries d`+w.String(), w.Args...)
}

func deliveries(ctx context.Context, q sqldb.Querier, a account.Actor, webhookID int64, f DeliveryFilter, page input.Page) ([]Delivery, error) {
	w := f.where(a, webhookID)
	return sqldb.All(ctx, q, scanDelivery, deliverySelect+w.String()+` ORDER BY d.id DESC LIMIT ? OFFSET ?`,
		slices.Concat(w.Args, []any{page.Size, page.Offset()})...)
}

func deliveryByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Delivery, error) {
	d, err := sqldb.One(ctx, q, scanDelivery, deliverySelect+` WHERE d.company_id = ? AND d.id = ?`, companyID, id)
	return d, sqldb.Found(err, "delivery")
}

func deliveryOfEvent(ctx context.Context, q sqldb.Querier, companyID int64, eventID string) (int64, error) {
	id, err := sqldb.Value[int64](ctx, q, `
		SELECT d.id FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
		WHERE d.company_id = ? AND e.event_id = ? ORDER BY d.id DESC LIMIT 1`, companyID, eventID)
	return id, sqldb.Found(err, "delivery")
}

// lockDelivery reads a delivery for a change, and says whether it is being sent.
// Its place in the queue is locked before the delivery, as those do who send.
func lockDelivery(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (d Delivery, sending bool, err error) {
	lane, err := sqldb.Value[int64](ctx, tx, `SELECT lane FROM deliveries WHERE company_id = ? AND id = ?`, companyID, id)
	if err != nil {
		return d, false, sqldb.Found(err, "delivery")
	}
	if sending, err = sender.LockDelivery(ctx, tx, companyID, lane, id); err != nil {
		return d, false, err
	}
	if _, err := sqldb.Value[int64](ctx, tx, `SELECT id FROM deliveries WHERE company_id = ?
		AND id = ? {for update}`, companyID, id); err != nil {
		return d, false, sqldb.Found(err, "delivery")
	}
	d, err = deliveryByID(ctx, tx, companyID, id)
	return d, sending, err
}

func attempts(ctx context.Context, q sqldb.Querier, companyID int64, deliveryIDs []int64, add func(deliveryID int64, t Attempt)) error {
	if len(deliveryIDs) == 0 {
		return nil
	}
	return sqldb.Each(ctx, q, `
		SELECT delivery_id, number, at, duration_ms, response_status, response_body, error FROM delivery_attempts
		WHERE company_id = ? AND delivery_id {in ?} ORDER BY delivery_id, number`, []any{companyID, deliveryIDs}, func(r sqldb.Row) error {
		var id, at, millis int64
		var t Attempt
		err := r.Scan(&id, &t.Number, &at, &millis, &t.ResponseStatus, &t.ResponseBody, &t.Error)
		t.At, t.Duration = time.UnixMicro(at), time.Duration(millis)*time.Millisecond
		add(id, t)
		return err
	})
}
