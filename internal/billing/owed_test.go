package billing

import (
	"fmt"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestOwedIsWhatIsDueFirst(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		customer := world.customer(t, world.plan(t, "1month", "35.00"), "2026-01-31")
		want := func(dueOn string) {
			t.Helper()
			invoice, found, err := world.Owed(t.Context(), world.actor, customer.ID)
			if got := invoice.DueOn.String(); err != nil || found != (dueOn != "") || found && got != dueOn {
				t.Errorf("owed %s (%v), %v; want %q", got, found, err, dueOn)
			}
		}
		want("2026-01-31")
		for _, due := range []string{"2026-03-01", "2026-01-15"} {
			_, err := world.CreateExtra(t.Context(), world.actor, customer.ID, ReadExtra(values("amount", "10.00", "due", due, "description", fmt.Sprint("Visita ", due))))
			must(t, err)
		}
		want("2026-01-15")
		for _, invoice := range world.invoices(t, customer.ID) {
			if invoice.DueOn.String() != "2026-03-01" {
				world.set(t, invoice.ID, Cancelled)
			}
		}
		want("2026-03-01")
		if _, found, err := world.Owed(t.Context(), world.newCompany(t, "UTC"), customer.ID); err != nil || found {
			t.Errorf("another company finds it: %v", err)
		}
		for _, invoice := range world.invoices(t, customer.ID) {
			if invoice.Status == Open {
				world.set(t, invoice.ID, Cancelled)
			}
		}
		want("")
	})
}
