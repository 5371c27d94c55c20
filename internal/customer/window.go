package customer

import (
	"context"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// window is where a page of the listing is: in the whole list, in that of a plan
// or a product, in that of a status or a span of due dates, or in one that must be
// walked along.
func (l listing) window(ctx context.Context, source sqldb.Source, count int64, page input.Page) (sqldb.Window, error) {
	goods := tally.Goods{PlanID: l.filter.PlanID, ProductID: l.filter.ProductID}
	byGoods := goods != (tally.Goods{}) && l.filter == (Filter{PlanID: goods.PlanID, ProductID: goods.ProductID})
	if byGoods && page.Offset() > tally.DeepOffset {
		window := sqldb.Window{Source: source, Limit: page.Size, Offset: page.Offset()}
		return counter.FilteredWindow(ctx, l.db, l.company, goods, window)
	}
	byDays := !l.due.open() || l.filter.Status != ""
	byDays = byDays && l.filter == (Filter{Status: l.filter.Status, DueFrom: l.filter.DueFrom, DueTo: l.filter.DueTo})
	if byDays && source.Order == source.ID && page.Offset() > tally.DeepOffset {
		window := sqldb.Window{Source: source, Limit: page.Size, Offset: page.Offset()}
		return counter.DayWindow(ctx, l.db, l.company, l.keys(), window)
	}
	return counter.Window(ctx, l.db, l.company, source, l.filter == (Filter{}), count, page)
}
