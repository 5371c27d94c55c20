package dashboard

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/worldtest"
)

// BenchmarkRepricing changes what a plan of 100,000 customers costs while others
// write, and says how long those had to wait.
func BenchmarkRepricing(b *testing.B) {
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.Postgres} {
		for _, count := range []int{1_000, 100_000} {
			b.Run(fmt.Sprint(engine, "/", count), func(b *testing.B) { benchmarkRepricing(b, engine, count) })
		}
	}
}

func benchmarkRepricing(b *testing.B, engine sqldb.Engine, count int) {
	b.Helper()
	base := worldtest.New(b, engine)
	base.Catalog.WatchPlans(base.Customers.PlansChanged)
	plan := base.Plan(b, "1month", "35.00")
	other := base.Customer(b, "name", "Ana")
	housetest.Must(b, base.DB.Write(b.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(b.Context(), fmt.Sprintf(`
			INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, due_on, own_day,
				plan_id, notes, name_key, created_at, created_on, updated_at, mrr_cents)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			SELECT 1, 'u' || i, 'Ana', '', '', '', '', '', '2026-' || (10 + i %% 3) || '-' || (10 + i %% 18), 1, 1, '', 'ana', 1, '2026-01-31', 1, 3500 FROM n`, count))
		return err
	}))
	var waits []time.Duration
	for round := 0; b.Loop(); round++ {
		done := make(chan struct{})
		var writing sync.WaitGroup
		writing.Go(func() { waits = append(waits, writesBeside(b, base, other.ID, done)...) })
		_, err := base.Catalog.UpdatePlan(b.Context(), base.Actor, plan.ID, catalog.ReadPlanChanges(housetest.Form("value", fmt.Sprint(36+round, ".00"))))
		housetest.Must(b, err)
		housetest.Must(b, base.Customers.ContinueRepricing(b.Context()))
		close(done)
		writing.Wait()
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "ms-p99-of-writes")
	b.ReportMetric(float64(waits[len(waits)-1].Microseconds())/1000, "ms-longest-write")
}

// writesBeside changes a customer of no plan, one change after the other, until
// done, and returns how long each took.
func writesBeside(b *testing.B, base *worldtest.World, id int64, done chan struct{}) (waits []time.Duration) {
	b.Helper()
	for n := 0; ; n++ {
		began := time.Now()
		_, err := base.Customers.Update(b.Context(), base.Actor, id, customer.ReadChanges(housetest.Form("name", fmt.Sprint("Ana ", n))))
		if err != nil {
			b.Error(err)
		}
		waits = append(waits, time.Since(began))
		select {
		case <-done:
			return waits
		default:
		}
	}
}
