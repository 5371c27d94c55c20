package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Glimpse returns a page as Sorted does, but at once: the total of a search beside
// another filter is left out where nothing but a look at every match can tell it.
// Who wants it then asks Count.
func (s *Service) Glimpse(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
) (input.Glimpse[Customer], error) {
	return s.early(ctx, actor, query, page).Glimpse(page)
}

// early is how a page is read, before its total where that takes longer.
func (s *Service) early(ctx context.Context, actor account.Actor, query Query, page input.Page) input.Early[Customer] {
	return input.Early[Customer]{
		Near:  func() ([]Customer, bool, error) { return s.near(ctx, actor, query, page) },
		Whole: func() ([]Customer, int64, error) { return s.sorted(ctx, actor, query, page) },
		Known: func() (int64, bool, error) {
			l := s.listing(actor, query.Filter)
			return s.counts.Known(ctx, s.db, query.Filter.counters(), l.company, l.question())
		},
		Count: func() (int64, error) { return s.Count(ctx, actor, query.Filter) },
	}
}

// Count is how many customers a filter has.
func (s *Service) Count(ctx context.Context, actor account.Actor, filter Filter) (int64, error) {
	_, _, count, err := s.matches(ctx, actor, filter)
	return count, err
}

// near reads a page near the beginning of a search beside other filters, and one
// customer more, without the total; ok is false where that is not the way.
func (s *Service) near(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
) (list []Customer, ok bool, err error) {
	l := s.listing(actor, query.Filter)
	if !l.searchesBeside() || page.Offset() > sqldb.NearPick {
		return nil, false, nil
	}
	company, err := counter.Total(ctx, s.db, l.company)
	if err != nil || company <= smallSort {
		return nil, false, err
	}
	rest, err := s.rest(ctx, l, company)
	if err != nil {
		return nil, false, err
	}
	many := min(rest.count/4, sqldb.RareSearch)
	found, err := l.searchAlone().foundUpTo(ctx, company, many)
	if err != nil {
		return nil, false, err
	}
	rest.rare = found < many
	list, ok, err = rest.page(ctx, query.Sort, part{offset: page.Offset(), limit: page.Size + 1})
	beyond := len(list) == 0 && page.Number > 1 // how far, only a count can tell
	return list, ok && !beyond, err
}

// searchesBeside reports whether a listing is a search beside filters that the
// counter knows.
func (l listing) searchesBeside() bool {
	rest := l.withoutSearch()
	return searchTerms(l.filter.Search) != nil && rest.filter.tallied() && (rest.filter != (Filter{}) || !rest.due.open())
}

func (l listing) withoutSearch() listing {
	l.filter.Search = ""
	return l
}

// searchAlone is the search of a listing without the other filters.
func (l listing) searchAlone() listing {
	l.filter, l.due = Filter{Search: l.filter.Search}, due{none: true}
	return l
}

// foundUpTo is how many customers a listing of nothing but a search finds, and no
// more than a bound.
func (l listing) foundUpTo(ctx context.Context, company, most int64) (int64, error) {
	if terms := l.short(company); terms != nil {
		found, err := shortHits(ctx, l.db, l.company, terms)
		return min(found.count(), most), err
	}
	return l.source(company).CountUpTo(ctx, l.db, most)
}

// rest is a listing with a search, seen from the side of its other filters.
type rest struct {
	service *Service
	listing listing // with the search
	company int64   // customers of the company
	count   int64   // whom the other filters leave
	rare    bool    // the search alone finds fewer
}

func (s *Service) rest(ctx context.Context, l listing, company int64) (rest, error) {
	count, _, err := counter.Sum(ctx, s.db, l.company, l.withoutSearch().keys())
	return rest{service: s, listing: l, company: company, count: count}, err
}

// page reads a page. SQLite's index has what a search finds, the newest first. Else
// few customers whom the other filters leave are all looked at; of many, the first
// ones in the order of the list. ok is false where the search finds so few that all
// of them are read sooner, or too few of those who were looked at.
func (r rest) page(ctx context.Context, sort input.Sort, wanted part) (list []Customer, ok bool, err error) {
	newest := sort == input.Newest || sort == ""
	if newest && (r.rare || r.count > sqldb.MostLooks) && r.listing.indexed(r.company) {
		window := sqldb.Window{Source: r.listing.matching(r.company, false), Limit: wanted.limit, Offset: wanted.offset}
		list, err = reading.Rows(ctx, r.service.db, r.listing.company, window)
		return list, err == nil, err
	}
	if r.rare {
		return nil, false, nil
	}
	ids, ok, err := r.pick(ctx, sort, wanted)
	if err != nil || !ok {
		return nil, false, err
	}
	list, err = r.service.firstOf(ctx, r.listing.company, ids)
	if !newest {
		sortKeys.Arrange(list, sort)
	}
	return list, err == nil, err
}

// pick finds the ids of a page. In the order of due dates those without a date
// come last; who they are on a later page cannot be told without a count.
func (r rest) pick(ctx context.Context, sort input.Sort, wanted part) (ids []int64, ok bool, err error) {
	if sort.Field() != input.ByDueDate || !r.listing.due.none {
		return r.walk(ctx, r.listing, sort, wanted)
	}
	ids, ok, err = r.walk(ctx, r.listing.withDate(), sort, wanted)
	found := int64(len(ids))
	if err != nil || !ok || found == wanted.limit {
		return ids, ok, err
	}
	if found == 0 && wanted.offset > 0 {
		return nil, false, nil
	}
	undated, ok, err := r.walk(ctx, r.listing.withoutDate(), sort, part{limit: wanted.limit - found})
	return append(ids, undated...), ok, err
}

// walk looks at the customers of a listing without its search, in an order.
func (r rest) walk(ctx context.Context, l listing, sort input.Sort, wanted part) (ids []int64, ok bool, err error) {
	window, err := r.window(ctx, l.withoutSearch(), sort)
	if err != nil {
		return nil, false, err
	}
	picking := sqldb.Picking{Skip: wanted.offset, Want: wanted.limit, Most: sqldb.MostLooks + 1}
	picking.Condition, picking.Args = SearchCondition(r.service.db.Engine(), textColumn, l.filter.Search)
	return window.Pick(ctx, r.service.db, picking)
}

// window has a listing in an order, as lists without a search have it.
func (r rest) window(ctx context.Context, l listing, sort input.Sort) (sqldb.Window, error) {
	l.few = r.count <= sqldb.MostLooks && !walksDates(Query{Filter: l.filter, Sort: sort})
	if sort == input.Newest || sort == "" {
		byDate, err := r.service.byDate(ctx, l, r.company, r.countFor(l))
		return sqldb.Window{Source: l.matching(r.company, byDate)}, err
	}
	window := sorting{service: r.service, listing: l, company: r.company, count: r.count, sort: sort}.window(l)
	window.Ascending = !sort.Descending()
	return window, nil
}

// countFor is the count by which byDate decides: as many as a page looks at are
// few, more are walked along.
func (r rest) countFor(l listing) int64 {
	if l.few {
		return r.count
	}
	return smallSort
}

// cheaper has the matches of a listing in no order. Where a search stands beside
// other filters, the side that leaves fewer customers is looked at.
func (s *Service) cheaper(ctx context.Context, l listing, company int64) (sqldb.Source, error) {
	if !l.searchesBeside() || company <= smallSort {
		return l.matching(company, false), nil
	}
	rest, err := s.rest(ctx, l, company)
	if err != nil {
		return sqldb.Source{}, err
	}
	if terms := l.searchAlone().short(company); terms != nil {
		return rest.orHits(ctx, terms)
	}
	if rest.count < smallSort {
		found, err := l.searchAlone().foundUpTo(ctx, company, rest.count/2)
		if err != nil {
			return sqldb.Source{}, err
		}
		if found == rest.count/2 {
			return rest.looks(ctx)
		}
	}
	return l.matching(company, false), nil
}

// orHits is cheaper for one or two letters, whose matches have no index that other
// filters could go by: they are read by their ids while they are few.
func (r rest) orHits(ctx context.Context, terms []string) (sqldb.Source, error) {
	found, err := shortHits(ctx, r.service.db, r.listing.company, terms)
	if err != nil {
		return sqldb.Source{}, err
	}
	count := found.count()
	if r.count <= count || count >= smallSort {
		return r.looks(ctx)
	}
	source := r.containing(r.listing.withoutSearch().matching(r.company, false))
	source.Where.And("c.id {in ?}", found.page(0, count))
	return source, nil
}

// looks has each customer whom the other filters leave looked at.
func (r rest) looks(ctx context.Context) (sqldb.Source, error) {
	l := r.listing.withoutSearch()
	l.few = r.count < smallSort
	byDate, err := r.service.byDate(ctx, l, r.company, r.count)
	return r.containing(l.matching(r.company, byDate)), err
}

// containing leaves those of a source whom the search finds.
func (r rest) containing(source sqldb.Source) sqldb.Source {
	condition, args := SearchCondition(r.service.db.Engine(), textColumn, r.listing.filter.Search)
	source.Where.And(condition, args...)
	return source
}
