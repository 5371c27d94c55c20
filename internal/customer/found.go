package customer

import (
	"context"
	"errors"

	"carteira/internal/platform/sqldb"
)

// Whom a search finds is known by ids where enough is sealed (look.go). Lists that
// no index has beside a search, and lists of what belongs to customers, hand
// these ids to their statements.

// known is the listing with the ids of whom it searches for. Where it searches for
// nobody, or reading the texts is the way, it is as it was.
func (s *Service) known(ctx context.Context, l listing, company int64) (listing, error) {
	look := s.look(l.searchAlone(), company)
	if look == nil || l.found != nil {
		return l, nil
	}
	found, err := look.read(ctx, s.db, l.company)
	if errors.Is(err, errUnsealed) {
		return l, nil
	}
	l.found = found.page(0, found.count())
	return l, err
}

// knownBeside is known for a listing of which few may be left beside the search: only
// these are handed over.
func (s *Service) knownBeside(ctx context.Context, l listing, company int64) (listing, error) {
	if l.searchesBeside() {
		if ids, ok, err := s.idsOf(ctx, l, company); err != nil || ok {
			l.found = ids
			return l, err
		}
	}
	return s.known(ctx, l, company)
}

// mostHanded is how many ids PostgreSQL is handed beside other filters. A plan that it
// keeps goes through the whole list for each customer whom these leave; to read
// the texts is then sooner.
const mostHanded = 500

// handsOver reports whether a statement takes whom the search finds by their ids.
func (l listing) handsOver() bool {
	return l.found != nil && (l.db.Engine() == sqldb.SQLite || len(l.found) <= mostHanded)
}

// Searches reports whether a search is one for anybody: there is something to look for.
func Searches(search string) bool { return searchTerms(search) != nil }

// Found are the ids of those customers of a company whom a search finds, for lists
// of what belongs to them.
func Found(ctx context.Context, db *sqldb.DB, companyID int64, search string) ([]int64, error) {
	company, err := counter.Total(ctx, db, companyID)
	if err != nil {
		return nil, err
	}
	if company > smallSearch {
		found, err := newLook(searchTerms(search)).read(ctx, db, companyID)
		if !errors.Is(err, errUnsealed) {
			return found.page(0, found.count()), err
		}
	}
	l := listing{db: db, company: companyID, filter: Filter{Search: search}}
	ids := []int64{}
	err = l.source().EachID(ctx, db, func(id int64) { ids = append(ids, id) })
	return ids, err
}
