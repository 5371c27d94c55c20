//go:build linux

package main

// The statements are copies of the product's: internal/account/sql.go,
// internal/catalog/sql.go, internal/customer/sql.go, internal/billing/sql.go,
// internal/tally and internal/event.
const (
	tokenSQL = `SELECT c.id, COALESCE(c.parent_id, 0), c.name, c.level, c.timezone, c.renew_from, c.renew_on_payment,
		c.lead_days, c.created_at, t.id FROM api_tokens t JOIN companies c ON c.id = t.company_id WHERE t.hash = ?`
	totalSQL = `SELECT COALESCE((SELECT n FROM tally_totals WHERE company_id = ? AND book = 'customers'), 0)
		+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas WHERE company_id = ? AND book = 'customers'), 0)`
	skipSQL = `SELECT bucket, CAST(SUM(n) AS BIGINT) FROM (
			SELECT bucket, n FROM tally_buckets WHERE company_id = ? AND book = 'customers'
			UNION ALL SELECT bucket, n FROM tally_deltas WHERE company_id = ? AND book = 'customers'
		) AS counted GROUP BY bucket ORDER BY bucket DESC`
	columnsSQL = `c.id, c.uuid, c.name, c.whatsapp, c.email, c.usuario, c.due_on, c.own_day,
		COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0),
		COALESCE(c.product_id, 0), COALESCE(r.name, ''), c.notes, c.external_id, c.created_at, c.updated_at`
	joinsSQL = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
		LEFT JOIN products r ON r.company_id = c.company_id AND r.id = c.product_id`
	pageSQL      = pageStartSQL + pageEndSQL
	pageBelowSQL = pageStartSQL + ` AND c.id < ?` + pageEndSQL
	pageStartSQL = `WITH page AS MATERIALIZED (SELECT c.id FROM customers c WHERE c.company_id = ?`
	pageEndSQL   = ` ORDER BY c.id DESC LIMIT CAST(? AS BIGINT) OFFSET CAST(? AS BIGINT))
		SELECT ` + columnsSQL + ` FROM page CROSS JOIN customers c` + joinsSQL + `
		WHERE c.id = page.id AND c.company_id = ? ORDER BY c.id DESC`
	oneSQL  = `SELECT ` + columnsSQL + ` FROM customers c` + joinsSQL + ` WHERE c.company_id = ? AND c.id = ?`
	planSQL = `SELECT p.id, p.name, p.value_cents, p.period_unit, p.period_count, COALESCE(p.product_id, 0), COALESCE(r.name, ''),
		p.active, p.created_at FROM customer_plans p LEFT JOIN products r ON r.company_id = p.company_id AND r.id = p.product_id
		WHERE p.company_id = ? AND p.id = ?`
	insertSQL = `INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id,
		due_on, own_day, plan_id, product_id, notes, search, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`
	deltaSQL = `INSERT INTO tally_deltas (company_id, book, bucket, day, plan_id, product_id, state, n, cents)
		VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)`
	eventSQL   = `INSERT INTO events (company_id, event_id, name, occurred_at, body) VALUES (?, ?, ?, ?, ?) RETURNING id`
	invoiceSQL = `INSERT INTO invoices (company_id, customer_id, generated, status, amount_cents, description, due_on, plan_id, product_id,
		paid_via, note, renewed_day, created_at, created_on, updated_at)
		VALUES (?, ?, ?, 'open', ?, ?, ?, ?, ?, '', '', 0, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`
)
