package customer

import (
	"context"
	"slices"

	"carteira/internal/platform/input"
)

const (
	// mostTested is how many customers are tested one by one, by their rows, before
	// a page goes another way.
	mostTested = 4000
	// mostSorted is up to how many customers are sorted for a page of them.
	mostSorted = 1000
)

// page reads a page near the beginning and one customer more; ok is false where that
// is not the way.
func (b *beside) page(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
	if b.both != nil {
		return b.byIDs(ctx, sort, wanted)
	}
	if sort.IsNewest() && !b.few(wanted) {
		ids, ok, err := b.newest(ctx, wanted)
		if err != nil {
			return nil, false, err
		}
		if ok {
			return b.rows(ctx, sort, ids)
		}
		return b.byTexts(ctx, sort, wanted)
	}
	if list, ok, err := b.byTexts(ctx, sort, wanted); err != nil || ok {
		return list, ok, err
	}
	return b.byIDs(ctx, sort, wanted)
}

// few reports whether so few customers are left by the other filters that a page is
// found among all whom both sides leave.
func (b *beside) few(wanted part) bool { return b.expected(wanted.end()) > mostTested }

// byIDs reads a page by all whom the search finds.
func (b *beside) byIDs(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
	if b.both == nil {
		if ok, err := b.read(ctx); err != nil || !ok {
			return nil, false, err
		}
		if b.few(wanted) || b.left == b.company || b.found.number <= mostTested {
			if ok, err := b.intersect(ctx); err != nil || !ok {
				return nil, false, err
			}
		}
	}
	switch {
	case sort.IsNewest():
		return b.rows(ctx, sort, wanted.of(*b.both))
	case b.both != nil && b.both.number <= mostSorted:
		return b.sorted(ctx, sort, wanted)
	}
	ids, ok, err := pick(ctx, b.walkable(sort), sort, wanted, b.walk)
	if err != nil || !ok {
		return nil, false, err
	}
	return b.rows(ctx, sort, ids)
}

// expected is how many customers of the search are tested for so many whom both sides
// leave.
func (b *beside) expected(both int64) int64 { return 20 + both*b.company*5/4/max(1, b.left) }

// newest finds a page of the newest, in the segments that it meets.
func (b *beside) newest(ctx context.Context, wanted part) (ids []int64, ok bool, err error) {
	front, err := b.service.front(ctx, b.listing.searchAlone(), b.company)
	if err != nil || front == nil {
		return nil, false, err
	}
	var both []int64
	for tested := int64(0); tested < mostTested; {
		missing := wanted.end() - int64(len(both))
		if ok, err := front.find(ctx, tested+b.expected(missing)); err != nil || !ok {
			return nil, false, err
		}
		next := front.ids[tested:min(tested+b.expected(missing), int64(len(front.ids)))]
		kept, err := b.test(ctx, next)
		if err != nil {
			return nil, false, err
		}
		tested, both = tested+int64(len(next)), append(both, kept...)
		over := front.last == 0 && tested == int64(len(front.ids))
		if over {
			all := newIDSet(both)
			b.both = &all
		}
		if over || int64(len(both)) >= wanted.end() {
			return wanted.among(both), true, nil
		}
	}
	return nil, false, nil
}

// sorted has all whom both sides leave sorted.
func (b *beside) sorted(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
	list, err = b.service.firstOf(ctx, b.listing.company, b.both.all())
	sortKeys.Arrange(list, sort)
	end := min(wanted.end(), int64(len(list)))
	return list[min(wanted.offset, end):end], err == nil, err
}

func (b *beside) rows(ctx context.Context, sort input.Sort, ids []int64) (list []Customer, ok bool, err error) {
	list, err = b.service.firstOf(ctx, b.listing.company, ids)
	if !sort.IsNewest() {
		sortKeys.Arrange(list, sort)
	}
	return list, err == nil, err
}

// test leaves those of some customers whom the other filters leave, newest first.
func (b *beside) test(ctx context.Context, ids []int64) ([]int64, error) {
	if b.left == b.company || len(ids) == 0 {
		return ids, nil
	}
	source := b.listing.withoutSearch().filtered(asStored.notByDue())
	source.Where.And("c.id {in ?}", ids)
	var both []int64
	err := source.EachID(ctx, b.service.db, func(id int64) { both = append(both, id) })
	slices.SortFunc(both, newestFirst)
	return both, err
}
