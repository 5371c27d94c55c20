package customer

import (
	"context"
	"errors"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// mostTexts is how many texts are read, one customer after the other, before a page
// of a search beside filters goes by the segments instead, which takes as long.
const mostTexts = 400

// byTexts reads a page by the texts of those whom the other filters leave, where a
// segment says that few have to be looked at, or no segment says anything; ok is false
// where they are many.
func (b *beside) byTexts(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
	found, sealed, err := b.guess(ctx)
	if err != nil || sealed && b.texts(found, sort, wanted) > mostTexts {
		return nil, false, err
	}
	ids, ok, err := b.pick(b.listing.withoutSearch(), sort, wanted, func(l listing, wanted part) ([]int64, bool, error) {
		return b.walkTexts(ctx, l, sort, wanted)
	})
	if err != nil || !ok {
		return nil, false, err
	}
	return b.rows(ctx, sort, ids)
}

// guess is about how many customers the search finds, by the newest segment.
func (b *beside) guess(ctx context.Context) (count int64, ok bool, err error) {
	count, ok, err = b.inNewest(ctx)
	return count * b.company / b.service.sealer.size, ok, err
}

func (b *beside) inNewest(ctx context.Context) (count int64, ok bool, err error) {
	look := b.service.look(b.listing.searchAlone(), b.company)
	if len(look.short) == 0 { // the same sample says by which grams they are found
		b.sampled, err = look.sample(ctx, b.service.db, b.listing.company)
		if err != nil || b.sampled == nil {
			return 0, false, err
		}
		return b.sampled.number(look.long), true, nil
	}
	ends, err := newestEnds(ctx, b.service.db, b.listing.company)
	if err != nil || len(ends) < 2 {
		return 0, false, err
	}
	look.span = idSpan{after: ends[1], last: ends[0]}
	found, err := look.read(ctx, b.service.db, b.listing.company)
	if errors.Is(err, errUnsealed) {
		return 0, false, nil
	}
	return found.count(), err == nil, err
}

// texts is how many texts have to be read, if so many are found. In the order of due
// dates the index knows whom a status leaves.
func (b *beside) texts(found int64, sort input.Sort, wanted part) int64 {
	looks := wanted.end() * b.company / max(1, found)
	goods := b.listing.filter.PlanID != 0 || b.listing.filter.ProductID != 0
	if sort.Field() != input.ByDueDate || goods {
		looks = looks * b.company / max(1, b.left)
	}
	return min(looks, b.left)
}

// walk finds so many customers of a listing in an order.
type walk func(l listing, wanted part) (ids []int64, ok bool, err error)

// pick finds the ids of a page. In the order of due dates those without a date come
// last; who they are on a later page cannot be told without a count.
func (b *beside) pick(l listing, sort input.Sort, wanted part, walk walk) (ids []int64, ok bool, err error) {
	if sort.Field() != input.ByDueDate || !l.due.none {
		return walk(l, wanted)
	}
	ids, ok, err = walk(l.withDate(), wanted)
	found := int64(len(ids))
	if err != nil || !ok || found == wanted.limit {
		return ids, ok, err
	}
	if found == 0 && wanted.offset > 0 {
		return nil, false, nil
	}
	undated, ok, err := walk(l.withoutDate(), part{limit: wanted.limit - found})
	return append(ids, undated...), ok, err
}

// walkTexts looks at the customers of a listing without its search, in an order.
func (b *beside) walkTexts(ctx context.Context, l listing, sort input.Sort, wanted part) (ids []int64, ok bool, err error) {
	l.few = b.left <= mostTexts && !walksDates(Query{Filter: l.filter, Sort: sort})
	if l.byDate, err = b.service.allByDate(ctx, l, b.company, b.left); err != nil {
		return nil, false, err
	}
	window := sqldb.Window{Source: l.matching()}
	if !sort.IsNewest() {
		window = sorting{service: b.service, listing: l, sort: sort}.window(l)
		window.Ascending = !sort.Descending()
	}
	picking := sqldb.Picking{Skip: wanted.offset, Want: wanted.limit, Most: 3 * mostTexts}
	picking.Condition, picking.Args = SearchCondition(b.service.db.Engine(), textColumn, b.listing.filter.Search)
	return window.Pick(ctx, b.service.db, picking)
}
