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
	return s.early(ctx, actor, query, page, false).Glimpse(page)
}

// early is how a page is read, before its total where that takes longer. A page near
// the beginning of a search beside other filters is, unless its total is wanted and
// not kept: then all of them are found first.
func (s *Service) early(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
	wholly bool,
) input.Early[Customer] {
	l := s.listing(actor, query.Filter)
	var near *beside // nil: it is another list
	return input.Early[Customer]{
		Near: func() (list []Customer, ok bool, err error) {
			if !query.Sort.IsNewest() || page.Offset() <= sqldb.NearPick && l.searchesBeside() {
				near, err = s.beside(ctx, l)
			}
			if err == nil && near != nil && wholly {
				_, err = s.countBeside(ctx, near)
			}
			if err != nil || near == nil {
				return nil, false, err
			}
			list, ok, err = near.page(ctx, query.Sort, part{offset: page.Offset(), limit: page.Size + 1})
			beyond := len(list) == 0 && page.Number > 1 // how far, only a count can tell
			if beyond && err == nil && near.both != nil {
				_, err = s.countBeside(ctx, near)
			}
			return list, ok && !beyond, err
		},
		Whole: func() ([]Customer, int64, error) { return s.sorted(ctx, actor, query, page) },
		Known: func() (int64, bool, error) {
			if near.both != nil {
				total, err := s.countBeside(ctx, near) // who adds them up finds them kept
				return total, true, err
			}
			kept, ok, err := s.spreads.Known(ctx, s.db, l.question())
			return kept.total, ok, err
		},
		Count: func() (int64, error) { return s.countBeside(ctx, near) },
	}
}

// Count is how many customers a filter has.
func (s *Service) Count(ctx context.Context, actor account.Actor, filter Filter) (int64, error) {
	var n numbers
	l := s.listing(actor, filter)
	err := s.total(ctx, l, &n)
	if err == nil && n.matches == uncounted {
		n.matches, err = s.countMatches(ctx, l, n.company)
	}
	return n.matches, err
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
