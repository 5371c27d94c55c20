package billing

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

// A search has the invoices that a check of every invoice finds, also of customers
// that are new, changed or deleted.
func TestInvoicesOfCustomersWhoAreFound(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.crowd(t, 200)
		w.plan(t, "1month", "0.00")
		w.populate(t, rand.New(rand.NewPCG(15, 16)), many)
		must(t, tally.Compact(t.Context(), w.db))
		w.update(t, 7, "name", "Ana Rocha")
		must(t, w.customers.Delete(t.Context(), w.actor, 8))
		archive := w.archive(t, w.actor)
		for _, search := range []string{"ana", "an", "João 11", "rocha", "nobody"} {
			for _, filter := range []Filter{
				{Search: search},
				{Search: search, Status: Open},
				{Search: search, Overdue: "true", PlanID: 1},
				{Search: search, UpdatedSince: noon.AddDate(0, 0, -100).UnixMicro()},
				{Search: search, DueFrom: w.actor.Today(noon)},
			} {
				matches := archive.match(filter, w.actor, noon)
				w.wantPages(t, filter, matches)
				w.wantSorted(t, filter, matches, everySort)
			}
		}
	})
}

// crowd makes customers.
func (w *world) crowd(t *testing.T, count int) {
	t.Helper()
	for n := range count {
		name := fmt.Sprintf("%s %d", []string{"Ana", "João", "Álvaro"}[n%3], n)
		_, err := w.customers.Create(t.Context(), w.actor, customer.ReadNew(values("name", name)))
		must(t, err)
	}
}
