package customer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"carteira/internal/tally"
)

func TestIDSetsMeetAsTheirIDsDo(t *testing.T) {
	random := rand.New(rand.NewPCG(83, 84))
	for range 60 {
		a, b := randomIDs(random), randomIDs(random)
		first, second := newIDSet(slices.Clone(a)), newIDSet(slices.Clone(b))
		only := slices.DeleteFunc(slices.Clone(a), func(id int64) bool { return !slices.Contains(b, id) })
		wantIDs(t, "only", first.only(second), only)
		wantIDs(t, "the first, afterwards", first, a)
		wantIDs(t, "the second, afterwards", second, b)
	}
}

// randomIDs are few or many in each of a few buckets.
func randomIDs(random *rand.Rand) (ids []int64) {
	for bucket := range int64(4) {
		step := []int64{2, 20, 200, 2 * tally.BucketSize}[random.IntN(4)]
		for id := 1 + random.Int64N(step); id < tally.BucketSize; id += 1 + random.Int64N(step) {
			ids = append(ids, bucket*tally.BucketSize+id)
		}
	}
	slices.SortFunc(ids, newestFirst)
	return ids
}

func wantIDs(t *testing.T, what string, set idSet, want []int64) {
	t.Helper()
	want = slices.SortedFunc(slices.Values(want), newestFirst)
	if got := set.all(); !slices.Equal(got, want) || set.number != int64(len(want)) {
		t.Fatalf("%s: %v (%d), want %v", what, got, set.number, want)
	}
}
