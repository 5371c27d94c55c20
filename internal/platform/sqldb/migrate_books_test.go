package sqldb_test

import (
	"maps"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// beforeBooks is the last migration under which only gateways' payments were
// rows.
const beforeBooks = 13

// fillBooks has a paid invoice of each kind: by hand, through a gateway, through
// a gateway with less money than it says, and one that was refunded; an open
// one; and the payments of an invoice that was deleted.
func fillBooks(t *testing.T, db *sqldb.DB) {
	t.Helper()
	schema := columns(t, db)
	insertRow(t, db, schema, "companies", map[string]any{"level": "user", "renew_from": "today", "renew_on_payment": false})
	insertRow(t, db, schema, "customer_plans", map[string]any{
		"company_id": 1, "active": true, "value_cents": 3500, "period_unit": "month", "period_count": 3, "product_id": nil,
	})
	insertRow(t, db, schema, "customers", map[string]any{"company_id": 1, "name": "Ana", "expired": false})
	const day = 24 * 3600 * 1_000_000
	for _, i := range []map[string]any{
		{"status": "paid", "paid_via": "manual", "paid_on": "2026-01-10", "renewed_to": "2026-02-10"},
		{"status": "paid", "paid_via": "woovi", "paid_on": "2026-01-11"},
		{"status": "paid", "paid_via": "woovi", "paid_on": "2026-01-12"},
		{"status": "paid", "paid_via": "woovi", "paid_on": "2026-01-13"},
		{"status": "open", "paid_via": "", "paid_on": nil, "generated": false},
	} {
		row := map[string]any{
			"company_id": 1, "customer_id": 1, "generated": true, "amount_cents": 3500, "plan_id": 1, "due_on": nil,
			"renewed_to": nil, "paid_at": day, "product_id": nil,
		}
		maps.Copy(row, i)
		row["due_on"] = "2026-03-" + row["status"].(string)[:1] + row["paid_via"].(string) + orDash(row["paid_on"])
		insertRow(t, db, schema, "invoices", row)
	}
	insertRow(t, db, schema, "gateways", map[string]any{"company_id": 1, "provider": "woovi", "active": true})
	insertRow(t, db, schema, "charges", map[string]any{"company_id": 1, "gateway_id": 1, "state": "paid", "amount_cents": 3500})
	for _, p := range []map[string]any{
		{"invoice_id": 2, "payment_id": "a", "applied": true},
		{"invoice_id": 3, "payment_id": "b", "applied": true, "amount_cents": 2000},
		{"invoice_id": 4, "payment_id": "c", "applied": true, "refunded": true},
		{"invoice_id": 5, "payment_id": "d"},
		{"invoice_id": 5, "payment_id": "e", "refunded": true},
		{"invoice_id": 99, "payment_id": "f", "applied": true},
	} {
		row := map[string]any{
			"company_id": 1, "charge_id": 1, "provider": "woovi", "customer_id": 1, "amount_cents": 3500, "paid_at": day,
			"applied": false, "refunded": false,
		}
		maps.Copy(row, p)
		insertRow(t, db, schema, "payments", row)
	}
	insertRow(t, db, schema, "payment_reviews", map[string]any{"company_id": 1, "payment_id": 3, "reason": "refunded", "created_at": 40 * day, "resolved_at": 41 * day})
	insertRow(t, db, schema, "payment_reviews", map[string]any{"company_id": 1, "payment_id": 4, "reason": "late", "resolved_at": nil})
	insertRow(t, db, schema, "payment_reviews", map[string]any{"company_id": 1, "payment_id": 5, "reason": "refunded", "resolved_at": 9})
	insertRow(t, db, schema, "tally_sums", map[string]any{"company_id": 1, "book": "receipts", "day": "2026-01-10", "n": 9, "cents": 9})
	insertRow(t, db, schema, "tally_deltas", map[string]any{"company_id": 1, "book": "receipts", "day": "2026-01-10", "n": 9, "cents": 9})
	insertRow(t, db, schema, "tally_sums", map[string]any{"company_id": 1, "book": "invoices", "day": "2026-01-10", "n": 9, "cents": 9})
}

func orDash(value any) string {
	if value == nil {
		return "-"
	}
	return value.(string)
}

func TestMoneyThatCameBeforeTheBooksIsInThem(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db, err := sqldb.Open(t.Context(), sqldbtest.Empty(t, engine), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.MigrateTo(t.Context(), beforeBooks); err != nil {
			t.Fatal(err)
		}
		fillBooks(t, db)
		if err := db.MigrateTo(t.Context(), beforeBooks+1); err != nil {
			t.Fatal(err)
		}
		wantTexts(t, db, `SELECT id || ' ' || received_cents || ' ' || forgiven_cents || ' ' || COALESCE(period_unit || period_count, '-') || ' ' ||
			COALESCE(renewed_on, '-') FROM invoices ORDER BY id`,
			"1 3500 0 month3 2026-01-10", "2 3500 0 month3 -", "3 2000 1500 month3 -", "4 0 3500 month3 -", "5 0 0 - -")
		wantTexts(t, db, `SELECT payment_id || ' ' || provider || ' ' || paid_via || ' ' || status || ' ' || paid_on || ' ' || amount_cents || ' ' ||
			refunded_cents || ' ' || plan_id || ' ' || COALESCE(charge_id, 0) FROM payments ORDER BY payment_id`,
			"a woovi woovi applied 2026-01-11 3500 0 1 1", "b woovi woovi applied 2026-01-12 2000 0 1 1",
			"c woovi woovi refunded 2026-01-13 3500 3500 1 1", "d woovi woovi review 1970-01-02 3500 0 1 1",
			"e woovi woovi dismissed 1970-01-02 3500 3500 1 1", "f woovi woovi dismissed 1970-01-02 3500 0 0 1",
			"hand:invoice-1 hand manual applied 2026-01-10 3500 0 1 0")
		wantTexts(t, db, `SELECT payment_id || ' ' || amount_cents || ' ' || refunded_on FROM payment_refunds`, "3 3500 1970-02-10")
		wantTexts(t, db, `SELECT book || ' ' || day || ' ' || plan_id || ' ' || state || ' ' || n || ' ' || cents FROM tally_sums ORDER BY 1`,
			"invoices 2026-01-10 0  9 9",
			"paid 2026-01-10 1 on_time 1 3500", "paid 2026-01-11 1 on_time 1 3500", "paid 2026-01-12 1 on_time 1 2000",
			"paid 2026-01-13 1 on_time 1 0",
			"receipts 1970-02-10 1 woovi 0 -3500", "receipts 2026-01-10 1 manual 1 3500", "receipts 2026-01-11 1 woovi 1 3500",
			"receipts 2026-01-12 1 woovi 1 2000", "receipts 2026-01-13 1 woovi 1 3500")
		wantTexts(t, db, `SELECT book || ' ' || n FROM tally_totals ORDER BY 1`, "paid 4", "receipts 4")
		wantTexts(t, db, `SELECT CAST(n AS TEXT) FROM tally_deltas`)
		wantTexts(t, db, `SELECT payment_id || ' ' || reason FROM payment_reviews ORDER BY id`, "3 refunded", "4 late", "5 refunded")
	})
}
