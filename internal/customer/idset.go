package customer

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"carteira/internal/tally"
)

// idSet is some customers by their ids, in the buckets by which they are counted, too.
// A bucket takes a bit for each id that it could have, or two bytes for each customer
// where they are few: a search that finds most of a million takes 125 KB. A set is not
// changed once it is made: sets share their groups.
type idSet struct {
	groups []idGroup // newest first; none is empty
	number int64
}

// idGroup is who of a bucket is in the set: bits, or few.
type idGroup struct {
	bucket int64
	bits   *idBits
	few    []uint16 // how far they are above the bucket's first id, newest first
	number int64
}

// idBits has a bit for each id of a bucket.
type idBits [tally.BucketSize / 64]uint64

// mostFew is up to how many customers of a bucket are few.
const mostFew = 64

func placeOf(id int64) uint16 { return uint16(id % tally.BucketSize) } //nolint:gosec // ids are positive

func (b *idBits) add(place uint16)      { b[place/64] |= 1 << (place % 64) }
func (b *idBits) has(place uint16) bool { return b[place/64]>>(place%64)&1 == 1 }

// setOf has what a search has found.
func setOf(found hits) idSet {
	var made falling
	for _, group := range found {
		if len(group.posting) > 0 && group.posting[0] == mapped {
			made.addMap(group.last, group.posting[1:])
			continue
		}
		for _, id := range group.all() {
			made.at(tally.BucketOf(id)).add(placeOf(id))
		}
	}
	return made.end()
}

// falling makes a set of ids that come newest first.
type falling struct {
	set    idSet
	bucket int64
	bits   *idBits // nil: nobody came yet
}

func (f *falling) at(bucket int64) *idBits {
	if f.bits == nil || f.bucket != bucket {
		f.end()
		f.bucket, f.bits = bucket, &idBits{}
	}
	return f.bits
}

func (f *falling) end() idSet {
	if f.bits != nil {
		f.set.append(newIDGroup(f.bucket, f.bits))
	}
	f.bits = nil
	return f.set
}

// addMap adds the ids whose distances below the last are the bits of a map, 64 of them
// at once.
func (f *falling) addMap(last int64, bitmap []byte) {
	for ; len(bitmap) > 0; last -= 64 {
		var eight [8]byte
		bitmap = bitmap[copy(eight[:], bitmap):]
		word, lowest := bits.Reverse64(binary.LittleEndian.Uint64(eight[:])), last-63
		if lowest < 0 { // ids are positive
			word, lowest = word>>-lowest, 0
		}
		shift := uint(lowest % 64)
		if high := word >> (64 - shift); high != 0 {
			f.addWord(lowest/64+1, high)
		}
		if low := word << shift; low != 0 {
			f.addWord(lowest/64, low)
		}
	}
}

// addWord adds some of 64 ids that follow one another.
func (f *falling) addWord(number int64, word uint64) {
	const inBucket = tally.BucketSize / 64
	f.at(number / inBucket)[number%inBucket] |= word
}

// newIDSet has ids that come in any order.
func newIDSet(ids []int64) idSet {
	gathered := idGatherer{}
	for _, id := range ids {
		gathered.add(id)
	}
	return gathered.set()
}

// idGatherer makes a set of ids that come in any order.
type idGatherer map[int64]*idBits

func (g idGatherer) add(id int64) {
	bucket := tally.BucketOf(id)
	of := g[bucket]
	if of == nil {
		of = &idBits{}
		g[bucket] = of
	}
	of.add(placeOf(id))
}

func (g idGatherer) set() (set idSet) {
	for _, bucket := range slices.SortedFunc(maps.Keys(g), newestFirst) {
		set.append(newIDGroup(bucket, g[bucket]))
	}
	return set
}

// newIDGroup has the bits of a bucket in the form that takes less.
func newIDGroup(bucket int64, of *idBits) idGroup {
	group := idGroup{bucket: bucket, bits: of}
	for _, word := range of {
		group.number += int64(bits.OnesCount64(word))
	}
	if group.number <= mostFew {
		group.few, group.bits = group.places(), nil
	}
	return group
}

func (s *idSet) append(group idGroup) {
	if group.number > 0 {
		s.groups, s.number = append(s.groups, group), s.number+group.number
	}
}

func (s idSet) has(id int64) bool { return s.group(tally.BucketOf(id)).has(placeOf(id)) }

// group is that of a bucket; an empty one where the set has none.
func (s idSet) group(bucket int64) idGroup {
	if len(s.groups) == 0 {
		return idGroup{bucket: bucket}
	}
	// Of a common search every bucket has somebody: then it is known where each is.
	if at := s.groups[0].bucket - bucket; at >= 0 && at < int64(len(s.groups)) && s.groups[at].bucket == bucket {
		return s.groups[at]
	}
	at, found := slices.BinarySearchFunc(s.groups, bucket, func(group idGroup, bucket int64) int {
		return newestFirst(group.bucket, bucket)
	})
	if !found {
		return idGroup{bucket: bucket}
	}
	return s.groups[at]
}

func (g idGroup) has(place uint16) bool {
	if g.bits != nil {
		return g.bits.has(place)
	}
	_, found := slices.BinarySearchFunc(g.few, place, func(a, b uint16) int { return cmp.Compare(b, a) })
	return found
}

// places are how far the customers of a group are above the bucket's first id, newest
// first.
func (g idGroup) places() []uint16 {
	if g.bits == nil {
		return g.few
	}
	places := make([]uint16, 0, g.number)
	for at := len(g.bits) - 1; at >= 0; at-- {
		for word := g.bits[at]; word != 0; {
			bit := 63 - bits.LeadingZeros64(word)
			places = append(places, uint16(64*at+bit)) //nolint:gosec // below the bucket's size
			word &^= 1 << bit
		}
	}
	return places
}

// appendTo appends the ids of a group, newest first.
func (g idGroup) appendTo(ids []int64) []int64 {
	for _, place := range g.places() {
		ids = append(ids, g.bucket*tally.BucketSize+int64(place))
	}
	return ids
}

// of is a part of the customers.
func (p part) of(set idSet) []int64 {
	ids, offset := make([]int64, 0, max(0, min(p.limit, set.number-p.offset))), p.offset
	for _, group := range set.groups {
		if offset >= group.number {
			offset -= group.number
			continue
		}
		some := group.appendTo(nil)[offset:]
		ids = append(ids, some[:min(int64(len(some)), p.limit-int64(len(ids)))]...)
		if offset = 0; int64(len(ids)) == p.limit {
			break
		}
	}
	return ids
}

// fromEnd is the part of so many that is as far from their end.
func (p part) fromEnd(number int64) part {
	end := max(0, number-p.offset)
	return part{offset: max(0, end-p.limit), limit: min(p.limit, end)}
}

func (s idSet) all() []int64 { return part{limit: s.number}.of(s) }
