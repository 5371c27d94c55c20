package billing

import (
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

// What fifty customers owe is looked up by customer: all that a company is owed
// is thousands of invoices.
func TestWhatCustomersOweIsLookedUpByCustomer(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	var plan []string
	err := sqldb.Each(t.Context(), world.db, `EXPLAIN QUERY PLAN `+overdueText,
		[]any{world.actor.Company.ID, []int64{1, 2}, "2026-01-31"}, func(row sqldb.Row) error {
			var id, parent, unused int64
			var detail string
			err := row.Scan(&id, &parent, &unused, &detail)
			plan = append(plan, detail)
			return err
		})
	must(t, err)
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "(company_id=? AND customer_id=?)") {
		t.Error(text)
	}
}
