package reminder

import (
	"context"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// recipient is a customer whom a round may reach, with the invoice that it asks
// for.
type recipient struct {
	about
	cancelled bool
	reminded  bool // it had a message today, or one is on its way
	dueOn     string
}

// owedFirst is the open invoice of customer c that is due first.
const owedFirst = `(SELECT x.id FROM invoices x WHERE x.company_id = c.company_id AND x.customer_id = c.id AND x.status = 'open'`

// remindedToday tells whether customer c had a message since an instant, or has
// one of a round on its way.
const remindedToday = `EXISTS (SELECT 1 FROM reminder_messages m WHERE m.company_id = c.company_id AND m.customer_id = c.id
	AND (m.sent_at >= ? OR m.invoice_id <> 0 AND m.manual AND m.status IN ('scheduled', 'sending')
		OR m.status = 'unknown' AND m.updated_at >= ?))`

const recipientColumns = `SELECT ` + aboutColumns + `, CASE WHEN c.cancelled_at IS NULL THEN 0 ELSE 1 END,
	CASE WHEN ` + remindedToday + ` THEN 1 ELSE 0 END, COALESCE(i.due_on, '') FROM customers c` + aboutJoins + ` AND i.id = ` + owedFirst

// recipients reads the customers of a round. Where invoices were chosen, each is
// asked for the one of them that is due first.
func recipients(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	draft RoundDraft,
	dayBegan time.Time,
) ([]recipient, error) {
	since := dayBegan.UnixMicro()
	text, args := ``, []any{since, since}
	if len(draft.Invoices) > 0 {
		text += ` AND x.id {in ?}`
		args = append(args, draft.Invoices)
	}
	text += ` ORDER BY x.due_on, x.id LIMIT 1) WHERE c.company_id = ? AND {visible c.id}`
	args = append(args, companyID)
	if len(draft.Invoices) > 0 {
		text += ` AND c.id IN (SELECT customer_id FROM invoices WHERE company_id = ? AND id {in ?})`
		args = append(args, companyID, draft.Invoices)
	} else {
		text += ` AND c.id {in ?}`
		args = append(args, draft.Customers)
	}
	return sqldb.All(ctx, querier, scanRecipient, recipientColumns+text+` ORDER BY c.id`, args...)
}

func scanRecipient(row sqldb.Row) (recipient recipient, err error) {
	var out, cancelled, reminded int64
	err = row.Scan(append(aboutFields(&recipient.about, &out), &cancelled, &reminded, &recipient.dueOn)...)
	recipient.optedOut, recipient.cancelled, recipient.reminded = out != 0, cancelled != 0, reminded != 0
	return recipient, err
}

// roundCounts are the messages of a round by status.
func roundCounts(ctx context.Context, querier sqldb.Querier, companyID, ruleID int64) (map[Status]int64, error) {
	counts := map[Status]int64{}
	err := sqldb.Each(ctx, querier, `SELECT status, count(*) FROM reminder_messages
		WHERE company_id = ? AND rule_id = ? AND invoice_id <> 0 GROUP BY status`,
		[]any{companyID, ruleID}, func(row sqldb.Row) error {
			var status string
			var count int64
			err := row.Scan(&status, &count)
			counts[Status(status)] = count
			return err
		})
	return counts, err
}

// checkRounds refuses to delete a template while a round under way needs its
// words.
func checkRounds(ctx context.Context, tx *sqldb.Tx, companyID, templateID int64) error {
	waiting, err := sqldb.Value[int64](ctx, tx, `SELECT count(*) FROM reminder_messages m JOIN reminder_rules r
		ON r.company_id = m.company_id AND r.id = m.rule_id
		WHERE m.company_id = ? AND r.template_id = ? AND r.round AND m.invoice_id <> 0 AND m.status IN ('scheduled', 'sending')`,
		companyID, templateID)
	if err == nil && waiting > 0 {
		return fault.Conflict("messages with this template are being sent")
	}
	return err
}

// removeRounds removes the rounds of a template that is deleted: their messages
// keep what was sent.
func removeRounds(ctx context.Context, tx *sqldb.Tx, companyID, templateID int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM reminder_rules WHERE company_id = ? AND template_id = ? AND round`, companyID, templateID)
	return err
}
