package customer

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"carteira/internal/platform/civil"
	"carteira/internal/tally"
)

// roster is what the customers of a company are filtered by and sorted by, in memory: a
// search beside any filters, in any order, then reads the rows of nobody but of those
// whom it shows. It is a copy of one moment, of which a customer takes ten bytes. A
// bucket whose stamp is another now has changed since (rosters). A roster is not changed
// once it is made: those of later moments share what has stayed.
type roster struct {
	days    codes[civil.Date]
	kinds   codes[kind]
	names   ranks[string]
	moments ranks[int64]  // of the last changes
	latest  rankAt[int64] // of these
	behind  int64         // how many came one behind the other
	buckets map[int64]*rosterBucket
	stamps  tally.Stamps // from before it was read
}

// entry is a customer of a bucket, by numbers that the roster knows.
type entry struct {
	place uint16
	in    [columnsOfRoster]uint16
}

// rosterBucket has the entries of a bucket, in the order of their places.
type rosterBucket struct {
	there   idBits
	before  [len(idBits{})]uint16 // how many are before each word of these
	entries []entry
}

// newRosterBucket has entries that come in any order.
func newRosterBucket(entries []entry) *rosterBucket {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.place, b.place) })
	made := &rosterBucket{entries: entries}
	for _, one := range entries {
		made.there.add(one.place)
	}
	number := 0
	for word, of := range made.there {
		made.before[word] = uint16(number)
		number += bits.OnesCount64(of)
	}
	return made
}

// entry is that of a place; nil: nobody is there.
func (b *rosterBucket) entry(place uint16) *entry {
	if b == nil || !b.there.has(place) {
		return nil
	}
	word := place / 64
	lower := b.there[word] & (1<<(place%64) - 1)
	return &b.entries[int(b.before[word])+bits.OnesCount64(lower)]
}

// of is the entry of a customer; nil: it has none.
func (r *roster) of(id int64) *entry { return r.buckets[tally.BucketOf(id)].entry(placeOf(id)) }

// among appends where the entries are of those who are in a group.
func (b *rosterBucket) among(of idGroup, into []uint16) []uint16 {
	if b == nil {
		return into
	}
	wanted := of.allBits()
	for word, there := range b.there {
		for found := wanted[word] & there; found != 0; found &= found - 1 {
			lower := there & (found&-found - 1)
			into = append(into, b.before[word]+uint16(bits.OnesCount64(lower))) //nolint:gosec // an index
		}
	}
	return into
}

// The columns of a roster.
const (
	byDay = iota
	byKind
	byName
	byMoment
	columnsOfRoster
)

// kind is what a customer has, and whether it is cancelled.
type kind struct {
	planID, productID int64
	cancelled         bool
}

// member is a customer as a roster knows it.
type member struct {
	id      int64
	dueOn   civil.Date
	kind    kind
	name    string // as it is compared
	updated int64  // in microseconds
}

// mostCodes is how many values a column has at most.
const mostCodes = 1 << 16

// codes number the values of a column.
type codes[T comparable] struct {
	values []T
	known  map[T]uint16
}

func (c *codes[T]) code(value T) (code uint16, ok bool) {
	if code, ok = c.known[value]; ok || len(c.values) == mostCodes {
		return code, ok
	}
	if c.known == nil {
		c.known = map[T]uint16{}
	}
	code = uint16(len(c.values)) //nolint:gosec // below mostCodes
	c.values, c.known[value] = append(c.values, value), code
	return code, true
}

func (c *codes[T]) clone() codes[T] { return codes[T]{slices.Clip(c.values), maps.Clone(c.known)} }

// ranks cut an order of customers into parts, where each begins. The rank of a customer
// is that of the part which it is in; 0: it is before all.
type ranks[K cmp.Ordered] []rankAt[K]

type rankAt[K cmp.Ordered] struct {
	key K
	id  int64
}

func (a rankAt[K]) compare(b rankAt[K]) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
}

// inRank is about how many customers have a rank.
const inRank = 256

func (r ranks[K]) rank(key K, id int64) uint16 {
	number, met := slices.BinarySearchFunc(r, rankAt[K]{key, id}, rankAt[K].compare)
	if met {
		number++
	}
	return uint16(number) //nolint:gosec // there are no more than mostCodes
}

// moment is the rank of a change. The changes to come are behind all others, so that
// parts begin there, too.
func (r *roster) moment(updated, id int64) (rank uint16, ok bool) {
	at := rankAt[int64]{updated, id}
	if len(r.moments) > 0 && at.compare(r.latest) <= 0 {
		return r.moments.rank(updated, id), true
	}
	if r.behind%inRank == 0 {
		r.moments = append(r.moments, at)
	}
	r.latest, r.behind = at, r.behind+1
	return uint16(len(r.moments)), len(r.moments) < mostCodes //nolint:gosec // it is said
}

// patched is the roster with others in some of its buckets. ok is false when it has no
// more numbers for what they have.
func (r *roster) patched(members []member, buckets []int64) (made *roster, ok bool) {
	made = &roster{
		days: r.days.clone(), kinds: r.kinds.clone(), names: r.names,
		moments: slices.Clip(r.moments), latest: r.latest, behind: r.behind,
		buckets: maps.Clone(r.buckets), stamps: r.stamps,
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.updated, b.updated), cmp.Compare(a.id, b.id))
	})
	entries := map[int64][]entry{}
	for _, one := range members {
		entry, ok := made.entry(one)
		if !ok {
			return nil, false
		}
		bucket := tally.BucketOf(one.id)
		entries[bucket] = append(entries[bucket], entry)
	}
	for _, bucket := range buckets {
		made.buckets[bucket] = newRosterBucket(entries[bucket])
	}
	return made, true
}

// entry is a customer by its numbers, of which it may have new ones.
func (r *roster) entry(one member) (entry, bool) {
	day, ok := r.days.code(one.dueOn)
	kind, known := r.kinds.code(one.kind)
	moment, ranked := r.moment(one.updated, one.id)
	name := r.names.rank(one.name, one.id)
	return entry{placeOf(one.id), [...]uint16{byDay: day, byKind: kind, byName: name, byMoment: moment}}, ok && known && ranked
}

// only leaves those of some customers whom a listing leaves, its search aside.
func (r *roster) only(found idSet, l listing) (left idSet) {
	days, kinds := make([]bool, len(r.days.values)), make([]bool, len(r.kinds.values))
	for code, day := range r.days.values {
		days[code] = l.due.has(day)
	}
	for code, kind := range r.kinds.values {
		kinds[code] = l.filter.has(kind)
	}
	groups := make([]idGroup, len(found.groups))
	inParts(len(groups), func(from, to int) {
		buffer := make([]uint16, 0, tally.BucketSize)
		for at := from; at < to; at++ {
			bucket, bits := r.buckets[found.groups[at].bucket], idBits{}
			for _, number := range bucket.among(found.groups[at], buffer) {
				one := &bucket.entries[number]
				if days[one.in[byDay]] && kinds[one.in[byKind]] {
					bits.add(one.place)
				}
			}
			groups[at] = newIDGroup(found.groups[at].bucket, &bits)
		}
	})
	for _, group := range groups {
		left.append(group)
	}
	return left
}

// has reports whether a customer of this kind is left by a filter.
func (f Filter) has(kind kind) bool {
	return (f.PlanID == 0 || f.PlanID == kind.planID) &&
		(f.ProductID == 0 || f.ProductID == kind.productID) &&
		(f.Status == "" || (f.Status == Cancelled) == kind.cancelled)
}

// has reports whether a customer with this due date, or without one, is in the span.
func (d due) has(day civil.Date) bool {
	switch {
	case day.IsZero():
		return d.none || d.missing
	case d.missing:
		return false
	}
	return (d.from.IsZero() || !day.Before(d.from)) && (d.to.IsZero() || !day.After(d.to))
}
