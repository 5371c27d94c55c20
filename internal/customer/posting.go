package customer

import (
	"encoding/binary"
	"math/bits"
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

// newPosting encodes distances.
func newPosting[T int64 | uint64](distances []T) posting {
	list, before := posting{listed}, T(0)
	for _, distance := range distances {
		list = binary.AppendUvarint(list, uint64(distance-before))
		before = distance
	}
	if int64(before/8+2) >= int64(len(list)) {
		return list
	}
	bitmap := make(posting, before/8+2)
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

// newPostings are the postings of every letter and pair of letters of some texts,
// newest first.
func newPostings(texts []segmentText) map[string]posting {
	distances := map[[2]rune][]int64{}
	for _, text := range texts {
		for at, letter := range text.letters {
			addDistance(distances, [2]rune{letter, -1}, text.distance)
			if at+1 < len(text.letters) {
				addDistance(distances, [2]rune{letter, text.letters[at+1]}, text.distance)
			}
		}
	}
	made := make(map[string]posting, len(distances))
	for letters, list := range distances {
		term := string(letters[0])
		if letters[1] >= 0 {
			term += string(letters[1])
		}
		made[term] = newPosting(list)
	}
	return made
}

// addDistance adds a customer, each farther than the one before.
func addDistance(distances map[[2]rune][]int64, letters [2]rune, distance int64) {
	known := distances[letters]
	if len(known) == 0 || known[len(known)-1] != distance {
		distances[letters] = append(known, distance)
	}
}
