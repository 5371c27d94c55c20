package webhook

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// settle records what becomes of a delivery, unless another attempt at it has
// begun since: then it is no longer this one's to record.
func settle(ctx context.Context, tx *sqldb.Tx, j job, f following) (bool, error) {
	var delivered sqldb.Ref
	if !f.deliveredAt.IsZero() {
		delivered = sqldb.RefTo(f.deliveredAt.UnixMicro())
	}
	n, err := tx.Exec(ctx, `
		UPDATE deliveries SET attempts = ?, status = ?, delivered_at = COALESCE(?, delivered_at)
		WHERE company_id = ? AND id = ? AND attempts = ?`,
		j.number, f.status.stored(), delivered, j.companyID, j.id, j.begun)
	if err != nil || n == 0 {
		return false, err
	}
	line := lineOf(f.step)
	switch f.status {
	case Parked:
		line = parkedLine
	case Pending:
	default:
		return true, leaveQueue(ctx, tx, []int64{j.id})
	}
	_, err = tx.Exec(ctx, `
		UPDATE delivery_queue SET claim = '', line = ?, step = ?, run_at = ? WHERE company_id = ? AND delivery_id = ?`,
		line, f.step, f.runAt.UnixMicro(), j.companyID, j.id)
	return true, err
}

// leaveQueue ends the sending of deliveries.
func leaveQueue(ctx context.Context, tx *sqldb.Tx, ids []int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM delivery_queue WHERE delivery_id {in ?} /* every company_id */`, ids)
	return err
}

// settleAccepted does so for deliveries of which equally many attempts had
// begun, and returns which it were.
func settleAccepted(ctx context.Context, tx *sqldb.Tx, list []closing) ([]int64, error) {
	ids := make([]int64, len(list))
	for i, x := range list {
		ids[i] = x.job.id
	}
	settled, err := sqldb.Values[int64](ctx, tx, `
		UPDATE deliveries SET attempts = ?, status = 'delivered', delivered_at = ?
		WHERE attempts = ? AND id {in ?} RETURNING id /* every company_id */`,
		list[0].job.number, tx.Now().UnixMicro(), list[0].job.begun, ids)
	if err != nil {
		return nil, err
	}
	return settled, leaveQueue(ctx, tx, settled)
}

// failingAmong returns which of some webhooks have failures.
func failingAmong(ctx context.Context, tx *sqldb.Tx, ids []int64) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `SELECT id FROM webhooks WHERE failures > 0 AND id {in ?} /* every company_id */`, ids)
}

func insertAttempt(ctx context.Context, tx *sqldb.Tx, j job, o outcome) error {
	return insertAttempts(ctx, tx, []closing{{j, o}})
}

func insertAttempts(ctx context.Context, tx *sqldb.Tx, list []closing) error {
	for piece := range sqldb.Pieces(list) {
		args := make([]any, 0, 8*len(piece))
		for _, x := range piece {
			j, o := x.job, x.outcome
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
