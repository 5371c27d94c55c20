package customer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// A page that comes before its total has the same customers as one that comes
// with it, and says rightly whether another follows.
func TestGlimpsesAreThePagesOfTheList(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month", "1week", "1year")
		today := world.actor.Today(noon)
		world.populate(t, world.actor, crowd(rand.New(rand.NewPCG(3, 4)), smallSort+2000, 0, today))
		must(t, tally.Compact(t.Context(), world.db))
		uncounted := 0
		for _, filter := range glimpsed(today) {
			for _, sort := range []input.Sort{input.Newest, "name", "due_date", "-due_date"} {
				for _, page := range []input.Page{{Number: 1, Size: 36}, {Number: 5, Size: 7}} {
					if !world.wantGlimpse(t, Query{Filter: filter, Sort: sort}, page) {
						uncounted++
					}
				}
			}
		}
		if uncounted < 40 {
			t.Errorf("%d pages came before their total, too few for what this test is about", uncounted)
		}
	})
}

// glimpsed are searches of many and of few, beside filters of many and of few.
func glimpsed(today civil.Date) (filters []Filter) {
	for _, search := range []string{"ana", "an", "a", "9876", "zz"} {
		filters = append(
			filters,
			Filter{Search: search, Status: Active},
			Filter{Search: search, Status: Expired},
			Filter{Search: search, Status: DueToday},
			Filter{Search: search, PlanID: 1},
			Filter{Search: search, PlanID: 3, Status: Expired},
			Filter{Search: search, DueFrom: today.AddDays(-2), DueTo: today.AddDays(2)},
		)
	}
	return filters
}

// wantGlimpse compares a glimpse with the page and the total, as a service has it
// that has counted nothing yet, and returns whether it was counted.
func (w *world) wantGlimpse(t *testing.T, query Query, page input.Page) bool {
	t.Helper()
	glimpse, err := New(w.db, w.events).Glimpse(t.Context(), w.actor, query, page)
	must(t, err)
	list, total, err := w.sorted(t.Context(), w.actor, query, page)
	must(t, err)
	if got, want := idsOf(glimpse.List), idsOf(list); !slices.Equal(got, want) {
		t.Fatalf("%+v, %+v: %v, want %v", query, page, got, want)
	}
	if glimpse.Counted && glimpse.Total != total || glimpse.More != (page.Number < page.Last(total)) {
		t.Fatalf("%+v, %+v: %d, more %v, of %d", query, page, glimpse.Total, glimpse.More, total)
	}
	return glimpse.Counted
}

func idsOf(list []Customer) (ids []int64) {
	for _, record := range list {
		ids = append(ids, record.ID)
	}
	return ids
}
