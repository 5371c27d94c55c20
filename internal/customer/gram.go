package customer

import (
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
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

// places is where a gram begins in the texts of a segment, in ascending order: how many
// customers farther from the segment's last one than the place before, in a byte or, from
// far on, as binary.AppendUvarint has it after that; and how many letters are before it in
// the text, in as many bytes as the longest text needs. As a number it is the customer's
// distance times the segment's stride, and those letters. The stride is longer than every
// text, so that letters of two texts never follow one another.
type places []byte

const far = 0xff

// widthOf is how many bytes say where in a text a gram is.
func widthOf(stride uint64) int { return min(max(1, (bits.Len64(stride-1)+7)/8), 3) }

// cut takes a number off that was appended by itself. Where they end, or were cut off, the
// rest is nil.
func (p places) cut() (number uint64, rest places) {
	number, width := binary.Uvarint(p)
	if width <= 0 {
		return 0, nil
	}
	return number, p[width:]
}

// read puts the places as numbers into memory that is used again.
func (p places) read(stride uint64, into []uint64) []uint64 {
	width := widthOf(stride)
	into = slices.Grow(into[:0], len(p)/(1+width)+1)
	into = into[:len(p)/(1+width)+1]
	mask, count, begin, at := uint64(1)<<(8*width)-1, 0, uint64(0), 0
	for at+4 <= len(p) {
		next := uint64(binary.LittleEndian.Uint32(p[at:]))
		if next&0xff == far {
			ahead, rest := p[at+1:].cut()
			if len(rest) < width {
				break
			}
			begin += ahead * stride
			into[count] = begin + rest.letters(width)
			at = len(p) - len(rest) + width
		} else {
			begin += next & 0xff * stride
			into[count] = begin + next>>8&mask
			at += 1 + width
		}
		count++
	}
	if rest := p[min(at, len(p)):]; len(rest) == 1+width && rest[0] != far {
		into[count] = begin + uint64(rest[0])*stride + rest[1:].letters(width)
		count++
	}
	return into[:count]
}

func (p places) letters(width int) (letters uint64) {
	for at := range width {
		letters |= uint64(p[at]) << (8 * at)
	}
	return letters
}

// placing is the places of a gram while a segment is read.
type placing struct {
	distance uint64
	places   places
}

func (p *placing) add(distance, letters uint64, width int) {
	ahead := distance - p.distance
	p.distance = distance
	if ahead < far {
		p.places = append(p.places, byte(ahead))
	} else {
		p.places = binary.AppendUvarint(append(p.places, far), ahead)
	}
	for range width {
		p.places = append(p.places, byte(letters))
		letters >>= 8
	}
}

// gramPlaces are the places of every gram of some texts, nearest first, and their
// stride.
func gramPlaces(texts []segmentText) (found map[gram]*placing, stride uint64) {
	stride = 1
	for _, text := range texts {
		stride = max(stride, uint64(len(text.letters))+1)
	}
	found = map[gram]*placing{}
	width := widthOf(stride)
	for _, text := range texts {
		for at := range max(len(text.letters)-2, 0) {
			key := gramOf(text.letters[at], text.letters[at+1], text.letters[at+2])
			list := found[key]
			if list == nil {
				list = &placing{}
				found[key] = list
			}
			list.add(uint64(text.distance), uint64(at), width) //nolint:gosec // it is below the last id
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

func longestFirst(grams []gram, found map[gram]*placing) []gram {
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
type matcher struct {
	found, others []uint64
	marks         [marked / 64]uint64
}

// marked is how many places are marked at a time. Nearly all segments have fewer.
const marked = 1 << 18

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
	m.found = segment.places[term[first].gram].read(segment.stride, m.found)
	begins := m.found[:0]
	for _, place := range m.found {
		if place >= term[first].letters {
			begins = append(begins, place-term[first].letters)
		}
	}
	m.found = begins
	for i, at := range term {
		if i != first && len(m.found) > 0 {
			m.others = segment.places[at.gram].read(segment.stride, m.others)
			m.found, m.others = m.followed(at.letters), m.found
		}
	}
	// The reciprocal is exact, and ten times as fast as a division: places are far below
	// 1<<64 / stride.
	reciprocal := math.MaxUint64/segment.stride + 1
	for i, place := range m.found {
		m.found[i], _ = bits.Mul64(place, reciprocal)
	}
	return slices.Compact(m.found)
}

// followed keeps those places of which one of the others is a number of letters
// ahead; both lists ascend. Those found are marked, and the others look for their marks:
// which list is behind is not to be guessed, and need not be.
func (m *matcher) followed(letters uint64) []uint64 {
	found, others, kept, next := m.found, m.others, 0, 0
	for len(found) > 0 {
		from, marks := found[0]&^(marked-1), 0
		for marks < len(found) && found[marks]-from < marked {
			at := found[marks] - from
			m.marks[at/64] |= 1 << (at % 64)
			marks++
		}
		for next < len(others) && others[next] < from+letters {
			next++
		}
		for next < len(others) {
			at := others[next] - letters - from
			if at >= marked {
				break
			}
			others[kept] = from + at
			kept += int(m.marks[at/64] >> (at % 64) & 1)
			next++
		}
		for _, place := range found[:marks] {
			m.marks[(place-from)/64] = 0
		}
		found = found[marks:]
	}
	return others[:kept]
}
