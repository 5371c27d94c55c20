package panel

import (
	"net/url"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
)

// sortHead is the head of a column by which a list can be sorted: a link, so that
// it works without scripts. The template "sort-head" shows it.
type sortHead struct {
	Label string
	URL   string
	Icon  string // how the list is sorted; "": not by this column
	Aria  string // the value of aria-sort
	Class string // of the cell
}

// headOf is the head of the column of a field, in a list that has an order now.
// The first click sorts upwards, the second downwards, the third has the newest
// first again. What the list is filtered by stays; it begins at its first page.
func headOf(req *request, now input.Sort, field, label string) sortHead {
	head := sortHead{Label: req.lang.T(label), Aria: "none"}
	next := input.Sort(field)
	switch {
	case now.Field() != field:
	case now.Descending():
		head.Icon, head.Aria, next = "chevron-down", "descending", input.Newest
	default:
		head.Icon, head.Aria, next = "chevron-up", "ascending", now.Turned()
	}
	head.URL = filtered(req, "sort", string(next))
	return head
}

// sortOf is the order that an address asks for. Of what is late, the oldest debt
// comes first unless it asks for another.
func sortOf(query url.Values) input.Sort {
	if query.Get("sort") == "" && (query.Get("overdue") == "true" || query.Get("status") == string(customer.Expired)) {
		return input.ByDueDate
	}
	return input.FromQuery(query).Sort()
}

// listHeads are the heads of the lists of customers and invoices. The name is
// that of the customer in both.
func listHeads(req *request, name string) map[string]sortHead {
	now := sortOf(req.URL.Query())
	return map[string]sortHead{
		input.ByName:    headOf(req, now, input.ByName, name),
		input.ByDueDate: headOf(req, now, input.ByDueDate, "Due date"),
		input.ByUpdated: headOf(req, now, input.ByUpdated, "Last change"),
	}
}

// customersIn lists customers in the order that an address asks for.
func (s *Server) customersIn(req *request, query url.Values, filter customer.Filter, at input.Page) ([]customer.Customer, int64, error) {
	return s.Customers.Sorted(req.Context(), req.Actor, customer.Query{Filter: filter, Sort: sortOf(query)}, at)
}

// invoicesIn is customersIn for invoices.
func (s *Server) invoicesIn(req *request, query url.Values, filter billing.Filter, at input.Page) ([]billing.Invoice, int64, error) {
	return s.Billing.Sorted(req.Context(), req.Actor, billing.Query{Filter: filter, Sort: sortOf(query)}, at)
}
