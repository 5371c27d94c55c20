package billing

import (
	"fmt"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func TestOwedIsWhatIsDueFirst(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		c := w.customer(t, w.plan(t, "1month", "35.00"), "2026-01-31")
		want := func(dueOn string) {
			t.Helper()
			i, found, err := w.Owed(t.Context(), w.actor, c.ID)
			if got := i.DueOn.String(); err != nil || found != (dueOn != "") || found && got != dueOn {
				t.Errorf("owed %s (%v), %v; want %q", got, found, err, dueOn)
			}
		}
		want("2026-01-31")
		for _, due := range []string{"2026-03-01", "2026-01-15"} {
			_, err := w.CreateExtra(t.Context(), w.actor, c.ID, ReadExtra(values("amount", "10.00", "due", due, "description", fmt.Sprint("Visita ", due))))
			must(t, err)
		}
		want("2026-01-15")
		for _, i := range w.invoices(t, c.ID) {
			if i.DueOn.String() != "2026-03-01" {
				w.set(t, i.ID, Cancelled)
			}
		}
		want("2026-03-01")
		if _, found, err := w.Owed(t.Context(), w.newCompany(t, "UTC"), c.ID); err != nil || found {
			t.Errorf("another company finds it: %v", err)
		}
		for _, i := range w.invoices(t, c.ID) {
			if i.Status == Open {
				w.set(t, i.ID, Cancelled)
			}
		}
		want("")
	})
}
