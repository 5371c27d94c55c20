package customer

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// posting is which customers of a segment have a term in their search text: how
// far the id of each is below the segment's last, in ascending order. After the
// format it is a list of differences, or a map of bits where that is shorter.
type posting []byte

// The formats of a posting.
const (
	listed byte = iota // differences, as in binary.AppendUvarint
	mapped             // bit n of byte m: the distance 8m + n
)

// growing is the distances of a posting while a segment is read, as a list.
type growing struct {
	last uint64
	list []byte
}

// add adds a distance, each farther than the one before.
func (g *growing) add(distance uint64) {
	g.list = binary.AppendUvarint(g.list, distance-g.last)
	g.last = distance
}

// addOnce adds a distance that may be the one before.
func (g *growing) addOnce(distance uint64) {
	if len(g.list) == 0 || g.last != distance {
		g.add(distance)
	}
}

// newPosting encodes distances.
func newPosting[T int64 | uint64](distances []T) posting {
	if n := len(distances); n > 0 && uint64(n) > uint64(distances[n-1])/8+1 { // a difference takes a byte or more
		return mappedOf(distances)
	}
	var list growing
	for _, distance := range distances {
		list.add(uint64(distance))
	}
	return list.posting()
}

// posting is the shorter of the two formats.
func (g *growing) posting() posting {
	size := g.last/8 + 2
	list := append(posting{listed}, g.list...)
	if size >= uint64(len(list)) {
		return list
	}
	return mappedOf(list.distances())
}

func mappedOf[T int64 | uint64](distances []T) posting {
	bitmap := make(posting, uint64(distances[len(distances)-1])/8+2)
	bitmap[0] = mapped
	for _, distance := range distances {
		bitmap[1+distance/8] |= 1 << (distance % 8)
	}
	return bitmap
}

// count is how many customers there are.
func (p posting) count() (count int64) {
	if len(p) == 0 {
		return 0
	}
	for _, value := range p[1:] {
		switch {
		case p[0] == mapped:
			count += int64(bits.OnesCount8(value))
		case value < 0x80: // the last byte of a difference
			count++
		}
	}
	return count
}

// ids are the customers of a segment that ends with last, newest first.
func (p posting) ids(last int64) []int64 {
	if len(p) == 0 {
		return nil
	}
	ids := make([]int64, 0, p.count())
	if p[0] == mapped {
		for at, value := range p[1:] {
			for ; value != 0; value &= value - 1 {
				ids = append(ids, last-int64(8*at+bits.TrailingZeros8(value)))
			}
		}
		return ids
	}
	for rest := p[1:]; len(rest) > 0; {
		difference, width := binary.Uvarint(rest)
		if width <= 0 {
			return ids // it was cut off
		}
		last -= int64(difference) //nolint:gosec // it was one
		ids = append(ids, last)
		rest = rest[width:]
	}
	return ids
}

// distances are how far the customers are below the last id of their segment.
func (p posting) distances() []int64 {
	distances := p.ids(0)
	for at, below := range distances {
		distances[at] = -below
	}
	return distances
}

// or is who is in one of two postings.
func (p posting) or(other posting) posting {
	switch {
	case len(p) == 0:
		return other
	case len(other) == 0:
		return p
	case p[0] == mapped && other[0] == mapped:
		if len(p) < len(other) {
			p, other = other, p
		}
		both := slices.Clone(p)
		for at, value := range other[1:] {
			both[1+at] |= value
		}
		return both
	}
	distances := slices.Concat(p.distances(), other.distances())
	slices.Sort(distances)
	return newPosting(slices.Compact(distances))
}

// newPostings are the postings of every letter and pair of letters of some texts,
// newest first.
func newPostings(texts []segmentText) map[string]posting {
	var found pairs
	for _, text := range texts {
		distance := uint64(text.distance) //nolint:gosec // it is below the last id
		for at, letter := range text.letters {
			found.of(letter, noLetter).addOnce(distance)
			if at+1 < len(text.letters) {
				found.of(letter, text.letters[at+1]).addOnce(distance)
			}
		}
	}
	made := map[string]posting{}
	for first := range rune(usual) {
		for second := range rune(usual) {
			if list := found.usual[first][second]; list != nil {
				made[termOf(first, second)] = list.posting()
			}
		}
	}
	for letters, list := range found.others {
		made[termOf(letters[0], letters[1])] = list.posting()
	}
	return made
}

// pairs are the distances of letters and pairs of letters. Nearly all letters of
// folded texts are usual ones, which need no map.
type pairs struct {
	usual  [usual][usual]*growing
	others map[[2]rune]*growing
}

const (
	usual    = 128
	noLetter = 0 // in place of the second letter of a single one; no text has it
)

func (p *pairs) of(first, second rune) *growing {
	if first < usual && second < usual {
		list := &p.usual[first][second]
		if *list == nil {
			*list = &growing{}
		}
		return *list
	}
	letters := [2]rune{first, second}
	list := p.others[letters]
	if list == nil {
		if p.others == nil {
			p.others = map[[2]rune]*growing{}
		}
		list = &growing{}
		p.others[letters] = list
	}
	return list
}

func termOf(first, second rune) string {
	if second == noLetter {
		return string(first)
	}
	return string(first) + string(second)
}
