package customer

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// The process that starts next knows what the one before knew, and reads no more than has
// changed since.
func TestRosterIsThereAgainAfterAStart(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newCrowdedWorld(t, engine)
		company := world.actor.Company.ID
		world.rosters.ask(company)
		must(t, world.KeepRosters(t.Context()))
		whole := world.rosters.get(company, noon)
		next := New(world.db, world.events)
		must(t, next.restoreRoster(t.Context(), company))
		if got := next.rosters.get(company, noon); !reflect.DeepEqual(got, whole) {
			t.Errorf("%d customers of %d buckets, %d and %d ranks; want %d of %d, %d and %d", got.size(), len(got.buckets), len(got.names),
				len(got.moments), whole.size(), len(whole.buckets), len(whole.names), len(whole.moments))
		}
		wrong := *whole
		wrong.buckets = map[int64]*rosterBucket{0: {}, 1: whole.buckets[1]} // as if the others had nobody
		world.rosters.put(company, &wrong, noon)
		must(t, world.SaveRosters(t.Context()))
		world.update(t, tally.BucketSize+1, `{"name":"Ana Outra"}`)
		next = New(world.db, world.events)
		next.rosters.ask(company)
		must(t, next.KeepRosters(t.Context()))
		got := next.rosters.get(company, noon).buckets
		if len(got) != 2 || len(got[0].entries) != 0 || len(got[1].entries) != len(whole.buckets[1].entries) {
			t.Errorf("the buckets have %d and %d customers; want none, since that was saved, and %d", len(got[0].entries), len(got[1].entries), len(whole.buckets[1].entries))
		}
	})
}

// What is not whole is read anew.
func TestRosterThatIsNotWhollySavedIsReadAnew(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newCrowdedWorld(t, engine)
		company := world.actor.Company.ID
		must(t, world.keepRoster(t.Context(), company))
		for what, text := range map[string]string{
			"another saving":    `UPDATE saved_rosters SET saving = 1 WHERE part = 0`,
			"a part is missing": `DELETE FROM saved_rosters WHERE part = 1`,
			"no head":           `DELETE FROM saved_rosters WHERE part = 0`,
			"damage":            `UPDATE saved_rosters SET data = (SELECT data FROM saved_rosters WHERE part = 0) WHERE part = 1`,
			"a damaged head":    `UPDATE saved_rosters SET data = (SELECT data FROM saved_rosters WHERE part = 1) WHERE part = 0`,
		} {
			must(t, saveRoster(t.Context(), world.db, company, world.rosters.get(company, noon)))
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), text)
				return err
			}))
			next := New(world.db, world.events)
			must(t, next.restoreRoster(t.Context(), company))
			if next.rosters.get(company, noon) != nil {
				t.Errorf("%s: there is a roster", what)
			}
			must(t, next.keepRoster(t.Context(), company))
			if got := next.rosters.get(company, noon).size(); got != 2*tally.BucketSize+100 {
				t.Errorf("%s: %d customers were read", what, got)
			}
		}
	})
}

// A roster that is restored has the order of its customers, also those who were renamed
// while no process ran.
func TestRestoredRosterHasTheOrderOfItsCustomers(t *testing.T) {
	random := rand.New(rand.NewPCG(97, 98))
	made := &roster{buckets: map[int64]*rosterBucket{}}
	all, members := map[int64]member{}, []member{}
	name := func() string { return strings.Repeat("x", random.IntN(9)) }
	for id := int64(1); id < 3*tally.BucketSize; id += 1 + random.Int64N(3) {
		all[id] = member{id: id, name: name(), updated: random.Int64N(2000), dueOn: civil.MustParse("2027-03-01").AddDays(random.IntN(9))}
		members = append(members, all[id])
		if random.IntN(inRank) < 4 {
			made.names = append(made.names, rankAt[string]{all[id].name, id})
		}
	}
	slices.SortFunc(made.names, rankAt[string].compare)
	made, _ = made.patched(members, []int64{0, 1, 2})
	before := len(made.names)
	made.stamps = tally.Stamps{0: {Folds: 7}, 1: {Sum: 8, Deltas: 1}, 2: {}}
	for bucket := range int64(3) {
		head, err := made.head(1)
		must(t, err)
		again, parts := rosterFrom(head)
		if again == nil || parts != 1 || len(made.stamps.ChangedSince(again.stamps)) > 0 {
			t.Fatalf("%d parts are said, %v stamps", parts, again)
		}
		for part := range made.parts() {
			if !again.addPart(part.data) {
				t.Error("a part was not taken")
			}
		}
		names := map[int64]string{}
		members = members[:0]
		for id, one := range all {
			if tally.BucketOf(id) == bucket {
				one.name = name()
				all[id] = one
				members = append(members, one)
			}
			names[id] = one.name
		}
		again.name(names, []int64{bucket})
		made, _ = again.patched(members, []int64{bucket})
		wantOrders(t, made, all, random)
	}
	if before < 50 || len(made.names) != 0 {
		t.Errorf("%d ranks were %d, all of whose names may have changed", before, len(made.names))
	}
}

// A roster that is renewed while the one before it is being saved is to be saved, too.
func TestRosterIsUnsavedUntilItIsSavedAsItIs(t *testing.T) {
	var rosters rosters
	first, second := &roster{}, &roster{}
	want := func(when string, now time.Time, since time.Duration, want *roster) {
		t.Helper()
		if got := rosters.unsaved(now, since)[1]; got != want {
			t.Errorf("%s: %p is to be saved, want %p", when, got, want)
		}
	}
	rosters.put(1, first, noon)
	want("never saved", noon, savedEvery, first)
	rosters.save(1, first, noon)
	want("saved", noon.Add(time.Hour), 0, nil)
	rosters.put(1, second, noon)
	want("renewed", noon.Add(savedEvery-1), savedEvery, nil)
	want("renewed, and time has passed", noon.Add(savedEvery), savedEvery, second)
	want("renewed, and the process ends", noon, 0, second)
	rosters.save(1, first, noon)
	want("the one before was saved", noon, 0, second)
	rosters.save(1, second, noon)
	want("this one was", noon, 0, nil)
}

func TestSavedRosterHasNoNames(t *testing.T) {
	made := &roster{names: ranks[string]{{"zenaide", 7}}}
	head, err := made.head(0)
	if err != nil || bytes.Contains(head, []byte("zenaide")) {
		t.Errorf("%s, %v", head, err)
	}
}

func FuzzSavedRoster(f *testing.F) {
	made := &roster{buckets: map[int64]*rosterBucket{}}
	made, _ = made.patched([]member{{id: 1}, {id: 2, updated: 3}, {id: tally.BucketSize, name: "a"}}, []int64{0, 1})
	head, _ := made.head(1)
	for part := range made.parts() {
		f.Add(head, part.data)
	}
	f.Fuzz(func(t *testing.T, head, part []byte) {
		made, _ := rosterFrom(head)
		if made == nil || !made.addPart(part) {
			return
		}
		made.name(map[int64]string{}, nil)
		for _, bucket := range made.buckets {
			for _, one := range bucket.entries {
				if !made.knows(one) {
					t.Fatalf("%+v is not known", one)
				}
			}
		}
	})
}

// A large roster is saved in parts, of which none is left when it is a small one.
func TestLargeRosterIsSavedInParts(t *testing.T) {
	members := make([]member, 0, 40*tally.BucketSize)
	var buckets []int64
	for bucket := range int64(40) {
		for place := range int64(tally.BucketSize) {
			members = append(members, member{id: bucket*tally.BucketSize + place, updated: place})
		}
		buckets = append(buckets, bucket)
	}
	empty := &roster{buckets: map[int64]*rosterBucket{}}
	large, _ := empty.patched(members, buckets)
	small, _ := empty.patched(members[:100], buckets[:1])
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for round, made := range []*roster{large, small, empty, large} {
			must(t, saveRoster(t.Context(), db, 1, made))
			parts, err := sqldb.Values[int64](t.Context(), db, `SELECT count(*) FROM saved_rosters WHERE company_id = ?`, 1)
			if want := map[*roster]int64{large: 5, small: 2, empty: 2}[made]; err != nil || parts[0] != want {
				t.Errorf("round %d: %v rows, want %d; %v", round, parts, want, err)
			}
			again, err := savedRoster(t.Context(), db, 1)
			if err != nil || !reflect.DeepEqual(again.buckets, made.buckets) {
				t.Errorf("round %d: %d customers are there again, want %d; %v", round, again.size(), made.size(), err)
			}
		}
	})
}
