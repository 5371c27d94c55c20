package customer

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Query is what a list is asked for: which customers, in which order.
type Query struct {
	Filter Filter
	Sort   input.Sort
}

// ReadQuery reads a Query. A date in updated_since is the beginning of that day
// in the zone. Wrong values are left to in.Err.
func ReadQuery(in *input.Form, zone *time.Location) Query {
	query := Query{Filter: ReadFilter(in), Sort: in.Sort()}
	query.Filter.UpdatedSince = in.UpdatedSince(zone)
	return query
}

// Sorted returns a page of customers in the order of the query, and how many
// there are. Customers without a due date come last in the order of due dates,
// whatever its direction.
func (s *Service) Sorted(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
) ([]Customer, int64, error) {
	return s.early(ctx, actor, query, page, true).Page(page)
}

// sorted is Sorted by way of the total.
func (s *Service) sorted(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
) ([]Customer, int64, error) {
	if query.Sort == input.Newest || query.Sort == "" {
		return s.List(ctx, actor, query.Filter, page)
	}
	l, n, err := s.matches(ctx, actor, query.Filter, query.Sort)
	if err != nil || page.Offset() >= n.matches {
		return []Customer{}, n.matches, err
	}
	if l, err = s.knownBeside(ctx, l, n.company); err != nil {
		return nil, 0, err
	}
	l.few = (n.matches < smallSort || l.handsOver() && n.matches < mostFound) && query.Filter != (Filter{}) && !walksDates(query)
	l.byDate = l.few && l.foundByDate(n, n.matches)
	sorting := sorting{service: s, listing: l, numbers: n, sort: query.Sort}
	list, err := sorting.page(ctx, page)
	sortKeys.Arrange(list, query.Sort)
	return list, n.matches, err
}

// walksDates reports whether a list is filtered by what it is sorted by: the walk
// along the due dates then begins with the first match and meets no other, however
// few there are. Cancelled customers are of any date.
func walksDates(query Query) bool {
	filter := query.Filter
	dated := filter.Status != "" || !filter.DueFrom.IsZero() || !filter.DueTo.IsZero()
	return query.Sort.Field() == input.ByDueDate && dated && filter.Status != Cancelled &&
		filter == (Filter{Status: filter.Status, DueFrom: filter.DueFrom, DueTo: filter.DueTo})
}

// sorting is one call of Sorted.
type sorting struct {
	service *Service
	listing listing
	numbers numbers
	sort    input.Sort
}

// part is which of the ordered matches are wanted.
type part struct{ offset, limit, matches int64 }

func (p part) end() int64 { return p.offset + p.limit }

// among is the part of a list of ids.
func (p part) among(ids []int64) []int64 {
	end := min(p.end(), int64(len(ids)))
	return ids[min(p.offset, end):end]
}

// page reads the customers of a page. In the order of due dates the list has
// two parts, those with a date and those without.
func (s sorting) page(ctx context.Context, page input.Page) ([]Customer, error) {
	wanted := part{offset: page.Offset(), limit: page.Size, matches: s.numbers.matches}
	if s.sort.Field() != input.ByDueDate || !s.listing.due.none {
		return s.read(ctx, s.listing, wanted)
	}
	undated, err := s.numbers.undated, error(nil)
	if undated == uncounted {
		undated, err = s.service.countMatches(ctx, s.listing.withoutDate(), s.numbers.company)
	}
	if err != nil {
		return nil, err
	}
	wanted.matches -= undated
	var list []Customer
	if wanted.offset < wanted.matches {
		if list, err = s.read(ctx, s.listing.withDate(), wanted); err != nil {
			return nil, err
		}
	}
	wanted.limit -= int64(len(list))
	if wanted.limit == 0 || undated == 0 {
		return list, nil
	}
	wanted.offset, wanted.matches = max(0, wanted.offset-wanted.matches), undated
	rest, err := s.read(ctx, s.listing.withoutDate(), wanted)
	return append(list, rest...), err
}

// withDate is the listing of those matches that have a due date.
func (l listing) withDate() listing {
	l.due.from, l.due.none = later(l.due.from, firstDate), false
	return l
}

// withoutDate is the listing of those matches that have no due date.
func (l listing) withoutDate() listing {
	l.due = due{missing: true}
	return l
}

// read reads a part of a listing, from the end that is nearer to it.
func (s sorting) read(ctx context.Context, listing listing, wanted part) ([]Customer, error) {
	window := s.window(listing)
	window.Ascending, window.Offset, window.Limit = !s.sort.Descending(), wanted.offset, wanted.limit
	return reading.Rows(ctx, s.service.db, listing.company, window.FromNearerEnd(wanted.matches))
}

// window has a listing in its order. Few matches are found by what they are
// filtered by, and sorted: the order is by expressions, which keep planners from
// a walk along its index, and so are due dates where these are not the way. Many
// are met on that walk, for which SQLite is to use no other index. PostgreSQL would
// take the expressions for so rare that it sorts; with the columns its statistics say
// that there are many.
func (s sorting) window(listing listing) sqldb.Window {
	on, order := asStored, "c.id"
	switch {
	case listing.few:
		order = "c.id + 0"
		if !listing.byDate {
			on = on.notByDue()
		}
	case listing.db.Engine() == sqldb.SQLite:
		on = inNoIndex
	}
	first := s.column(listing)
	switch first {
	case asStored.due:
		on.due, on.noDate = asStored.due, asStored.noDate
	case asStored.updated:
		on.updated = asStored.updated
	}
	source := listing.filtered(on)
	if listing.few && listing.filter.Status == Cancelled {
		// SQLite would else walk along an index of all customers that has what it sorts by.
		source.Where.And("c.id IN (SELECT id FROM customers WHERE company_id = ? AND cancelled_at IS NOT NULL AND {visible id})", listing.company)
	}
	source.Order = order
	return sqldb.Window{Source: source, First: first}
}

// column is what the list is sorted by before the id.
func (s sorting) column(listing listing) string {
	column, expression := "", ""
	switch s.sort.Field() {
	case input.ByName:
		column, expression = "c.name_key", "c.name_key || ''"
	case input.ByUpdated:
		// The other column keeps SQLite from walking along the whole index, which has
		// what it sorts by, for those whom a search has found.
		column, expression = asStored.updated, "COALESCE(c.updated_at, c.created_at)"
	case input.ByDueDate:
		column, expression = asStored.due, inNoIndex.due
	}
	if listing.few {
		return expression
	}
	return column
}

// sortKeys are what the records of a page are sorted by.
var sortKeys = input.Keys[Customer]{
	ID:        func(customer Customer) int64 { return customer.ID },
	Name:      func(customer Customer) string { return FoldedName(customer.Name) },
	Day:       func(customer Customer) civil.Date { return customer.DueOn },
	UpdatedAt: func(customer Customer) time.Time { return customer.UpdatedAt },
}
