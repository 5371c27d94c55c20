package customer

import (
	"cmp"
	"slices"
	"sync"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/tally"
)

// order is one in which a roster has its customers: in groups, one behind the other.
type order struct {
	column int
	groups []int // by the numbers of the column
	whole  bool  // those of a group are in the order of their ids
}

func (r *roster) order(sort input.Sort) order {
	switch sort.Field() {
	case input.ByName:
		return order{byName, groupsOf(len(r.names), sort), false}
	case input.ByUpdated:
		return order{byMoment, groupsOf(len(r.moments), sort), false}
	}
	return order{byDay, r.dayGroups(sort), true}
}

// groupsOf are those of ranks.
func groupsOf(ranks int, sort input.Sort) []int {
	groups := make([]int, ranks+1)
	for rank := range groups {
		groups[rank] = rank
	}
	if sort.Descending() {
		slices.Reverse(groups)
	}
	return groups
}

// dayGroups are those of the days, by their codes. Who has none comes last, whatever the
// direction.
func (r *roster) dayGroups(sort input.Sort) []int {
	inOrder := slices.SortedFunc(slices.Values(r.days.values), civil.Date.Compare)
	if sort.Descending() {
		slices.Reverse(inOrder)
	} else if len(inOrder) > 0 && inOrder[0].IsZero() {
		inOrder = append(inOrder[1:], civil.Date{})
	}
	groups := make([]int, len(inOrder))
	for at, day := range inOrder {
		groups[r.days.known[day]] = at
	}
	return groups
}

// around finds a part of a set in an order: so many customers that it is among them,
// and where it begins there.
func (r *roster) around(set idSet, sort input.Sort, wanted part) (some []int64, offset int64) {
	order := r.order(sort)
	if near := order.near(set.number, wanted.end()); near < len(order.groups) { // without a count of all
		if found := r.between(set, order, 0, near, sort); int64(len(found)) >= wanted.end() {
			return order.part(found, wanted)
		}
	}
	counts := r.count(set, order)
	first, before := 0, int64(0)
	for first < len(counts) && before+counts[first] <= wanted.offset {
		before += counts[first]
		first++
	}
	last, upTo := first, before
	for last < len(counts) && upTo < wanted.end() {
		upTo += counts[last]
		last++
	}
	wanted.offset -= before
	return order.part(r.between(set, order, first, last, sort), wanted)
}

// near is how many of the first groups are likely to have so many of a set, and not many
// more.
func (o order) near(number, wanted int64) int {
	if wanted > number/8 {
		return len(o.groups)
	}
	return 2 + int(2*int64(len(o.groups))*wanted/number)
}

// part is what has a part of those who were found in some groups, and where it begins
// there: those of a group may be in another order than here.
func (o order) part(found []placed, wanted part) (some []int64, offset int64) {
	first := min(wanted.offset, int64(len(found)))
	last := min(wanted.end(), int64(len(found)))
	for !o.whole && first > 0 && first < last && found[first-1].group == found[first].group {
		first--
	}
	for !o.whole && last > first && last < int64(len(found)) && found[last].group == found[last-1].group {
		last++
	}
	for _, one := range found[first:last] {
		some = append(some, one.id)
	}
	return some, wanted.offset - first
}

// count is how many of a set each group of an order has.
func (r *roster) count(set idSet, order order) []int64 {
	numbers := make([]int64, len(order.groups)) // of the column
	var mu sync.Mutex
	inParts(len(set.groups), func(from, to int) {
		some, buffer := make([]int64, len(numbers)), make([]uint16, 0, tally.BucketSize)
		for _, group := range set.groups[from:to] {
			bucket := r.buckets[group.bucket]
			for _, at := range bucket.among(group, buffer) {
				some[bucket.entries[at].in[order.column]]++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for number, count := range some {
			numbers[number] += count
		}
	})
	counts := make([]int64, len(numbers))
	for number, group := range order.groups {
		counts[group] += numbers[number]
	}
	return counts
}

// between are those of a set who are in some groups of an order.
func (r *roster) between(set idSet, order order, first, last int, sort input.Sort) (found []placed) {
	var mu sync.Mutex
	inParts(len(set.groups), func(from, to int) {
		var some []placed
		buffer := make([]uint16, 0, tally.BucketSize)
		for _, group := range set.groups[from:to] {
			bucket := r.buckets[group.bucket]
			for _, at := range bucket.among(group, buffer) {
				one := &bucket.entries[at]
				if at := order.groups[one.in[order.column]]; at >= first && at < last {
					some = append(some, placed{at, group.bucket*tally.BucketSize + int64(one.place)})
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		found = append(found, some...)
	})
	slices.SortFunc(found, func(a, b placed) int {
		byID := cmp.Compare(a.id, b.id)
		if sort.Descending() {
			byID = -byID
		}
		return cmp.Or(cmp.Compare(a.group, b.group), byID)
	})
	return found
}

// placed is a customer in a group of an order.
type placed struct {
	group int
	id    int64
}
