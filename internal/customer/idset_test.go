package customer

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"carteira/internal/tally"
)

func TestIDSetHasWhatWentIn(t *testing.T) {
	random := rand.New(rand.NewPCG(81, 82))
	for range 500 {
		ids := map[int64]bool{}
		spread := []int64{1, 2, 40, 1 << 40}[random.IntN(4)]
		for range random.IntN(300) {
			ids[1+random.Int64N(200*spread)] = true
		}
		want := slices.SortedFunc(maps.Keys(ids), newestFirst)
		var found hits
		for rest := want; len(rest) > 0; { // in groups of any size and form
			n := 1 + random.IntN(len(rest))
			found = append(found, hitOf(rest[:n], random))
			rest = rest[n:]
		}
		set := setOf(found)
		if got := set.all(); !slices.Equal(got, want) || set.number != int64(len(want)) {
			t.Fatalf("%v (%d) came out of %v", got, set.number, want)
		}
		for range 200 {
			id := random.Int64N(200*spread + 3)
			if has := set.group(tally.BucketOf(id)).has(placeOf(id)); has != ids[id] {
				t.Fatalf("%v has %d: %v", want, id, has)
			}
		}
		wanted := part{offset: random.Int64N(300), limit: 1 + random.Int64N(50)}
		if got := wanted.of(set); !slices.Equal(got, wanted.among(want)) {
			t.Fatalf("%+v of %v: %v", wanted, want, got)
		}
		oldest := wanted.fromEnd(set.number).of(set)
		if slices.Reverse(oldest); !slices.Equal(oldest, wanted.among(slices.Sorted(slices.Values(want)))) {
			t.Fatalf("%+v from the end of %v: %v", wanted, want, oldest)
		}
	}
}

// hitOf is a group of ids, or a posting of them where that is not too long.
func hitOf(ids []int64, random *rand.Rand) hitGroup {
	last := ids[0] + random.Int64N(3)
	distances := make([]int64, len(ids))
	for i, id := range ids {
		distances[i] = last - id
	}
	switch of := distances[len(distances)-1]; {
	case random.IntN(3) == 0:
		return hitGroup{ids: ids, number: int64(len(ids))}
	case of < 1<<16 && random.IntN(2) == 0:
		return hitGroup{last: last, posting: mappedOf(distances), number: int64(len(ids))}
	}
	return hitGroup{last: last, posting: newPosting(distances), number: int64(len(ids))}
}
