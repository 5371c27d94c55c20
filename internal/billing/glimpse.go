package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const (
	// mostLooks is how many invoices a page of a search looks at, one after the other
	// in the order of the list, before it goes by the search instead.
	mostLooks = 4000
	// rareSearch is up to how many customers a search finds that all of them are read
	// at every look.
	rareSearch = 500
)

// Glimpse returns a page as Sorted does, but at once: the total of a search is left
// out where nothing but a look at every match can tell it. Who wants it then asks
// Count.
func (s *Service) Glimpse(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
) (input.Glimpse[Invoice], error) {
	return s.early(ctx, actor, query, page).Glimpse(page)
}

// early is how a page is read, before its total where that takes longer.
func (s *Service) early(ctx context.Context, actor account.Actor, query Query, page input.Page) input.Early[Invoice] {
	return input.Early[Invoice]{
		Near:  func() ([]Invoice, bool, error) { return s.near(ctx, actor, query, page) },
		Whole: func() ([]Invoice, int64, error) { return s.sorted(ctx, actor, query, page) },
		Known: func() (int64, bool, error) {
			l := s.listing(actor, query.Filter)
			return s.counts.Known(ctx, s.db, l.question())
		},
		Count: func() (int64, error) { return s.Count(ctx, actor, query.Filter) },
	}
}

// near reads a page near the beginning of a search, and one invoice more, without
// the total; ok is false where that is not the way.
func (s *Service) near(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
) (list []Invoice, ok bool, err error) {
	l := s.listing(actor, query.Filter)
	if !l.searches() || page.Offset() > sqldb.NearPick {
		return nil, false, nil
	}
	all, err := counter.Total(ctx, s.db, l.company)
	if err != nil || all <= smallSort {
		return nil, false, err
	}
	l, left, err := l.sides(ctx)
	if found := int64(len(l.found)); err != nil || found < min(left/4, rareSearch) {
		return nil, false, err
	}
	list, ok, err = s.pick(ctx, l.picking(left, query.Sort), page)
	beyond := len(list) == 0 && page.Number > 1 // how far, only a count can tell
	return list, ok && !beyond, err
}

// searches reports whether a listing is a search, alone or beside filters that the
// counter knows.
func (l listing) searches() bool {
	return customer.Searches(l.filter.Search) && l.withoutSearch().filter.tallied()
}

func (l listing) withoutSearch() listing {
	l.filter.Search, l.found = "", nil
	return l
}

// sides is the listing with the customers whom the search finds, and how many invoices
// the filters leave without it.
func (l listing) sides(ctx context.Context) (known listing, left int64, err error) {
	if left, _, err = counter.Sum(ctx, l.db, l.company, l.withoutSearch().keys()); err != nil {
		return l, 0, err
	}
	known, err = l.known(ctx)
	return known, left, err
}

// picking is a listing in an order without its search, which is looked for on the
// way.
type picking struct {
	listing listing
	window  sqldb.Window
	sort    input.Sort
}

// picking has few invoices that the other filters leave sorted, and many along the
// index of their order.
func (l listing) picking(left int64, sort input.Sort) picking {
	rest, matches := l.withoutSearch(), left
	if left > mostLooks {
		matches = smallSort
	}
	if sort == input.Newest || sort == "" {
		return picking{l, sqldb.Window{Source: rest.matching(1+smallSort, matches)}, input.Newest}
	}
	window := rest.sorted(sort, matches)
	window.Ascending = !sort.Descending()
	return picking{l, window, sort}
}

// pick reads a page and one invoice more; ok is false where the first invoices
// looked at have too few of the search.
func (s *Service) pick(ctx context.Context, p picking, page input.Page) (list []Invoice, ok bool, err error) {
	picked := sqldb.Picking{Skip: page.Offset(), Want: page.Size + 1, Most: mostLooks + 1}
	picked.Condition, picked.Args = p.listing.ofFound()
	ids, ok, err := p.window.Pick(ctx, s.db, picked)
	if err != nil || !ok || len(ids) == 0 {
		return []Invoice{}, ok, err
	}
	source := sqldb.Source{From: invoicesAlone, ID: "i.id", Order: "i.id + 0"}
	source.Where.And("i.company_id = ? AND i.id {in ?}", p.listing.company, ids)
	list, err = reading.Rows(ctx, s.db, p.listing.company, sqldb.Window{Source: source, Limit: int64(len(ids))})
	if p.sort != input.Newest {
		sortKeys.Arrange(list, p.sort)
	}
	return list, true, err
}

// ofFound is the condition that an invoice is of a customer who is searched for.
func (l listing) ofFound() (condition string, args []any) {
	contains, args := customer.SearchCondition(l.db.Engine(), "t.text", l.filter.Search)
	return `EXISTS (SELECT 1 FROM customer_texts t WHERE t.company_id = i.company_id AND t.id = i.customer_id AND {visible t.id}
		AND ` + contains + `)`, args
}

// countFound counts the matches of a search. Where other filters leave fewer
// invoices than the search finds customers, those are looked at; else those of the
// customers whom it finds.
func (s *Service) countFound(ctx context.Context, l listing, all int64) (int64, error) {
	if !l.searches() || all <= smallSort {
		return s.countRows(ctx, l, all)
	}
	l, left, err := l.sides(ctx)
	if err != nil {
		return 0, err
	}
	if left >= smallSort || int64(len(l.found)) < left/4 {
		return s.countRows(ctx, l, all)
	}
	source := l.withoutSearch().matching(all, left)
	condition, args := l.ofFound()
	source.Where.And(condition, args...)
	return source.Count(ctx, s.db)
}

// countRows counts the invoices of a listing one by one.
func (s *Service) countRows(ctx context.Context, l listing, all int64) (int64, error) {
	l, err := l.known(ctx)
	if err != nil {
		return 0, err
	}
	return l.matching(all, 0).Count(ctx, s.db)
}
