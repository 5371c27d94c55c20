package customer

import (
	"context"
	"errors"
	"slices"

	"carteira/internal/platform/input"
	"carteira/internal/tally"
)

// beside is a search beside other filters, or in another order than the newest
// first, in a large company. Who is searched for is known by ids (look.go), whom the
// other filters leave by indexes that have the ids as well: neither side reads the rows
// of customers whom the other does not leave.
type beside struct {
	service *Service
	listing listing // with the search
	company int64   // customers of the company
	left    int64   // whom the other filters leave, at the same moment
	at      tally.Standing
	found   *idSet // whom the search alone finds; nil: it is not read yet
	both    *idSet // whom both leave; nil: that is not known yet
}

const (
	// mostTested is how many customers are tested one by one, by their rows, before
	// a page goes another way.
	mostTested = 4000
	// mostWalked is along how many entries of an index a page is looked for.
	mostWalked = 60_000
	// testedAsWalked is how many entries of an index are read in the time of a test.
	testedAsWalked = 8
)

// beside is nil where the listing is no search with filters that the counter knows,
// or no gram finds it.
func (s *Service) beside(ctx context.Context, l listing) (*beside, error) {
	if searchTerms(l.filter.Search) == nil || !l.withoutSearch().filter.tallied() {
		return nil, nil
	}
	at, err := counter.Standing(ctx, s.db, l.company, l.withoutSearch().keys())
	if err != nil || at.Total <= smallSort || s.look(l.searchAlone(), at.Total) == nil {
		return nil, err
	}
	return &beside{service: s, listing: l, company: at.Total, left: at.Left, at: at}, nil
}

// read finds whom the search finds; ok is false when too little is sealed.
func (b *beside) read(ctx context.Context) (ok bool, err error) {
	if b.found != nil {
		return true, nil
	}
	found, err := b.service.look(b.listing.searchAlone(), b.company).read(ctx, b.service.db, b.listing.company)
	if errors.Is(err, errUnsealed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	set := setOf(found)
	b.found = &set
	return true, nil
}

// intersect finds whom both sides leave.
func (b *beside) intersect(ctx context.Context) (ok bool, err error) {
	if b.both != nil {
		return true, nil
	}
	if ok, err := b.read(ctx); err != nil || !ok {
		return false, err
	}
	if b.left == b.company {
		b.both = b.found
		return true, nil
	}
	var ids []int64
	if err := b.each(ctx, func(id int64) { ids = append(ids, id) }); err != nil {
		return false, err
	}
	both := newIDSet(ids)
	b.both = &both
	return true, nil
}

// each calls visit for whom both sides leave, in any order, from the side that takes
// less time.
func (b *beside) each(ctx context.Context, visit func(id int64)) error {
	if b.left <= b.found.number*testedAsWalked {
		return b.walkFilter(ctx, visit)
	}
	for wanted := (part{limit: mostTested}); wanted.offset < b.found.number; wanted.offset += mostTested {
		ids, err := b.test(ctx, wanted.of(*b.found))
		if err != nil {
			return err
		}
		for _, id := range ids {
			visit(id)
		}
	}
	return nil
}

// count is how many customers both sides leave.
func (b *beside) count(ctx context.Context) (count int64, ok bool, err error) {
	if ok, err := b.read(ctx); b.both == nil && (err != nil || !ok) {
		return 0, false, err
	}
	switch {
	case b.both != nil:
		return b.both.number, true, nil
	case b.left == b.company:
		return b.found.number, true, nil
	}
	err = b.each(ctx, func(int64) { count++ })
	return count, err == nil, err
}

// countBeside is the count, which is kept as of the moment at which the sides were
// counted: what has changed since may not be in it.
func (s *Service) countBeside(ctx context.Context, b *beside) (int64, error) {
	l := b.listing
	return s.counts.GetAt(b.at, l.question(), func() (int64, error) {
		if count, ok, err := b.count(ctx); err != nil || ok {
			return count, err
		}
		return l.matching(false).Count(ctx, s.db)
	})
}

// listBeside is List for a search beside other filters in a large company; ok is false
// when it is another list, or when too little is sealed.
func (s *Service) listBeside(ctx context.Context, l listing, page input.Page) (list []Customer, total int64, ok bool, err error) {
	if !l.searchesBeside() {
		return nil, 0, false, nil
	}
	b, err := s.beside(ctx, l)
	if err != nil || b == nil {
		return nil, 0, false, err
	}
	total, err = s.countBeside(ctx, b)
	if err != nil || page.Offset() >= total {
		return []Customer{}, total, err == nil, err
	}
	if ok, err = b.intersect(ctx); err != nil || !ok {
		return nil, 0, false, err
	}
	list, err = s.firstOf(ctx, l.company, part{offset: page.Offset(), limit: page.Size}.of(*b.both))
	return list, total, err == nil, err
}

// walkFilter looks at each customer whom the other filters leave, in an index that
// has all that they go by.
func (b *beside) walkFilter(ctx context.Context, visit func(id int64)) error {
	l, on := b.listing.withoutSearch(), asStored
	if l.filter.PlanID != 0 || l.filter.ProductID != 0 || l.due.none {
		on.due, on.noDate = inNoIndex.due, inNoIndex.noDate
	}
	return l.filtered(on).EachID(ctx, b.service.db, func(id int64) {
		if b.found.has(id) {
			visit(id)
		}
	})
}

// test leaves those of some customers whom the other filters leave, newest first.
func (b *beside) test(ctx context.Context, ids []int64) ([]int64, error) {
	if b.left == b.company || len(ids) == 0 {
		return ids, nil
	}
	on := asStored // the indexes of plans and products have the id next
	on.due, on.noDate = inNoIndex.due, inNoIndex.noDate
	source := b.listing.withoutSearch().filtered(on)
	source.Where.And("c.id {in ?}", ids)
	var both []int64
	err := source.EachID(ctx, b.service.db, func(id int64) { both = append(both, id) })
	slices.SortFunc(both, newestFirst)
	return both, err
}

// page reads a page near the beginning and one customer more; ok is false where that
// is not the way.
func (b *beside) page(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
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
	if ok, err := b.read(ctx); err != nil || !ok {
		return nil, false, err
	}
	if b.few(wanted) || b.left == b.company || b.found.number <= mostTested {
		if ok, err := b.intersect(ctx); err != nil || !ok {
			return nil, false, err
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

// walkable is the listing with those filters that the index of an order knows.
func (b *beside) walkable(sort input.Sort) listing {
	l := b.listing.withoutSearch()
	if sort.Field() != input.ByDueDate {
		l.filter, l.due = Filter{}, due{none: true}
	}
	l.filter.PlanID, l.filter.ProductID = 0, 0
	return l
}

// mostSorted is up to how many customers are sorted for a page of them.
const mostSorted = 1000

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
			met, err = b.inOrder(ctx, met)
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

// inOrder tests customers for the other filters and leaves them in their order.
func (b *beside) inOrder(ctx context.Context, ids []int64) (kept []int64, err error) {
	both, err := b.test(ctx, ids)
	for _, id := range ids {
		if _, found := slices.BinarySearchFunc(both, id, newestFirst); found {
			kept = append(kept, id)
		}
	}
	return kept, err
}
