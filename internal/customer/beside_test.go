package customer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// A search beside filters has the pages and totals that a look at every customer
// tells, in every order, whichever side its customers are found from.
func TestSearchBesideFiltersIsWhatItShouldBe(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newBesideWorld(t, engine)
		today := world.actor.Today(noon)
		model := world.model(t, world.actor)
		if len(model) <= smallSort || world.sealed(t) < 15 {
			t.Fatalf("%d customers in %d segments are too few for what this test is about", len(model), world.sealed(t))
		}
		for _, filter := range besideFilters(today) {
			world.wantPages(t, filter, model.match(filter, today))
		}
		for _, keep := range []func(){world.rosterOfBefore(t), world.rosterOfNow(t)} {
			world.counts, world.spreads = tally.Cache[int64]{}, tally.Cache[spread]{}
			keep()
			for n, filter := range besideFilters(today) {
				query := Query{Filter: filter, Sort: everySort[n%len(everySort)]}
				world.wantHalves(t, world.actor, model.match(filter, today), query, "with a roster")
			}
		}
		world.wantPlainAfterSorted(t, model, today)
		uncounted := 0
		for _, filter := range glimpsed(today) {
			for _, sort := range []input.Sort{input.Newest, "name", "-updated_at", "due_date", "-due_date"} {
				if !world.wantGlimpse(t, Query{Filter: filter, Sort: sort}, input.Page{Number: 2, Size: 9}) {
					uncounted++
				}
			}
		}
		if uncounted < 20 {
			t.Errorf("%d pages came before their total, too few for what this test is about", uncounted)
		}
	})
}

// wantPlainAfterSorted asks for a search in another order first: what is kept of that
// serves its plain pages, too.
func (l library) wantPlainAfterSorted(t *testing.T, model model, today civil.Date) {
	t.Helper()
	filter := Filter{Search: "ana"}
	want := model.match(filter, today)
	l.spreads = tally.Cache[spread]{}
	for _, sort := range []input.Sort{"name", input.Newest} {
		l.wantHalves(t, l.actor, want, Query{Filter: filter, Sort: sort}, "by "+string(sort))
	}
	l.wantPage(t, l.actor, want, filter, input.Page{Number: 3, Size: 40})
}

// newBesideWorld is a large company whose segments are sealed, with some changes
// since.
func newBesideWorld(t *testing.T, engine sqldb.Engine) library {
	t.Helper()
	world := newWorld(t, engine)
	other := world.newCompany(t)
	world.offers(t, world.actor, "1month", "1week", "1year")
	world.offers(t, other, "1month", "1week", "1year")
	today, random := world.actor.Today(noon), rand.New(rand.NewPCG(71, 72))
	for range 12 { // so that the companies' ids alternate
		world.populate(t, world.actor, crowd(random, 1000, 0, today))
		world.populate(t, other, crowd(random, 100, 3, today))
	}
	must(t, tally.Compact(t.Context(), world.db))
	library := library{world: world}
	library.sealer = sealer{size: 600, changes: 300, block: 4, row: 200}
	library.sealAll(t)
	for i, one := range world.model(t, world.actor) {
		switch i % 250 {
		case 0:
			must(t, world.Delete(t.Context(), world.actor, one.ID))
		case 1:
			world.update(t, one.ID, fmt.Sprintf(`{"name":"Ana Zilá %d"}`, i))
		case 2:
			world.update(t, one.ID, fmt.Sprintf(`{"plan_id":3,"data_de_vencimento":%q}`, today))
		}
	}
	world.create(t, `{"name":"Ana Nova","plan_id":1}`)
	return library
}

// besideFilters leave many, some, few and nobody.
func besideFilters(today civil.Date) (filters []Filter) {
	for _, search := range []string{"ana", "a", "9876", "(11) 9", "zila", "nobody"} {
		filters = append(filters,
			Filter{Search: search},
			Filter{Search: search, Status: Active},
			Filter{Search: search, Status: Expired, PlanID: 1},
			Filter{Search: search, ProductID: 1},
			Filter{Search: search, DueFrom: today, DueTo: today.AddDays(1)},
			Filter{Search: search, PlanID: 4}, // the other company's
		)
	}
	return filters
}
