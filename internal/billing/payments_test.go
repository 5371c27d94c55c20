package billing

import (
	"fmt"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// wantTruePayments wants each filter of the list of payments to have the total
// that its rows have.
func (w *world) wantTruePayments(t *testing.T) {
	t.Helper()
	filters := []PaymentFilter{{}, {From: w.actor.Today(w.clock.Now()).AddDays(-30)}, {To: w.actor.Today(w.clock.Now()).AddDays(-30)}}
	for _, via := range []string{"", "manual", "woovi"} {
		for _, status := range append([]PaymentStatus{""}, PaymentStatuses...) {
			filters = append(filters, PaymentFilter{Via: via, Status: status})
		}
	}
	for _, filter := range filters {
		rows, err := w.countPayments(t, filter)
		must(t, err)
		_, total, err := w.Payments(t.Context(), w.actor, filter, input.Page{Number: 1, Size: 1})
		if err != nil || total != rows {
			t.Errorf("payments of %+v: %d in all, want %d, %v", filter, total, rows, err)
		}
	}
}

// countPayments counts rows, whatever the counter says.
func (w *world) countPayments(t *testing.T, filter PaymentFilter) (int64, error) {
	t.Helper()
	query, err := filter.query(t.Context(), w.db, w.actor.Company.ID, "")
	must(t, err)
	query.Total = nil
	return paymentTable.Count(t.Context(), w.db, query)
}

// fillPayments makes many payments of one invoice, over three years.
func (w *world) fillPayments(tb testing.TB, count int) {
	tb.Helper()
	must(tb, w.db.Write(tb.Context(), func(tx *sqldb.Tx) error {
		for _, statement := range []string{
			fmt.Sprintf(`INSERT INTO payments (company_id, provider, payment_id, paid_via, invoice_id, customer_id, customer_name,
				plan_id, product_id, amount_cents, currency, paid_at, paid_offset, paid_on, status, confirmed_by, note, created_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			SELECT 1, 'hand', 'h' || i, CASE WHEN i %% 3 = 0 THEN 'pix' ELSE 'manual' END, 1, 1, 'Ana', 0, 0, 3500, 'BRL', i, 0,
				(2023 + i %% 3) || '-' || (10 + i %% 3) || '-' || (10 + i %% 18), CASE WHEN i %% 100 = 0 THEN 'partial' ELSE 'applied' END, '', '', i FROM n`, count),
			`INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
				SELECT company_id, 'payments', paid_on, 0, 0, status || '/' || paid_via, COUNT(*), 0 FROM payments GROUP BY company_id, paid_on, status, paid_via`,
			`INSERT INTO tally_months (company_id, book, month, plan_id, product_id, state, n, cents)
				SELECT company_id, book, substr(day, 1, 7), 0, 0, state, SUM(n), 0 FROM tally_sums WHERE book = 'payments'
				GROUP BY company_id, book, substr(day, 1, 7), state`,
			`INSERT INTO tally_totals (company_id, book, n) SELECT company_id, 'payments', COUNT(*) FROM payments GROUP BY company_id`,
		} {
			if _, err := tx.Exec(tb.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestPagesOfPaymentsHoldAllOfThemOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.fillPayments(t, 900)
		for _, filter := range []PaymentFilter{{}, {Status: PaymentPartial}, {Via: "pix"}, {From: civil.MustParse("2024-01-01")}} {
			last := int64(1 << 62)
			seen := int64(0)
			for page := (input.Page{Number: 1, Size: 200}); ; page.Number++ {
				list, total, err := world.Payments(t.Context(), world.actor, filter, page)
				must(t, err)
				for _, record := range list {
					if record.ID >= last {
						t.Fatalf("%+v: %d comes after %d", filter, record.ID, last)
					}
					last = record.ID
				}
				if seen += int64(len(list)); page.Number >= page.Last(total) {
					if rows, err := world.countPayments(t, filter); err != nil || seen != total || total != rows {
						t.Errorf("%+v: %d of %d were seen, %d are there, %v", filter, seen, total, rows, err)
					}
					break
				}
			}
		}
	})
}

// BenchmarkPayments is the use case of GET /payments.
func BenchmarkPayments(b *testing.B) {
	for _, count := range []int{1_000, 100_000} {
		for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.Postgres} {
			b.Run(fmt.Sprint(engine, "/", count), func(b *testing.B) { benchmarkPayments(b, engine, count) })
		}
	}
}

func benchmarkPayments(b *testing.B, engine sqldb.Engine, count int) {
	b.Helper()
	world := newWorld(b, engine)
	world.fillPayments(b, count)
	for name, c := range map[string]struct {
		filter PaymentFilter
		page   int64
	}{
		"first page":   {PaymentFilter{}, 1},
		"middle page":  {PaymentFilter{}, int64(count) / 100},
		"last page":    {PaymentFilter{}, int64(count) / 50},
		"applied":      {PaymentFilter{Status: PaymentApplied}, 1},
		"by pix":       {PaymentFilter{Via: "pix"}, 1},
		"in two years": {PaymentFilter{From: civil.MustParse("2024-01-01")}, 1},
		"long ago":     {PaymentFilter{To: civil.MustParse("2023-12-31")}, 1},
		"on one day":   {PaymentFilter{From: civil.MustParse("2025-12-12"), To: civil.MustParse("2025-12-12")}, 1},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := world.Payments(b.Context(), world.actor, c.filter, input.Page{Number: c.page, Size: 50})
				must(b, err)
			}
		})
	}
}
