package reminder

import (
	"cmp"
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/sqldb"
)

// onceADate has a message that is there already stay as it is, unless it was given
// up unsent before the moment that it has now: then its time comes again.
const onceADate = `(company_id, customer_id, rule_id, due_on, invoice_id) DO UPDATE SET ` + again + `
	WHERE reminder_messages.status IN ('skipped', 'failed') AND excluded.status = 'scheduled'
		AND excluded.run_at > reminder_messages.updated_at`

// onceAnInvoice makes an unsent receipt wait again: the invoice was paid again.
// One that was sent, is being sent or may have been sent stays.
const onceAnInvoice = `(company_id, rule_id, invoice_id) WHERE invoice_id <> 0 DO UPDATE SET manual = excluded.manual, ` + again + `
	WHERE reminder_messages.status IN ('skipped', 'failed')
		OR reminder_messages.status = 'scheduled' AND reminder_messages.claim = '' AND reminder_messages.attempts = 0`

const again = `status = 'scheduled', reason = '', step = 0, channel_id = excluded.channel_id, run_at = excluded.run_at,
	late_at = excluded.late_at, updated_at = excluded.updated_at`

// insertMessages writes planned messages, and returns how many it made. once is
// what becomes of one that is there already.
func insertMessages(ctx context.Context, tx account.Tx, once string, list []Message) (count int64, err error) {
	at := tx.Now().UnixMicro()
	for piece := range sqldb.Pieces(list) {
		var values []any
		for _, message := range piece {
			values = append(values, tx.Company.ID, message.Key, message.RuleID, message.CustomerID, message.DueOn,
				string(message.Status), message.Reason, message.ChannelID, message.manual, 0, 0,
				message.RunAt.UnixMicro(), civil.Micros(message.lateAt), "", "", "", "", "", message.InvoiceID, at, at)
		}
		made, err := tx.Exec(ctx, `
			INSERT INTO reminder_messages (company_id, key, rule_id, customer_id, due_on, status, reason, channel_id,
				manual, step, attempts, run_at, late_at, claim, address, subject, body, receipt, invoice_id, created_at, updated_at)
			VALUES `+sqldb.Tuples(len(piece), len(values)/len(piece))+` ON CONFLICT `+once, values...)
		if err != nil {
			return count, err
		}
		count += made
	}
	return count, nil
}

// unscheduleAhead takes back what a rule has scheduled for later.
func unscheduleAhead(ctx context.Context, tx *sqldb.Tx, companyID, ruleID int64) error {
	return tx.Do(ctx, `
		DELETE FROM reminder_messages WHERE company_id = ? AND rule_id = ? AND status = 'scheduled' AND claim = ''
		AND attempts = 0 AND run_at > ?`,
		companyID, ruleID, tx.Now().UnixMicro())
}

// unscheduleRule takes back all that a rule has scheduled. What was tried stays
// in the log.
func unscheduleRule(ctx context.Context, tx *sqldb.Tx, companyID, ruleID int64) error {
	if _, err := tx.Exec(ctx, `
		DELETE FROM reminder_messages WHERE company_id = ? AND rule_id = ? AND status = 'scheduled'
		AND attempts = 0`, companyID, ruleID); err != nil {
		return err
	}
	return tx.Do(ctx, `
		UPDATE reminder_messages SET status = 'skipped', reason = 'the rule is switched off', claim = '', updated_at = ?
		WHERE company_id = ? AND rule_id = ? AND status = 'scheduled'`,
		tx.Now().UnixMicro(), companyID, ruleID)
}

// unscheduleOthers takes back what is scheduled for other due dates of a customer
// than the one that it has, and is not about a debt; of a cancelled one all.
func unscheduleOthers(ctx context.Context, tx account.Tx, record customer.Customer) error {
	others, args := otherDates, []any{tx.Company.ID, record.ID, record.DueOn.String()}
	if record.IsCancelled() {
		args[2] = "" // no date: nothing is kept
	} else {
		others, args = others+noDebt, append(args, tx.Company.ID)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM reminder_messages WHERE `+others+` AND attempts = 0`, args...); err != nil {
		return err
	}
	return tx.Do(ctx, `
		UPDATE reminder_messages SET status = 'skipped', reason = 'due date moved', claim = '', updated_at = ? WHERE `+others,
		append([]any{tx.Now().UnixMicro()}, args...)...)
}

// otherDates is what is scheduled for other due dates of a customer. The
// function keeps SQLite from reading all that the company has scheduled.
// What a round asks for is of no due date: whether it is still owed is decided
// when it is sent.
const otherDates = `company_id = ? AND customer_id = ? AND COALESCE(status, '') = 'scheduled' AND due_on <> ? AND invoice_id = 0`

// noDebt leaves the messages after a due date of which an invoice is open.
const noDebt = ` AND NOT EXISTS (SELECT 1 FROM reminder_rules r JOIN invoices i ON i.company_id = r.company_id
	WHERE r.company_id = ? AND r.id = reminder_messages.rule_id AND r.offset_days > 0 AND i.customer_id = reminder_messages.customer_id
		AND i.status = 'open' AND i.due_on = reminder_messages.due_on)`

func removeOfCustomer(ctx context.Context, tx account.Tx, customerID int64) error {
	return errors.Join(
		tx.Do(ctx, `DELETE FROM reminder_messages WHERE company_id = ? AND customer_id = ?`, tx.Company.ID, customerID),
		tx.Do(ctx, `DELETE FROM reminder_optouts WHERE company_id = ? AND customer_id = ?`, tx.Company.ID, customerID),
	)
}

func insertAttempt(ctx context.Context, tx *sqldb.Tx, job job, begun begun, outcome outcome) error {
	return tx.Do(ctx, `
		INSERT INTO reminder_attempts (company_id, message_id, number, channel_id, kind, at, duration_ms, outcome, problem, receipt)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (company_id, message_id, number) DO UPDATE SET at = excluded.at, duration_ms = excluded.duration_ms,
			outcome = excluded.outcome, problem = excluded.problem,
			receipt = CASE WHEN excluded.receipt = '' THEN reminder_attempts.receipt ELSE excluded.receipt END`,
		job.companyID, job.id, begun.number, begun.channel.ID, begun.kind.Name,
		outcome.at.UnixMicro(), outcome.duration.Milliseconds(), string(outcome.verdict),
		outcome.problem, clip(outcome.receipt, maxReason))
}

func attempts(ctx context.Context, querier sqldb.Querier, companyID, messageID int64) ([]Attempt, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (attempt Attempt, err error) {
		var took int64
		err = row.Scan(&attempt.Number, &attempt.ChannelID, &attempt.Kind, (*civil.Instant)(&attempt.At), &took, &attempt.Outcome,
			&attempt.Problem, (*string)(&attempt.Arrival), (*civil.Instant)(&attempt.ArrivalAt), &attempt.ArrivalProblem)
		attempt.Duration = time.Duration(took) * time.Millisecond
		return attempt, err
	}, `SELECT number, channel_id, kind, at, duration_ms, outcome, problem, arrival, arrival_at, arrival_problem FROM reminder_attempts
		WHERE company_id = ? AND message_id = ? ORDER BY number`, companyID, messageID)
}

// backlogOf counts the messages that wait for a person, and finds since when
// the oldest is due; now when there is none.
func backlogOf(ctx context.Context, querier sqldb.Querier, now time.Time) (unknown int64, oldest time.Time, err error) {
	err = sqldb.Each(ctx, querier, `SELECT (SELECT count(*) FROM reminder_messages WHERE status = 'unknown'),
		COALESCE((`+firstDueText+`), 0)`, []any{now.UnixMicro()}, func(row sqldb.Row) error {
		err := row.Scan(&unknown, (*civil.Instant)(&oldest))
		oldest = cmp.Or(oldest, now)
		return err
	})
	return unknown, oldest, err
}

const messageColumns = `m.id, m.key, m.rule_id, COALESCE(r.name, ''), m.customer_id, COALESCE(c.name, ''), m.due_on, m.status, m.reason,
	m.channel_id, COALESCE(h.name, ''), COALESCE(h.kind, ''), m.attempts, m.run_at, m.address, m.subject, m.body, m.receipt,
	m.sent_at, m.created_at, m.updated_at, m.arrival, m.arrival_at, COALESCE(r.occasion, '')`

const messageJoins = ` LEFT JOIN reminder_rules r ON r.company_id = m.company_id AND r.id = m.rule_id
	LEFT JOIN customers c ON c.company_id = m.company_id AND c.id = m.customer_id
	LEFT JOIN reminder_channels h ON h.company_id = m.company_id AND h.id = m.channel_id`

var messageTable = listing.Table[Message]{
	From: "reminder_messages m", ID: "m.id", Owner: "m.company_id", Columns: messageColumns, Joins: messageJoins, Scan: scanMessage,
	RowID:  func(message Message) int64 { return message.ID },
	Orders: map[string]listing.Order{input.ByDueDate: {Column: "m.due_on"}},
}

func scanMessage(row sqldb.Row) (message Message, err error) {
	err = row.Scan(&message.ID, &message.Key, &message.RuleID, &message.RuleName, &message.CustomerID,
		&message.Customer, &message.DueOn, (*string)(&message.Status), &message.Reason, &message.ChannelID,
		&message.Channel, &message.Kind, &message.Attempts, (*civil.Instant)(&message.RunAt), &message.Address, &message.Subject,
		&message.Text, &message.Receipt, (*civil.Instant)(&message.SentAt), (*civil.Instant)(&message.CreatedAt),
		(*civil.Instant)(&message.UpdatedAt), (*string)(&message.Arrival), (*civil.Instant)(&message.ArrivalAt), (*string)(&message.On))
	return message, err
}

func messageByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Message, error) {
	return sqldb.Find(ctx, querier, "message", scanMessage, `SELECT `+messageColumns+` FROM reminder_messages m`+messageJoins+`
		WHERE m.company_id = ? AND m.id = ?`, companyID, id)
}

func lockMessage(ctx context.Context, tx account.Tx, id int64) (Message, error) {
	_, err := sqldb.Value[int64](ctx, tx,
		`SELECT id FROM reminder_messages WHERE company_id = ? AND id = ? {for update}`, tx.Company.ID, id)
	if err != nil {
		return Message{}, sqldb.Found(err, "message")
	}
	return messageByID(ctx, tx, tx.Company.ID, id)
}

// saveDecision writes what a person decided.
func saveDecision(ctx context.Context, tx account.Tx, message Message, manual bool) error {
	return tx.Do(ctx, `
		UPDATE reminder_messages SET status = ?, reason = ?, run_at = ?, channel_id = ?, sent_at = ?, claim = '',
		manual = ?, step = 0, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		string(message.Status), message.Reason, message.RunAt.UnixMicro(), message.ChannelID, sqldb.RefTo(civil.Micros(message.SentAt)),
		manual, tx.Now().UnixMicro(), tx.Company.ID, message.ID)
}

func saveOptOut(ctx context.Context, tx account.Tx, customerID int64, out bool) error {
	if !out {
		return tx.Do(ctx, `DELETE FROM reminder_optouts WHERE company_id = ? AND customer_id = ?`,
			tx.Company.ID, customerID)
	}
	return tx.Do(ctx,
		`INSERT INTO reminder_optouts (company_id, customer_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		tx.Company.ID, customerID, tx.Now().UnixMicro())
}
