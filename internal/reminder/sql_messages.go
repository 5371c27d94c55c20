package reminder

import (
	"context"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// insertMessages writes planned messages and returns how many it made. One that
// is there already stays as it is, unless it was given up unsent before the
// moment that it has now: then its time comes again.
func insertMessages(ctx context.Context, tx *sqldb.Tx, companyID int64, list []Message) (n int64, err error) {
	at := tx.Now().UnixMicro()
	for piece := range sqldb.Pieces(list) {
		var values []any
		for _, m := range piece {
			values = append(values, companyID, m.Key, m.RuleID, m.CustomerID, m.DueOn, string(m.Status), m.Reason, m.ChannelID,
				false, 0, 0, m.RunAt.UnixMicro(), "", "", "", "", "", at, at)
		}
		made, err := tx.Exec(ctx, `
			INSERT INTO reminder_messages (company_id, key, rule_id, customer_id, due_on, status, reason, channel_id,
				manual, step, attempts, run_at, claim, address, subject, body, receipt, created_at, updated_at)
			VALUES `+sqldb.Tuples(len(piece), len(values)/len(piece))+`
			ON CONFLICT (company_id, customer_id, rule_id, due_on) DO UPDATE SET status = 'scheduled', reason = '', step = 0,
				channel_id = excluded.channel_id, run_at = excluded.run_at, late_at = 0, updated_at = excluded.updated_at
			WHERE reminder_messages.status IN ('skipped', 'failed') AND excluded.status = 'scheduled'
				AND excluded.run_at > reminder_messages.updated_at`, values...)
		if err != nil {
			return n, err
		}
		n += made
	}
	return n, nil
}

// unscheduleAhead takes back what a rule has scheduled and whose hour has not
// come.
func unscheduleAhead(ctx context.Context, tx *sqldb.Tx, companyID, ruleID int64) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM reminder_messages WHERE company_id = ? AND rule_id = ? AND status = 'scheduled' AND claim = ''
		AND attempts = 0 AND run_at > ?`,
		companyID, ruleID, tx.Now().UnixMicro())
	return err
}

// unscheduleRule takes back all that a rule has scheduled. What was tried stays
// in the log.
func unscheduleRule(ctx context.Context, tx *sqldb.Tx, companyID, ruleID int64) error {
	if _, err := tx.Exec(ctx, `
		DELETE FROM reminder_messages WHERE company_id = ? AND rule_id = ? AND status = 'scheduled'
		AND attempts = 0`, companyID, ruleID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE reminder_messages SET status = 'skipped', reason = 'the rule is switched off', claim = '', updated_at = ?
		WHERE company_id = ? AND rule_id = ? AND status = 'scheduled'`, tx.Now().UnixMicro(), companyID, ruleID)
	return err
}

// unscheduleOthers takes back what is scheduled for other due dates of a
// customer.
func unscheduleOthers(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64, dueOn civil.Date) error {
	kept := dueOn.String() // no date: nothing is kept
	if _, err := tx.Exec(ctx, `DELETE FROM reminder_messages WHERE `+otherDates+`
		AND attempts = 0`, companyID, customerID, kept); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE reminder_messages SET status = 'skipped', reason = 'due date moved', claim = '', updated_at = ? WHERE `+otherDates,
		tx.Now().UnixMicro(), companyID, customerID, kept)
	return err
}

// otherDates is what is scheduled for other due dates of a customer. The
// function keeps SQLite from reading all that the company has scheduled.
const otherDates = `company_id = ? AND customer_id = ? AND COALESCE(status, '') = 'scheduled' AND due_on <> ?`

func removeOfCustomer(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	for _, text := range []string{
		`DELETE FROM reminder_messages WHERE company_id = ? AND customer_id = ?`,
		`DELETE FROM reminder_optouts WHERE company_id = ? AND customer_id = ?`,
	} {
		if _, err := tx.Exec(ctx, text, companyID, customerID); err != nil {
			return err
		}
	}
	return nil
}

func removeMessage(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM reminder_messages WHERE company_id = ? AND id = ?`, companyID, id)
	return err
}

// skipLane ends what waits for a channel that goes away.
func skipLane(ctx context.Context, tx *sqldb.Tx, companyID, channelID int64, reason string) error {
	_, err := tx.Exec(ctx, `
		UPDATE reminder_messages SET status = 'skipped', reason = ?, claim = '', updated_at = ?
		WHERE company_id = ? AND channel_id = ? AND status = 'scheduled'`, reason, tx.Now().UnixMicro(), companyID, channelID)
	return err
}

func pruneMessages(ctx context.Context, tx *sqldb.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, `
		DELETE FROM reminder_messages WHERE (company_id, id) IN (
			SELECT company_id, id FROM reminder_messages WHERE status IN ('sent', 'failed', 'skipped', 'dismissed')
			AND updated_at < ? ORDER BY updated_at LIMIT ?
		) /* every company_id */`, before.UnixMicro(), limit)
}

func insertAttempt(ctx context.Context, tx *sqldb.Tx, j job, b begun, o outcome) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO reminder_attempts (company_id, message_id, number, channel_id, kind, at, duration_ms, outcome, problem)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		j.companyID, j.id, b.number, b.channel.ID, b.kind.Name, o.at.UnixMicro(), o.duration.Milliseconds(), string(o.verdict), o.problem)
	return err
}

func attempts(ctx context.Context, q sqldb.Querier, companyID, messageID int64) ([]Attempt, error) {
	return sqldb.All(ctx, q, func(r sqldb.Row) (t Attempt, err error) {
		var at, took int64
		err = r.Scan(&t.Number, &t.ChannelID, &t.Kind, &at, &took, &t.Outcome, &t.Problem)
		t.At, t.Duration = time.UnixMicro(at), time.Duration(took)*time.Millisecond
		return t, err
	}, `SELECT number, channel_id, kind, at, duration_ms, outcome, problem FROM reminder_attempts
		WHERE company_id = ? AND message_id = ? ORDER BY number`, companyID, messageID)
}

// backlogOf counts the messages that wait for a person, and finds since when
// the oldest is due; now when there is none.
func backlogOf(ctx context.Context, q sqldb.Querier, now time.Time) (unknown int64, oldest time.Time, err error) {
	err = sqldb.Each(ctx, q, `SELECT (SELECT count(*) FROM reminder_messages WHERE status = 'unknown'),
		COALESCE((`+firstDueText+`), 0)`, []any{now.UnixMicro()}, func(r sqldb.Row) error {
		var first int64
		err := r.Scan(&unknown, &first)
		oldest = now
		if first != 0 {
			oldest = time.UnixMicro(first)
		}
		return err
	})
	return unknown, oldest, err
}

const messageColumns = `m.id, m.key, m.rule_id, COALESCE(r.name, ''), m.customer_id, COALESCE(c.name, ''), m.due_on, m.status, m.reason,
	m.channel_id, COALESCE(h.name, ''), COALESCE(h.kind, ''), m.attempts, m.run_at, m.address, m.subject, m.body, m.receipt,
	COALESCE(m.sent_at, 0), m.created_at, m.updated_at`

const messageJoins = ` LEFT JOIN reminder_rules r ON r.company_id = m.company_id AND r.id = m.rule_id
	LEFT JOIN customers c ON c.company_id = m.company_id AND c.id = m.customer_id
	LEFT JOIN reminder_channels h ON h.company_id = m.company_id AND h.id = m.channel_id`

func scanMessage(r sqldb.Row) (m Message, err error) {
	var run, sent, created, updated int64
	err = r.Scan(&m.ID, &m.Key, &m.RuleID, &m.RuleName, &m.CustomerID, &m.Customer, &m.DueOn, (*string)(&m.Status), &m.Reason,
		&m.ChannelID, &m.Channel, &m.Kind, &m.Attempts, &run, &m.Address, &m.Subject, &m.Text, &m.Receipt, &sent, &created, &updated)
	m.RunAt, m.SentAt, m.CreatedAt, m.UpdatedAt = time.UnixMicro(run), instant(sent), time.UnixMicro(created), time.UnixMicro(updated)
	return m, err
}

func messages(ctx context.Context, q sqldb.Querier, companyID int64, f Filter, page input.Page) ([]Message, error) {
	w := sqldb.Window{
		Source: sqldb.Source{ID: "m.id", From: "reminder_messages m", Where: chosen(companyID, f), Order: "m.id"}, Limit: page.Size, Offset: page.Offset(),
	}
	ids, args := w.IDs()
	return sqldb.All(ctx, q, scanMessage, `WITH page AS MATERIALIZED (`+ids+`)
		SELECT `+messageColumns+` FROM page CROSS JOIN reminder_messages m`+messageJoins+`
		WHERE m.id = page.id AND m.company_id = ? ORDER BY m.id DESC`, append(args, companyID)...)
}

func countMessages(ctx context.Context, q sqldb.Querier, companyID int64, f Filter) (int64, error) {
	where := chosen(companyID, f)
	return sqldb.Value[int64](ctx, q, `
		SELECT count(*) FROM (SELECT 1 FROM reminder_messages m`+where.String()+` LIMIT ?) counted`, append(where.Args, Countable)...)
}

func countUnknown(ctx context.Context, q sqldb.Querier, companyID int64) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM reminder_messages WHERE company_id = ? AND status = 'unknown'`, companyID)
}

func countByStatus(ctx context.Context, q sqldb.Querier, companyID int64) (map[Status]int64, error) {
	n := map[Status]int64{}
	err := sqldb.Each(ctx, q, `SELECT status, count(*) FROM reminder_messages
		WHERE company_id = ? GROUP BY status`, []any{companyID}, func(r sqldb.Row) error {
		var status string
		var count int64
		err := r.Scan(&status, &count)
		n[Status(status)] = count
		return err
	})
	return n, err
}

func messageByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Message, error) {
	m, err := sqldb.One(ctx, q, scanMessage, `SELECT `+messageColumns+` FROM reminder_messages m`+messageJoins+`
		WHERE m.company_id = ? AND m.id = ?`, companyID, id)
	return m, sqldb.Found(err, "message")
}

func lockMessage(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (Message, error) {
	_, err := sqldb.Value[int64](ctx, tx, `SELECT id FROM reminder_messages WHERE company_id = ? AND id = ? {for update}`, companyID, id)
	if err != nil {
		return Message{}, sqldb.Found(err, "message")
	}
	return messageByID(ctx, tx, companyID, id)
}

// saveDecision writes what a person decided.
func saveDecision(ctx context.Context, tx *sqldb.Tx, companyID int64, m Message, manual bool) error {
	var sent sqldb.Ref
	if !m.SentAt.IsZero() {
		sent = sqldb.RefTo(m.SentAt.UnixMicro())
	}
	_, err := tx.Exec(ctx, `
		UPDATE reminder_messages SET status = ?, reason = ?, run_at = ?, channel_id = ?, sent_at = ?, claim = '',
		manual = ?, step = 0, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		string(m.Status), m.Reason, m.RunAt.UnixMicro(), m.ChannelID, sent, manual, tx.Now().UnixMicro(), companyID, m.ID)
	return err
}

func saveOptOut(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64, out bool) error {
	if !out {
		_, err := tx.Exec(ctx, `DELETE FROM reminder_optouts WHERE company_id = ? AND customer_id = ?`, companyID, customerID)
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO reminder_optouts (company_id, customer_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		companyID, customerID, tx.Now().UnixMicro())
	return err
}
