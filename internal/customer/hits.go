package customer

import (
	"cmp"
	"context"
	"errors"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// hits are the customers that a search finds, newest first, in groups.
type hits []hitGroup

// hitGroup is some of them: ids, or the posting of a segment in which nobody has
// changed.
type hitGroup struct {
	last    int64
	posting posting
	ids     []int64
	number  int64
}

func (g hitGroup) all() []int64 {
	if g.posting != nil {
		return g.posting.ids(g.last)
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

// only decodes all, and leaves those whom a condition leaves.
func (h hits) only(holds func(id int64) bool) hits {
	var ids []int64
	for _, group := range h {
		for _, id := range group.all() {
			if holds(id) {
				ids = append(ids, id)
			}
		}
	}
	return hits{{ids: ids, number: int64(len(ids))}}
}

// searched is List for a listing that is nothing but a search in a large company;
// ok is false when it is another, or when too little is sealed.
func (s *Service) searched(
	ctx context.Context,
	l listing,
	company int64,
	page input.Page,
) (list []Customer, total int64, ok bool, err error) {
	spread, found, ok, err := s.spread(ctx, l, company, page)
	if err != nil || !ok {
		return nil, 0, false, err
	}
	ids, err := s.pageOf(ctx, l, company, spread, found, page)
	if errors.Is(err, errUnsealed) {
		return nil, 0, false, nil
	}
	if err == nil {
		list, err = s.firstOf(ctx, l.company, ids)
	}
	return list, spread.total, err == nil, err
}

// look is the look for a listing that is nothing but a search in a large company;
// nil: it is another, or nothing can be sealed.
func (s *Service) look(l listing, company int64) *look {
	if company <= smallSearch || l.filter != (Filter{Search: l.filter.Search}) || !l.due.open() {
		return nil
	}
	look := newLook(searchTerms(l.filter.Search))
	if look.terms == nil || len(look.long) > 0 && company <= s.sealer.size {
		return nil
	}
	return look
}

// idsOf are the customers of a listing that is a search in a large company; ok is false
// when it is another, or when too little is sealed.
func (s *Service) idsOf(ctx context.Context, l listing, company int64) (ids []int64, ok bool, err error) {
	if l.searchesBeside() {
		b, err := s.beside(ctx, l)
		if err != nil || b == nil {
			return nil, false, err
		}
		if _, err := s.spreadBeside(ctx, b); err != nil {
			return nil, false, err
		}
		if ok, err = b.intersect(ctx); err != nil || !ok {
			return nil, false, err
		}
		return b.both.all(), true, nil
	}
	all := input.Page{Number: 1}
	kept, found, ok, err := s.spread(ctx, l, company, all)
	if err != nil || !ok {
		return nil, false, err
	}
	all.Size = kept.total
	ids, err = s.pageOf(ctx, l, company, kept, found, all)
	if errors.Is(err, errUnsealed) {
		return nil, false, nil
	}
	return ids, err == nil, err
}

const (
	// mostGrams is up to how many grams are looked for. Those who have the first ones
	// of a longer term are few, and their texts tell who has all of it.
	mostGrams = 16
	// mostNewer is below how many customers newer than the last sealed segment are
	// read for the first of a search. Reading texts from the newest on meets those
	// sooner.
	mostNewer = 8192
)

// errUnsealed says that too little is sealed for a search of three letters or more:
// nothing, or for the first of a search not enough. The texts tell, then, in the order
// that is wanted.
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
