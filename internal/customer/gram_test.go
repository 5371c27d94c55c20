package customer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"carteira/internal/platform/sqldb"
)

// segmentOf is the segment of some texts as it is read for a term.
func segmentOf(texts []string, distances []int64, term gramTerm) *gramSegment {
	read := &gramSegment{places: map[gram]places{}}
	var list []segmentText
	for i, text := range texts {
		list = append(list, segmentText{distances[i], []rune(text)})
	}
	var wanted []gram
	for _, at := range term {
		wanted = append(wanted, at.gram)
	}
	for _, row := range gramRows(list) {
		if slices.Contains(wanted, row.key) || slices.ContainsFunc(wanted, func(gram gram) bool { return gram.pair() == row.key }) {
			read.add(row, wanted)
		}
	}
	return read
}

func TestGramsFindWhatContainsTheTerm(t *testing.T) {
	random := rand.New(rand.NewPCG(61, 62))
	for range 3000 {
		letters := []rune([]string{"ab", "abc\n", "aé世😀", "0123456789abcdefghijklm@."}[random.IntN(4)])
		word := func(most int) string {
			out := make([]rune, random.IntN(most))
			for i := range out {
				out[i] = letters[random.IntN(len(letters))]
			}
			return string(out)
		}
		texts := make([]string, random.IntN(300))
		distances := make([]int64, len(texts))
		for i, distance := 0, int64(0); i < len(texts); i++ {
			distance += random.Int64N([]int64{1, 2, 100, 1 << 30}[random.IntN(4)])
			texts[i], distances[i] = word(40), distance
			distance++
		}
		term := word(12)
		if len(texts) > 0 && random.IntN(2) == 0 {
			text := []rune(texts[random.IntN(len(texts))])
			from := random.IntN(len(text) + 1)
			term = string(text[from : from+random.IntN(len(text)-from+1)])
		}
		if sqldb.IndexedTerm(term) {
			wantDistances(t, texts, distances, term)
		}
	}
}

func wantDistances(t *testing.T, texts []string, distances []int64, term string) {
	t.Helper()
	var want []uint64
	for i, text := range texts {
		if strings.Contains(text, term) {
			want = append(want, uint64(distances[i]))
		}
	}
	grams := newGramTerm(term)
	if got := new(matcher).distances(segmentOf(texts, distances, grams), grams); !slices.Equal(got, want) {
		t.Fatalf("%q is in %v of %q at %v; want %v", term, got, texts, distances, want)
	}
}

// Whatever the texts and the term, grams find what strings.Contains finds.
func FuzzGrams(f *testing.F) {
	f.Add("ana\n|na|banana", "ana", int64(1))
	f.Add("aaaaaaa|aaa", "aaaa", int64(1<<20))
	f.Add("abc|def", "abcdef", int64(0))
	f.Fuzz(func(t *testing.T, joined, term string, gap int64) {
		joined, term = sqldb.Searchable(joined), sqldb.Searchable(term)
		if !sqldb.IndexedTerm(term) || gap < 0 || gap > 1<<30 || len(joined) > 1<<12 {
			return
		}
		texts := strings.Split(joined, "|")
		distances := make([]int64, len(texts))
		for i := range distances {
			distances[i] = int64(i) * (gap + 1)
		}
		wantDistances(t, texts, distances, term)
	})
}

// What was cut off or is of another making finds something or nothing, and ends.
func FuzzGramRow(f *testing.F) {
	for _, row := range gramRows([]segmentText{{0, []rune("banana")}, {3, []rune("ana")}}) {
		f.Add(int64(row.key), []byte(row.places))
		f.Add(int64(row.key), []byte(row.places[:len(row.places)-1]))
	}
	f.Add(int64(gramOf('a', 'n', 'a')), []byte{0, 0xff, 0xff})
	f.Fuzz(func(_ *testing.T, key int64, row []byte) {
		term := newGramTerm("ananas")
		read := &gramSegment{places: map[gram]places{}}
		read.add(gramRow{gram(key), row}, []gram{term[0].gram, term[1].gram})
		read.places[term[1].gram] = row
		new(matcher).distances(read, term)
		new(matcher).distances(read, term[:1])
	})
}

func TestGramTermLeavesNoLetterOut(t *testing.T) {
	for _, term := range []string{"abc", "abcd", "abcde", "abcdef", "世界é😀a", strings.Repeat("ana", 20)} {
		covered := make([]bool, utf8.RuneCountInString(term))
		for _, at := range newGramTerm(term) {
			letters := []rune(term)[at.letters : at.letters+3]
			if at.gram != gramOf(letters[0], letters[1], letters[2]) || !at.gram.whole() || at.gram.pair().whole() {
				t.Errorf("%d at %d of %q", at.gram, at.letters, term)
			}
			copy(covered[at.letters:], []bool{true, true, true})
		}
		if slices.Contains(covered, false) {
			t.Errorf("%q: %v", term, covered)
		}
	}
}

func TestFollowedKeepsWhatIsAhead(t *testing.T) {
	random := rand.New(rand.NewPCG(99, 100))
	for range 3000 {
		stride := []uint64{4, 90, 256, 257, 70_000}[random.IntN(5)]
		draw := func() (list placing, numbers []uint64) {
			for place := random.Uint64N(2 * stride); random.IntN(60) > 0; place += 1 + random.Uint64N([]uint64{3, 2 * stride, 600 * stride}[random.IntN(3)]) {
				list.add(place/stride, place%stride, widthOf(stride))
				numbers = append(numbers, place)
			}
			return list, numbers
		}
		first, found := draw()
		second, others := draw()
		matcher := new(matcher)
		if matcher.found = first.places.read(stride, nil); !slices.Equal(matcher.found, found) {
			t.Fatalf("%v went in, %v came out", found, matcher.found)
		}
		letters := random.Uint64N(5)
		want := slices.DeleteFunc(slices.Clone(found), func(place uint64) bool { return !slices.Contains(others, place+letters) })
		matcher.others = second.places.read(stride, nil)
		if got := matcher.followed(letters); !slices.Equal(got, want) {
			t.Fatalf("of %v followed by %v after %d: %v, want %v", found, others, letters, got, want)
		}
		if matcher.marks != [len(matcher.marks)]uint64{} {
			t.Fatal("marks are left")
		}
		if len(first.places) > 0 { // a list that was cut off has what comes before
			cut := first.places[:random.IntN(len(first.places))]
			if got := cut.read(stride, nil); !slices.Equal(got, found[:len(got)]) || len(got) > len(found) {
				t.Fatalf("%v was cut off, %v came out", found, got)
			}
		}
	}
}
