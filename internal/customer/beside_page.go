package customer

import (
	"context"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const (
	// mostTested is how many customers are tested one by one, by their rows, before
	// a page goes another way.
	mostTested = 4000
	// fewSorted is up to how many customers are read and sorted for a page of them
	// sooner than the roster is asked, mostSorted where it is not at hand.
	fewSorted  = 100
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

// byMany reads a page of so many customers that it is met on a short walk along its order,
// sooner than all of them are put in order.
func (b *beside) byMany(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
	if err := b.ask(ctx); err != nil {
		return nil, false, err
	}
	most := mostWalked + b.both.number/walkedAsOrdered
	if b.roster == nil && b.both.number > mostSorted { // all of them would be read and sorted
		most = b.both.number * readAsWalked
	} else if b.both.number < b.company/fewOfAll {
		return nil, false, nil
	}
	if 2*b.walked(sort, wanted) > most {
		return nil, false, nil
	}
	ids, ok, err := b.pick(b.walkOfAll(sort), sort, wanted, func(l listing, wanted part) ([]int64, bool, error) {
		return b.walkIDs(ctx, l, sort, wanted, most)
	})
	if err != nil || !ok {
		return nil, false, err
	}
	return b.rows(ctx, sort, ids)
}

const (
	// mostWalked is how many customers are met along an order in the time in which a few
	// hundred are read and sorted, walkedAsOrdered how many are put in order by the
	// roster in the time of one of them.
	mostWalked      = 8000
	walkedAsOrdered = 100
	// fewOfAll is of how many one is searched for where they may all stand together in an
	// order, such as those of a name.
	fewOfAll = 8
)

// walkOfAll is what a walk goes along: all customers or, in the order of due dates, those
// of the dates in question.
func (b *beside) walkOfAll(sort input.Sort) listing {
	l := b.listing
	l.filter = Filter{}
	if sort.Field() != input.ByDueDate {
		l.due = due{none: true}
	}
	return l
}

// walked is about how many customers it meets up to the end of a page.
func (b *beside) walked(sort input.Sort, wanted part) int64 {
	among := b.company
	if sort.Field() == input.ByDueDate && !b.listing.due.open() && !b.listing.hasGoods() {
		among = b.left
	}
	return wanted.end() * among / max(1, b.both.number)
}

// walkIDs looks at customers in an order for those whom both sides leave.
func (b *beside) walkIDs(ctx context.Context, l listing, sort input.Sort, wanted part, most int64) (ids []int64, ok bool, err error) {
	window := sorting{service: b.service, listing: l, sort: sort}.window(l)
	window.Ascending = !sort.Descending()
	return window.Pick(ctx, b.service.db, sqldb.Picking{Skip: wanted.offset, Want: wanted.limit, Most: most, Has: b.both.has})
}

// few reports whether so few customers are left by the other filters that a page is
// found among all whom both sides leave.
func (b *beside) few(wanted part) bool { return b.expected(wanted.end()) > mostTested }

// byIDs reads a page by all whom both sides leave.
func (b *beside) byIDs(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
	if ok, err := b.intersect(ctx); err != nil || !ok {
		return nil, false, err
	}
	switch {
	case sort.IsNewest():
		return b.rows(ctx, sort, wanted.of(*b.both))
	case sort.Field() == input.ByID:
		return b.rows(ctx, sort, wanted.fromEnd(b.both.number).of(*b.both))
	case b.both.number <= fewSorted:
		return b.sorted(ctx, sort, wanted)
	}
	if list, ok, err := b.byMany(ctx, sort, wanted); err != nil || ok {
		return list, ok, err
	}
	at, err := b.describe(ctx, *b.both)
	switch {
	case err != nil:
		return nil, false, err
	case at != nil:
		some, offset := at.around(*b.both, sort, wanted)
		return b.among(ctx, sort, some, part{offset: offset, limit: wanted.limit})
	case b.both.number <= mostSorted:
		return b.sorted(ctx, sort, wanted)
	}
	return nil, false, nil
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
		kept, err := b.meet(ctx, newIDSet(next))
		if err != nil {
			return nil, false, err
		}
		tested, both = tested+int64(len(next)), append(both, kept.all()...)
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

// sorted reads all whom both sides leave, and has them sorted.
func (b *beside) sorted(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
	list, ok, err = b.rows(ctx, sort, b.both.all())
	end := min(wanted.end(), int64(len(list)))
	return list[min(wanted.offset, end):end], ok, err
}

// among reads a part of some customers in their order.
func (b *beside) among(ctx context.Context, sort input.Sort, ids []int64, wanted part) (list []Customer, ok bool, err error) {
	if wanted.offset == 0 && int64(len(ids)) <= wanted.limit {
		return b.rows(ctx, sort, ids)
	}
	window := sqldb.Window{Source: among(b.listing.company, ids), First: sorting{sort: sort}.column(listing{few: true})}
	window.Ascending, window.Offset, window.Limit = !sort.Descending(), wanted.offset, wanted.limit
	list, err = reading.Rows(ctx, b.service.db, b.listing.company, window)
	sortKeys.Arrange(list, sort)
	return list, err == nil, err
}

func (b *beside) rows(ctx context.Context, sort input.Sort, ids []int64) (list []Customer, ok bool, err error) {
	list, err = b.service.firstOf(ctx, b.listing.company, ids)
	if !sort.IsNewest() {
		sortKeys.Arrange(list, sort)
	}
	return list, err == nil, err
}
