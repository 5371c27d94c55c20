package customer

import (
	"context"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// way is how a page of a listing is found: by the index of dates, and as a deep one,
// through the buckets.
func (s *Service) way(ctx context.Context, l listing, company, matches int64, page input.Page) (byDate, deep bool, err error) {
	wanted := min(page.Offset()+page.Size, matches-page.Offset()) // from the nearer end
	if l.byDays() && l.due.oneDay() {
		return true, page.Offset() > tally.DeepOffset, nil
	}
	if l.byDays() && wanted*company/matches > mostPassed {
		byDate = matches*sortedAsWalked < mostPassed
		return byDate, !byDate, nil
	}
	byDate, err = s.byDate(ctx, l, company, matches, wanted)
	return byDate, false, err
}

// window is where a page of the listing is: in the whole list, in that of a plan
// or a product, in that of a status or a span of due dates, or in one that must be
// walked along. There are matches.
func (s *Service) window(ctx context.Context, l listing, company, matches int64, page input.Page) (sqldb.Window, error) {
	byDate, deep, err := s.way(ctx, l, company, matches, page)
	if err != nil {
		return sqldb.Window{}, err
	}
	l.byDate, l.few = byDate, matches < smallSort && company > smallSort
	source := l.matching()
	goods := tally.Goods{PlanID: l.filter.PlanID, ProductID: l.filter.ProductID}
	byGoods := goods != (tally.Goods{}) && l.filter == (Filter{PlanID: goods.PlanID, ProductID: goods.ProductID})
	if byGoods && page.Offset() > tally.DeepOffset {
		window := sqldb.Window{Source: source, Limit: page.Size, Offset: page.Offset()}
		return counter.FilteredWindow(ctx, l.db, l.company, goods, window)
	}
	if deep {
		window := sqldb.Window{Source: source, Limit: page.Size, Offset: page.Offset()}
		return counter.DayWindow(ctx, l.db, l.company, l.keys(), window)
	}
	return counter.Window(ctx, l.db, l.company, source, l.filter == (Filter{}), matches, page)
}
