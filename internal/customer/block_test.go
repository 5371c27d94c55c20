package customer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBlockRowIsWhatWentIn(t *testing.T) {
	random := rand.New(rand.NewPCG(105, 106))
	for range 2000 {
		var all []segmentRow
		for last := int64(0); random.IntN(12) > 0; {
			last += 1 + random.Int64N([]int64{3, 2048, 1 << 40}[random.IntN(3)])
			list := make(places, random.IntN(300))
			for at := range list {
				list[at] = byte(random.Uint32())
			}
			all = append(all, segmentRow{last, list})
		}
		shuffled := slices.Clone(all)
		random.Shuffle(len(all), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		row := newBlockRow(shuffled)
		wantSegments(t, row.segments(everyone), all)
		if len(all) == 0 {
			continue
		}
		begin, end := random.IntN(len(all)), random.IntN(len(all))
		wantSegments(t, row.segments(idSpan{all[begin].last, all[end].last}), all[min(begin+1, end+1):end+1])
		if cut := row[:random.IntN(len(row))].segments(everyone); len(cut) > len(all) {
			t.Fatalf("%d segments came out of a part of %d", len(cut), len(all))
		}
	}
}

func wantSegments(t *testing.T, got, want []segmentRow) {
	t.Helper()
	same := func(a, b segmentRow) bool { return a.last == b.last && slices.Equal(a.places, b.places) }
	if !slices.EqualFunc(got, want, same) {
		t.Fatalf("%v came out, want %v", got, want)
	}
}
