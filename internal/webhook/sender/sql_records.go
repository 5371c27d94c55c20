package sender

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// health is what the sender keeps about a webhook.
type health struct {
	active   bool
	failures int // failed attempts in a row
}

// lockHealth reads it for a change. The lock lets events be recorded for the
// webhook meanwhile, and keeps it from being deleted.
func lockHealth(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64) (health, error) {
	return sqldb.One(ctx, tx, scanHealth, `
		SELECT active, failures FROM webhooks WHERE company_id = ? AND id = ? {for no key update}`, companyID, webhookID)
}

// readHealth reads it without a lock.
func readHealth(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64) (health, error) {
	return sqldb.One(ctx, tx, scanHealth, `SELECT active, failures FROM webhooks WHERE company_id = ? AND id = ?`, companyID, webhookID)
}

func scanHealth(r sqldb.Row) (h health, err error) {
	err = r.Scan(&h.active, &h.failures)
	return h, err
}

func saveFailures(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64, failures int) error {
	_, err := tx.Exec(ctx, `UPDATE webhooks SET failures = ?, updated_at = ? WHERE company_id = ? AND id = ?`,
		failures, tx.Now().UnixMicro(), companyID, webhookID)
	return err
}

func switchOff(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64, notice string) error {
	_, err := tx.Exec(ctx, `UPDATE webhooks SET active = ?, disabled_at = ?, notice = ?, updated_at = ? WHERE company_id = ? AND id = ?`,
		false, tx.Now().UnixMicro(), notice, tx.Now().UnixMicro(), companyID, webhookID)
	return err
}

// failingAmong returns which of some webhooks have failures.
func failingAmong(ctx context.Context, tx *sqldb.Tx, ids []int64) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `SELECT id FROM webhooks WHERE failures > 0 AND id {in ?} /* every company_id */`, ids)
}

// settle records what becomes of a delivery, unless another attempt at it has
// begun since: then it is no longer this one's to record.
func settle(ctx context.Context, tx *sqldb.Tx, j Job, t transition) (bool, error) {
	if t.status == Pending || t.status == Parked {
		line := lineOf(t.step)
		if t.status == Parked {
			line = parkedLine
		}
		n, err := tx.Exec(ctx, `
			UPDATE delivery_queue SET attempts = ?, claim = '', line = ?, step = ?, panics = ?, run_at = {clock ?} + ?
			WHERE company_id = ? AND delivery_id = ? AND attempts = ?`,
			j.number, line, t.step, t.panics, tx.Clock(), t.wait.Microseconds(), j.companyID, j.id, j.begun)
		return n == 1, err
	}
	n, err := tx.Exec(ctx, `DELETE FROM delivery_queue WHERE company_id = ? AND delivery_id = ? AND attempts = ?`, j.companyID, j.id, j.begun)
	if err != nil || n == 0 {
		return false, err
	}
	var delivered sqldb.Ref
	if t.delivered {
		delivered = sqldb.RefTo(tx.Now().UnixMicro())
	}
	_, err = tx.Exec(ctx, `
		UPDATE deliveries SET attempts = ?, status = ?, delivered_at = COALESCE(?, delivered_at) WHERE company_id = ? AND id = ?`,
		j.number, string(t.status), delivered, j.companyID, j.id)
	return true, err
}

// settleAccepted settles deliveries whose fences are equal, and returns which it
// has settled. It passes over those that another transaction has locked.
func settleAccepted(ctx context.Context, tx *sqldb.Tx, list []attempt) ([]int64, error) {
	ids := make([]int64, len(list))
	for i, a := range list {
		ids[i] = a.job.id
	}
	settled, err := sqldb.Values[int64](ctx, tx, `
		DELETE FROM delivery_queue WHERE delivery_id IN (
			SELECT delivery_id FROM delivery_queue WHERE attempts = ? AND delivery_id {in ?} {for update skip locked})
		RETURNING delivery_id /* every company_id */`, list[0].job.begun, ids)
	if err != nil || len(settled) == 0 {
		return nil, err
	}
	_, err = tx.Exec(ctx, `
		UPDATE deliveries SET attempts = ?, status = 'delivered', delivered_at = ? WHERE id {in ?} /* every company_id */`,
		list[0].job.number, tx.Now().UnixMicro(), settled)
	return settled, err
}

func insertAttempts(ctx context.Context, tx *sqldb.Tx, list ...attempt) error {
	for piece := range sqldb.Pieces(list) {
		args := make([]any, 0, 8*len(piece))
		for _, a := range piece {
			j, o := a.job, a.outcome
			args = append(args, j.companyID, j.id, j.number, o.at.UnixMicro(), o.response.Duration.Milliseconds(), o.response.Status,
				string(o.response.Body), o.problem)
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO delivery_attempts (company_id, delivery_id, number, at, duration_ms, response_status, response_body, error)
			VALUES `+sqldb.Tuples(len(piece), 8), args...); err != nil {
			return err
		}
	}
	return nil
}
