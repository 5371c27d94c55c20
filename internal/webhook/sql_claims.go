package webhook

import (
	"context"
	"slices"
	"time"

	"carteira/internal/platform/sqldb"
)

// pendingLanes finds the lanes with pending deliveries by leaping through the
// index, so that a backlog of one costs the others nothing.
const pendingLanes = `WITH RECURSIVE lines(line) AS (
		SELECT 0 UNION ALL SELECT 1
	), lanes(line, lane) AS (
		SELECT n.line, (SELECT MIN(q.lane) FROM delivery_queue q WHERE q.line = n.line) FROM lines n
		UNION ALL
		SELECT l.line, (SELECT MIN(q.lane) FROM delivery_queue q WHERE q.line = l.line AND q.lane > l.lane)
		FROM lanes l WHERE l.lane IS NOT NULL
	), heads(line, lane, run_at) AS (
		SELECT l.line, l.lane, (SELECT MIN(q.run_at) FROM delivery_queue q WHERE q.line = l.line AND q.lane = l.lane)
		FROM lanes l WHERE l.lane IS NOT NULL
	)`

// dueLane is a lane with something due, sent at the moment or not.
type dueLane struct {
	lane     int64
	dueAt    time.Time
	until    time.Time // of who has it
	sending  []int64
	failures int
}

// dueLanes finds them: first attempts before retries, the longest due first. It
// speaks for all companies: a lane belongs to one company_id.
func dueLanes(ctx context.Context, q sqldb.Querier, now time.Time) ([]dueLane, error) {
	return sqldb.All(ctx, q, func(r sqldb.Row) (l dueLane, err error) {
		var dueAt, until int64
		var sending string
		err = r.Scan(&l.lane, &dueAt, &until, &sending, &l.failures)
		l.dueAt, l.until, l.sending = time.UnixMicro(dueAt), time.UnixMicro(until), splitIDs(sending)
		return l, err
	}, pendingLanes+`
		SELECT h.lane, h.run_at, COALESCE(k.until, 0), COALESCE(k.sending, ''), COALESCE(w.failures, 0)
		FROM heads h LEFT JOIN delivery_lanes k ON k.lane = h.lane LEFT JOIN webhooks w ON w.id = h.lane
		WHERE h.run_at <= ? ORDER BY h.line, h.run_at /* every company_id */`, now.UnixMicro())
}

// oldestUnsent is since when the oldest delivery of a lane is due that is not
// among those that are being sent, now when there is none.
func oldestUnsent(ctx context.Context, q sqldb.Querier, l dueLane, now time.Time) (time.Time, error) {
	at, err := sqldb.Value[int64](ctx, q, `
		SELECT COALESCE(MIN(run_at), CAST(? AS BIGINT)) FROM delivery_queue
		WHERE line IN (0, 1) AND lane = ? AND run_at <= ? AND NOT delivery_id {in ?} /* every company_id */`,
		now.UnixMicro(), l.lane, now.UnixMicro(), l.sending)
	return time.UnixMicro(at), err
}

// laneRow is a lane as it stands.
type laneRow struct {
	lane    int64
	token   string
	until   time.Time
	sending []int64
}

// lockLanes keeps lanes from being taken by others until the commit.
func lockLanes(ctx context.Context, tx *sqldb.Tx, lanes []int64) (map[int64]laneRow, error) {
	rows := make(map[int64]laneRow, len(lanes))
	for range 2 {
		if err := readLanes(ctx, tx, lanes, rows); err != nil {
			return nil, err
		}
		if len(rows) == len(lanes) {
			break
		}
		// Only a row can be locked. A lane that was never sent has none.
		if err := insertLanes(ctx, tx, lanes); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// lockLane does so for one, and returns what is being sent of it.
func lockLane(ctx context.Context, tx *sqldb.Tx, lane int64) ([]int64, error) {
	rows, err := lockLanes(ctx, tx, []int64{lane})
	row := rows[lane]
	if err != nil || row.until.After(tx.Now()) || len(row.sending) == 0 {
		return row.sending, err
	}
	if err := forfeit(ctx, tx, row.sending); err != nil {
		return nil, err
	}
	return nil, holdLanes(ctx, tx, []laneRow{{lane: lane, until: time.UnixMicro(0)}})
}

func readLanes(ctx context.Context, tx *sqldb.Tx, lanes []int64, rows map[int64]laneRow) error {
	return sqldb.Each(ctx, tx, `
		SELECT lane, token, until, sending FROM delivery_lanes WHERE lane {in ?} ORDER BY lane {for update}`,
		[]any{lanes}, func(r sqldb.Row) error {
			var row laneRow
			var until int64
			var sending string
			err := r.Scan(&row.lane, &row.token, &until, &sending)
			row.until, row.sending = time.UnixMicro(until), splitIDs(sending)
			rows[row.lane] = row
			return err
		})
}

func insertLanes(ctx context.Context, tx *sqldb.Tx, lanes []int64) error {
	for piece := range sqldb.Pieces(lanes) {
		var args []any
		for _, lane := range piece {
			args = append(args, lane, "", 0, "")
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO delivery_lanes (lane, token, until, sending) VALUES `+sqldb.Tuples(len(piece), 4)+` ON CONFLICT DO NOTHING`, args...); err != nil {
			return err
		}
	}
	return nil
}

// holdLanes writes who has lanes that are locked.
func holdLanes(ctx context.Context, tx *sqldb.Tx, rows []laneRow) error {
	for piece := range sqldb.Pieces(rows) {
		var args []any
		for _, row := range piece {
			args = append(args, row.lane, row.token, row.until.UnixMicro(), joinIDs(row.sending))
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO delivery_lanes (lane, token, until, sending) VALUES `+sqldb.Tuples(len(piece), 4)+`
			ON CONFLICT (lane) DO UPDATE SET token = excluded.token, until = excluded.until, sending = excluded.sending`, args...); err != nil {
			return err
		}
	}
	return nil
}

// freeLane gives a lane back, unless it has been taken or filled up since.
func freeLane(ctx context.Context, tx *sqldb.Tx, row laneRow) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE delivery_lanes SET token = '', until = 0, sending = '' WHERE lane = ? AND token = ? AND sending = ?`,
		row.lane, row.token, joinIDs(row.sending))
	return n == 1, err
}

// endHolds lets every hold run out at once. What was being sent stays written
// down: whoever takes the lane next uses those numbers up.
func endHolds(ctx context.Context, tx *sqldb.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE delivery_lanes SET until = 0 WHERE until > 0`)
	return err
}

// forfeit uses up the numbers of attempts that somebody may have made and did
// not record, and with them his right to record them.
func forfeit(ctx context.Context, tx *sqldb.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE delivery_queue SET attempts = attempts + 1, claim = '' WHERE delivery_id {in ?} /* every company_id */`, ids)
	return err
}

// dueIn returns up to so many deliveries of each lane, first attempts before
// retries.
func dueIn(ctx context.Context, tx *sqldb.Tx, lanes []int64, most int) (map[int64][]int64, error) {
	const line = `COALESCE((SELECT string_agg(CAST(d.delivery_id AS TEXT), ',') FROM (
		SELECT q.delivery_id FROM delivery_queue q WHERE q.line = ? AND q.lane = k.lane AND q.run_at <= ? ORDER BY q.run_at LIMIT ?) AS d), '')`
	due := make(map[int64][]int64, len(lanes))
	now := tx.Now().UnixMicro()
	err := sqldb.Each(ctx, tx, `
		SELECT k.lane, `+line+`, `+line+` FROM delivery_lanes k WHERE k.lane {in ?} /* every company_id */`,
		[]any{firstLine, now, most, retryLine, now, most, lanes}, func(r sqldb.Row) error {
			var lane int64
			var first, retries string
			err := r.Scan(&lane, &first, &retries)
			due[lane] = append(splitIDs(first), splitIDs(retries)...)
			return err
		})
	return due, err
}

// claimOneDue makes a due delivery somebody's who waits for it, whatever its
// lane is doing, and says whether it was due.
func claimOneDue(ctx context.Context, tx *sqldb.Tx, companyID, id int64, token string) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE delivery_queue SET claim = ?, attempts = attempts + 1, run_at = ?
		WHERE company_id = ? AND delivery_id = ? AND line IN (0, 1) AND run_at <= ?`,
		token, tx.Now().Add(lease).UnixMicro(), companyID, id, tx.Now().UnixMicro())
	return n == 1, err
}

// readJobs reads what is needed to send deliveries.
func readJobs(ctx context.Context, tx *sqldb.Tx, ids []int64) (map[int64]job, error) {
	jobs := make(map[int64]job, len(ids))
	lanes := make([]int64, 0, len(ids))
	err := sqldb.Each(ctx, tx, `
		SELECT q.delivery_id, q.company_id, q.lane, e.event_id, e.name, e.body, q.url, q.test, q.attempts, q.step, q.run_at, q.claim
		FROM delivery_queue q JOIN events e ON e.company_id = q.company_id AND e.id = q.event_id WHERE q.delivery_id {in ?} /* every company_id */`, []any{ids}, func(r sqldb.Row) error {
		var j job
		var dueAt int64
		var claim string
		err := r.Scan(&j.id, &j.companyID, &j.lane, &j.eventID, (*string)(&j.event), &j.body, &j.url, &j.test, &j.begun,
			&j.step, &dueAt, &claim)
		j.webhookID, j.claimed, j.dueAt = max(j.lane, 0), claim != "", time.UnixMicro(dueAt)
		jobs[j.id], lanes = j, append(lanes, j.lane)
		return err
	})
	if err != nil {
		return nil, err
	}
	to, err := readRecipients(ctx, tx, lanes)
	for id, j := range jobs {
		j.to = to[j.lane]
		if j.webhookID != 0 {
			j.url = j.to.url
		}
		jobs[id] = j
	}
	return jobs, err
}

// readRecipients reads where the deliveries of lanes go, once for each.
func readRecipients(ctx context.Context, tx *sqldb.Tx, lanes []int64) (map[int64]*recipient, error) {
	slices.Sort(lanes)
	lanes = slices.Compact(lanes)
	to := make(map[int64]*recipient, len(lanes))
	for _, lane := range lanes {
		to[lane] = &recipient{active: lane < 0}
	}
	var companies []int64 // whose notifications are sent
	for len(lanes) > 0 && lanes[0] < 0 {
		companies, lanes = append(companies, -lanes[0]), lanes[1:]
	}
	if len(lanes) > 0 {
		err := sqldb.Each(ctx, tx, `SELECT id, url, secret, active, failures FROM webhooks WHERE id {in ?} /* every company_id */`,
			[]any{lanes}, func(row sqldb.Row) error {
				var lane int64
				var r recipient
				err := row.Scan(&lane, &r.url, &r.sealed, &r.active, &r.failures)
				to[lane] = &r
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	if len(companies) == 0 {
		return to, nil
	}
	return to, sqldb.Each(ctx, tx, `SELECT company_id, secret FROM callback_secrets WHERE company_id {in ?} /* every company_id */`,
		[]any{companies}, func(row sqldb.Row) error {
			var companyID int64
			var sealed string
			err := row.Scan(&companyID, &sealed)
			to[-companyID].sealed = sealed
			return err
		})
}
