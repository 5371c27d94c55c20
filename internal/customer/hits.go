package customer

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// hits are the customers that a search finds, newest first, in groups.
type hits []hitGroup

// hitGroup is some of them: ids, or what was read of a segment in which nobody has
// changed, for the only term.
type hitGroup struct {
	last    int64
	posting posting
	grams   *gramSegment
	term    gramTerm // of the grams
	ids     []int64
	number  int64
}

func (g hitGroup) all() []int64 {
	switch {
	case g.posting != nil:
		return g.posting.ids(g.last)
	case g.grams != nil:
		return new(matcher).ids(g.grams, g.term, g.last)
	}
	return g.ids
}

func (h hits) count() (count int64) {
	for _, group := range h {
		count += group.number
	}
	return count
}

// page decodes only the groups that it meets.
func (h hits) page(offset, limit int64) []int64 {
	page := make([]int64, 0, min(limit, 1000))
	for _, group := range h {
		if offset >= group.number {
			offset -= group.number
			continue
		}
		ids := group.all()[offset:]
		page = append(page, ids[:min(int64(len(ids)), limit-int64(len(page)))]...)
		if offset = 0; int64(len(page)) == limit {
			break
		}
	}
	return page
}

// searched is List for a listing that is nothing but a search in a large company;
// ok is false when it is another, or when too little is sealed. Once the total is
// known, SQLite's index has the first pages sooner.
func (s *Service) searched(
	ctx context.Context,
	l listing,
	company int64,
	page input.Page,
) (list []Customer, total int64, ok bool, err error) {
	look := s.look(l, company)
	if look == nil {
		return nil, 0, false, nil
	}
	var found hits
	read := func() (int64, error) {
		found, err = look.read(ctx, s.db, l.company)
		return found.count(), err
	}
	if look.long == nil {
		total, err = read()
	} else {
		total, err = s.counts.Count(ctx, s.db, l.filter.counters(), l.company, l.question(), read)
	}
	switch {
	case errors.Is(err, errUnsealed):
		return nil, 0, false, nil
	case err != nil:
		return nil, 0, false, err
	case found == nil && l.indexed(company) && page.Offset() <= sqldb.NearPick:
		window := sqldb.Window{Source: l.matching(company, false), Limit: page.Size, Offset: page.Offset()}
		list, err = reading.Rows(ctx, s.db, l.company, window)
		return list, total, err == nil, err
	case found == nil:
		if found, ok, err = s.hits(ctx, l, company); !ok {
			return nil, 0, false, err
		}
	}
	list, err = s.firstOf(ctx, l.company, found.page(page.Offset(), page.Size))
	return list, total, err == nil, err
}

// look is the look for a listing that is nothing but a search in a large company;
// nil: it is another, or no gram finds it.
func (s *Service) look(l listing, company int64) *look {
	if company <= smallSearch || l.filter != (Filter{Search: l.filter.Search}) || !l.due.open() {
		return nil
	}
	look := newLook(searchTerms(l.filter.Search))
	if look.terms == nil || len(look.long) > 0 && (company <= s.sealer.size || len(look.grams) > mostGrams) {
		return nil
	}
	return look
}

// hits are what a look for a listing finds; ok is false when there is none, or when
// too little is sealed.
func (s *Service) hits(ctx context.Context, l listing, company int64) (found hits, ok bool, err error) {
	look := s.look(l, company)
	if look == nil {
		return nil, false, nil
	}
	found, err = look.read(ctx, s.db, l.company)
	if errors.Is(err, errUnsealed) {
		return nil, false, nil
	}
	return found, err == nil, err
}

// indexed reports whether SQLite finds the search along the ids, the newest first.
func (l listing) indexed(company int64) bool {
	return l.db.Engine() == sqldb.SQLite && l.searchAlone().short(company) == nil
}

// short are the terms of a listing that is nothing but a search of one or two
// letters in a large company, which no other index finds; nil: it is another.
func (l listing) short(company int64) []string {
	if company <= smallSearch || l.filter != (Filter{Search: l.filter.Search}) || !l.due.open() {
		return nil
	}
	terms := searchTerms(l.filter.Search)
	if slices.ContainsFunc(terms, sqldb.IndexedTerm) {
		return nil
	}
	return terms
}

// shortHits finds customers by terms of one or two letters.
func shortHits(ctx context.Context, querier sqldb.Querier, companyID int64, terms []string) (hits, error) {
	return newLook(terms).read(ctx, querier, companyID)
}

const (
	// mostGrams is up to how many grams are looked for. The segments' rows of
	// more would take longer to read than the trigram index.
	mostGrams = 16
	// mostNewer is below how many customers newer than the last sealed segment are
	// read.
	mostNewer = 8192
)

// errUnsealed says that too little is sealed for a search of three letters or more.
var errUnsealed = errors.New("too few segments are sealed")

func (s *Service) firstOf(ctx context.Context, companyID int64, ids []int64) ([]Customer, error) {
	if len(ids) == 0 {
		return []Customer{}, nil
	}
	window := sqldb.Window{Source: among(companyID, ids), Limit: int64(len(ids))}
	return reading.Rows(ctx, s.db, companyID, window)
}

// among has those customers of a company who have one of some ids. Its order
// keeps planners from a walk along all of them.
func among(companyID int64, ids []int64) sqldb.Source {
	source := sqldb.Source{From: "customers c", ID: "c.id", Order: "c.id + 0"}
	source.Where.And("c.company_id = ? AND c.id {in ?} AND {visible c.id}", companyID, ids)
	return source
}

func newestFirst(a, b int64) int { return cmp.Compare(b, a) }
