package reminder

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

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

func setHeard(ctx context.Context, tx *sqldb.Tx, companyID, channelID int64) error {
	_, err := tx.Exec(ctx, `UPDATE reminder_channels SET heard_at = ? WHERE company_id = ? AND id = ? AND heard_at < ?`,
		tx.Now().UnixMicro(), companyID, channelID, tx.Now().UnixMicro())
	return err
}

// lockReported finds the attempt that a report is about and locks its message. It
// finds nothing where the report is about a message of another system, of another
// company or of none.
func lockReported(
	ctx context.Context,
	tx account.Tx,
	kind string,
	report Report,
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
	return sqldb.One(ctx, tx, func(row sqldb.Row) (mark Mark, err error) {
		err = row.Scan(&mark.MessageID, &mark.Number)
		return mark, err
	}, `SELECT message_id, number FROM reminder_attempts WHERE company_id = ? AND receipt = ? AND receipt <> ''
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
	ctx context.Context,
	tx *sqldb.Tx,
	companyID, messageID int64,
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
	var recorded, at int64
	err = row.Scan(&attempt.messageID, key, (*string)(&attempt.status), &attempt.attempts,
		&attempt.channelID, &attempt.kind, &recorded, &attempt.receipt, (*string)(&attempt.arrival),
		&at, (*string)(&attempt.verdict), &attempt.problem)
	attempt.recorded, attempt.at = recorded != 0, instant(at)
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
	_, err := tx.Exec(ctx, `
		INSERT INTO reminder_attempts (company_id, message_id, number, channel_id, kind, at, duration_ms, outcome, problem,
			receipt, arrival, arrival_at, arrival_problem)
		VALUES (?, ?, ?, ?, ?, ?, 0, ?, '', ?, ?, ?, ?)
		ON CONFLICT (company_id, message_id, number) DO UPDATE SET receipt = excluded.receipt, arrival = excluded.arrival,
			arrival_at = excluded.arrival_at, arrival_problem = excluded.arrival_problem`,
		tx.Company.ID, attempt.messageID, attempt.number, attempt.channelID, attempt.kind,
		attempt.at.UnixMicro(), string(attempt.verdict), attempt.receipt,
		string(attempt.arrival), attempt.at.UnixMicro(), attempt.problem)
	return err
}

// setArrival shows at a message what was reported of its newest attempt.
func setArrival(ctx context.Context, tx *sqldb.Tx, companyID int64, attempt reportedAttempt) error {
	_, err := tx.Exec(ctx, `UPDATE reminder_messages SET arrival = ?, arrival_at = ? WHERE company_id = ? AND id = ?`,
		string(attempt.arrival), unixMicro(attempt.at), companyID, attempt.messageID)
	return err
}

// unixMicro writes no time at all as 0.
func unixMicro(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMicro()
}
