package customer

import (
	"context"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// window is where a page of the listing is: in the whole list, in that of a plan
// or a product, in that of a status or a span of due dates, or in one that must be
// walked along. There are matches.
func (s *Service) window(ctx context.Context, l listing, company, matches int64, page input.Page) (sqldb.Window, error) {
	l.few = matches < smallSort && company > smallSort
	wanted := min(page.Offset()+page.Size, matches-page.Offset()) // from the nearer end
	deep := l.byDays() && wanted*company/matches > mostPassed
	byDate := deep && matches*sortedAsWalked < mostPassed
	if !deep {
		var err error
		if byDate, err = s.byDate(ctx, l, company, matches, wanted); err != nil {
			return sqldb.Window{}, err
		}
	}
	source := l.matching(byDate)
	goods := tally.Goods{PlanID: l.filter.PlanID, ProductID: l.filter.ProductID}
	byGoods := goods != (tally.Goods{}) && l.filter == (Filter{PlanID: goods.PlanID, ProductID: goods.ProductID})
	if byGoods && page.Offset() > tally.DeepOffset {
		window := sqldb.Window{Source: source, Limit: page.Size, Offset: page.Offset()}
		return counter.FilteredWindow(ctx, l.db, l.company, goods, window)
	}
	if deep && !byDate {
		window := sqldb.Window{Source: source, Limit: page.Size, Offset: page.Offset()}
		return counter.DayWindow(ctx, l.db, l.company, l.keys(), window)
	}
	return counter.Window(ctx, l.db, l.company, source, l.filter == (Filter{}), matches, page)
}
