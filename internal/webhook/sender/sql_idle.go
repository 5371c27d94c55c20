package sender

import "carteira/internal/platform/sqldb"

// leasingIdle leases a lane and writes down what it is leased for, where nothing
// about it is out of the ordinary: nobody has it, no process died over it, its
// receiver is well, and only first attempts are due. Texts for one lane are
// planned once, and not for every list of lanes.
//
// The deliveries are those that were due when the statement began. Another
// process may have had the lane between that and the lock, and sent them: only
// those count that readingLeased finds.
func leasingIdle(tx *sqldb.Tx, request request, scan func(sqldb.Row) error) sqldb.Statement {
	return sqldb.Statement{
		Text: `
		UPDATE delivery_lanes SET token = ?, until = {clock ?} + ?, sending = due.ids
		FROM (SELECT ',' || string_agg(CAST(d.delivery_id AS TEXT), ',') || ',' AS ids FROM (
			SELECT q.delivery_id FROM delivery_queue q
			WHERE q.line = 0 AND q.lane = ? AND q.run_at <= {clock ?} AND q.claim = ''
			ORDER BY q.run_at LIMIT ?) AS d) AS due
		WHERE due.ids IS NOT NULL AND lane IN (
			SELECT k.lane FROM delivery_lanes k WHERE k.lane = ? AND k.until <= {clock ?} AND k.sending = '' {for update skip locked})
			AND NOT EXISTS (SELECT 1 FROM delivery_queue q WHERE q.line = 1 AND q.lane = ? AND q.run_at <= {clock ?})
			AND NOT EXISTS (SELECT 1 FROM webhooks WHERE id = ? AND failures > 0)
		RETURNING sending /* every company_id */`,
		Args: []any{
			request.token, tx.Clock(), leaseTime.Microseconds(), request.lane, tx.DueClock(), request.size,
			request.lane, tx.Clock(), request.lane, tx.DueClock(), request.lane,
		},
		Scan: scan,
	}
}

// readingLeased reads the deliveries that a lane was leased for just now. They are
// found by their ids: the sums keep both databases from walking all that is due in
// the lane, which may be a long backlog.
func readingLeased(tx *sqldb.Tx, request request, into map[int64]Job) sqldb.Statement {
	return sqldb.Statement{
		Text: selectJobs + `
		FROM delivery_lanes k JOIN delivery_queue q ON q.delivery_id {in ids of k.sending}
			JOIN events e ON e.company_id = q.company_id AND e.id = q.event_id
		WHERE k.lane = ? AND k.token = ? AND q.line + 0 = 0 AND q.run_at + 0 <= {clock ?} AND q.claim = '' /* every company_id */`,
		Args: []any{tx.DueClock(), request.lane, request.token, tx.DueClock()},
		Scan: scanJob(into),
	}
}
