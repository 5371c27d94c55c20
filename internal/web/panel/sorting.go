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

// sortIn is the order that an address asks for by one of a list's fields.
func sortIn(query url.Values, fields ...string) input.Sort {
	return input.KnownSort(query.Get("sort"), fields...)
}

// paymentHeads are the heads of the list of payments.
func paymentHeads(req *request) map[string]sortHead {
	now := sortIn(req.URL.Query(), input.ByPaidDay)
	return map[string]sortHead{input.ByPaidDay: headOf(req, now, input.ByPaidDay, "Received on")}
}

// messageHeads are the heads of the log of messages.
func messageHeads(req *request) map[string]sortHead {
	now := sortIn(req.URL.Query(), input.ByDueDate)
	return map[string]sortHead{input.ByDueDate: headOf(req, now, input.ByDueDate, "Due date")}
}

// sortsOfResellers are the fields by which resellers can be sorted.
var sortsOfResellers = []string{input.ByName, input.ByExpiry}

// resellerHeads are the heads of the list of resellers.
func resellerHeads(req *request) map[string]sortHead {
	now := sortIn(req.URL.Query(), sortsOfResellers...)
	return map[string]sortHead{
		input.ByName:   headOf(req, now, input.ByName, "Name"),
		input.ByExpiry: headOf(req, now, input.ByExpiry, "Ends on"),
	}
}

// timeHeads are the heads of a list that is in the order of time: the newest first,
// or the oldest.
func timeHeads(req *request) map[string]sortHead {
	head := sortHead{
		Label: req.lang.T("When"), Icon: "chevron-down", Aria: "descending", URL: filtered(req, "sort", input.ByID),
	}
	if !sortIn(req.URL.Query(), input.ByID).IsNewest() {
		head.Icon, head.Aria, head.URL = "chevron-up", "ascending", filtered(req, "sort", "")
	}
	return map[string]sortHead{input.ByID: head}
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

// customersIn lists customers in the order that an address asks for, and counts all that match.
func (s *Server) customersIn(
	req *request,
	query url.Values,
	filter customer.Filter,
	at input.Page,
) ([]customer.Customer, int64, error) {
	return s.Customers.Sorted(req.Context(), req.Actor, customer.Query{Filter: filter, Sort: sortOf(query)}, at)
}

// invoicesIn is customersIn for invoices.
func (s *Server) invoicesIn(
	req *request,
	query url.Values,
	filter billing.Filter,
	at input.Page,
) ([]billing.Invoice, int64, error) {
	return s.Billing.Sorted(req.Context(), req.Actor, billing.Query{Filter: filter, Sort: sortOf(query)}, at)
}
