package customer

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
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
		most := 100 + random.IntN(1000)
		var out []segmentRow
		for _, row := range newBlockRows(slices.Clone(shuffled), most) {
			segments := row.segments(everyone)
			if out = append(out, segments...); len(segments) > 1 && len(row) > most {
				t.Fatalf("a row of %d segments is %d long, and may be %d", len(segments), len(row), most)
			}
		}
		if wantSegments(t, out, all); len(all) == 0 {
			continue
		}
		row := newBlockRows(shuffled, math.MaxInt)[0]
		wantSegments(t, row.segments(everyone), all)
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

// Whichever order a plan has the rows of blocks come in, all of them are searched.
func TestLookTakesRowsInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(107, 108))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	blocks := map[int64]map[int64][]segmentRow{}
	for last := int64(100); last <= 2400; last += 100 {
		var texts []segmentText
		for distance := range int64(100) {
			texts = append(texts, segmentText{distance, []rune([]string{"mariana", "maria ana", "diana", "ana maria"}[random.IntN(4)])})
		}
		block := -1 - last/600
		if blocks[block] == nil {
			blocks[block] = map[int64][]segmentRow{}
		}
		for _, row := range gramRows(texts) {
			blocks[block][int64(row.key)] = append(blocks[block][int64(row.key)], segmentRow{last, row.places})
		}
	}
	var rows []lateRow
	for block, keys := range blocks {
		for key, segments := range keys {
			for _, row := range newBlockRows(segments, 300) {
				rows = append(rows, lateRow{block, key, row})
			}
		}
	}
	slices.SortFunc(rows, func(a, b lateRow) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.key, b.key)) })
	found := func() (late int, ids []int64) {
		look := newLook([]string{"mariana"})
		must(t, look.whileMatching(func() error {
			for _, row := range rows {
				look.addGrams(row.of, row.key, row.stored)
			}
			return nil
		}))
		return len(look.late), look.hits().page(0, 10_000)
	}
	late, want := found()
	if late != 0 || len(want) < 100 {
		t.Fatalf("in order %d are late, and %d are found", late, len(want))
	}
	for range 20 {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if late, got := found(); late == 0 || !slices.Equal(got, want) {
			t.Fatalf("%d rows were late, %d are found, want %d", late, len(got), len(want))
		}
	}
}
