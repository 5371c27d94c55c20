package webhook

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// settle records what becomes of a delivery, unless another attempt at it has
// begun since: then it is no longer this one's to record.
func settle(ctx context.Context, tx *sqldb.Tx, j job, f following) (bool, error) {
	if f.status == Pending || f.status == Parked {
		line := lineOf(f.step)
		if f.status == Parked {
			line = parkedLine
		}
		n, err := tx.Exec(ctx, `
			UPDATE delivery_queue SET attempts = ?, claim = '', line = ?, step = ?, run_at = ? WHERE company_id = ? AND delivery_id = ? AND attempts = ?`,
			j.number, line, f.step, f.runAt.UnixMicro(), j.companyID, j.id, j.begun)
		return n == 1, err
	}
	n, err := tx.Exec(ctx, `DELETE FROM delivery_queue WHERE company_id = ? AND delivery_id = ? AND attempts = ?`, j.companyID, j.id, j.begun)
	if err != nil || n == 0 {
		return false, err
	}
	var delivered sqldb.Ref
	if !f.deliveredAt.IsZero() {
		delivered = sqldb.RefTo(f.deliveredAt.UnixMicro())
	}
	_, err = tx.Exec(ctx, `
		UPDATE deliveries SET attempts = ?, status = ?, delivered_at = COALESCE(?, delivered_at) WHERE company_id = ? AND id = ?`,
		j.number, string(f.status), delivered, j.companyID, j.id)
	return true, err
}

// settleAccepted does so for deliveries of which equally many attempts had
// begun, and returns which it were.
func settleAccepted(ctx context.Context, tx *sqldb.Tx, list []closing) ([]int64, error) {
	ids := make([]int64, len(list))
	for i, x := range list {
		ids[i] = x.job.id
	}
	settled, err := sqldb.Values[int64](ctx, tx, `
		DELETE FROM delivery_queue WHERE attempts = ? AND delivery_id {in ?} RETURNING delivery_id /* every company_id */`, list[0].job.begun, ids)
	if err != nil || len(settled) == 0 {
		return nil, err
	}
	_, err = tx.Exec(ctx, `
		UPDATE deliveries SET attempts = ?, status = 'delivered', delivered_at = ? WHERE id {in ?} /* every company_id */`,
		list[0].job.number, tx.Now().UnixMicro(), settled)
	return settled, err
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
