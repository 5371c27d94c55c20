package customer

import (
	"encoding/binary"
	"maps"
	"slices"
)

// gram is three letters that follow one another in a search text. It is a number,
// so that databases compare it fast. Its pair is the first two letters of it, in
// numbers of their own.
type gram int64

const (
	runeBits = 21
	runeMask = 1<<runeBits - 1
)

func gramOf(first, second, third rune) gram {
	return (gram(first)+1)<<(2*runeBits) | gram(second)<<runeBits | gram(third)
}

func (g gram) pair() gram  { return g >> runeBits }
func (g gram) third() gram { return g & runeMask }
func (g gram) whole() bool { return g >= 1<<(2*runeBits) }

// places is where a gram begins in the texts of a segment: numbers in ascending
// order, each as its difference from the one before (binary.AppendUvarint). A
// place is the customer's distance below the segment's last id, times the
// segment's stride, and the letters before it in the text. The stride is longer than
// every text, so that letters of two texts never follow one another.
type places []byte

// cut takes the first number off: of places, how far one is ahead of the one before. Where
// they end, or were cut off, the rest is nil.
func (p places) cut() (number uint64, rest places) {
	number, width := binary.Uvarint(p)
	if width <= 0 {
		return 0, nil
	}
	return number, p[width:]
}

// read appends the places as numbers. Nearly all are one or two bytes ahead of the one
// before; which of both is not to be guessed, so that it is not asked.
func (p places) read(into []uint64) []uint64 {
	place := uint64(0)
	for len(p) > 1 {
		first, second := uint64(p[0]), uint64(p[1])
		two := first >> 7
		if two&(second>>7) == 1 {
			ahead, rest := p.cut()
			if rest == nil {
				return into
			}
			place += ahead
			p = rest
		} else {
			place += first&0x7f | second<<7&-two
			p = p[1+two:]
		}
		into = append(into, place)
	}
	if len(p) == 1 && p[0] < 0x80 {
		into = append(into, place+uint64(p[0]))
	}
	return into
}

// followed keeps those places of which some other place is a number of letters
// ahead; both lists ascend. Which list is behind is not to be guessed either, so that the
// steps are reckoned: all places are far below 1<<63.
func followed(found, others []uint64, letters uint64) []uint64 {
	kept, next, other := uint64(0), uint64(0), uint64(0)
	for next < uint64(len(found)) && other < uint64(len(others)) {
		begin := found[next]
		ahead := others[other] - begin - letters
		behind := ahead >> 63
		same := (ahead - 1) >> 63 &^ behind
		found[kept] = begin
		kept += same
		next += 1 - behind
		other += behind | same
	}
	return found[:kept]
}

// growing is the places of a gram, or the distances of a posting, while a segment is read.
type growing struct {
	last   uint64
	places places
}

// add adds a place, each farther than the one before.
func (g *growing) add(place uint64) {
	g.places = binary.AppendUvarint(g.places, place-g.last)
	g.last = place
}

// addOnce adds a place that may be the one before.
func (g *growing) addOnce(place uint64) {
	if len(g.places) == 0 || g.last != place {
		g.add(place)
	}
}

// gramPlaces are the places of every gram of some texts, nearest first, and their
// stride.
func gramPlaces(texts []segmentText) (found map[gram]*growing, stride uint64) {
	stride = 1
	for _, text := range texts {
		stride = max(stride, uint64(len(text.letters))+1)
	}
	found = map[gram]*growing{}
	for _, text := range texts {
		begin := uint64(text.distance) * stride //nolint:gosec // it is below the last id
		for at := range max(len(text.letters)-2, 0) {
			key := gramOf(text.letters[at], text.letters[at+1], text.letters[at+2])
			list := found[key]
			if list == nil {
				list = &growing{}
				found[key] = list
			}
			list.add(begin + uint64(at))
		}
	}
	return found, stride
}

// gramRow is a row of search_grams. That of a pair has the places of several
// grams, that of a gram has its own.
type gramRow struct {
	key    gram
	places places
}

// shareable is up to how many bytes the grams of a pair share a row. SQLite keeps
// a longer one outside of the page that it is found in.
const shareable = 900

// gramRows are the rows of a segment: after the stride, in that of a pair, for each
// gram its third letter and the length of its places before them. The grams that
// have the most places of a pair stand alone, when all of them are too long for a row.
func gramRows(texts []segmentText) []gramRow {
	found, stride := gramPlaces(texts)
	start := binary.AppendUvarint(places{}, stride)
	var rows []gramRow
	grams := slices.Sorted(maps.Keys(found))
	for len(grams) > 0 {
		pair, size := grams[0].pair(), 0
		end := 0
		for ; end < len(grams) && grams[end].pair() == pair; end++ {
			size += len(found[grams[end]].places) + 2
		}
		shared := slices.Clone(start)
		for _, gram := range longestFirst(grams[:end], found) {
			list := found[gram].places
			if size > shareable {
				rows = append(rows, gramRow{gram, slices.Concat(start, list)})
				size -= len(list) + 2
				continue
			}
			shared = binary.AppendUvarint(shared, uint64(gram.third())) //nolint:gosec // a letter
			shared = binary.AppendUvarint(shared, uint64(len(list)))
			shared = append(shared, list...)
		}
		if len(shared) > len(start) {
			rows = append(rows, gramRow{pair, shared})
		}
		grams = grams[end:]
	}
	return rows
}

func longestFirst(grams []gram, found map[gram]*growing) []gram {
	slices.SortStableFunc(grams, func(a, b gram) int { return len(found[b].places) - len(found[a].places) })
	return grams
}

// gramTerm is a term of three letters or more: which gram is how many letters
// after its beginning. Those that are named leave no letter out.
type gramTerm []gramAt

type gramAt struct {
	gram    gram
	letters uint64
}

func newGramTerm(term string) gramTerm {
	var grams gramTerm
	letters := []rune(term)
	for at := 0; ; at += 3 {
		at = min(at, len(letters)-3)
		grams = append(grams, gramAt{gramOf(letters[at], letters[at+1], letters[at+2]), uint64(at)}) //nolint:gosec // an index
		if at == len(letters)-3 {
			return grams
		}
	}
}

// gramSegment is what was read of a segment for some terms.
type gramSegment struct {
	stride uint64
	places map[gram]places
}

// add takes in a row, of which only the grams of the terms are kept.
func (s *gramSegment) add(row gramRow, wanted []gram) {
	s.stride = row.each(func(gram gram, list places) {
		if slices.Contains(wanted, gram) {
			s.places[gram] = list
		}
	})
}

// each visits the grams of a row, and returns the stride of the segment. Where the
// row was cut off, it ends.
func (r gramRow) each(visit func(gram, places)) (stride uint64) {
	stride, rest := r.places.cut()
	if r.key.whole() {
		visit(r.key, rest)
		return max(stride, 1)
	}
	for len(rest) > 0 {
		var third, length uint64
		third, rest = rest.cut()
		length, rest = rest.cut()
		length = min(length, uint64(len(rest)))
		visit(r.key<<runeBits|gram(third&runeMask), rest[:length])
		rest = rest[length:]
	}
	return max(stride, 1)
}

// matcher has the memory in which one segment after the other is searched.
type matcher struct{ found, others []uint64 }

// distances are the customers of a segment whose text contains the term, nearest
// first, until the next call. It begins with the gram that has the fewest places.
func (m *matcher) distances(segment *gramSegment, term gramTerm) []uint64 {
	first := 0
	for i, at := range term {
		list := segment.places[at.gram]
		if len(list) == 0 {
			return nil
		}
		if len(list) < len(segment.places[term[first].gram]) {
			first = i
		}
	}
	m.found = segment.places[term[first].gram].read(m.found[:0])
	begins := m.found[:0]
	for _, place := range m.found {
		if place >= term[first].letters {
			begins = append(begins, place-term[first].letters)
		}
	}
	for i, at := range term {
		if i != first && len(begins) > 0 {
			m.others = segment.places[at.gram].read(m.others[:0])
			begins = followed(begins, m.others, at.letters)
		}
	}
	for i, place := range begins {
		begins[i] = place / segment.stride
	}
	return slices.Compact(begins)
}
