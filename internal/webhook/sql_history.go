package webhook

import (
	"context"
	"slices"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const deliverySelect = `SELECT d.id, e.event_id, d.event, COALESCE(d.webhook_id, 0),
	CASE WHEN d.webhook_id IS NULL THEN d.url ELSE COALESCE(w.url, '') END, d.status, d.run_at, e.body, d.created_at, COALESCE(d.delivered_at, 0)
	FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
	LEFT JOIN webhooks w ON w.company_id = d.company_id AND w.id = d.webhook_id`

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

// deliveryChoice takes what DeliveryFilter.args gives.
const deliveryChoice = ` WHERE d.company_id = ? AND d.webhook_id = ? AND CAST(? AS TEXT) IN ('', d.status)
	AND CAST(? AS TEXT) IN ('', d.event) AND d.created_at >= ? AND d.created_at < ?`

func countDeliveries(ctx context.Context, q sqldb.Querier, choice []any) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM deliveries d`+deliveryChoice, choice...)
}

func deliveries(ctx context.Context, q sqldb.Querier, choice []any, page input.Page) ([]Delivery, error) {
	return sqldb.All(ctx, q, scanDelivery,
		deliverySelect+deliveryChoice+` ORDER BY d.id DESC LIMIT ? OFFSET ?`,
		slices.Concat(choice, []any{page.Size, page.Offset()})...)
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

// lockDelivery tells also whether somebody is sending it: one who waits for it,
// or who has its lane. The lane is locked before it, as it is by those who take
// lanes.
func lockDelivery(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (d Delivery, claimed bool, err error) {
	lane, err := sqldb.Value[int64](ctx, tx, `SELECT lane FROM deliveries WHERE company_id = ? AND id = ?`, companyID, id)
	if err != nil {
		return d, false, sqldb.Found(err, "delivery")
	}
	sending, err := lockLane(ctx, tx, lane)
	if err != nil {
		return d, false, err
	}
	claimed, err = sqldb.One(ctx, tx, func(r sqldb.Row) (bool, error) {
		var claim, status string
		var runAt int64
		err := r.Scan(&claim, &status, &runAt)
		later := runAt > tx.Now().UnixMicro()
		return claim != "" && later || status == string(Pending) && !later && slices.Contains(sending, id), err
	}, `SELECT claim, status, run_at FROM deliveries WHERE company_id = ? AND id = ? {for update}`, companyID, id)
	if err != nil {
		return d, false, sqldb.Found(err, "delivery")
	}
	d, err = deliveryByID(ctx, tx, companyID, id)
	return d, claimed, err
}

func reset(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE deliveries SET status = 'pending', step = 0, run_at = ?, claim = '' WHERE company_id = ? AND id = ?`,
		tx.Now().UnixMicro(), companyID, id)
	return err
}

func attempts(ctx context.Context, q sqldb.Querier, companyID int64, deliveryIDs []int64, add func(deliveryID int64, t Attempt)) error {
	if len(deliveryIDs) == 0 {
		return nil
	}
	args := []any{companyID}
	for _, id := range deliveryIDs {
		args = append(args, id)
	}
	return sqldb.Each(ctx, q, `
		SELECT delivery_id, number, at, duration_ms, response_status, response_body, error FROM delivery_attempts
		WHERE company_id = ? AND delivery_id IN (`+sqldb.Marks(len(deliveryIDs))+`) ORDER BY delivery_id, number`, args, func(r sqldb.Row) error {
		var id, at, millis int64
		var t Attempt
		err := r.Scan(&id, &t.Number, &at, &millis, &t.ResponseStatus, &t.ResponseBody, &t.Error)
		t.At, t.Duration = time.UnixMicro(at), time.Duration(millis)*time.Millisecond
		add(id, t)
		return err
	})
}
