package customer

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
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
		var set idSet
		for rest := want; len(rest) > 0; { // in groups of any size
			n := 1 + random.IntN(len(rest))
			set.add(rest[:n])
			rest = rest[n:]
		}
		if got := set.all(); !slices.Equal(got, want) || set.number != int64(len(want)) {
			t.Fatalf("%v (%d) came out of %v", got, set.number, want)
		}
		for range 200 {
			if id := random.Int64N(200*spread + 3); set.has(id) != ids[id] {
				t.Fatalf("%v has %d: %v", want, id, set.has(id))
			}
		}
		wanted := part{offset: random.Int64N(300), limit: 1 + random.Int64N(50)}
		if got := wanted.of(set); !slices.Equal(got, wanted.among(want)) {
			t.Fatalf("%+v of %v: %v", wanted, want, got)
		}
	}
}
