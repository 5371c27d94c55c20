package sender

import (
	"context"
	"slices"

	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// health is what the sender keeps about a webhook.
type health struct {
	active   bool
	failures int // failed attempts in a row
}

// forChange locks it. The lock lets events be recorded for the webhook meanwhile,
// and keeps it from being deleted.
const forChange = ` {for no key update}`

func readHealth(ctx context.Context, tx *sqldb.Tx, job Job, lock string) (health, error) {
	return sqldb.One(ctx, tx, rows.Into(func(health *health) []any {
		return []any{&health.active, &health.failures}
	}), `SELECT active, failures FROM webhooks WHERE company_id = ? AND id = ?`+lock, job.companyID, job.webhookID)
}

func saveFailures(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64, failures int) error {
	return tx.Do(ctx, `UPDATE webhooks SET failures = ?, updated_at = ? WHERE company_id = ? AND id = ?`, failures,
		tx.Now().UnixMicro(), companyID, webhookID)
}

func switchOff(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64, notice string) error {
	return tx.Do(ctx,
		`UPDATE webhooks SET active = ?, disabled_at = ?, notice = ?, updated_at = ? WHERE company_id = ? AND id = ?`,
		false, tx.Now().UnixMicro(), notice, tx.Now().UnixMicro(), companyID, webhookID)
}

// settle records what becomes of a delivery, unless another attempt at it has
// begun since: then it is no longer this one's to record.
func settle(ctx context.Context, tx *sqldb.Tx, job Job, transition transition) (bool, error) {
	if transition.status == Pending || transition.status == Parked {
		line := lineOf(transition.step)
		if transition.status == Parked {
			line = parkedLine
		}
		return rows.Changed(ctx, tx, `
			UPDATE delivery_queue SET attempts = ?, claim = '', line = ?, step = ?, panics = ?, run_at = {clock ?} + ?
			WHERE company_id = ? AND delivery_id = ? AND attempts = ?`,
			job.number, line, transition.step, transition.panics, tx.DueClock(),
			transition.wait.Microseconds(), job.companyID, job.id, job.begun)
	}
	changed, err := tx.Exec(ctx, `DELETE FROM delivery_queue WHERE company_id = ? AND delivery_id = ? AND attempts = ?`,
		job.companyID, job.id, job.begun)
	if err != nil || changed == 0 {
		return false, err
	}
	var delivered sqldb.Ref
	if transition.delivered {
		delivered = sqldb.RefTo(tx.Now().UnixMicro())
	}
	_, err = tx.Exec(ctx, `
		UPDATE deliveries SET attempts = ?, status = ?, delivered_at = COALESCE(?, delivered_at) WHERE company_id = ? AND id = ?`,
		job.number, string(transition.status), delivered, job.companyID, job.id)
	return true, err
}

// settleAccepted settles deliveries if their fences are equal, and returns which
// it has settled. It skips those that another transaction has locked, and those
// of a webhook with failures.
func settleAccepted(ctx context.Context, tx *sqldb.Tx, list []attempt) ([]int64, error) {
	ids, webhooks := make([]int64, len(list)), make([]int64, len(list))
	for i, attempt := range list {
		ids[i], webhooks[i] = attempt.job.id, attempt.job.webhookID
	}
	slices.Sort(webhooks)
	text, lists := few(`
		DELETE FROM delivery_queue WHERE delivery_id IN (
			SELECT delivery_id FROM delivery_queue WHERE attempts = ? AND delivery_id {in ?} AND
				lane NOT IN (SELECT id FROM webhooks WHERE failures > 0 AND id {in ?}) {for update skip locked})
		RETURNING delivery_id /* every company_id */`, ids, slices.Compact(webhooks))
	settled, err := sqldb.Values[int64](ctx, tx, text, append([]any{list[0].job.begun}, lists...)...)
	if err != nil || len(settled) == 0 {
		return nil, err
	}
	text, inSettled := few(`
		UPDATE deliveries SET attempts = ?, status = 'delivered', delivered_at = ? WHERE id {in ?} /* every company_id */`, settled)
	return settled, tx.Queue(ctx, text, append([]any{list[0].job.number, tx.Now().UnixMicro()}, inSettled...)...)
}

func insertAttempts(ctx context.Context, tx *sqldb.Tx, list []attempt) error {
	for piece := range sqldb.Pieces(list) {
		args := make([]any, 0, 8*len(piece))
		for _, attempt := range piece {
			job, outcome := attempt.job, attempt.outcome
			args = append(args, job.companyID, job.id, job.number, outcome.at.UnixMicro(),
				outcome.response.Duration.Milliseconds(), outcome.response.Status,
				string(outcome.response.Body), outcome.problem)
		}
		if err := tx.Queue(ctx, `
			INSERT INTO delivery_attempts (company_id, delivery_id, number, at, duration_ms, response_status, response_body, error)
			VALUES `+sqldb.Tuples(len(piece), 8), args...); err != nil {
			return err
		}
	}
	return nil
}
