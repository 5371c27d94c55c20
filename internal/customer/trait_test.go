package customer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// What is kept of traits is never older than the database: whoever changed a customer,
// and whether the change is folded or not, each process has the totals and pages that a
// look at every customer tells.
func TestTotalsBesideFiltersFollowEveryChange(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newBesideWorld(t, engine)
		today, random := world.actor.Today(noon), rand.New(rand.NewPCG(91, 92))
		processes := []*Service{world.Service, New(world.db, world.events)}
		for _, process := range processes {
			process.sealer = world.sealer
		}
		model := world.model(t, world.actor)
		for round := range 9 {
			for range 1 + random.IntN(2) {
				world.changeTrait(t, model[random.IntN(len(model))], random, today)
				model = world.model(t, world.actor)
			}
			if round%3 != 1 { // so that some changes are made and folded between two looks
				must(t, tally.Compact(t.Context(), world.db))
			}
			found := model.match(Filter{Search: "a"}, today)
			for _, filter := range traitFilters(today) {
				want := found.match(filter, today)
				filter.Search = "a"
				for number, process := range processes {
					process.wantFirst(t, world.actor, want, filter, fmt.Sprintf("round %d, process %d", round, number))
				}
			}
		}
		if n := len(world.traits.known); n < 6 {
			t.Errorf("%d traits are kept, too few for what this test is about", n)
		}
	})
}

// traitFilters have every trait, and combinations.
func traitFilters(today civil.Date) []Filter {
	return []Filter{
		{Status: Active},
		{Status: Expired},
		{Status: DueToday},
		{Status: Cancelled},
		{PlanID: 1},
		{ProductID: 1, Status: Active},
		{PlanID: 2, Status: Expired},
		{DueFrom: today, DueTo: today.AddDays(40)},
		{PlanID: 4}, // the other company's
	}
}

// changeTrait changes what a customer is filtered by, deletes it or creates another.
func (l library) changeTrait(t *testing.T, one Customer, random *rand.Rand, today civil.Date) {
	t.Helper()
	switch random.IntN(6) {
	case 0:
		must(t, l.Delete(t.Context(), l.actor, one.ID))
	case 1:
		l.create(t, fmt.Sprintf(`{"name":"Ana Mais","plan_id":1,"data_de_vencimento":%q}`, today.AddDays(-1)))
	case 2:
		l.update(t, one.ID, fmt.Sprintf(`{"plan_id":%d}`, 1+random.IntN(3)))
	case 3:
		l.update(t, one.ID, fmt.Sprintf(`{"cancelled":%v}`, !one.IsCancelled()))
	case 4:
		l.update(t, one.ID, `{"name":"Zé"}`)
	default:
		l.update(t, one.ID, fmt.Sprintf(`{"data_de_vencimento":%q}`, today.AddDays(random.IntN(80)-40)))
	}
}

// wantFirst compares the first page and the total with the model's.
func (s *Service) wantFirst(t *testing.T, actor account.Actor, want model, filter Filter, when string) {
	t.Helper()
	page := input.Page{Number: 1, Size: 30}
	list, total, err := s.Sorted(t.Context(), actor, Query{Filter: filter, Sort: input.Newest}, page)
	if err != nil || total != int64(len(want)) || !slices.Equal(ids(list), want.page(page)) {
		t.Fatalf("%s, %+v: %v of %d, %v; want %v of %d", when, filter, ids(list), total, err, want.page(page), len(want))
	}
}

// newCrowdedWorld is a company whose customers are in three buckets.
func newCrowdedWorld(t *testing.T, engine sqldb.Engine) *world {
	t.Helper()
	world := newWorld(t, engine)
	world.offers(t, world.actor, "1month", "1week", "1year")
	world.populate(t, world.actor, crowd(rand.New(rand.NewPCG(93, 94)), 2*tally.BucketSize+100, 0, world.actor.Today(noon)))
	return world
}

// A change has its bucket read anew, and no other.
func TestOnlyChangedBucketsAreReadAnew(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newCrowdedWorld(t, engine)
		late := world.listing(world.actor, Filter{Status: Expired}).traits()[0]
		read := func() idSet {
			t.Helper()
			stamps, ok, err := counter.Stamps(t.Context(), world.db, world.actor.Company.ID, 1000)
			if must(t, err); !ok || len(stamps) < 3 {
				t.Fatalf("%d buckets", len(stamps))
			}
			set, err := world.traits.read(t.Context(), world.db, late, stamps)
			must(t, err)
			return set
		}
		whole := read()
		key := traitKey{world.actor.Company.ID, late.listing.question().What}
		kept := world.traits.known[key]
		newest, oldest := whole.groups[0], whole.groups[len(whole.groups)-1]
		kept.set = whole.replaced(map[int64]idGroup{newest.bucket: {bucket: newest.bucket}, oldest.bucket: {bucket: oldest.bucket}})
		world.traits.put(key, kept) // as if nobody of two buckets were late
		if got := read(); got.number != whole.number-newest.number-oldest.number {
			t.Errorf("%d of %d are late, though nothing has changed", got.number, whole.number)
		}
		world.update(t, newest.appendTo(nil)[0], `{"name":"Ana Outra"}`)
		if got := read(); got.group(newest.bucket).number != newest.number || got.group(oldest.bucket).number != 0 {
			t.Errorf("%d and %d are late in the two buckets, want %d and 0", got.group(newest.bucket).number,
				got.group(oldest.bucket).number, newest.number)
		}
	})
}

func TestTraitsOfAReadingThatEndsAreNotKept(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newCrowdedWorld(t, engine)
		traits := world.listing(world.actor, Filter{Status: Active}).traits()
		stamps, _, err := counter.Stamps(t.Context(), world.db, world.actor.Company.ID, 1000)
		must(t, err)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := world.traits.read(ended, world.db, traits[0], stamps); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the cancellation", err)
		}
		if len(world.traits.known) != 0 {
			t.Error("something is kept")
		}
	})
}

func TestTraitsTakeNoMoreMemoryThanTheyMay(t *testing.T) {
	var cache traitCache
	var ids []int64
	for id := range int64(1_000_000) {
		ids = append(ids, id+1)
	}
	set := newIDSet(ids)
	for n := range int64(200) {
		cache.put(traitKey{company: 1 + n%2, what: fmt.Sprint(n / 2)}, traitKept{set: set})
		cache.put(traitKey{company: 1 + n%2, what: fmt.Sprint(n / 2)}, traitKept{set: set}) // in its own place
		sum := int64(0)
		for _, kept := range cache.known {
			sum += kept.set.size()
		}
		if sum != cache.size || sum > mostTraits {
			t.Fatalf("%d sets of %d bytes are counted as %d", len(cache.known), sum, cache.size)
		}
	}
	if len(cache.known) < 5 {
		t.Errorf("%d sets are kept", len(cache.known))
	}
}
