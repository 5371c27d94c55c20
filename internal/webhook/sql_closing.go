package webhook

import (
	"context"
	"strings"

	"carteira/internal/platform/sqldb"
)

// settle ends a claim, unless it is no longer ours.
func settle(ctx context.Context, tx *sqldb.Tx, j job, f following) (bool, error) {
	var delivered sqldb.Ref
	if !f.deliveredAt.IsZero() {
		delivered = sqldb.RefTo(f.deliveredAt.UnixMicro())
	}
	n, err := tx.Exec(ctx, `
		UPDATE deliveries SET claim = '', status = ?, step = ?, run_at = ?, delivered_at = COALESCE(?, delivered_at)
		WHERE company_id = ? AND id = ? AND claim = ?`,
		string(f.status), f.step, f.runAt.UnixMicro(), delivered, j.companyID, j.id, j.claim)
	return n == 1, err
}

// settleAccepted ends those claims that are still ours and whose webhook has no
// failures, and returns their deliveries. The list of ids stands beside that of
// the pairs because an index answers it.
func settleAccepted(ctx context.Context, tx *sqldb.Tx, list []*closing) ([]int64, error) {
	at := tx.Now().UnixMicro()
	args, pairs := []any{at, at}, []any{}
	for _, x := range list {
		args, pairs = append(args, x.job.id), append(pairs, x.job.id, x.job.claim)
	}
	return sqldb.All(ctx, tx, func(r sqldb.Row) (id int64, err error) {
		err = r.Scan(&id)
		return id, err
	}, `UPDATE deliveries SET claim = '', status = 'delivered', run_at = ?, delivered_at = ?
		WHERE id IN (`+sqldb.Marks(len(list))+`)
			AND (id, claim) IN (VALUES `+strings.Repeat(`(CAST(? AS BIGINT), ?), `, len(list)-1)+`(CAST(? AS BIGINT), ?))
			AND (webhook_id IS NULL OR EXISTS (SELECT 1 FROM webhooks w
				WHERE w.company_id = deliveries.company_id AND w.id = deliveries.webhook_id AND w.failures = 0))
		RETURNING id /* every company_id */`, append(args, pairs...)...)
}

func insertAttempt(ctx context.Context, tx *sqldb.Tx, j job, o outcome) error {
	return insertAttempts(ctx, tx, []*closing{{job: j, outcome: o}})
}

func insertAttempts(ctx context.Context, tx *sqldb.Tx, list []*closing) error {
	for piece := range sqldb.Pieces(list) {
		var args []any
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
