package sender

import (
	"context"
	"slices"
	"strconv"
	"strings"
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

// dueLane is a lane with something due.
type dueLane struct {
	lane     int64
	overdue  time.Duration
	leased   bool // some process has it
	sending  []int64
	failures int
}

// dueLanes finds the lanes with something due, each once: first attempts before
// retries, the longest due first. It speaks for all companies: a lane belongs to
// one company_id.
func dueLanes(ctx context.Context, db *sqldb.DB) ([]dueLane, error) {
	found, err := sqldb.All(ctx, db, func(row sqldb.Row) (lane dueLane, err error) {
		var overdue int64
		var sending string
		err = row.Scan(&lane.lane, &overdue, &lane.leased, &sending, &lane.failures)
		lane.overdue, lane.sending = time.Duration(overdue)*time.Microsecond, splitIDs(sending)
		return lane, err
	}, pendingLanes+`
		SELECT h.lane, {clock ?} - h.run_at, COALESCE(k.until, 0) > {clock ?}, COALESCE(k.sending, ''), COALESCE(w.failures, 0)
		FROM heads h LEFT JOIN delivery_lanes k ON k.lane = h.lane LEFT JOIN webhooks w ON w.id = h.lane
		WHERE h.run_at <= {clock ?} ORDER BY h.line, h.run_at /* every company_id */`, db.DueClock(),
		db.Clock(), db.DueClock())
	seen := make(map[int64]bool, len(found))
	return slices.DeleteFunc(found, func(lane dueLane) bool {
		twice := seen[lane.lane]
		seen[lane.lane] = true
		return twice
	}), err
}

// dueAmong returns which of some lanes have something due and are not leased.
func dueAmong(ctx context.Context, db *sqldb.DB, lanes []int64) ([]int64, error) {
	text, args := few(`
		SELECT k.lane FROM delivery_lanes k WHERE k.lane {in ?} AND k.until <= {clock ?} AND (
			EXISTS (SELECT 1 FROM delivery_queue q WHERE q.line = 0 AND q.lane = k.lane AND q.run_at <= {clock ?}) OR
			EXISTS (SELECT 1 FROM delivery_queue q WHERE q.line = 1 AND q.lane = k.lane AND q.run_at <= {clock ?})) /* every company_id */`,
		lanes)
	return sqldb.Values[int64](ctx, db, text, append(args, db.Clock(), db.DueClock(), db.DueClock())...)
}

// overdueUnsent is since when the oldest delivery of a lane is due that is not
// among those that are being sent; 0 when there is none.
func overdueUnsent(ctx context.Context, db *sqldb.DB, lane dueLane) (time.Duration, error) {
	micros, err := sqldb.Value[int64](ctx, db, `
		SELECT COALESCE(MAX({clock ?} - run_at), 0) FROM delivery_queue
		WHERE line IN (0, 1) AND lane = ? AND run_at <= {clock ?} AND NOT delivery_id {in ?} /* every company_id */`,
		db.DueClock(), lane.lane, db.DueClock(), lane.sending)
	return time.Duration(micros) * time.Microsecond, err
}

// laneRow is a lane as the database has it.
type laneRow struct {
	lane    int64
	token   string // of the lease
	leased  bool   // the lease has not expired
	sending []int64
}

const (
	passOver = `{for update skip locked}`
	wait     = `{for update}`
)

// lockLanes locks lanes until the commit. With passOver it leaves out those
// that another transaction has: that one may be of a process that was cut off.
func lockLanes(ctx context.Context, tx *sqldb.Tx, lanes []int64, others string) (map[int64]laneRow, error) {
	rows := make(map[int64]laneRow, len(lanes))
	return rows, sqldb.Together(ctx, tx, lockingLanes(tx, lanes, others, rows))
}

func lockingLanes(tx *sqldb.Tx, lanes []int64, others string, into map[int64]laneRow) sqldb.Statement {
	return sqldb.Statement{
		Text: `
		SELECT lane, token, until > {clock ?}, sending FROM delivery_lanes WHERE lane {in ?} ORDER BY lane ` + others,
		Args: []any{tx.Clock(), lanes},
		Scan: func(r sqldb.Row) error {
			var row laneRow
			var sending string
			err := r.Scan(&row.lane, &row.token, &row.leased, &sending)
			row.sending = splitIDs(sending)
			into[row.lane] = row
			return err
		},
	}
}

// saveLeases writes which process has lanes that are locked.
func saveLeases(ctx context.Context, tx *sqldb.Tx, rows []laneRow) error {
	for piece := range sqldb.Pieces(rows) {
		var args []any
		for _, row := range piece {
			args = append(args, row.lane, row.token, 0, joinIDs(row.sending))
		}
		args = append(args, tx.Clock(), leaseTime.Microseconds())
		if err := tx.Queue(ctx, `
			INSERT INTO delivery_lanes (lane, token, until, sending) VALUES `+sqldb.Tuples(len(piece), 4)+`
			ON CONFLICT (lane) DO UPDATE SET token = excluded.token, until = {clock ?} + ?, sending = excluded.sending`,
			args...); err != nil {
			return err
		}
	}
	return nil
}

// renewLeases lengthens the leases that a process has on lanes, and returns
// which it has. A lane that one of its own transactions has locked is left to
// the next time.
func renewLeases(ctx context.Context, tx *sqldb.Tx, instance string, lanes []int64) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `
		UPDATE delivery_lanes SET until = {clock ?} + ? WHERE lane IN (
			SELECT lane FROM delivery_lanes WHERE lane {in ?} AND token LIKE ? {for update skip locked}) RETURNING lane`,
		tx.Clock(), leaseTime.Microseconds(), lanes, instance+"%")
}

// endLeases gives lanes back that are still leased so.
func endLeases(ctx context.Context, tx *sqldb.Tx, leases []lease) error {
	lanes, tokens := make([]int64, len(leases)), make([]string, len(leases))
	for i, lease := range leases {
		lanes[i], tokens[i] = lease.lane, lease.token
	}
	text, args := few(
		`UPDATE delivery_lanes SET token = '', until = 0, sending = '' WHERE lane {in ?} AND token {in ?}`, lanes)
	return tx.Queue(ctx, text, append(args, tokens)...)
}

// joinIDs and splitIDs turn ids into the text that is stored: ",5,6,".
func joinIDs(ids []int64) string {
	if len(ids) == 0 {
		return ""
	}
	text := []byte{','}
	for _, id := range ids {
		text = append(strconv.AppendInt(text, id, 10), ',')
	}
	return string(text)
}

func splitIDs(text string) []int64 {
	var ids []int64
	for part := range strings.SplitSeq(text, ",") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
