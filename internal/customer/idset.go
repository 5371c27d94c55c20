package customer

import "slices"

// idSet is some customers by their ids, the newest first.
type idSet []int64

func (s idSet) sort() { slices.SortFunc(s, newestFirst) }

// has reports whether a customer is among them. The loop is that of a binary search:
// some hundred thousand ids are asked for in one count.
func (s idSet) has(id int64) bool {
	from, to := 0, len(s)
	for from < to {
		middle := int(uint(from+to) >> 1) //nolint:gosec // indexes
		if s[middle] > id {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from < len(s) && s[from] == id
}
