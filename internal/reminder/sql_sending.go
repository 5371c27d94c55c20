package reminder

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// lanes finds the channels of all companies that have something due. Nothing
// due costs one look; otherwise the channels that have anything scheduled are
// found by leaping through an index, so that the backlog of one costs the
// others nothing.
func lanes(ctx context.Context, querier sqldb.Querier, now time.Time) ([]lane, error) {
	_, err := sqldb.Value[int64](ctx, querier, firstDueText, now.UnixMicro())
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return sqldb.All(ctx, querier, rows.Into(func(lane *lane) []any {
		return []any{&lane.companyID, &lane.channelID, (*civil.Instant)(&lane.nextAt)}
	}), lanesText, now.UnixMicro())
}

const firstDueText = `SELECT run_at + 0 FROM reminder_messages WHERE status = 'scheduled' AND run_at + 0 <= ?
	ORDER BY run_at + 0 LIMIT 1 /* every company_id */`

const lanesText = `WITH RECURSIVE lanes(id) AS (
		SELECT MIN(channel_id) FROM reminder_messages WHERE status = 'scheduled'
		UNION ALL
		SELECT (SELECT MIN(m.channel_id) FROM reminder_messages m WHERE m.status = 'scheduled'
		AND m.channel_id > l.id) FROM lanes l WHERE l.id IS NOT NULL
	), heads AS MATERIALIZED (
		SELECT l.id, (SELECT MIN(m.run_at) FROM reminder_messages m WHERE m.status = 'scheduled' AND m.channel_id = l.id) AS run_at
		FROM lanes l WHERE l.id IS NOT NULL
	)
	SELECT c.company_id, c.id, c.next_at FROM heads h CROSS JOIN reminder_channels c
	WHERE c.id = h.id AND h.run_at <= ? ORDER BY h.run_at /* every company_id */`

// takeLane locks a channel, unless another process has it.
func takeLane(ctx context.Context, tx *sqldb.Tx, lane lane) (Channel, bool, error) {
	channel, err := sqldb.One(ctx, tx, scanChannel, channelText+` {for update skip locked}`, lane.companyID, lane.channelID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return channel, false, nil
	}
	return channel, err == nil, err
}

func setNext(ctx context.Context, tx *sqldb.Tx, lane lane, at time.Time) error {
	return tx.Do(ctx, `UPDATE reminder_channels SET next_at = ? WHERE company_id = ? AND id = ?`,
		at.UnixMicro(), lane.companyID, lane.channelID)
}

const dueMessagesText = `SELECT id FROM reminder_messages
	WHERE company_id = ? AND channel_id = ? AND status = 'scheduled' AND run_at <= ? ORDER BY run_at, id LIMIT ? {for update skip locked}`

// lockSending locks a message that was begun, if it is still ours.
func lockSending(ctx context.Context, tx *sqldb.Tx, job job) (bool, error) {
	return locked(sqldb.Value[int64](ctx, tx, `
		SELECT id FROM reminder_messages WHERE company_id = ? AND id = ? AND claim = ? AND status IN ('sending', 'unknown') {for update}`,
		job.companyID, job.id, job.claim))
}

func locked(_ int64, err error) (bool, error) {
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func beginSending(ctx context.Context, tx *sqldb.Tx, job job, begun begun) error {
	return tx.Do(ctx, `
		UPDATE reminder_messages SET status = 'sending', attempts = ?, run_at = ?, address = ?, subject = ?, body = ?,
		reason = '', arrival = '', arrival_at = 0, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		begun.number, tx.Now().Add(lease).UnixMicro(), begun.To, begun.Subject, begun.Text,
		tx.Now().UnixMicro(), job.companyID, job.id)
}

// settle writes what becomes of a message that is locked.
func settle(ctx context.Context, tx *sqldb.Tx, companyID, id int64, transition transition) error {
	return tx.Do(ctx, `
		UPDATE reminder_messages SET status = ?, reason = ?, channel_id = ?, step = ?, run_at = ?, receipt = ?, sent_at = ?, updated_at = ?,
			claim = CASE WHEN ? THEN claim ELSE '' END
		WHERE company_id = ? AND id = ?`,
		string(transition.status), transition.reason, transition.channelID, transition.step,
		transition.runAt.UnixMicro(), transition.receipt, sqldb.RefTo(civil.Micros(transition.sentAt)), tx.Now().UnixMicro(),
		transition.keepClaim, companyID, id)
}

// setMessageAside ends a message that is still ours: failed, or unknown when it
// may have been sent. It returns the channel that it waited for.
func setMessageAside(ctx context.Context, tx *sqldb.Tx, job job) (channelID int64, err error) {
	return sqldb.Value[int64](ctx, tx, `
		UPDATE reminder_messages SET status = CASE WHEN status = 'sending' THEN 'unknown' ELSE 'failed' END, reason = ?,
			claim = CASE WHEN status = 'sending' THEN claim ELSE '' END, run_at = ?, updated_at = ?
		WHERE company_id = ? AND id = ? AND claim = ? AND status IN ('scheduled', 'sending') RETURNING channel_id`,
		reasonAside, tx.Now().UnixMicro(), tx.Now().UnixMicro(), job.companyID, job.id, job.claim)
}

// lostMessage is one with a sender that has been silent for too long.
type lostMessage struct {
	companyID, id int64
	kind          string
}

const lostText = `SELECT m.company_id, m.id, COALESCE(c.kind, '') FROM reminder_messages m
	LEFT JOIN reminder_channels c ON c.company_id = m.company_id AND c.id = m.channel_id
	WHERE m.status = 'sending' AND m.run_at <= ? LIMIT 100 /* every company_id */`

const reasonLost = "interrupted while it was being sent: it may or may not have arrived"

// settleLost gives a lost message back to the queue, or up.
func settleLost(ctx context.Context, tx *sqldb.Tx, message lostMessage, again bool) (bool, error) {
	status, keep := string(Unknown), true
	if again {
		status, keep = string(Scheduled), false
	}
	return rows.Changed(ctx, tx, `
		UPDATE reminder_messages SET status = ?, reason = ?, run_at = ?, updated_at = ?, claim = CASE WHEN ? THEN claim ELSE '' END
		WHERE company_id = ? AND id = ? AND status = 'sending' AND run_at <= ?`,
		status, reasonLost, tx.Now().UnixMicro(), tx.Now().UnixMicro(), keep, message.companyID,
		message.id, tx.Now().UnixMicro())
}

// channelByCallback finds the channel of an address that a carrier calls.
func channelByCallback(ctx context.Context, querier sqldb.Querier, key string) (reporting, error) {
	companyID, err := sqldb.Value[int64](ctx, querier, `
		SELECT company_id FROM reminder_channels WHERE callback_key = ? AND callback_key <> '' /* every company_id */`, key)
	if err != nil {
		return reporting{}, err
	}
	channel, err := sqldb.One(ctx, querier, scanChannel, `SELECT `+channelColumns+` FROM reminder_channels
		WHERE company_id = ? AND callback_key = ?`, companyID, key)
	return reporting{companyID: companyID, channel: channel}, err
}

// lockReported finds the attempt that a report is about and locks its message. It
// finds nothing where the report is about a message of another system, of another
// company or of none.
func lockReported(
	ctx context.Context, tx account.Tx, kind string, report Report,
) (attempt reportedAttempt, found bool, err error) {
	mark := report.Mark
	if mark == (Mark{}) {
		if mark, err = markOfReceipt(ctx, tx, kind, report.Receipt); err != nil {
			return attempt, false, ignoreMissing(err)
		}
	}
	attempt, key, err := lockAttempt(ctx, tx, mark)
	if err != nil {
		return attempt, false, ignoreMissing(err)
	}
	foreign := mark.Key != "" && mark.Key != key || attempt.kind != kind || mark.Number > attempt.attempts ||
		!attempt.recorded && (mark.Number != attempt.attempts || attempt.status != Sending && attempt.status != Unknown) ||
		attempt.receipt != "" && report.Receipt != "" && attempt.receipt != report.Receipt
	return attempt, !foreign, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil
	}
	return err
}

// markOfReceipt finds an attempt by what the carrier calls it.
func markOfReceipt(ctx context.Context, tx account.Tx, kind, receipt string) (Mark, error) {
	return sqldb.One(ctx, tx, rows.Into(func(mark *Mark) []any {
		return []any{&mark.MessageID, &mark.Number}
	}), `SELECT message_id, number FROM reminder_attempts WHERE company_id = ? AND receipt = ? AND receipt <> ''
		AND kind = ? ORDER BY message_id DESC LIMIT 1`, tx.Company.ID, receipt, kind)
}

// lockAttempt locks a message and reads one of its attempts. Where the attempt is
// not recorded yet, the message has its channel.
func lockAttempt(ctx context.Context, tx account.Tx, mark Mark) (attempt reportedAttempt, key string, err error) {
	_, err = sqldb.Value[int64](ctx, tx,
		`SELECT id FROM reminder_messages WHERE company_id = ? AND id = ? {for update}`, tx.Company.ID, mark.MessageID)
	if err != nil {
		return attempt, "", err
	}
	attempt, err = sqldb.One(ctx, tx, func(row sqldb.Row) (reportedAttempt, error) {
		return scanReported(row, &key)
	}, reportedText+`? WHERE m.company_id = ? AND m.id = ?`, mark.Number, tx.Company.ID, mark.MessageID)
	attempt.number = mark.Number
	return attempt, key, err
}

// reportedOf reads what was reported of the newest attempt of a message that is
// locked.
func reportedOf(
	ctx context.Context, tx *sqldb.Tx, companyID, messageID int64,
) (attempt reportedAttempt, found bool, err error) {
	var key string
	attempt, err = sqldb.One(ctx, tx, func(row sqldb.Row) (reportedAttempt, error) {
		return scanReported(row, &key)
	}, reportedText+`m.attempts WHERE m.company_id = ? AND m.id = ?`, companyID, messageID)
	if err != nil {
		return attempt, false, ignoreMissing(err)
	}
	attempt.number = attempt.attempts
	return attempt, attempt.arrival != "", nil
}

// An attempt that only a report knows of has the outcome that the report means.
const reportedText = `SELECT m.id, m.key, m.status, m.attempts, COALESCE(a.channel_id, m.channel_id), COALESCE(a.kind, c.kind, ''),
		COALESCE(a.number, 0), COALESCE(a.receipt, ''), COALESCE(a.arrival, ''), COALESCE(a.arrival_at, 0),
		COALESCE(a.outcome, ''), COALESCE(a.arrival_problem, '')
	FROM reminder_messages m
	LEFT JOIN reminder_channels c ON c.company_id = m.company_id AND c.id = m.channel_id
	LEFT JOIN reminder_attempts a ON a.company_id = m.company_id AND a.message_id = m.id AND a.number = `

func scanReported(row sqldb.Row, key *string) (attempt reportedAttempt, err error) {
	var recorded int64
	err = row.Scan(&attempt.messageID, key, (*string)(&attempt.status), &attempt.attempts,
		&attempt.channelID, &attempt.kind, &recorded, &attempt.receipt, (*string)(&attempt.arrival),
		(*civil.Instant)(&attempt.at), (*string)(&attempt.verdict), &attempt.problem)
	attempt.recorded = recorded != 0
	if attempt.arrival == ArrivalFailed {
		attempt.verdict = attempt.verdict.ofFailure()
	} else {
		attempt.verdict = accepted
	}
	return attempt, err
}

// saveReport writes what was reported of an attempt. If the outcome is not
// recorded yet, the report makes the row.
func saveReport(ctx context.Context, tx account.Tx, attempt reportedAttempt) error {
	return tx.Do(ctx, `
		INSERT INTO reminder_attempts (company_id, message_id, number, channel_id, kind, at, duration_ms, outcome, problem,
			receipt, arrival, arrival_at, arrival_problem)
		VALUES (?, ?, ?, ?, ?, ?, 0, ?, '', ?, ?, ?, ?)
		ON CONFLICT (company_id, message_id, number) DO UPDATE SET receipt = excluded.receipt, arrival = excluded.arrival,
			arrival_at = excluded.arrival_at, arrival_problem = excluded.arrival_problem`,
		tx.Company.ID, attempt.messageID, attempt.number, attempt.channelID, attempt.kind,
		attempt.at.UnixMicro(), string(attempt.verdict), attempt.receipt,
		string(attempt.arrival), attempt.at.UnixMicro(), attempt.problem)
}

// setArrival shows at a message what was reported of its newest attempt.
func setArrival(ctx context.Context, tx *sqldb.Tx, companyID int64, attempt reportedAttempt) error {
	return tx.Do(ctx, `UPDATE reminder_messages SET arrival = ?, arrival_at = ? WHERE company_id = ? AND id = ?`,
		string(attempt.arrival), civil.Micros(attempt.at), companyID, attempt.messageID)
}
