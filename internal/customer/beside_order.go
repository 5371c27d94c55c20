package customer

import (
	"context"
	"slices"

	"carteira/internal/platform/input"
)

// mostWalked is along how many entries of an index a page is looked for.
const mostWalked = 60_000

// walker finds a part of a listing in an order.
type walker func(ctx context.Context, l listing, sort input.Sort, wanted part) (ids []int64, ok bool, err error)

// pick finds the ids of a page. In the order of due dates those without a date come
// last; who they are on a later page cannot be told without a count.
func pick(ctx context.Context, l listing, sort input.Sort, wanted part, walk walker) (ids []int64, ok bool, err error) {
	if sort.Field() != input.ByDueDate || !l.due.none {
		return walk(ctx, l, sort, wanted)
	}
	ids, ok, err = walk(ctx, l.withDate(), sort, wanted)
	found := int64(len(ids))
	if err != nil || !ok || found == wanted.limit {
		return ids, ok, err
	}
	if found == 0 && wanted.offset > 0 {
		return nil, false, nil
	}
	undated, ok, err := walk(ctx, l.withoutDate(), sort, part{limit: wanted.limit - found})
	return append(ids, undated...), ok, err
}

// walk looks for a page along the index of an order, which has only the ids of
// customers: who is searched for is known, and is tested for the other filters. ok is
// false when too few were met.
func (b *beside) walk(ctx context.Context, l listing, sort input.Sort, wanted part) (ids []int64, ok bool, err error) {
	window := sorting{service: b.service, listing: l, company: b.company, count: b.company, sort: sort}.window(l)
	window.Ascending = !sort.Descending()
	set, tested, sure := b.found, b.expected(wanted.end()), b.both != nil || l.filter == b.listing.withoutSearch().filter
	if b.both != nil {
		set = b.both
	}
	if sure {
		tested = wanted.end()
	}
	walked := 100 + tested*b.company*5/max(1, set.number) // they may stand together, and not at the beginning
	for ; walked <= mostWalked && tested <= mostTested; walked, tested = 4*walked, 4*tested {
		window.Limit = walked
		met, over, err := window.Among(ctx, b.service.db, set.has, tested)
		if err == nil && !sure {
			met, err = b.inOrder(ctx, met, wanted.end())
		}
		if err != nil {
			return nil, false, err
		}
		if over || int64(len(met)) >= wanted.end() {
			return wanted.among(met), true, nil
		}
	}
	return nil, false, nil
}

// inOrder tests customers for the other filters and leaves them in their order: as many
// as are wanted, or all.
func (b *beside) inOrder(ctx context.Context, ids []int64, wanted int64) (kept []int64, err error) {
	for len(ids) > 0 && int64(len(kept)) < wanted {
		some := ids[:min(b.expected(wanted-int64(len(kept))), int64(len(ids)))]
		both, err := b.test(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			if _, found := slices.BinarySearchFunc(both, id, newestFirst); found {
				kept = append(kept, id)
			}
		}
		ids = ids[len(some):]
	}
	return kept, nil
}

// walkable is the listing with those filters that the index of an order knows.
func (b *beside) walkable(sort input.Sort) listing {
	l := b.listing.withoutSearch()
	if sort.Field() != input.ByDueDate {
		l.filter, l.due = Filter{}, due{none: true}
	}
	l.filter.PlanID, l.filter.ProductID = 0, 0
	return l
}
