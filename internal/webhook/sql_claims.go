package webhook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carteira/internal/platform/sqldb"
)

// candidate is a delivery that may be claimed.
type candidate struct {
	id    int64
	dueAt time.Time
}

// candidates finds due deliveries, lane by lane: the lanes that have any are
// found by leaping through the index, so that a backlog of one costs the others
// nothing; each may have so many under way and no more; first attempts come
// before retries. It counts too the lanes that have as many under way as they
// may. It speaks for all companies: a lane belongs to one company_id.
func candidates(ctx context.Context, q sqldb.Querier, now time.Time, limit int) (due []candidate, full int64, err error) {
	at := now.UnixMicro()
	args := []any{failingLaneCap, laneCap, at}
	for range 2 * laneCap {
		args = append(args, at)
	}
	err = sqldb.Each(ctx, q, candidatesText, append(args, limit), func(r sqldb.Row) error {
		var id, value int64
		err := r.Scan(&id, &value)
		if id == 0 {
			full = value
			return err
		}
		due = append(due, candidate{id, time.UnixMicro(value)})
		return err
	})
	return due, full, err
}

// pendingLanes finds the lanes with pending deliveries by leaping.
const pendingLanes = `WITH RECURSIVE first_lanes(lane) AS (
		SELECT MIN(lane) FROM deliveries WHERE status = 'pending' AND step = 0
		UNION ALL
		SELECT (SELECT MIN(d.lane) FROM deliveries d WHERE d.status = 'pending' AND d.step = 0 AND d.lane > l.lane)
		FROM first_lanes l WHERE l.lane IS NOT NULL
	), retry_lanes(lane) AS (
		SELECT MIN(lane) FROM deliveries WHERE status = 'pending' AND step > 0
		UNION ALL
		SELECT (SELECT MIN(d.lane) FROM deliveries d WHERE d.status = 'pending' AND d.step > 0 AND d.lane > l.lane)
		FROM retry_lanes l WHERE l.lane IS NOT NULL
	)`

// candidatesText has a last row for the number of full lanes, as id 0.
var candidatesText = pendingLanes + `, lanes AS MATERIALIZED (
		SELECT l.lane, CASE WHEN COALESCE(w.failures, 0) > 0 THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END
			- (SELECT COUNT(*) FROM deliveries d WHERE d.claim <> '' AND d.lane = l.lane AND d.run_at > ?) AS room
		FROM (SELECT lane FROM first_lanes WHERE lane IS NOT NULL UNION SELECT lane FROM retry_lanes WHERE lane IS NOT NULL) l
		LEFT JOIN webhooks w ON w.id = l.lane
	), heads AS MATERIALIZED (` + laneHeads() + `
	), due AS (
		SELECT h.id, (SELECT d.run_at FROM deliveries d WHERE d.id = h.id) AS run_at, h.retry, h.room,
			row_number() OVER (PARTITION BY h.lane ORDER BY h.retry, h.nth) AS place
		FROM heads h WHERE h.id IS NOT NULL
	)
	SELECT id, run_at FROM (SELECT id, run_at FROM due WHERE place <= room ORDER BY retry, place, run_at LIMIT ?) AS chosen
	UNION ALL SELECT 0, COUNT(*) FROM lanes WHERE room <= 0 /* every company_id */`

// laneHeads selects the first few due deliveries of every lane with room, each
// by a leap of its own into the index: a list for each lane is what PostgreSQL
// would compare with every delivery there is.
func laneHeads() string {
	var selects []string
	for retry, step := range []string{"= 0", "> 0"} {
		for nth := range laneCap {
			selects = append(selects, fmt.Sprintf(`
		SELECT l.lane, l.room, %d AS retry, %d AS nth, (SELECT d.id FROM deliveries d WHERE d.status = 'pending' AND d.step %s
			AND d.lane = l.lane AND d.run_at <= ? ORDER BY d.run_at LIMIT 1 OFFSET %d) AS id FROM lanes l WHERE l.room > %d /* every company_id */`,
				retry, nth, step, nth, nth))
		}
	}
	return strings.Join(selects, " UNION ALL ")
}

// oldestDueAt is since when the oldest delivery is due that nobody is sending,
// now when there is none. While a claim lasts, run_at is later than now.
func oldestDueAt(ctx context.Context, q sqldb.Querier, now time.Time) (time.Time, error) {
	at, err := sqldb.Value[int64](ctx, q, pendingLanes+`, heads(run_at) AS (
			SELECT (SELECT MIN(d.run_at) FROM deliveries d WHERE d.status = 'pending' AND d.step = 0 AND d.lane = l.lane) FROM first_lanes l
			UNION ALL
			SELECT (SELECT MIN(d.run_at) FROM deliveries d WHERE d.status = 'pending' AND d.step > 0 AND d.lane = l.lane) FROM retry_lanes l
		)
		SELECT COALESCE(MIN(run_at), CAST(? AS BIGINT)) FROM heads WHERE run_at <= ? /* every company_id */`, now.UnixMicro(), now.UnixMicro())
	return time.UnixMicro(at), err
}

// claimDue makes deliveries ours that are still due, and returns which.
func claimDue(ctx context.Context, tx *sqldb.Tx, ids []int64, token string) ([]int64, error) {
	var mine []int64
	for piece := range sqldb.Pieces(ids) {
		args := []any{token, tx.Now().Add(lease).UnixMicro()}
		for _, id := range piece {
			args = append(args, id)
		}
		got, err := sqldb.All(ctx, tx, func(r sqldb.Row) (id int64, err error) {
			err = r.Scan(&id)
			return id, err
		}, `UPDATE deliveries SET claim = ?, attempts = attempts + 1, run_at = ? WHERE id IN (
				SELECT id FROM deliveries WHERE id IN (`+sqldb.Marks(len(piece))+`) AND status = 'pending' AND run_at <= ? {for update skip locked}
			) RETURNING id /* every company_id */`, append(args, tx.Now().UnixMicro())...)
		if err != nil {
			return nil, err
		}
		mine = append(mine, got...)
	}
	return mine, nil
}

// claimedJobs reads what is needed to send deliveries that were just claimed.
func claimedJobs(ctx context.Context, tx *sqldb.Tx, ids []int64, token string) ([]job, error) {
	var jobs []job
	for piece := range sqldb.Pieces(ids) {
		args := make([]any, len(piece))
		for i, id := range piece {
			args[i] = id
		}
		got, err := sqldb.All(ctx, tx, func(r sqldb.Row) (j job, err error) {
			var body string
			err = r.Scan(&j.id, &j.companyID, &j.webhookID, &j.eventID, (*string)(&j.event), &body, &j.url, &j.sealed, &j.active,
				&j.test, &j.number, &j.step)
			j.body, j.claim = []byte(body), token
			return j, err
		}, `SELECT d.id, d.company_id, COALESCE(d.webhook_id, 0), e.event_id, d.event, e.body,
				CASE WHEN d.webhook_id IS NULL THEN d.url ELSE w.url END, COALESCE(w.secret, s.secret, ''), COALESCE(w.active, ?),
				d.test, d.attempts, d.step
			FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
			LEFT JOIN webhooks w ON w.company_id = d.company_id AND w.id = d.webhook_id
			LEFT JOIN callback_secrets s ON s.company_id = d.company_id AND d.webhook_id IS NULL
			WHERE d.id IN (`+sqldb.Marks(len(piece))+`) /* every company_id */`, append([]any{true}, args...)...)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, got...)
	}
	return jobs, nil
}
