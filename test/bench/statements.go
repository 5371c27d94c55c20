//go:build linux

package main

// The statements read and write the rows that the product does, as plain SQL that
// is run one statement after the other: internal/account, catalog, customer,
// tally, event, webhook, billing, payment and reminder. A page is joined to its
// plans and products. They are written anew when the product's change:
// PostgreSQL's own log of one request shows those.
const (
	tokenSQL = `SELECT c.id, COALESCE(c.parent_id, 0), c.name, c.whatsapp, c.level, c.timezone,
		c.renew_from, c.renew_on_payment, c.lead_days, c.renew_invoice, c.created_at, c.subscription, COALESCE(c.subscription_plan_id, 0),
		c.expires_on, c.expires_day, COALESCE(c.suspended_at, 0), c.functions,
		COALESCE(c.above_suspended_at, 0), c.above_expires_on, c.anonymous,
		c.late_fee_bp, c.late_interest_bp, c.discount_bp, c.discount_cents, c.color, c.logo, t.id, t.scope
		FROM api_tokens t JOIN companies c ON c.id = t.company_id
		WHERE t.hash = ? AND (t.expires_at IS NULL OR t.expires_at > ?)`
	tokenKinds = "iisssssbisisiniisinbiiiissis"

	totalSQL = `SELECT COALESCE((SELECT n FROM tally_totals WHERE company_id = ? AND book = 'customers'), 0)
		+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas WHERE company_id = ? AND book = 'customers'), 0)`
	skipSQL = `SELECT bucket, CAST(SUM(n) AS BIGINT) FROM (
			SELECT bucket, n FROM tally_buckets WHERE company_id = ? AND book = 'customers'
			UNION ALL SELECT bucket, n FROM tally_deltas WHERE company_id = ? AND book = 'customers'
		) AS counted GROUP BY bucket ORDER BY bucket DESC`

	columnsSQL = `c.id, c.uuid, c.name, c.whatsapp, c.email, c.usuario, c.due_on, c.notes, c.external_id, c.cpf_cnpj, c.address,
		c.price_cents, c.custom, c.cancel_reason, c.own_day,
		COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0),
		COALESCE(p.period_unit, ''), COALESCE(p.period_count, 0),
		COALESCE(c.product_id, 0), COALESCE(r.name, ''), c.created_at, NULLIF(c.created_on, ''), c.created_offset, c.expiry_on, c.expired,
		COALESCE(c.cancelled_at, 0), c.updated_at, c.autopay, c.mrr_cents, c.mrr_month, c.mrr_start_cents, c.mrr_start_plan, c.mrr_start_product`
	columnKinds = "isssssnssssnssiisisiisinnnbiisisiii"

	joinsSQL = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
		LEFT JOIN products r ON r.company_id = c.company_id AND r.id = c.product_id`
	nearSQL = `SELECT ` + columnsSQL + ` FROM (SELECT c.* FROM customers c WHERE c.company_id = ?
		ORDER BY c.id DESC LIMIT CAST(? AS BIGINT) OFFSET CAST(? AS BIGINT)) AS c` + joinsSQL + ` ORDER BY c.id DESC`
	pageSQL      = pageStartSQL + pageEndSQL
	pageBelowSQL = pageStartSQL + ` AND c.id < ?` + pageEndSQL
	pageStartSQL = `WITH page AS MATERIALIZED (SELECT c.id FROM customers c WHERE c.company_id = ?`
	pageEndSQL   = ` ORDER BY c.id DESC LIMIT CAST(? AS BIGINT) OFFSET CAST(? AS BIGINT))
		SELECT ` + columnsSQL + ` FROM page CROSS JOIN customers c` + joinsSQL + `
		WHERE c.id = page.id AND c.company_id = ? ORDER BY c.id DESC`
	oneSQL = `SELECT ` + columnsSQL + ` FROM customers c` + joinsSQL + ` WHERE c.company_id = ? AND c.id = ?`

	planSQL = `SELECT p.id, p.name, p.value_cents, p.period_unit, p.period_count, COALESCE(p.product_id, 0), COALESCE(r.name, ''),
		p.active, p.created_at FROM customer_plans p LEFT JOIN products r ON r.company_id = p.company_id AND r.id = p.product_id
		WHERE p.company_id = ? AND p.id = ? FOR KEY SHARE OF p`
	insertSQL = `INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, due_on, notes, external_id, cpf_cnpj,
		address, price_cents, custom, cancel_reason, own_day, usuario_key, plan_id, product_id, search, created_at, created_on,
		created_offset, updated_at, expiry_on, expired, cancelled_at, autopay, mrr_cents, mrr_month, mrr_start_cents, mrr_start_plan,
		mrr_start_product)
		VALUES (?, ?, ?, ?, ?, ?, ?, '', '', '', '', NULL, '', '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 'none', ?, ?, 0, 0, 0)
		ON CONFLICT DO NOTHING RETURNING id`
	deltasSQL = `INSERT INTO tally_deltas (company_id, book, bucket, day, plan_id, product_id, state, n, cents) VALUES ` + deltaValues +
		`, ` + deltaValues + `, ` + deltaValues + `, ` + deltaValues + `, ` + deltaValues
	deltaValues = `(?, ?, ?, ?, ?, ?, ?, ?, ?)`
	auditSQL    = `INSERT INTO audit_log (company_id, at, user_id, token_id, who, address, action, record, record_id, name, changes, batch)
		VALUES (?, ?, NULL, ?, COALESCE((SELECT name FROM api_tokens WHERE company_id = ? AND id = ?), ''), ?, ?, ?, ?, ?, ?, '')`
	eventsSQL   = `INSERT INTO events (company_id, event_id, name, occurred_at, body) VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?)`
	deliverySQL = `INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT w.company_id, w.id, e.id, e.name, '', w.id, 'pending', FALSE, 0, e.occurred_at
		FROM webhooks w CROSS JOIN events e
		WHERE w.company_id = ? AND w.active = TRUE AND e.company_id = ? AND e.event_id = ANY(?)
			AND w.events LIKE '%,' || e.name || ',%' AND EXISTS (
			SELECT 1 FROM companies c WHERE c.id = w.company_id AND c.suspended_at IS NULL AND c.above_suspended_at IS NULL
				AND (c.expires_on IS NULL OR c.expires_on >= ?) AND (c.above_expires_on IS NULL OR c.above_expires_on >= ?)
				AND (c.functions = '*' OR c.functions LIKE '%,webhooks,%'))
		ORDER BY e.id, w.id FOR KEY SHARE OF w RETURNING lane`
	queueSQL = `INSERT INTO delivery_queue
		(delivery_id, company_id, event_id, lane, url, test, line, step, attempts, panics, run_at, claim)
		SELECT id, company_id, event_id, lane, url, test, 0, 0, attempts, 0,
			CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT), ''
		FROM deliveries WHERE company_id = ?
			AND event_id IN (SELECT id FROM events WHERE company_id = ? AND event_id = ANY(?)) ORDER BY id`
	invoiceSQL = `INSERT INTO invoices (company_id, customer_id, generated, status, amount_cents, description, due_on, issued_for,
		paid_on, paid_via, received_cents, late_fee_cents, late_interest_cents, discount_cents, forgiven_cents, own_discount_cents,
		edited, superseded, withdrawn, note, plan_id, product_id, paid_at, paid_offset, renewed_from, renewed_to, renewed_day,
		renewed_on, period_unit, period_count, created_at, created_on, created_offset, updated_at)
		VALUES (?, ?, TRUE, 'open', ?, ?, ?, ?, NULL, '', 0, 0, 0, 0, 0, NULL, FALSE, FALSE, '', '', ?, ?, NULL, NULL, NULL, NULL, 0,
		NULL, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`
	debtorSQL = `INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id) VALUES (?, ?, ?, ?, ?)`
	linkSQL   = `INSERT INTO pay_links (company_id, invoice_id, code, created_at) VALUES (?, ?, ?, ?)`
	rulesSQL  = `SELECT id, name, active, offset_days, minute, COALESCE(plan_id, 0), COALESCE(product_id, 0), status, channels,
		template_id, cursor_on, cursor_id, plan_at, created_at, updated_at, round, occasion FROM reminder_rules
		WHERE company_id = ? AND active = TRUE AND occasion = 'due' ORDER BY id FOR KEY SHARE`
)
