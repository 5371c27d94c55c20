package customer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// A search beside what no counter knows has the pages, totals and exports that a
// look at every customer tells.
func TestSearchBesideWhatNoCounterKnowsIsWhatItShouldBe(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newBesideWorld(t, engine)
		today := world.actor.Today(noon)
		world.clock.Advance(time.Hour)
		since := world.db.Now()
		for i, one := range world.model(t, world.actor) {
			if i%97 == 0 {
				world.update(t, one.ID, fmt.Sprintf(`{"external_id":"e%d"}`, i))
			}
		}
		model := world.model(t, world.actor)
		for _, search := range []string{"ana", "a", "9876", "nobody"} {
			for _, filter := range []Filter{
				{Search: search},
				{Search: search, UpdatedSince: since.UnixMicro()},
				{Search: search, UpdatedSince: 1, Status: Expired},
				{Search: search, ExternalID: "e97"},
				{Search: search, PlanID: 1, Status: Active},
			} {
				matches := model.match(filter, today)
				world.wantPages(t, filter, matches)
				world.wantExport(t, filter, matches)
				first, err := world.First(t.Context(), world.actor, filter, 8)
				if err != nil || !slices.Equal(ids(first), ids(matches[:min(8, len(matches))])) {
					t.Errorf("first of %+v: %v, %v", filter, ids(first), err)
				}
			}
		}
	})
}

// wantExport compares what an export has with the model.
func (w *world) wantExport(t *testing.T, filter Filter, model model) {
	t.Helper()
	var walked []int64
	err := w.Walk(t.Context(), w.actor, filter, func(one Customer) error {
		walked = append(walked, one.ID)
		return nil
	})
	if err != nil || !slices.Equal(walked, ids(model)) {
		t.Errorf("%+v: %d are walked along, %v; want %d", filter, len(walked), err, len(model))
	}
}

// Of a term of more grams than are looked for, the rest counts as well.
func TestLongTermIsFoundWholly(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		library := newSealedLibrary(t, engine)
		library.actor = library.large
		begins := strings.Repeat("josé da silva e ", 6) // 96 letters, which all have
		list := make([]Customer, mostCandidates+300)
		for i := range list {
			list[i].Name = fmt.Sprintf("%s %d", begins, i%7)
		}
		library.populate(t, library.large, list)
		library.sealAll(t)
		library.update(t, library.model(t, library.large)[50].ID, fmt.Sprintf(`{"name":%q}`, begins+" 3x"))
		model, today := library.model(t, library.large), library.large.Today(noon)
		for _, search := range []string{begins + " 3", begins + " 3x", begins, begins[40:], begins + " 9", "x" + begins, strings.Repeat("5", 90)} {
			filter := Filter{Search: search}
			library.wantPages(t, filter, model.match(filter, today))
			library.wantExport(t, filter, model.match(filter, today))
			found, err := Found(t.Context(), library.db, library.large.Company.ID, search)
			slices.SortFunc(found, newestFirst)
			if err != nil || !slices.Equal(found, ids(model.match(filter, today))) {
				t.Errorf("%q: %d are found, %v", search, len(found), err)
			}
		}
	})
}
