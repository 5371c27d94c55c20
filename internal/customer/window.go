package customer

import (
	"context"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// deep finds a page far from the beginning of a list through the buckets of it, which
// also tell how many customers it has; ok is false where that is not the way.
func (s *Service) deep(ctx context.Context, l listing, page input.Page) (window sqldb.Window, count int64, ok bool, err error) {
	if page.Offset() <= tally.DeepOffset {
		return sqldb.Window{}, 0, false, nil
	}
	l.byDate = l.due.oneDay()
	window = l.pageOf(page)
	switch {
	case window.Whole:
		window, count, err = counter.WholeWindow(ctx, l.db, l.company, window)
	case l.byGoods():
		goods := tally.Goods{PlanID: l.filter.PlanID, ProductID: l.filter.ProductID}
		window, count, err = counter.FilteredWindow(ctx, l.db, l.company, goods, window)
	case l.byDays() && (l.due.oneDay() || page.Offset() > mostPassed):
		window, count, err = counter.DayWindow(ctx, l.db, l.company, l.keys(), window)
	default:
		return sqldb.Window{}, 0, false, nil
	}
	return window, count, true, err
}

// window is where another page of the listing is, which has matches: on a walk along the
// ids, in the index of dates or, if so few match that they are far between, through the
// buckets.
func (s *Service) window(ctx context.Context, l listing, n numbers, page input.Page) (window sqldb.Window, err error) {
	wanted := min(page.Offset()+page.Size, n.matches-page.Offset()) // from the nearer end
	far := false
	switch {
	case l.byDays() && l.due.oneDay():
		l.byDate = true
	case l.byDays() && wanted*n.company/n.matches > mostPassed:
		l.byDate = n.matches*sortedAsWalked < mostPassed
		far = !l.byDate
	default:
		l.byDate = l.foundByDate(n, wanted)
	}
	l.few = n.matches < smallSort && n.company > smallSort
	window = l.pageOf(page)
	window.Planned = l.byDays() && l.due.oneDay() // along the ids of a day
	if far {
		window, _, err = counter.DayWindow(ctx, l.db, l.company, l.keys(), window)
		return window, err
	}
	return window.FromNearerEnd(n.matches), nil
}

// pageOf has a page of the listing.
func (l listing) pageOf(page input.Page) sqldb.Window {
	return sqldb.Window{Source: l.matching(), Whole: l.filter == (Filter{}), Limit: page.Size, Offset: page.Offset()}
}
