package reminder

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/sqldb"
)

// lanes finds the channels of all companies that have something due. Nothing
// due costs one look; otherwise the channels that have anything scheduled are
// found by leaping through an index, so that the backlog of one costs the
// others nothing.
func lanes(ctx context.Context, q sqldb.Querier, now time.Time) ([]lane, error) {
	_, err := sqldb.Value[int64](ctx, q, firstDueText, now.UnixMicro())
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return sqldb.All(ctx, q, func(r sqldb.Row) (l lane, err error) {
		var next int64
		err = r.Scan(&l.companyID, &l.channelID, &next)
		l.nextAt = time.UnixMicro(next)
		return l, err
	}, lanesText, now.UnixMicro())
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
func takeLane(ctx context.Context, tx *sqldb.Tx, l lane) (Channel, bool, error) {
	c, err := sqldb.One(ctx, tx, scanChannel, channelText+` {for update skip locked}`, l.companyID, l.channelID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return c, false, nil
	}
	return c, err == nil, err
}

func setNext(ctx context.Context, tx *sqldb.Tx, l lane, at time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE reminder_channels SET next_at = ? WHERE company_id = ?
		AND id = ?`, at.UnixMicro(), l.companyID, l.channelID)
	return err
}

// countUnderWay counts the messages of a channel that somebody is sending.
func countUnderWay(ctx context.Context, tx *sqldb.Tx, l lane) (int, error) {
	return sqldb.Value[int](ctx, tx, `
		SELECT count(*) FROM reminder_messages
		WHERE company_id = ? AND channel_id = ? AND claim <> '' AND status IN ('scheduled', 'sending') AND run_at > ?`,
		l.companyID, l.channelID, tx.Now().UnixMicro())
}

// dueMessages locks due messages of a channel, the oldest first.
func dueMessages(ctx context.Context, tx *sqldb.Tx, l lane, limit int) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, dueMessagesText, l.companyID, l.channelID, tx.Now().UnixMicro(), limit)
}

const dueMessagesText = `SELECT id FROM reminder_messages
	WHERE company_id = ? AND channel_id = ? AND status = 'scheduled' AND run_at <= ? ORDER BY run_at, id LIMIT ? {for update skip locked}`

func claim(ctx context.Context, tx *sqldb.Tx, companyID, id int64, token string) error {
	_, err := tx.Exec(ctx, `UPDATE reminder_messages SET claim = ?, run_at = ? WHERE company_id = ? AND id = ?`,
		token, tx.Now().Add(lease).UnixMicro(), companyID, id)
	return err
}

// lockClaimed locks a message that was claimed and not begun, if it is still
// ours.
func lockClaimed(ctx context.Context, tx *sqldb.Tx, j job) (bool, error) {
	return locked(sqldb.Value[int64](ctx, tx, `
		SELECT id FROM reminder_messages WHERE company_id = ? AND id = ? AND claim = ? AND status = 'scheduled' {for update}`,
		j.companyID, j.id, j.claim))
}

// lockSending locks a message that was begun, if it is still ours.
func lockSending(ctx context.Context, tx *sqldb.Tx, j job) (bool, error) {
	return locked(sqldb.Value[int64](ctx, tx, `
		SELECT id FROM reminder_messages WHERE company_id = ? AND id = ? AND claim = ? AND status IN ('sending', 'unknown') {for update}`,
		j.companyID, j.id, j.claim))
}

func locked(_ int64, err error) (bool, error) {
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func beginSending(ctx context.Context, tx *sqldb.Tx, j job, b begun) error {
	_, err := tx.Exec(ctx, `
		UPDATE reminder_messages SET status = 'sending', attempts = ?, run_at = ?, address = ?, subject = ?, body = ?,
		reason = '', updated_at = ?
		WHERE company_id = ? AND id = ?`,
		b.number, tx.Now().Add(lease).UnixMicro(), b.To, b.Subject, b.Text, tx.Now().UnixMicro(), j.companyID, j.id)
	return err
}

// settle writes what becomes of a message that is locked.
func settle(ctx context.Context, tx *sqldb.Tx, companyID, id int64, n transition) error {
	var sent sqldb.Ref
	if !n.sentAt.IsZero() {
		sent = sqldb.RefTo(n.sentAt.UnixMicro())
	}
	_, err := tx.Exec(ctx, `
		UPDATE reminder_messages SET status = ?, reason = ?, channel_id = ?, step = ?, run_at = ?, receipt = ?, sent_at = ?, updated_at = ?,
			claim = CASE WHEN ? THEN claim ELSE '' END
		WHERE company_id = ? AND id = ?`,
		string(n.status), n.reason, n.channelID, n.step, n.runAt.UnixMicro(), n.receipt, sent, tx.Now().UnixMicro(), n.keepClaim, companyID, id)
	return err
}

// setMessageAside ends a message that is still ours: failed, or unknown when it
// may have been sent. It returns the channel that it waited for.
func setMessageAside(ctx context.Context, tx *sqldb.Tx, j job) (channelID int64, err error) {
	return sqldb.Value[int64](ctx, tx, `
		UPDATE reminder_messages SET status = CASE WHEN status = 'sending' THEN 'unknown' ELSE 'failed' END, reason = ?,
			claim = CASE WHEN status = 'sending' THEN claim ELSE '' END, run_at = ?, updated_at = ?
		WHERE company_id = ? AND id = ? AND claim = ? AND status IN ('scheduled', 'sending') RETURNING channel_id`,
		reasonAside, tx.Now().UnixMicro(), tx.Now().UnixMicro(), j.companyID, j.id, j.claim)
}

// lostMessage is one whose sender has not been heard of for too long.
type lostMessage struct {
	companyID, id int64
	kind          string
}

func lostMessages(ctx context.Context, q sqldb.Querier, now time.Time) ([]lostMessage, error) {
	return sqldb.All(ctx, q, func(r sqldb.Row) (m lostMessage, err error) {
		err = r.Scan(&m.companyID, &m.id, &m.kind)
		return m, err
	}, lostText, now.UnixMicro())
}

const lostText = `SELECT m.company_id, m.id, COALESCE(c.kind, '') FROM reminder_messages m
	LEFT JOIN reminder_channels c ON c.company_id = m.company_id AND c.id = m.channel_id
	WHERE m.status = 'sending' AND m.run_at <= ? LIMIT 100 /* every company_id */`

const reasonLost = "interrupted while it was being sent: it may or may not have arrived"

// settleLost gives a lost message back to the queue, or up.
func settleLost(ctx context.Context, tx *sqldb.Tx, m lostMessage, again bool) (bool, error) {
	status, keep := string(Unknown), true
	if again {
		status, keep = string(Scheduled), false
	}
	n, err := tx.Exec(ctx, `
		UPDATE reminder_messages SET status = ?, reason = ?, run_at = ?, updated_at = ?, claim = CASE WHEN ? THEN claim ELSE '' END
		WHERE company_id = ? AND id = ? AND status = 'sending' AND run_at <= ?`,
		status, reasonLost, tx.Now().UnixMicro(), tx.Now().UnixMicro(), keep, m.companyID, m.id, tx.Now().UnixMicro())
	return n == 1, err
}
