package sqldb_test

import (
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// What customer.expired was recorded for, and when customers were renewed,
// moves from columns of the customer to tables of its own.
func TestExpiriesAndRenewalsOfCustomersMoveToTheirTables(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db, err := sqldb.Open(t.Context(), sqldbtest.Empty(t, engine), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.MigrateTo(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		schema := columns(t, db)
		insertRow(t, db, schema, "companies", map[string]any{"level": "user", "renew_from": "today", "renew_on_payment": false})
		for i, one := range []map[string]any{
			{"due_on": "2026-01-31", "expired_on": "2026-01-31", "renewed_in": "2026-01"}, // recorded
			{"due_on": "2026-02-28", "expired_on": "2026-01-31"},                          // renewed since
			{"due_on": "2026-01-30"}, // passed, and not recorded yet
			{"renewed_in": "2025-12"},
		} {
			one["company_id"], one["uuid"] = 1, []string{"a", "b", "c", "d"}[i]
			insertRow(t, db, schema, "customers", one)
		}
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string][]string{
			`SELECT id || ' ' || COALESCE(expiry_on, '-') || ' ' || CASE WHEN expired THEN 'expired' ELSE '' END FROM customers ORDER BY id`: {
				"1 - expired", "2 2026-02-28 ", "3 2026-01-30 ", "4 - ",
			},
			`SELECT customer_id || ' ' || due_on FROM customer_expiries ORDER BY 1`:             {"1 2026-01-31", "2 2026-01-31"},
			`SELECT customer_id || ' ' || month || ' ' || n FROM customer_renewals ORDER BY 1`:  {"1 2026-01 1", "4 2025-12 1"},
			`SELECT DISTINCT cpf_cnpj || address || custom || created_on || '-' FROM customers`: {"-"},
			`SELECT id || '' FROM customers WHERE price_cents IS NULL AND cancelled_at IS NULL`: {"1", "2", "3", "4"},
		} {
			if got := texts(t, db, query); !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", query, got, want)
			}
		}
		run(t, db, "DELETE FROM customers WHERE id = 1")
		if left := texts(t, db, `SELECT customer_id || '' FROM customer_expiries UNION ALL SELECT month FROM customer_renewals ORDER BY 1`); !slices.Equal(left, []string{"2", "2025-12"}) {
			t.Errorf("after a deletion %q are left", left)
		}
	})
}
