package customer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// short are the terms of a listing that is nothing but a search of one or two
// letters in a large company; nil: it is another.
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

// hits are the customers that a short search finds, newest first, in groups.
type hits []hitGroup

// hitGroup is some of them: a posting as it is stored, or ids.
type hitGroup struct {
	last    int64
	posting posting
	ids     []int64 // where there is no posting
}

func (g hitGroup) count() int64 { return g.posting.count() + int64(len(g.ids)) }

func (g hitGroup) all() []int64 {
	if g.posting != nil {
		return g.posting.ids(g.last)
	}
	return g.ids
}

func (h hits) count() (count int64) {
	for _, group := range h {
		count += group.count()
	}
	return count
}

// page decodes only the groups that it meets.
func (h hits) page(offset, limit int64) []int64 {
	page := make([]int64, 0, min(limit, 1000))
	for _, group := range h {
		count := group.count()
		if offset >= count {
			offset -= count
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

// listShort is List for a short search.
func (s *Service) listShort(
	ctx context.Context,
	l listing,
	terms []string,
	page input.Page,
) ([]Customer, int64, error) {
	found, err := shortHits(ctx, s.db, l.company, terms)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.firstOf(ctx, l.company, found.page(page.Offset(), page.Size))
	return list, found.count(), err
}

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

// shortRead is what the statement of a short search has found.
type shortRead struct {
	segments map[int64][]posting // by the last id of each
	changed  map[int64]bool      // who has changed since: whether the text of now has a term
	newer    []int64             // who is in no segment and has one
}

// hits puts together what was read.
func (r *shortRead) hits() hits {
	lasts := slices.Sorted(maps.Keys(r.segments))
	changed := r.changedBySegment(lasts)
	slices.SortFunc(r.newer, newestFirst)
	found := hits{{ids: r.newer}}
	for _, last := range slices.Backward(lasts) {
		found = append(found, r.group(last, changed[last]))
	}
	return found
}

// changedBySegment leaves out who changed in a segment that is not sealed yet: he
// is among the newer ones.
func (r *shortRead) changedBySegment(lasts []int64) map[int64][]int64 {
	by := map[int64][]int64{}
	for id := range r.changed {
		if at, _ := slices.BinarySearch(lasts, id); at < len(lasts) {
			by[lasts[at]] = append(by[lasts[at]], id)
		}
	}
	return by
}

// group is what was found in a segment of which some have changed.
func (r *shortRead) group(last int64, changed []int64) hitGroup {
	stored := r.segments[last]
	if len(stored) <= 1 && len(changed) == 0 {
		return hitGroup{last: last, posting: slices.Concat(stored...)}
	}
	ids := map[int64]bool{}
	for _, posting := range stored {
		for _, id := range posting.ids(last) {
			ids[id] = true
		}
	}
	for _, id := range changed {
		ids[id] = r.changed[id]
	}
	group := hitGroup{last: last}
	for id, found := range ids {
		if found {
			group.ids = append(group.ids, id)
		}
	}
	slices.SortFunc(group.ids, newestFirst)
	return group
}

func newestFirst(a, b int64) int { return cmp.Compare(b, a) }

// shortHits finds customers by terms of one or two letters.
func shortHits(ctx context.Context, querier sqldb.Querier, companyID int64, terms []string) (hits, error) {
	read := shortRead{segments: map[int64][]posting{}, changed: map[int64]bool{}}
	text, args := shortStatement(querier.Engine(), companyID, terms)
	err := sqldb.Each(ctx, querier, text, args, read.scan)
	return read.hits(), err
}

// beyond is above all ids. PostgreSQL takes ids that have an upper end, too, for
// few, and reads an index; it would else read all customers.
const beyond = "9223372036854775807"

// shortStatement is one, so that a segment which is being sealed is read before
// or after, not half.
func shortStatement(engine sqldb.Engine, companyID int64, terms []string) (text string, args []any) {
	contains, values := containsOne(engine, textColumn, terms)
	args = []any{terms, companyID}
	args = append(append(args, values...), companyID, companyID)
	args = append(append(args, companyID, companyID), values...)
	return `
		SELECT 0, g.last_id, p.ids FROM search_segments g
		LEFT JOIN search_postings p ON p.company_id = g.company_id AND p.last_id = g.last_id AND p.term {in ?}
		WHERE g.company_id = ? AND g.sealed
		UNION ALL
		SELECT CASE WHEN ` + contains + ` THEN 2 ELSE 1 END, h.id, CAST(NULL AS BYTEA) FROM search_changes h
		LEFT JOIN customers c ON c.company_id = ? AND c.id = h.id AND {visible c.id}
		WHERE h.company_id = ?
		UNION ALL
		SELECT 3, c.id, CAST(NULL AS BYTEA) FROM customers c
		WHERE c.company_id = ? AND {visible c.id} AND c.id > COALESCE((
			SELECT last_id FROM search_segments WHERE company_id = ? AND sealed ORDER BY last_id DESC LIMIT 1), 0)
			AND c.id < ` + beyond + ` AND ` + contains, args
}

// scan reads a row of shortHits: a posting, a change or somebody newer.
func (r *shortRead) scan(row sqldb.Row) error {
	var kind, id int64
	var ids []byte
	if err := row.Scan(&kind, &id, &ids); err != nil {
		return err
	}
	switch kind {
	case 0:
		stored := r.segments[id]
		if ids != nil {
			stored = append(stored, ids)
		}
		r.segments[id] = stored // none has a posting where nobody has the term
	case 1, 2:
		r.changed[id] = kind == 2
	default:
		r.newer = append(r.newer, id)
	}
	return nil
}

// containsOne is the condition that the text of a column contains one of the
// terms.
func containsOne(engine sqldb.Engine, column string, terms []string) (condition string, values []any) {
	parts := make([]string, len(terms))
	for i, term := range terms {
		parts[i] = sqldb.Contains(engine, column)
		values = append(values, term)
	}
	return "(" + strings.Join(parts, " OR ") + ")", values
}
