package sqldb_test

import (
	"fmt"
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// beforeStatusCodes is the last migration under which an invoice's status was
// the word that people read.
const beforeStatusCodes = 10

// shapeQueries list the indexes of the invoices and every foreign key from or to
// them.
var shapeQueries = map[sqldb.Engine]string{
	sqldb.SQLite: `
		SELECT i.name || ' ' || i."unique" || ' ' || i.partial || ' ' || group_concat(c.name)
		FROM pragma_index_list('invoices') i JOIN pragma_index_info(i.name) c GROUP BY i.name, i."unique", i.partial
		UNION ALL
		SELECT t.name || ' ' || f."from" || ' to ' || f."table" || ' ' || f."to" || ' ' || f.on_delete
		FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' AND 'invoices' IN (t.name, f."table")`,
	sqldb.Postgres: `
		SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'invoices'
		UNION ALL
		SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
		WHERE contype = 'f' AND 'invoices'::regclass IN (conrelid, confrelid)`,
}

func shapeOf(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	list := texts(t, db, shapeQueries[db.Engine()])
	slices.Sort(list)
	return list
}

func texts(t *testing.T, db *sqldb.DB, query string, args ...any) []string {
	t.Helper()
	list, err := sqldb.Values[string](t.Context(), db, query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Invoices and their counts keep what they say, under codes, and the table keeps
// everything around it.
func TestStatusesOfInvoicesBecomeCodes(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db, err := sqldb.Open(t.Context(), sqldbtest.Empty(t, engine), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.MigrateTo(t.Context(), beforeStatusCodes); err != nil {
			t.Fatal(err)
		}
		schema := columns(t, db)
		fillInvoices(t, db, schema)
		shape := shapeOf(t, db)
		if err := db.MigrateTo(t.Context(), beforeStatusCodes+1); err != nil {
			t.Fatal(err)
		}

		wantTexts(t, db, `SELECT id || ' ' || status || ' ' || amount_cents || ' ' || note FROM invoices ORDER BY id`,
			"1 open 101 n1", "2 paid 102 n2", "3 cancelled 103 n3")
		for _, table := range []string{"tally_sums", "tally_deltas"} {
			wantTexts(t, db, `SELECT book || ' ' || state || ' ' || n FROM `+table+` ORDER BY n`,
				"invoices open 1", "invoices paid 2", "invoices cancelled 3", "resellers Pago 4")
		}
		if got := shapeOf(t, db); !slices.Equal(got, shape) {
			t.Errorf("around the table there is\n%q\nbefore there was\n%q", got, shape)
		}
		wantInvoicesToWork(t, db)
	})
}

func fillInvoices(t *testing.T, db *sqldb.DB, schema map[string]string) {
	t.Helper()
	insertRow(t, db, schema, "companies", map[string]any{"level": "user", "renew_from": "today", "renew_on_payment": false})
	insertRow(t, db, schema, "customers", map[string]any{"company_id": 1})
	for n, status := range []string{"Em aberto", "Pago", "Cancelado", "Pago"} {
		insertRow(t, db, schema, "invoices", map[string]any{
			"company_id": 1, "customer_id": 1, "generated": true, "status": status, "amount_cents": 101 + n,
			"due_on": fmt.Sprintf("2026-01-%02d", n+1), "note": fmt.Sprint("n", n+1),
		})
		insertRow(t, db, schema, "pay_links", map[string]any{"company_id": 1, "invoice_id": n + 1, "code": fmt.Sprint(n)})
	}
	run(t, db, "DELETE FROM invoices WHERE id = 4") // its id must not come again
	for _, table := range []string{"tally_sums", "tally_deltas"} {
		for n, of := range [][2]string{{"invoices", "Em aberto"}, {"invoices", "Pago"}, {"invoices", "Cancelado"}, {"resellers", "Pago"}} {
			insertRow(t, db, schema, table, map[string]any{"company_id": 1, "book": of[0], "state": of[1], "n": n + 1})
		}
	}
}

func wantTexts(t *testing.T, db *sqldb.DB, query string, want ...string) {
	t.Helper()
	if got := texts(t, db, query); !slices.Equal(got, want) {
		t.Errorf("%s:\n%q\nwant\n%q", query, got, want)
	}
}

// wantInvoicesToWork writes what must be refused, and what must not.
func wantInvoicesToWork(t *testing.T, db *sqldb.DB) {
	t.Helper()
	schema := columns(t, db)
	another := map[string]any{"company_id": 1, "customer_id": 1, "generated": true, "status": "open", "amount_cents": 1, "due_on": "2026-02-01"}
	insertRow(t, db, schema, "invoices", another)
	wantTexts(t, db, `SELECT CAST(MAX(id) AS TEXT) FROM invoices`, "5")
	for what, statement := range map[string]string{
		"a word for a status":   `UPDATE invoices SET status = 'Em aberto' WHERE id = 1`,
		"no status":             `UPDATE invoices SET status = NULL WHERE id = 1`,
		"a date twice":          `UPDATE invoices SET due_on = '2026-02-01' WHERE id = 1`,
		"a customer of no one":  `UPDATE invoices SET customer_id = 9 WHERE id = 1`,
		"a customer with bills": `DELETE FROM customers WHERE id = 1`,
	} {
		if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), statement)
			return err
		}); err == nil {
			t.Errorf("%s is allowed", what)
		}
	}
	run(t, db, "DELETE FROM invoices WHERE id = 2")
	wantTexts(t, db, `SELECT CAST(invoice_id AS TEXT) FROM pay_links ORDER BY invoice_id`, "1", "3")
}
