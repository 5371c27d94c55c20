package customer

import (
	"fmt"
	"slices"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func TestListByDueHasEveryCustomerInOrder(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		for n, due := range []string{"2026-01-20", "2026-01-05", "", "2026-02-03", "2026-01-05"} {
			if due != "" {
				due = `,"data_de_vencimento":"` + due + `"`
			}
			world.create(t, fmt.Sprintf(`{"name":"Ana %d"%s}`, n, due))
		}
		for name, filter := range map[string]Filter{"all": {}, "expired": {Status: Expired}, "active": {Status: Active}, "searched": {Search: "ana"}} {
			for _, latest := range []bool{false, true} {
				whole, total, err := world.ListByDue(t.Context(), world.actor, filter, input.Page{Number: 1, Size: 50}, latest)
				must(t, err)
				dated := slices.DeleteFunc(slices.Clone(whole), func(record Customer) bool { return record.DueOn.IsZero() })
				sorted := slices.IsSortedFunc(dated, func(a, b Customer) int {
					if latest {
						return b.DueOn.Compare(a.DueOn)
					}
					return a.DueOn.Compare(b.DueOn)
				})
				if !sorted || int64(len(whole)) != total {
					t.Errorf("%s, latest %t: %d of %d, sorted %t", name, latest, len(whole), total, sorted)
				}
				for number := int64(1); number <= total; number++ {
					got, _, err := world.ListByDue(t.Context(), world.actor, filter, input.Page{Number: number, Size: 1}, latest)
					if err != nil || len(got) != 1 || got[0].ID != whole[number-1].ID {
						t.Fatalf("%s, latest %t, number %d: %v, %v", name, latest, number, got, err)
					}
				}
			}
		}
	})
}
