package sqldb_test

import (
	"fmt"
	"maps"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// beforeFigures is the last version without counters of recurring revenue.
const beforeFigures = 16

// Customers and invoices as an earlier version leaves them are in the new
// counters, as if each had been counted when it came. What is worth how much was
// computed by hand.
func TestWhatWasThereBeforeTheFiguresIsInThem(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db, err := sqldb.Open(t.Context(), sqldbtest.Empty(t, engine), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.MigrateTo(t.Context(), beforeFigures); err != nil {
			t.Fatal(err)
		}
		fillFigures(t, db)
		if err := db.MigrateTo(t.Context(), beforeFigures+1); err != nil {
			t.Fatal(err)
		}
		wantTexts(t, db, `SELECT id || ' ' || mrr_cents || ' ' || mrr_month FROM customers ORDER BY id`,
			"1 3500 ", "2 5000 ", "3 0 ", "4 0 ", "5 0 ", "6 15252 ", "7 833 ", "8 10646 ")
		wantTexts(t, db, `SELECT customer_id || ' ' || since || ' ' || plan_id FROM debtors ORDER BY customer_id`, "1 2026-01-05 1", "3 2026-03-01 1")
		wantTexts(t, db, `SELECT book || ' ' || day || ' ' || plan_id || ' ' || state || ' ' || n || ' ' || cents FROM tally_sums ORDER BY 1`,
			"created 2026-01-02 0  1 0", "created 2026-01-02 1  4 0", "created 2026-01-02 2  1 0", "created 2026-01-02 3  1 0", "created 2026-01-02 4  1 0",
			"debtors 2026-01-05 1  1 0", "debtors 2026-03-01 1  1 0",
			"recurring  1 base 2 8500", "recurring  2 base 1 15252", "recurring  3 base 1 833", "recurring  4 base 1 10646")
		wantTexts(t, db, `SELECT book || ' ' || n FROM tally_totals ORDER BY 1`, "created 8", "debtors 2", "recurring 5")
	})
}

func fillFigures(t *testing.T, db *sqldb.DB) {
	t.Helper()
	schema := columns(t, db)
	insertRow(t, db, schema, "companies", map[string]any{"level": "user", "renew_from": "today", "renew_on_payment": false, "renew_invoice": "keep", "anonymous": false})
	for _, period := range []string{"month", "week", "year", "day"} {
		insertRow(t, db, schema, "customer_plans", map[string]any{
			"company_id": 1, "active": true, "product_id": nil, "value_cents": 3500, "period_unit": period, "period_count": 1,
		})
	}
	for n, fields := range []map[string]any{
		{"plan_id": 1, "price_cents": nil},
		{"plan_id": 1, "price_cents": 5000},
		{"plan_id": 1, "price_cents": nil, "expired": true},
		{"plan_id": 1, "price_cents": nil, "cancelled_at": 5},
		{"plan_id": nil, "price_cents": 700},
		{"plan_id": 2, "price_cents": 3510},  // a week: 35.10 × 365 ÷ 84 = 152.52
		{"plan_id": 3, "price_cents": 10000}, // a year: 8.33
		{"plan_id": 4, "price_cents": 350},   // a day: 3.50 × 365 ÷ 12 = 106.46
	} {
		id := n + 1
		row := map[string]any{
			"company_id": 1, "uuid": fmt.Sprintf("1a1a1a1a-0000-4000-8000-%012d", id), "usuario_key": "", "external_id": "",
			"created_on": "2026-01-02", "cancelled_at": nil, "expired": false, "product_id": nil, "due_on": nil, "expiry_on": nil,
		}
		maps.Copy(row, fields)
		insertRow(t, db, schema, "customers", row)
	}
	for _, bill := range []struct {
		customer      int
		status, dueOn string
	}{{1, "open", "2026-02-05"}, {1, "open", "2026-01-05"}, {1, "paid", "2025-12-05"}, {3, "open", "2026-03-01"}, {2, "cancelled", "2026-01-01"}} {
		insertRow(t, db, schema, "invoices", map[string]any{
			"company_id": 1, "amount_cents": 3500, "customer_id": bill.customer, "status": bill.status, "due_on": bill.dueOn, "plan_id": 1, "product_id": nil,
			"generated": false, "superseded": false, "edited": false, "paid_at": nil, "paid_on": nil, "created_on": "2026-01-01", "renewed_from": nil, "renewed_to": nil, "renewed_on": nil,
			"period_unit": nil, "period_count": nil, "own_discount_cents": nil,
		})
	}
}
