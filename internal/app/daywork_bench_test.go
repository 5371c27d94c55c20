package app

import (
	"fmt"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
)

// BenchmarkIdleDayWork is a look of the schedules with nothing due, with few and
// many customers and companies.
func BenchmarkIdleDayWork(b *testing.B) {
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.Postgres} {
		for _, size := range []struct{ companies, customers int }{{1, 1_000}, {1, 1_000_000}, {20_000, 20_000}} {
			b.Run(fmt.Sprintf("%s/%d companies/%d customers", engine, size.companies, size.customers), func(b *testing.B) {
				program := newApp(b, engine)
				fillIdle(b, program.DB, size.companies, size.customers)
				housetest.Must(b, program.DayWork(b.Context()))
				for b.Loop() {
					housetest.Must(b, program.DayWork(b.Context()))
				}
			})
		}
	}
}

// fillIdle makes companies, and customers with due dates far ahead.
func fillIdle(b *testing.B, db *sqldb.DB, companies, customers int) {
	b.Helper()
	for _, statement := range []string{
		`INSERT INTO companies (name, timezone, level, renew_from, renew_on_payment, lead_days, created_at, updated_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
			SELECT 'C' || i, 'America/Sao_Paulo', 'user', 'due_date', %[3]s, 5, 1, 1 FROM n`,
		`INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, due_on, own_day, notes, name_key,
				created_at, created_on, updated_at, expiry_on)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[2]d)
			SELECT 1 + i %% %[1]d, 'u' || i, 'Ana', '', '', '', '', '', '2090-' || (10 + i %% 3) || '-' || (10 + i %% 18), 1, '', '', 1, '2026-01-31', 1,
				'2090-' || (10 + i %% 3) || '-' || (10 + i %% 18) FROM n`,
		`INSERT INTO invoice_schedule (company_id, customer_id, due_on) SELECT company_id, id, due_on FROM customers`,
	} {
		yes := "TRUE"
		housetest.Must(b, db.Write(b.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(sqldb.WithoutDeadline(b.Context()), fmt.Sprintf(statement+" -- %[1]d %[2]d %[3]s", companies, customers, yes))
			return err
		}))
	}
}
