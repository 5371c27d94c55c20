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
	COALESCE(i.received_cents, 0), i.own_discount_cents, c.price_cents`

const aboutJoins = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
	LEFT JOIN reminder_optouts o ON o.company_id = c.company_id AND o.customer_id = c.id
	LEFT JOIN invoices i ON i.company_id = c.company_id AND i.customer_id = c.id AND i.generated AND NOT i.superseded`

func aboutFields(b *about, optedOut *int64) []any {
	c := &b.customer
	return []any{
		&c.ID, &c.UUID, &c.Name, &c.Whatsapp, &c.Email, &c.Usuario, &c.DueOn, &c.Plan.ID, &c.Plan.Name, (*int64)(&c.Plan.Value), &c.Product.ID,
		optedOut, &b.invoice.id, (*string)(&b.invoice.status), (*int64)(&b.invoice.amount),
		(*int64)(&b.invoice.received), &b.invoice.discount, &c.OwnPrice,
	}
}

// customerAbout reads a customer with what is owed for its due date.
func customerAbout(ctx context.Context, q sqldb.Querier, companyID, customerID int64) (about, error) {
	b, err := sqldb.One(ctx, q, func(r sqldb.Row) (b about, err error) {
		var out int64
		err = r.Scan(aboutFields(&b, &out)...)
		b.optedOut = out != 0
		return b, err
	}, `SELECT `+aboutColumns+` FROM customers c`+aboutJoins+` AND i.issued_for = c.due_on WHERE c.company_id = ?
		AND c.id = ? AND {visible c.id}`, companyID, customerID)
	return b, sqldb.Found(err, "customer")
}

// candidates reads messages with all that decides about them, the oldest first.
func candidates(ctx context.Context, q sqldb.Querier, companyID int64, ids []int64) ([]candidate, error) {
	return sqldb.All(ctx, q, scanCandidate, `
		SELECT m.id, m.key, m.customer_id, m.due_on, m.status, m.reason, m.channel_id, m.manual, m.step, m.attempts,
		m.run_at, m.late_at, m.claim,
			COALESCE(r.id, 0), COALESCE(r.active, ?), COALESCE(r.offset_days, 0), COALESCE(r.minute, 0), COALESCE(r.plan_id, 0),
			COALESCE(r.product_id, 0), COALESCE(r.status, ''), COALESCE(r.channels, ''),
			COALESCE(t.id, 0), COALESCE(t.subject, ''), COALESCE(t.body, ''), COALESCE(t.whatsapp_name, ''), COALESCE(t.whatsapp_language, ''),
			COALESCE(t.whatsapp_params, '[]'), `+aboutColumns+`
		FROM reminder_messages m
		LEFT JOIN reminder_rules r ON r.company_id = m.company_id AND r.id = m.rule_id
		LEFT JOIN reminder_templates t ON t.company_id = r.company_id AND t.id = r.template_id
		LEFT JOIN customers c ON c.company_id = m.company_id AND c.id = m.customer_id`+aboutJoins+` AND i.issued_for = m.due_on
		WHERE m.company_id = ? AND m.id {in ?} ORDER BY m.run_at, m.id`, false, companyID, ids)
}

func scanCandidate(r sqldb.Row) (c candidate, err error) {
	var run, late, out int64
	var list, params, status string
	m, u, t := &c.message, &c.rule, &c.template
	fields := append([]any{
		&m.ID, &m.Key, &m.CustomerID, &m.DueOn, (*string)(&m.Status), &m.Reason, &m.ChannelID, &c.manual, &c.step, &m.Attempts, &run, &late, &c.claim,
		&u.ID, &u.Active, &u.OffsetDays, &u.Minute, &u.PlanID, &u.ProductID, &status, &list,
		&t.ID, &t.Subject, &t.Text, &t.Approved.Name, &t.Approved.Language, &params,
	}, aboutFields(&c.about, &out)...)
	if err = r.Scan(fields...); err != nil {
		return c, err
	}
	m.RunAt, u.Channels, u.Status, c.optedOut = time.UnixMicro(run), splitIDs(list), customer.Status(status), out != 0
	c.lateAt = instant(late)
	t.Approved.Params, err = decodeParams(params)
	return c, err
}
