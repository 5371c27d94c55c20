package reminder

import (
	"context"
	"time"

	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
)

// aboutColumns are of customers c, customer_plans p, reminder_optouts o and
// invoices i.
const aboutColumns = `COALESCE(c.id, 0), COALESCE(c.uuid, ''), COALESCE(c.name, ''), COALESCE(c.whatsapp, ''), COALESCE(c.email, ''),
	COALESCE(c.usuario, ''), c.due_on, COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0), COALESCE(c.product_id, 0),
	COALESCE(o.customer_id, 0), COALESCE(i.id, 0), COALESCE(i.status, ''), COALESCE(i.amount_cents, 0),
	COALESCE(i.received_cents, 0), i.own_discount_cents, c.price_cents,
	COALESCE(i.late_fee_cents + i.late_interest_cents, 0), COALESCE(i.discount_cents, 0)`

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
		(*int64)(&about.invoice.charged), (*int64)(&about.invoice.deducted),
	}
}

// customerAbout reads a customer with what is owed for its due date.
func customerAbout(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) (about, error) {
	b, err := sqldb.One(ctx, querier, func(row sqldb.Row) (about about, err error) {
		var out int64
		err = row.Scan(aboutFields(&about, &out)...)
		about.optedOut = out != 0
		return about, err
	}, `SELECT `+aboutColumns+` FROM customers c`+aboutJoins+ofDueDate+`c.due_on WHERE c.company_id = ?
		AND c.id = ? AND {visible c.id}`, companyID, customerID)
	return b, sqldb.Found(err, "customer")
}

// candidates reads messages with all that decides about them, the oldest first.
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
			AND CASE WHEN m.invoice_id <> 0 THEN i.id = m.invoice_id
				ELSE i.generated AND NOT i.superseded AND i.issued_for = m.due_on END
		WHERE m.company_id = ? AND m.id {in ?} ORDER BY m.run_at, m.id`, false, companyID, ids)
}

func scanCandidate(row sqldb.Row) (candidate candidate, err error) {
	var run, late, out int64
	var list, params, status string
	message, rule, template := &candidate.message, &candidate.rule, &candidate.template
	fields := append([]any{
		&message.ID, &message.Key, &message.CustomerID, &message.DueOn, (*string)(&message.Status),
		&message.Reason, &message.ChannelID, &message.manual, &candidate.step, &message.Attempts,
		&run, &late, &candidate.claim, &message.InvoiceID,
		&rule.ID, &rule.Active, &rule.OffsetDays, &rule.Minute, &rule.PlanID, &rule.ProductID,
		&status, &list, (*string)(&rule.On),
		&template.ID, &template.Subject, &template.Text, &template.Approved.Name,
		&template.Approved.Language, &params,
	}, aboutFields(&candidate.about, &out)...)
	if err = row.Scan(fields...); err != nil {
		return candidate, err
	}
	message.RunAt, rule.Channels, rule.Status, candidate.optedOut = time.UnixMicro(run), splitIDs(list), customer.Status(status), out != 0
	message.lateAt = instant(late)
	template.Approved.Params, err = decodeParams(params)
	return candidate, err
}
