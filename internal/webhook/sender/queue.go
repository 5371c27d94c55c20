package sender

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// Status is the state of a delivery.
type Status string

// The statuses. Parked ones wait for their webhook to be switched on again.
const (
	Pending   Status = "pending"
	Delivered Status = "delivered"
	Failed    Status = "failed"
	Refused   Status = "refused"
	Parked    Status = "parked"
)

// The lines of the queue, as they are stored.
const (
	firstLine  = 0 // first attempts
	retryLine  = 1
	parkedLine = 2
)

// lineOf is the line of a delivery that is not parked.
func lineOf(step int) int { return min(step, retryLine) }

// intoQueue puts deliveries of a company at the beginning of their schedule.
const intoQueue = `
	INSERT INTO delivery_queue (delivery_id, company_id, event_id, lane, url, test, line, step, attempts, panics, run_at, claim)
	SELECT id, company_id, event_id, lane, url, test, 0, 0, attempts, 0, {clock ?}, '' FROM deliveries WHERE company_id = ? AND `

const ofEventsIntoQueue = intoQueue + `event_id IN (SELECT id FROM events WHERE company_id = ? AND event_id {in ?}) ORDER BY id`

// IntoQueue queues all deliveries of new events, which are due at once. The
// deliveries of a lane go in by their ids, since they are sent in this order.
func IntoQueue(due sqldb.Ref, companyID int64, eventIDs []string) sqldb.Statement {
	text, events := few(ofEventsIntoQueue, eventIDs)
	return sqldb.Statement{Text: text, Args: append([]any{due, companyID, companyID}, events...)}
}

// EnqueueAll queues deliveries that are in no line.
func EnqueueAll(ctx context.Context, tx *sqldb.Tx, companyID int64, deliveryIDs []int64) error {
	return tx.Do(ctx, intoQueue+`id {in ?}`, tx.DueClock(), companyID, deliveryIDs)
}

// Requeue puts a delivery back at the beginning of its schedule.
func Requeue(ctx context.Context, tx *sqldb.Tx, companyID, deliveryID int64) error {
	if _, err := tx.Exec(ctx, `UPDATE deliveries SET status = 'pending' WHERE company_id = ? AND id = ?`, companyID, deliveryID); err != nil {
		return err
	}
	return tx.Do(ctx, intoQueue+`id = ?
		ON CONFLICT (delivery_id) DO UPDATE SET line = 0, step = 0, panics = 0, run_at = excluded.run_at, claim = ''`,
		tx.DueClock(), companyID, deliveryID)
}

// Park takes what is pending of webhooks out of the lines from which is sent.
func Park(ctx context.Context, tx *sqldb.Tx, companyID int64, webhooks ...int64) error {
	return tx.Do(ctx, `
		UPDATE delivery_queue SET line = 2 WHERE company_id = ? AND lane {in ?} AND line IN (0, 1) AND claim = ''`, companyID, webhooks)
}

// Unpark puts it back.
func Unpark(ctx context.Context, tx *sqldb.Tx, companyID int64, webhooks ...int64) error {
	return tx.Do(ctx, `
		UPDATE delivery_queue SET line = CASE WHEN step = 0 THEN 0 ELSE 1 END
		WHERE company_id = ? AND lane {in ?} AND line = 2`, companyID, webhooks)
}

// OpenLane makes the row by which a lane is leased. It is made with the webhook,
// or with the company's callback secret, so that a claim never has to insert
// one: an insert waits for another transaction's insert of the same row.
func OpenLane(ctx context.Context, tx *sqldb.Tx, lane int64) error {
	return tx.Do(ctx, `INSERT INTO delivery_lanes (lane, token, until, sending) VALUES (?, '', 0, '') ON CONFLICT DO NOTHING`, lane)
}

// CloseLane removes all that is queued of a webhook, with its lane.
func CloseLane(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64) error {
	if _, err := tx.Exec(ctx, `DELETE FROM delivery_lanes WHERE lane = ?`, webhookID); err != nil {
		return err
	}
	return tx.Do(ctx, `DELETE FROM delivery_queue WHERE company_id = ? AND lane = ?`, companyID, webhookID)
}

// Drop removes all that is queued of some events. One that is being sent this
// moment arrives, and leaves no record.
func Drop(ctx context.Context, tx *sqldb.Tx, companyID int64, eventIDs []int64) error {
	return tx.Do(ctx, `DELETE FROM delivery_queue WHERE company_id = ? AND event_id {in ?}`, companyID, eventIDs)
}
