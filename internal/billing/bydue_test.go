package billing

import (
	"slices"
	"testing"

	"carteira/internal/platform/input"
)

func TestListByDueHasEveryInvoiceInOrder(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		for _, due := range []string{"2026-01-20", "2026-01-05", "2026-02-03", "2026-01-05", "2026-01-12"} {
			world.customer(t, 1, due)
		}
		for name, filter := range map[string]Filter{
			"all": {}, "open": {Status: Open}, "overdue": {Overdue: "true"}, "searched": {Search: "a"}, "paid": {Status: Paid},
		} {
			for _, latest := range []bool{false, true} {
				all, total, err := world.List(t.Context(), world.actor, filter, firstPage)
				must(t, err)
				slices.SortFunc(all, func(a, b Invoice) int {
					order := a.DueOn.Compare(b.DueOn)
					if order == 0 {
						order = int(a.ID - b.ID)
					}
					if latest {
						return -order
					}
					return order
				})
				for number := int64(1); number <= total; number++ {
					got, count, err := world.ListByDue(t.Context(), world.actor, filter, input.Page{Number: number, Size: 1}, latest)
					if err != nil || count != total || len(got) != 1 || got[0].ID != all[number-1].ID {
						t.Fatalf("%s, latest %t, number %d: %v, %d, %v", name, latest, number, got, count, err)
					}
				}
			}
		}
	})
}
