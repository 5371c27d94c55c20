package customer

import (
	"math/bits"
	"slices"
	"unsafe"
)

// only leaves those who are in another set, too.
func (s idSet) only(other idSet) idSet {
	return s.meet(other, func(a, b uint64) uint64 { return a & b }, true)
}

// without leaves those who are not in another set.
func (s idSet) without(other idSet) idSet {
	return s.meet(other, func(a, b uint64) uint64 { return a &^ b }, false)
}

// meet leaves of each group those who are, or are not, in the other set.
func (s idSet) meet(other idSet, words func(a, b uint64) uint64, in bool) (met idSet) {
	rest := other.groups
	for _, group := range s.groups {
		for len(rest) > 0 && rest[0].bucket > group.bucket {
			rest = rest[1:]
		}
		switch {
		case len(rest) > 0 && rest[0].bucket == group.bucket:
			met.append(group.meet(rest[0], words, in))
		case !in:
			met.append(group)
		}
	}
	return met
}

func (g idGroup) meet(other idGroup, words func(a, b uint64) uint64, in bool) idGroup {
	if g.bits == nil {
		return g.fewOf(other, in)
	}
	of := other.bits
	if of == nil {
		of = &idBits{}
		for _, place := range other.few {
			of.add(place)
		}
	}
	met := idGroup{bucket: g.bucket, bits: &idBits{}}
	for at := range of {
		word := words(g.bits[at], of[at])
		met.bits[at], met.number = word, met.number+int64(bits.OnesCount64(word))
	}
	return met
}

// fewOf is meet of a group that has few.
func (g idGroup) fewOf(other idGroup, in bool) idGroup {
	met := idGroup{bucket: g.bucket}
	for _, place := range g.few {
		if other.has(place) == in {
			met.few = append(met.few, place)
		}
	}
	met.number = int64(len(met.few))
	return met
}

// replaced is the set with other groups in the places of some.
func (s idSet) replaced(by map[int64]idGroup) (set idSet) {
	groups := make([]idGroup, 0, len(s.groups)+len(by))
	for _, group := range s.groups {
		if _, other := by[group.bucket]; !other {
			groups = append(groups, group)
		}
	}
	for _, group := range by {
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(a, b idGroup) int { return newestFirst(a.bucket, b.bucket) })
	for _, group := range groups {
		set.append(group)
	}
	return set
}

// size is about how many bytes the set takes.
func (s idSet) size() (size int64) {
	for _, group := range s.groups {
		size += int64(unsafe.Sizeof(group)) + 2*int64(len(group.few))
		if group.bits != nil {
			size += int64(unsafe.Sizeof(*group.bits))
		}
	}
	return size
}
