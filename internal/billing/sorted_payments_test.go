package billing

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
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

// Every page of every filter in both orders is what a look at all payments finds.
func TestPagesOfPaymentsAreThoseOfAModel(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.fillPayments(t, 900)
		var all []PaymentRecord
		must(t, world.WalkPayments(t.Context(), world.actor, PaymentFilter{}, func(record PaymentRecord) error {
			all = append(all, record)
			return nil
		}))
		random := rand.New(rand.NewPCG(7, 8))
		for range 150 {
			filter := PaymentFilter{
				Via:    pick(random, []string{"", "", "manual", "pix"}),
				Status: pick(random, []PaymentStatus{"", "", PaymentApplied, PaymentPartial}),
			}
			if random.IntN(3) == 0 {
				filter.CustomerID = all[random.IntN(len(all))].CustomerID
			}
			if random.IntN(2) == 0 {
				filter.From = all[random.IntN(len(all))].PaidOn
			}
			if random.IntN(2) == 0 {
				filter.To = all[random.IntN(len(all))].PaidOn
			}
			page := input.Page{Number: 1 + random.Int64N(12), Size: 1 + random.Int64N(90)}
			page.Sort = pick(random, []input.Sort{"", input.Newest, input.ByPaidDay, "-" + input.ByPaidDay})
			want := filter.among(all, page.Sort)
			list, total, err := world.Payments(t.Context(), world.actor, filter, page)
			from := min(page.Offset(), int64(len(want)))
			want = want[from:min(from+page.Size, int64(len(want)))]
			if err != nil || int(total) != len(filter.among(all, page.Sort)) || !slices.Equal(list, want) {
				t.Fatalf("%+v, %+v: %d of %d, %v, want %d", filter, page, len(list), total, err, len(want))
			}
		}
	})
}

// among is what a filter has of all payments, in an order.
func (f PaymentFilter) among(all []PaymentRecord, sort input.Sort) []PaymentRecord {
	list := slices.DeleteFunc(slices.Clone(all), func(record PaymentRecord) bool {
		return f.Via != "" && record.Via != f.Via || f.Status != "" && record.Status != f.Status ||
			f.CustomerID != 0 && record.CustomerID != f.CustomerID ||
			!f.From.IsZero() && record.PaidOn.Before(f.From) || !f.To.IsZero() && record.PaidOn.After(f.To)
	})
	slices.SortFunc(list, func(a, b PaymentRecord) int {
		if sort.Field() != input.ByPaidDay {
			return cmp.Compare(b.ID, a.ID)
		}
		if sort.Descending() {
			return byPaidDay(b, a)
		}
		return byPaidDay(a, b)
	})
	return list
}
