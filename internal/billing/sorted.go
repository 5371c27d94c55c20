package billing

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Query is what a list is asked for: which invoices, in which order.
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

// Sorted returns a page of invoices in the order of the query, and how many
// there are. The name is that of the customer.
func (s *Service) Sorted(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
) ([]Invoice, int64, error) {
	return s.early(ctx, actor, query, page).Page(page)
}

// sorted is Sorted by way of the total.
func (s *Service) sorted(
	ctx context.Context,
	actor account.Actor,
	query Query,
	page input.Page,
) ([]Invoice, int64, error) {
	if query.Sort == input.Newest || query.Sort == "" {
		return s.List(ctx, actor, query.Filter, page)
	}
	l, _, count, err := s.matches(ctx, actor, query.Filter)
	if err != nil || page.Offset() >= count {
		return []Invoice{}, count, err
	}
	if l, err = l.known(ctx); err != nil {
		return nil, 0, err
	}
	window := l.sorted(query.Sort, count)
	window.Ascending, window.Offset, window.Limit = !query.Sort.Descending(), page.Offset(), page.Size
	list, err := reading.Rows(ctx, s.db, actor.Company.ID, window.FromNearerEnd(count))
	sortKeys.Arrange(list, query.Sort)
	return list, count, err
}

// sorted has the matches in an order. Few are found by what they are filtered by
// and sorted, many are met on a walk along the index of the order. Those of customers
// who are searched for are many to walk past, but for the names of these customers.
func (l listing) sorted(sort input.Sort, matches int64) sqldb.Window {
	searched := l.found != nil && sort.Field() != input.ByName
	if searched || l.filter.CustomerID != 0 || matches < smallSort && l.filter != (Filter{}) {
		return l.few(sort)
	}
	return l.walk(sort)
}

// few has few matches in an order. That is by expressions, which keep planners
// from a walk along its index.
func (l listing) few(sort input.Sort) sqldb.Window {
	on := asStored
	switch {
	case l.found != nil:
		on = inNoIndex
	case l.filter.CustomerID != 0:
		on = withoutDates
	}
	window := sqldb.Window{Source: l.filtered(l.source(), on)}
	window.Order = "i.id + 0"
	switch sort.Field() {
	case input.ByName:
		window.First = "c.name_key || ''"
		window.From += " LEFT JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id"
	case input.ByDueDate:
		window.First = "i.due_on || ''"
	case input.ByUpdated:
		window.First = "i.updated_at + 0"
	}
	return window
}

// inNoIndex are expressions of what invoices are filtered by, for a walk along
// the index of an order: SQLite is to use no other. PostgreSQL would take the
// expressions for so rare that it sorts; with the columns its statistics say that
// there are many.
var inNoIndex = tableColumns{
	filterColumns{plan: "i.plan_id + 0", product: "i.product_id + 0", status: "i.status || ''", due: "i.due_on || ''"},
	"i.paid_on || ''", "i.created_on || ''", "i.updated_at + 0",
}

// walk meets many matches along the index of the order.
func (l listing) walk(sort input.Sort) sqldb.Window {
	source, first, on := l.source(), "", inNoIndex
	if l.db.Engine() == sqldb.Postgres {
		on = asStored
	}
	switch sort.Field() {
	case input.ByName:
		source, first = l.byCustomers(), "c.name_key"
	case input.ByDueDate:
		first, on.due = asStored.due, asStored.due
		if l.filter.Status == Open || l.filter.Overdue == "true" {
			source.Where.And("i.status = 'open'") // in letters: the index of what is owed is for these alone
		}
	case input.ByUpdated:
		first, on.updated = asStored.updated, asStored.updated
	}
	return sqldb.Window{Source: l.filtered(source, on), First: first}
}

// byCustomers has the same invoices as source, in any order of the customers.
func (l listing) byCustomers() sqldb.Source {
	source := sqldb.Source{From: "customers c CROSS JOIN invoices i", ID: "i.id", Order: "i.id"}
	source.Where.And("i.company_id = ? AND c.company_id = ? AND i.customer_id = c.id", l.company, l.company)
	if l.found != nil {
		source.Where.And("c.id {in ?}", l.found)
	}
	return source
}

// sortKeys are what the records of a page are sorted by.
var sortKeys = input.Keys[Invoice]{
	ID:        func(invoice Invoice) int64 { return invoice.ID },
	Name:      func(invoice Invoice) string { return customer.FoldedName(invoice.Customer.Name) },
	Day:       func(invoice Invoice) civil.Date { return invoice.DueOn },
	UpdatedAt: func(invoice Invoice) time.Time { return invoice.UpdatedAt },
}
