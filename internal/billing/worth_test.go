package billing

import "testing"

func TestWorthOfAFilterIsTheSumOfItsInvoices(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		for _, due := range []string{"2026-01-10", "2026-01-20", "2026-02-20"} {
			world.customer(t, 1, due)
		}
		list, _, err := world.List(t.Context(), world.actor, Filter{}, firstPage)
		must(t, err)
		world.set(t, list[0].ID, Paid)
		today := world.actor.Today(world.db.Now())
		for name, filter := range map[string]Filter{
			"all": {}, "open": {Status: Open}, "overdue": {Overdue: "true"}, "due": {DueFrom: day("2026-01-15")},
			"paid": {Status: Paid, PaidFrom: today}, "of one": {CustomerID: list[1].Customer.ID}, "searched": {Search: "a"},
		} {
			found, total, err := world.List(t.Context(), world.actor, filter, firstPage)
			must(t, err)
			var want int64
			for _, invoice := range found {
				want += int64(invoice.Amount)
			}
			worth, ok, err := world.Worth(t.Context(), world.actor, filter, total)
			if err != nil || !ok || int64(worth) != want {
				t.Errorf("%s: %d, %t, %v; want %d", name, worth, ok, err, want)
			}
		}
		if _, ok, _ := world.Worth(t.Context(), world.actor, Filter{Search: "a"}, smallSum+1); ok {
			t.Error("a long list was added up")
		}
	})
}

func TestWalkVisitsEveryInvoiceOnce(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		for range 3 {
			world.customer(t, 1, "2026-01-20")
		}
		var seen []int64
		must(t, world.Walk(t.Context(), world.actor, Filter{Overdue: "true"}, func(invoice Invoice) error {
			seen = append(seen, invoice.ID)
			return nil
		}))
		if len(seen) != 3 || seen[0] <= seen[1] || seen[1] <= seen[2] {
			t.Errorf("visited %v", seen)
		}
	})
}
