package customer

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"carteira/internal/platform/civil"
	"carteira/internal/tally"
)

// rosterHead is what is saved of a roster besides its entries. It has no names: who
// begins a rank by name is known by the id, and the name is read again.
type rosterHead struct {
	Format  int64
	Days    []civil.Date
	Kinds   [][3]int64 // plan, product, and 1 for who is cancelled
	Names   []int64
	Moments [][2]int64 // when, and who
	Latest  [2]int64
	Behind  int64
	Stamps  tally.Stamps
	Parts   int64 // of entries
}

// rosterFormat is another one whenever a saved roster would be understood in another way.
const rosterFormat = 1

func (r *roster) head(parts int64) ([]byte, error) {
	head := rosterHead{
		Format: rosterFormat, Days: r.days.values, Latest: [...]int64{r.latest.key, r.latest.id},
		Behind: r.behind, Stamps: r.stamps, Parts: parts,
	}
	for _, one := range r.kinds.values {
		cancelled := int64(0)
		if one.cancelled {
			cancelled = 1
		}
		head.Kinds = append(head.Kinds, [...]int64{one.planID, one.productID, cancelled})
	}
	for _, one := range r.names {
		head.Names = append(head.Names, one.id)
	}
	for _, one := range r.moments {
		head.Moments = append(head.Moments, [...]int64{one.key, one.id})
	}
	return json.Marshal(head)
}

// rosterFrom has what a head says: everything but entries, and the names of its ranks;
// nil: it says nothing.
func rosterFrom(data []byte) (made *roster, parts int64) {
	var head rosterHead
	if json.Unmarshal(data, &head) != nil || head.Format != rosterFormat {
		return nil, 0
	}
	made, ok := head.roster()
	if !ok {
		return nil, 0
	}
	return made, head.Parts
}

func (h rosterHead) roster() (*roster, bool) {
	made := &roster{
		latest: rankAt[int64]{h.Latest[0], h.Latest[1]}, behind: h.Behind, stamps: h.Stamps,
		buckets: map[int64]*rosterBucket{},
	}
	for _, day := range h.Days {
		if _, ok := made.days.code(day); !ok {
			return nil, false
		}
	}
	for _, one := range h.Kinds {
		if _, ok := made.kinds.code(kind{one[0], one[1], one[2] != 0}); !ok {
			return nil, false
		}
	}
	for _, id := range h.Names {
		made.names = append(made.names, rankAt[string]{id: id})
	}
	for _, one := range h.Moments {
		made.moments = append(made.moments, rankAt[int64]{one[0], one[1]})
	}
	return made, len(made.days.values) == len(h.Days) && len(made.kinds.values) == len(h.Kinds) &&
		len(h.Names) < mostCodes && len(h.Moments) < mostCodes
}

// A part has buckets, one behind the other: the number of each in eight bytes, how many
// entries it has in two, and the entries, whose numbers take two bytes each.
const (
	partSize  = 512 << 10 // about
	entrySize = 2 * (1 + columnsOfRoster)
)

// rosterPart is a part of a saved roster; number 0 is its head.
type rosterPart struct {
	number int64
	data   []byte
}

// parts are those of the entries, from 1 on.
func (r *roster) parts() iter.Seq[rosterPart] {
	return func(yield func(rosterPart) bool) {
		made := rosterPart{1, []byte{}}
		for _, number := range slices.Sorted(maps.Keys(r.buckets)) {
			if len(made.data) >= partSize {
				if !yield(made) {
					return
				}
				made = rosterPart{number: made.number + 1}
			}
			made.data = r.buckets[number].appendTo(made.data, number)
		}
		yield(made)
	}
}

func (b *rosterBucket) appendTo(data []byte, number int64) []byte {
	data = slices.Grow(data, 10+len(b.entries)*entrySize)
	data = binary.BigEndian.AppendUint64(data, uint64(number))         //nolint:gosec // its bits
	data = binary.BigEndian.AppendUint16(data, uint16(len(b.entries))) //nolint:gosec // no more than a bucket has
	for _, one := range b.entries {
		data = binary.BigEndian.AppendUint16(data, one.place)
		for _, value := range one.in {
			data = binary.BigEndian.AppendUint16(data, value)
		}
	}
	return data
}

// addPart takes the entries of a part; false: it is none of this roster.
func (r *roster) addPart(data []byte) bool {
	for len(data) > 0 {
		if len(data) < 10 {
			return false
		}
		number, count := int64(binary.BigEndian.Uint64(data)), int(binary.BigEndian.Uint16(data[8:])) //nolint:gosec // its bits
		if data = data[10:]; count > tally.BucketSize || len(data) < count*entrySize {
			return false
		}
		entries := make([]entry, count)
		for at := range entries {
			one := entryFrom(data[at*entrySize:])
			if !r.knows(one) || at > 0 && entries[at-1].place >= one.place {
				return false
			}
			entries[at] = one
		}
		r.buckets[number] = newRosterBucket(entries)
		data = data[count*entrySize:]
	}
	return true
}

func entryFrom(data []byte) (one entry) {
	one.place = binary.BigEndian.Uint16(data)
	for column := range one.in {
		one.in[column] = binary.BigEndian.Uint16(data[2+2*column:])
	}
	return one
}

// knows reports whether an entry has numbers of this roster.
func (r *roster) knows(one entry) bool {
	return one.place < tally.BucketSize &&
		int(one.in[byDay]) < len(r.days.values) && int(one.in[byKind]) < len(r.kinds.values) &&
		int(one.in[byName]) <= len(r.names) && int(one.in[byMoment]) <= len(r.moments)
}

// name gives the ranks their names. The ranks that begin with somebody whose name may be
// another since are one with those before them.
func (r *roster) name(names map[int64]string, changed []int64) {
	ranks := make([]uint16, 1, len(r.names)+1) // by those of before
	kept := r.names[:0]
	for _, begin := range r.names {
		name, there := names[begin.id]
		if there && !slices.Contains(changed, tally.BucketOf(begin.id)) {
			kept = append(kept, rankAt[string]{name, begin.id})
		}
		ranks = append(ranks, uint16(len(kept))) //nolint:gosec // fewer than before
	}
	r.names = kept
	for _, bucket := range r.buckets {
		for at := range bucket.entries {
			rank := &bucket.entries[at].in[byName]
			*rank = ranks[*rank]
		}
	}
}
