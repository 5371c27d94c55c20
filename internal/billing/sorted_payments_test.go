package billing

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// byPaidDay is how records come by the day on which they were paid.
func byPaidDay(a, b PaymentRecord) int {
	return cmp.Or(strings.Compare(a.PaidOn.String(), b.PaidOn.String()), cmp.Compare(a.ID, b.ID))
}

func TestPaymentsAreSortedByTheDayOfPayment(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		plan := world.plan(t, "1month", "35.00")
		for _, day := range []string{"2026-01-20", "2026-01-05", "2026-01-31", "2026-01-05"} {
			invoice := world.only(t, world.customer(t, plan, "2026-02-03").ID)
			world.set(t, invoice.ID, Paid, "paid_at", day)
		}
		for _, filter := range []PaymentFilter{{}, {Via: "manual"}, {Status: PaymentApplied, From: civil.MustParse("2026-01-05")}} {
			for _, sort := range []input.Sort{input.ByPaidDay, "-" + input.ByPaidDay} {
				whole, total, err := world.Payments(t.Context(), world.actor, filter, input.Page{Number: 1, Size: 10, Sort: sort})
				must(t, err)
				order := byPaidDay
				if sort.Descending() {
					order = func(a, b PaymentRecord) int { return byPaidDay(b, a) }
				}
				if len(whole) != 4 || total != 4 || !slices.IsSortedFunc(whole, order) {
					t.Errorf("%+v by %s: %+v", filter, sort, whole)
				}
				last, _, err := world.Payments(t.Context(), world.actor, filter, input.Page{Number: 4, Size: 1, Sort: sort})
				must(t, err)
				if len(last) != 1 || last[0].ID != whole[3].ID {
					t.Errorf("%+v by %s: the last page has %+v", filter, sort, last)
				}
			}
		}
	})
}

// Many payments are met along the index of days; few are found by their filter.
func TestPaymentsByDayAreReadFromOneIndex(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.fillPayments(t, 20_000)
		world.exec(t, `ANALYZE`)
		for _, look := range []struct {
			filter PaymentFilter
			count  int64
			index  string
		}{
			{PaymentFilter{}, 20_000, "payments_day"},
			{PaymentFilter{Via: "manual"}, 13_334, "payments_day"},
			{PaymentFilter{Status: PaymentApplied}, 19_800, "payments_day"},
			{PaymentFilter{Status: PaymentPartial}, 200, "payments_status"},
		} {
			window := matching{look.filter, look.count}.byDay(engine, world.actor.Company.ID)
			window.Limit = 50
			text, args := window.IDs()
			sqldbtest.WantIndex(t, world.db, look.index, text, args...)
			plan := sqldbtest.Explain(t, world.db, text, args...)
			if look.index == "payments_day" && (strings.Contains(plan, "Sort") || strings.Contains(plan, "B-TREE")) {
				t.Errorf("%+v is sorted:\n%s", look.filter, plan)
			}
		}
	})
}
