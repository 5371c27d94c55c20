package customer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// What a roster tells is never older than the database: whoever changed a customer,
// whether the change is folded or not, and whether the roster is of now, from before or
// missing, each process has the totals and pages that a look at every customer tells.
func TestSearchesFollowEveryChange(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newBesideWorld(t, engine)
		today, random := world.actor.Today(noon), rand.New(rand.NewPCG(91, 92))
		processes := []*Service{world.Service, New(world.db, world.events), New(world.db, world.events)}
		for number, process := range processes {
			if process.sealer = world.sealer; number < 2 {
				must(t, process.keepRoster(t.Context(), world.actor.Company.ID))
			}
		}
		model := world.model(t, world.actor)
		for round := range 6 {
			world.clock.Advance(time.Minute)
			for range 1 + random.IntN(2) {
				world.changeTrait(t, model[random.IntN(len(model))], random, today)
				model = world.model(t, world.actor)
			}
			if round%3 != 1 { // so that some changes are made and folded between two looks
				must(t, tally.Compact(t.Context(), world.db))
			}
			if round%2 == 1 {
				must(t, processes[0].KeepRosters(t.Context()))
			}
			restarted := New(world.db, world.events)
			restarted.sealer = world.sealer
			must(t, restarted.restoreRoster(t.Context(), world.actor.Company.ID)) // of some rounds before
			if round%2 == 0 {
				must(t, processes[0].SaveRosters(t.Context()))
			}
			found := model.match(Filter{Search: "a"}, today)
			for n, filter := range traitFilters(today) {
				want := found.match(filter, today)
				filter.Search = "a"
				query := Query{Filter: filter, Sort: everySort[(n+round)%len(everySort)]}
				for number, process := range append(processes, restarted) {
					process.wantHalves(t, world.actor, want, query, fmt.Sprintf("round %d, process %d", round, number))
				}
			}
		}
		for number, process := range processes {
			if process.rosters.get(world.actor.Company.ID, noon) == nil != (number == 2) {
				t.Errorf("process %d: the roster is not what this test is about", number)
			}
		}
	})
}

// traitFilters have everything that a roster knows, and combinations.
func traitFilters(today civil.Date) []Filter {
	return []Filter{
		{},
		{Status: Active},
		{Status: Expired},
		{Status: DueToday},
		{Status: Cancelled},
		{PlanID: 1},
		{ProductID: 1, Status: Active},
		{PlanID: 2, Status: Expired},
		{DueFrom: today, DueTo: today.AddDays(40)},
		{DueTo: today.AddDays(-3)},
		{PlanID: 4}, // the other company's
	}
}

// changeTrait changes what a customer is filtered by or sorted by, deletes it or creates
// another.
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
		l.update(t, one.ID, `{"name":"Zéa"}`)
	default:
		l.update(t, one.ID, fmt.Sprintf(`{"data_de_vencimento":%q}`, today.AddDays(random.IntN(80)-40)))
	}
}

// wantHalves compares the first and a middle page, and the total, with the model's.
func (s *Service) wantHalves(t *testing.T, actor account.Actor, want model, query Query, when string) {
	t.Helper()
	ordered, page := inOrder(slices.Clone(want), query.Sort), input.Page{Size: 30}
	last := page.Last(int64(len(want)))
	for _, page.Number = range slices.Compact([]int64{1, last/2 + 1}) {
		list, total, err := s.Sorted(t.Context(), actor, query, page)
		from := min(page.Offset(), int64(len(want)))
		if err != nil || total != int64(len(want)) || !slices.Equal(ids(list), ordered[from:min(from+page.Size, total)]) {
			t.Fatalf("%s, %+v, page %d: %v of %d, %v; want %d", when, query, page.Number, ids(list), total, err, len(want))
		}
	}
}

// rosterOfNow has the service know one.
func (l library) rosterOfNow(t *testing.T) func() {
	return func() { must(t, l.keepRoster(t.Context(), l.actor.Company.ID)) }
}

// rosterOfBefore has the service know one from before all that has changed since, by which
// half of the customers are missing: nobody must believe it.
func (l library) rosterOfBefore(t *testing.T) func() {
	return func() {
		l.rosterOfNow(t)()
		old := *l.rosters.get(l.actor.Company.ID, noon)
		old.stamps = tally.Stamps{}
		for number, bucket := range old.buckets {
			old.buckets[number] = newRosterBucket(bucket.entries[len(bucket.entries)/2:])
		}
		l.rosters.put(l.actor.Company.ID, &old, noon)
	}
}

// newCrowdedWorld is a company whose customers are in three buckets.
func newCrowdedWorld(t *testing.T, engine sqldb.Engine) *world {
	t.Helper()
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	world := newWorld(t, engine)
	world.offers(t, world.actor, "1month", "1week", "1year")
	world.populate(t, world.actor, crowd(rand.New(rand.NewPCG(93, 94)), 2*tally.BucketSize+100, 0, world.actor.Today(noon)))
	return world
}

// A change has its bucket read anew, and no other.
func TestOnlyChangedBucketsAreReadAnew(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newCrowdedWorld(t, engine)
		company := world.actor.Company.ID
		must(t, world.keepRoster(t.Context(), company))
		whole := world.rosters.get(company, noon)
		if len(whole.buckets) != 3 || whole.size() != 2*tally.BucketSize+100 {
			t.Fatalf("%d customers in %d buckets", whole.size(), len(whole.buckets))
		}
		wrong := *whole
		wrong.buckets = map[int64]*rosterBucket{} // as if nobody were there
		world.rosters.put(company, &wrong, noon)
		must(t, world.keepRoster(t.Context(), company))
		if got := world.rosters.get(company, noon).size(); got != 0 {
			t.Errorf("%d customers were read, though nothing has changed", got)
		}
		world.update(t, tally.BucketSize+1, `{"name":"Ana Outra"}`)
		must(t, world.keepRoster(t.Context(), company))
		if got := world.rosters.get(company, noon).buckets; len(got) != 1 || len(got[1].entries) != len(whole.buckets[1].entries) {
			t.Errorf("%d buckets were read, want the one that has changed", len(got))
		}
	})
}

func TestRosterOfAReadingThatEndsIsNotKept(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newCrowdedWorld(t, engine)
		company := world.actor.Company.ID
		ended, cancel := context.WithCancel(t.Context())
		world.rosters.ask(company)
		cancel()
		if err := world.KeepRosters(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the cancellation", err)
		}
		if world.rosters.get(company, noon) != nil {
			t.Error("something is kept")
		}
		world.rosters.ask(company)
		must(t, world.KeepRosters(t.Context()))
		if world.rosters.get(company, noon) == nil {
			t.Error("there is no roster for who asks again")
		}
	})
}

// The job reads the large companies by itself, and others when somebody searches there.
func TestRostersAreReadForWhoNeedsThem(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newCrowdedWorld(t, engine)
		must(t, tally.Compact(t.Context(), world.db))
		company := world.actor.Company.ID
		for from, want := range map[int64]int{leastAtOnce: 0, 8000: 1} {
			if large, err := counter.Largest(t.Context(), world.db, from, mostRostered); err != nil || len(large) != want {
				t.Errorf("%v have %d or more, %v", large, from, err)
			}
		}
		if large, err := counter.Largest(t.Context(), world.db, 1, 8000); err != nil || len(large) != 0 {
			t.Errorf("%v have 8,000 together, %v", large, err)
		}
		must(t, world.KeepRosters(t.Context()))
		if world.rosters.get(company, noon) != nil {
			t.Error("a roster that nobody asked for")
		}
		select {
		case <-world.RosterWake():
		default:
		}
		world.sealer = sealer{size: 600, changes: 300, block: 4, row: 200}
		library := library{world: world}
		library.sealAll(t)
		_, _, err := world.List(t.Context(), world.actor, Filter{Search: "an", Status: Active}, input.Page{Number: 1, Size: 30})
		must(t, err)
		select {
		case <-world.RosterWake():
		default:
			t.Error("the job was not woken")
		}
		must(t, world.KeepRosters(t.Context()))
		if world.rosters.get(company, noon) == nil {
			t.Error("there is no roster")
		}
	})
}

func TestRostersTakeNoMoreMemoryThanTheyMay(t *testing.T) {
	var rosters rosters
	const each = mostRostered / 10
	large := &roster{buckets: map[int64]*rosterBucket{0: {entries: make([]entry, each)}}}
	for company := range int64(10) {
		if !rosters.room(company, each, noon) {
			t.Fatalf("no room for company %d", company)
		}
		rosters.put(company, large, noon)
	}
	if !rosters.room(3, each, noon) {
		t.Error("no room for a company that is there")
	}
	if rosters.room(10, each, noon.Add(unusedFor)) {
		t.Error("there is room, though all are used")
	}
	later := noon.Add(2 * unusedFor)
	for company := range int64(9) {
		rosters.get(company, later)
	}
	if !rosters.room(10, each, later) || rosters.get(9, later) != nil || len(rosters.known) != 9 {
		t.Errorf("who is not used has not made room: %d are kept", len(rosters.known))
	}
	if rosters.room(11, mostRostered+1, later.Add(2*unusedFor)) {
		t.Error("there is room for more than there may be")
	}
}

// Whoever changes, and however often, the pages of a roster are those of its customers.
func TestRosterHasTheOrderOfItsCustomers(t *testing.T) {
	random := rand.New(rand.NewPCG(95, 96))
	today := civil.MustParse("2027-03-01")
	draw := func(id int64, updated int64) member {
		one := member{id: id, name: strings.Repeat("x", random.IntN(9)), updated: updated + random.Int64N(3)}
		if random.IntN(4) > 0 {
			one.dueOn = today.AddDays(random.IntN(9))
		}
		one.kind = kind{planID: random.Int64N(3), cancelled: random.IntN(5) == 0}
		return one
	}
	all, members := map[int64]member{}, []member{}
	made := &roster{buckets: map[int64]*rosterBucket{}, names: ranks[string]{{"x", 7}, {"xx", 0}, {"xxx", 4000}, {"xxx", 5000}}}
	for id := int64(1); id < 3*tally.BucketSize; id += 1 + random.Int64N(3) {
		all[id] = draw(id, 0)
		members = append(members, all[id])
	}
	made, ok := made.patched(members, []int64{0, 1, 2})
	for round := int64(1); ok && round < 12; round++ {
		bucket := random.Int64N(3)
		members = members[:0]
		for id, one := range all {
			if tally.BucketOf(id) != bucket {
				continue
			}
			if random.IntN(3) == 0 {
				one = draw(id, round)
				all[id] = one
			}
			members = append(members, one)
		}
		if made, ok = made.patched(members, []int64{bucket}); ok {
			wantOrders(t, made, all, random)
		}
	}
	if !ok {
		t.Fatal("there are too few numbers")
	}
	if len(made.moments) < 10 {
		t.Errorf("%d ranks are too few for what this test is about", len(made.moments))
	}
}

func wantOrders(t *testing.T, made *roster, all map[int64]member, random *rand.Rand) {
	t.Helper()
	var some []int64
	for id := range all {
		if random.IntN(3) > 0 {
			some = append(some, id)
		}
	}
	for _, sort := range everySort {
		if sort.Field() == input.ByID {
			continue
		}
		slices.SortFunc(some, func(a, b int64) int { return all[a].compare(all[b], sort) })
		wanted := part{offset: random.Int64N(int64(len(some))), limit: 40}
		found, offset := made.around(newIDSet(some), sort, wanted)
		slices.SortFunc(found, func(a, b int64) int { return all[a].compare(all[b], sort) })
		got := part{offset: offset, limit: wanted.limit}.among(found)
		if want := wanted.among(some); !slices.Equal(got, want) {
			t.Fatalf("by %s from %d on: %v, want %v", sort, wanted.offset, got, want)
		}
		if sort.Field() == input.ByUpdated && len(found) > 2000 {
			t.Errorf("by %s: a page is among %d", sort, len(found))
		}
	}
}

func (m member) compare(other member, sort input.Sort) int {
	ascending := cmp.Compare(m.updated, other.updated)
	switch sort.Field() {
	case input.ByName:
		ascending = strings.Compare(m.name, other.name)
	case input.ByDueDate:
		if m.dueOn.IsZero() != other.dueOn.IsZero() {
			return other.dueOn.Compare(m.dueOn)
		}
		ascending = m.dueOn.Compare(other.dueOn)
	}
	ascending = cmp.Or(ascending, cmp.Compare(m.id, other.id))
	if sort.Descending() {
		return -ascending
	}
	return ascending
}

func TestRosterHasNoMoreNumbersThanItCanSay(t *testing.T) {
	made := &roster{buckets: map[int64]*rosterBucket{}}
	var members []member
	for id := range int64(mostCodes) {
		members = append(members, member{id: id + 1, kind: kind{planID: id}})
	}
	full, ok := made.patched(members, nil)
	if !ok || len(full.kinds.values) != mostCodes {
		t.Fatalf("%d plans have no numbers", mostCodes)
	}
	if _, ok := full.patched([]member{{id: 1, kind: kind{planID: 1}}}, []int64{0}); !ok {
		t.Error("a plan that is known has no number")
	}
	if _, ok := full.patched([]member{{id: 1, kind: kind{cancelled: true}}}, []int64{0}); ok {
		t.Error("one plan more has a number")
	}
}

// While others change customers and the job reads rosters anew, a search whose customers
// stay what they are has the same total, and its pages their order.
func TestRosterWhileOthersWrite(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		library := library{world: newWorld(t, engine)}
		library.offers(t, library.actor, "1month", "1week", "1year")
		today := library.actor.Today(noon)
		library.populate(t, library.actor, crowd(rand.New(rand.NewPCG(101, 102)), leastRostered+500, 0, today))
		library.sealer = sealer{size: 600, changes: 300, block: 4, row: 200}
		library.sealAll(t)
		filter := Filter{Search: "an", PlanID: 1}
		all := library.model(t, library.actor)
		want := len(all.match(filter, today))
		others := all.match(Filter{PlanID: 2}, today)
		must(t, library.keepRoster(t.Context(), library.actor.Company.ID))
		done, ended := make(chan struct{}), make(chan error, 2)
		repeat := func(do func(n int) error) {
			for n := 0; ; n++ {
				select {
				case <-done:
					ended <- nil
					return
				default:
				}
				if err := do(n); err != nil {
					ended <- err
					return
				}
			}
		}
		go repeat(func(n int) error {
			_, err := library.Update(t.Context(), library.actor, others[n%len(others)].ID,
				ReadChanges(form(t, fmt.Sprintf(`{"data_de_vencimento":%q,"notes":"%d"}`, today.AddDays(n%50), n))))
			return err
		})
		go repeat(func(int) error { return library.keepRoster(t.Context(), library.actor.Company.ID) })
		looks := 60
		if sqldbtest.Raced {
			looks = len(everySort)
		}
		for n := range looks {
			query := Query{Filter: filter, Sort: everySort[n%len(everySort)]}
			list, total, err := library.Sorted(t.Context(), library.actor, query, input.Page{Number: 2, Size: 40})
			must(t, err)
			ordered := slices.Clone(list)
			sortKeys.Arrange(ordered, query.Sort)
			if total != int64(want) || len(list) != 40 || !slices.Equal(ids(list), ids(ordered)) {
				t.Errorf("by %s: %d of %d, want 40 of %d", query.Sort, len(list), total, want)
				break
			}
		}
		close(done)
		must(t, <-ended)
		must(t, <-ended)
	})
}
