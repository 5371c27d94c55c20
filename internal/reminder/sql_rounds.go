package reminder

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// recipient is a customer that a round may reach, with the invoice that it asks
// for.
type recipient struct {
	about
	cancelled bool
	reminded  bool // it had a message today, or one is on its way
	dueOn     string
}

// owedFirst is the open invoice of customer c that is due first.
const owedFirst = `(SELECT x.id FROM invoices x WHERE x.company_id = c.company_id AND x.customer_id = c.id AND x.status = 'open'`

// remindedToday reports whether customer c had a message since an instant, or
// has one of a round on its way.
const remindedToday = `EXISTS (SELECT 1 FROM reminder_messages m WHERE m.company_id = c.company_id AND m.customer_id = c.id
	AND (m.sent_at >= ? OR m.invoice_id <> 0 AND m.manual AND m.status IN ('scheduled', 'sending')
		OR m.status = 'unknown' AND m.updated_at >= ?))`

const recipientColumns = `SELECT ` + aboutColumns + `, CASE WHEN c.cancelled_at IS NULL THEN 0 ELSE 1 END,
	CASE WHEN ` + remindedToday + ` THEN 1 ELSE 0 END, COALESCE(i.due_on, '') FROM customers c` + aboutJoins + ` AND i.id = ` + owedFirst

// recipients reads the customers of a round. Where invoices were chosen, each is
// asked for the one of them that is due first.
func recipients(
	ctx context.Context, querier sqldb.Querier, companyID int64, draft RoundDraft, dayBegan time.Time,
) ([]recipient, error) {
	since := dayBegan.UnixMicro()
	text, args := ``, []any{since, since}
	if len(draft.Invoices) > 0 {
		text += ` AND x.id {in ?}`
		args = append(args, draft.Invoices)
	}
	text += ` ORDER BY x.due_on, x.id LIMIT 1) WHERE c.company_id = ? AND ` + customer.VisibleC
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

// checkRounds refuses to delete a template while a round under way needs its
// words.
func checkRounds(ctx context.Context, tx account.Tx, templateID int64) error {
	waiting, err := sqldb.Value[int64](ctx, tx, `SELECT count(*) FROM reminder_messages m JOIN reminder_rules r
		ON r.company_id = m.company_id AND r.id = m.rule_id
		WHERE m.company_id = ? AND r.template_id = ? AND r.round AND m.invoice_id <> 0 AND m.status IN ('scheduled', 'sending')`,
		tx.Company.ID, templateID)
	if err == nil && waiting > 0 {
		return fault.Conflict("messages with this template are being sent")
	}
	return err
}

// removeRounds removes the rounds of a template that is deleted: their messages
// keep what was sent.
func removeRounds(ctx context.Context, tx account.Tx, templateID int64) error {
	return tx.Do(ctx, `DELETE FROM reminder_rules WHERE company_id = ? AND template_id = ? AND round`, tx.Company.ID, templateID)
}

// aboutColumns are of customers c, customer_plans p, reminder_optouts o and
// invoices i.
const aboutColumns = `COALESCE(c.id, 0), COALESCE(c.uuid, ''), COALESCE(c.name, ''), COALESCE(c.whatsapp, ''), COALESCE(c.email, ''),
	COALESCE(c.usuario, ''), c.due_on, COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0), COALESCE(c.product_id, 0),
	COALESCE(o.customer_id, 0), COALESCE(i.id, 0), COALESCE(i.status, ''), COALESCE(i.amount_cents, 0),
	COALESCE(i.received_cents, 0), i.own_discount_cents, c.price_cents,
	COALESCE(i.late_fee_cents + i.late_interest_cents, 0), COALESCE(i.discount_cents, 0), i.due_on`

const aboutJoins = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
	LEFT JOIN reminder_optouts o ON o.company_id = c.company_id AND o.customer_id = c.id
	LEFT JOIN invoices i ON i.company_id = c.company_id AND i.customer_id = c.id`

// ofDueDate is the invoice that a due date brought.
const ofDueDate = ` AND i.generated AND NOT i.superseded AND i.issued_for = `

func aboutFields(about *about, optedOut *int64) []any {
	record := &about.customer
	return []any{
		&record.ID, &record.UUID, &record.Name, &record.Whatsapp, &record.Email, &record.Usuario,
		&record.DueOn, &record.Plan.ID, &record.Plan.Name, (*int64)(&record.Plan.Value),
		&record.Product.ID,
		optedOut, &about.invoice.id, (*string)(&about.invoice.status),
		(*int64)(&about.invoice.amount),
		(*int64)(&about.invoice.received), &about.invoice.discount, &record.OwnPrice,
		(*int64)(&about.invoice.charged), (*int64)(&about.invoice.deducted), &about.invoice.dueOn,
	}
}

// customerAbout reads a customer with what is owed for its due date.
func customerAbout(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) (about, error) {
	return sqldb.Find(ctx, querier, "customer", func(row sqldb.Row) (about about, err error) {
		var out int64
		err = row.Scan(aboutFields(&about, &out)...)
		about.optedOut = out != 0
		return about, err
	}, `SELECT `+aboutColumns+` FROM customers c`+aboutJoins+ofDueDate+`c.due_on WHERE c.company_id = ?
		AND c.id = ? AND `+customer.VisibleC, companyID, customerID)
}

// candidates reads messages with all that decides about them, the oldest first. A
// message after a due date is about what is open of that day, whatever brought it.
func candidates(ctx context.Context, querier sqldb.Querier, companyID int64, ids []int64) ([]candidate, error) {
	return sqldb.All(ctx, querier, scanCandidate, `
		SELECT m.id, m.key, m.customer_id, m.due_on, m.status, m.reason, m.channel_id, m.manual, m.step, m.attempts,
		m.run_at, m.late_at, m.claim, m.invoice_id,
			COALESCE(r.id, 0), COALESCE(r.active, ?), COALESCE(r.offset_days, 0), COALESCE(r.minute, 0), COALESCE(r.plan_id, 0),
			COALESCE(r.product_id, 0), COALESCE(r.status, ''), COALESCE(r.channels, ''), COALESCE(r.occasion, ''),
			COALESCE(t.id, 0), COALESCE(t.subject, ''), COALESCE(t.body, ''), COALESCE(t.whatsapp_name, ''), COALESCE(t.whatsapp_language, ''),
			COALESCE(t.whatsapp_params, '[]'), `+aboutColumns+`
		FROM reminder_messages m
		LEFT JOIN reminder_rules r ON r.company_id = m.company_id AND r.id = m.rule_id
		LEFT JOIN reminder_templates t ON t.company_id = r.company_id AND t.id = r.template_id
		LEFT JOIN customers c ON c.company_id = m.company_id AND c.id = m.customer_id`+aboutJoins+`
			AND i.id = CASE WHEN m.invoice_id <> 0 THEN m.invoice_id ELSE COALESCE(
				CASE WHEN r.offset_days > 0 THEN (SELECT MIN(x.id) FROM invoices x WHERE x.company_id = m.company_id
					AND x.customer_id = m.customer_id AND x.status = 'open' AND x.due_on = m.due_on) END,
				(SELECT g.id FROM invoices g WHERE g.company_id = m.company_id AND g.customer_id = m.customer_id
					AND g.generated AND NOT g.superseded AND g.issued_for = m.due_on)) END
		WHERE m.company_id = ? AND m.id {in ?} ORDER BY m.run_at, m.id`, false, companyID, ids)
}

func scanCandidate(row sqldb.Row) (candidate candidate, err error) {
	var out int64
	var list, params, status string
	message, rule, template := &candidate.message, &candidate.rule, &candidate.template
	fields := append([]any{
		&message.ID, &message.Key, &message.CustomerID, &message.DueOn, (*string)(&message.Status),
		&message.Reason, &message.ChannelID, &message.manual, &candidate.step, &message.Attempts,
		(*civil.Instant)(&message.RunAt), (*civil.Instant)(&message.lateAt), &candidate.claim, &message.InvoiceID,
		&rule.ID, &rule.Active, &rule.OffsetDays, &rule.Minute, &rule.PlanID, &rule.ProductID,
		&status, &list, (*string)(&rule.On),
		&template.ID, &template.Subject, &template.Text, &template.Approved.Name,
		&template.Approved.Language, &params,
	}, aboutFields(&candidate.about, &out)...)
	if err = row.Scan(fields...); err != nil {
		return candidate, err
	}
	rule.Channels, rule.Status, candidate.optedOut = splitIDs(list), customer.Status(status), out != 0
	return candidate, template.Approved.decodeGaps(params)
}
