package customer

import (
	"math/bits"
	"slices"
)

// idSet is some customers by their ids, newest first, in groups. It takes a bit for
// each id between the first and the last of a group, or eight bytes for each customer
// where that is less: a search that finds most of a million takes 125 KB.
type idSet struct {
	groups []idGroup
	number int64
}

// idGroup has bits or ids.
type idGroup struct {
	last   int64    // the newest
	bits   []uint64 // bit n: the customer last − n
	ids    []int64  // newest first
	number int64
}

// setOf has what a search has found.
func setOf(found hits) (set idSet) {
	for _, group := range found {
		set.add(group.all())
	}
	return set
}

// newIDSet has ids that come in any order.
func newIDSet(ids []int64) (set idSet) {
	slices.SortFunc(ids, newestFirst)
	set.add(ids)
	return set
}

// add adds a group of customers, newest first, who are older than all before.
func (s *idSet) add(ids []int64) {
	if len(ids) == 0 {
		return
	}
	group := idGroup{last: ids[0], ids: ids, number: int64(len(ids))}
	if words := (ids[0]-ids[len(ids)-1])/64 + 1; words <= group.number {
		group.ids, group.bits = nil, make([]uint64, words)
		for _, id := range ids {
			group.bits[(ids[0]-id)/64] |= 1 << ((ids[0] - id) % 64)
		}
	}
	s.groups, s.number = append(s.groups, group), s.number+group.number
}

// has reports whether a customer is among them.
func (s idSet) has(id int64) bool {
	from, to := 0, len(s.groups) // the group before from is the last that begins with him or somebody newer
	for from < to {
		if middle := (from + to) / 2; s.groups[middle].last >= id {
			from = middle + 1
		} else {
			to = middle
		}
	}
	if from == 0 {
		return false
	}
	return s.groups[from-1].has(id)
}

func (g idGroup) has(id int64) bool {
	if g.bits == nil {
		_, found := slices.BinarySearchFunc(g.ids, id, newestFirst)
		return found
	}
	distance := g.last - id
	return distance/64 < int64(len(g.bits)) && g.bits[distance/64]>>(distance%64)&1 == 1
}

// all are the customers of a group, newest first.
func (g idGroup) all() []int64 {
	if g.bits == nil {
		return g.ids
	}
	ids := make([]int64, 0, g.number)
	for at, word := range g.bits {
		for ; word != 0; word &= word - 1 {
			ids = append(ids, g.last-int64(64*at+bits.TrailingZeros64(word)))
		}
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
		some := group.all()[offset:]
		ids = append(ids, some[:min(int64(len(some)), p.limit-int64(len(ids)))]...)
		if offset = 0; int64(len(ids)) == p.limit {
			break
		}
	}
	return ids
}

func (s idSet) all() []int64 { return part{limit: s.number}.of(s) }
