package panel

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
)

type customersData struct {
	list
	List            []customer.Customer
	Plans, Products []page.Option
	Today           civil.Date
	Figures         map[string]string     // filters of a figure, which the form hands on
	Owes            map[int64]money.Cents // what is overdue, by customer
}

// readCustomers reads the filters of the list; the API has no filter by own prices.
func readCustomers(in *input.Form) customer.Filter {
	filter := customer.ReadFilter(in)
	filter.Figure.OwnPrice = in.Bool("own_price").Value
	return filter
}

// customerList is how customers are listed.
func (s *Server) customerList() source[customer.Filter, customer.Customer] {
	rows := func(ctx context.Context, actor account.Actor, filter customer.Filter, at input.Page) ([]customer.Customer, int64, error) {
		return s.Customers.Sorted(ctx, actor, customer.Query{Filter: filter, Sort: at.Sort}, at)
	}
	return source[customer.Filter, customer.Customer]{account.CustomerList, readCustomers, sortOf, rows}
}

func (s *Server) customers(req *request) error {
	data := customersData{
		list:  newList(req, "/customers/export", customerChips(req), "plan_id", "product_id", "due_from", "due_to"),
		Today: req.today, Figures: figureFilters(req),
	}
	data.Heads = headsOf(req, sortOf(req.URL.Query()), input.ByName, "Name", input.ByDueDate, "Due date", input.ByUpdated, "Last change")
	rows, filter := fill(s, req, &data.list, s.customerList())
	data.List, data.Owes, data.Total = rows, s.owing(req, rows), s.customersFoot(req, filter, data.Pager.Total)
	data.Plans, data.Products = s.choices(req, true)
	return s.show(req, page.View{Name: "customers", Title: "Customers", Data: data})
}

// owing is what the customers of a page owe.
func (s *Server) owing(req *request, list []customer.Customer) map[int64]money.Cents {
	ids := make([]int64, len(list))
	for n, record := range list {
		ids[n] = record.ID
	}
	return readOf(req, s.Billing.Owing, ids)
}

// customersFoot is how many customers a filter has, and for who may see totals
// what they pay together, where that is known.
func (s *Server) customersFoot(req *request, filter customer.Filter, count int64) string {
	text := counted(req.lang, count, "1 customer", "%s customers")
	if !allows(req.User.Role, viewer) {
		return text
	}
	amount, known, err := s.Customers.Amount(req.Context(), req.Actor, filter, count)
	if req.note(err); !known || amount == 0 {
		return text
	}
	return text + " · " + req.lang.T("%s a month", amount.BR())
}

// figureFilters are the filters by which figures of the home page link to the
// list.
func figureFilters(req *request) map[string]string {
	given := map[string]string{}
	for _, name := range []string{"owes_from", "owes_to", "created_from", "created_to", "renewed_in", "recurring", "moved", "own_price"} {
		if value := req.URL.Query().Get(name); value != "" {
			given[name] = value
		}
	}
	return given
}

// renewStep is a button that renews a customer, with what comes of it.
type renewStep struct {
	Periods int
	Label   string
}

// yearOf is how many of a unit a year has.
var yearOf = map[civil.Unit]int{civil.Day: 366, civil.Week: 53, civil.Month: 12, civil.Year: 1}

// renewSteps are the renewals by one click: one period, or some up to a year. A customer with a due date that
// cannot be counted on has none.
func renewSteps(req *request, record customer.Customer) (steps []renewStep) {
	const most = 12
	offered := map[int]bool{3: true, 6: true, most: true}
	period := record.Period()
	step := 1
	if period.Unit == civil.Month { // a quarter has no nine months, but half a year
		step = period.Count
	}
	for n := 1; n <= most && (n == 1 || period.Count*n <= yearOf[period.Unit]); n++ {
		renewal, err := renewalOf(req, record)
		if err != nil {
			return steps
		}
		record = renewal.Customer
		if n > 1 && !offered[n*step] {
			continue
		}
		long := civil.Period{Unit: period.Unit, Count: period.Count * n}
		label := req.lang.T("+%s (until %s)", lengthText(req.lang, long), page.FormatDate(record.DueOn))
		steps = append(steps, renewStep{n, label})
	}
	return steps
}

// lengthText is how long a period is, in words.
func lengthText(lang page.Lang, period civil.Period) string {
	texts := map[civil.Unit][2]string{
		civil.Day: {"1 day", "%d days"}, civil.Week: {"1 week", "%d weeks"},
		civil.Month: {"1 month", "%d months"}, civil.Year: {"1 year", "%d years"},
	}
	pair := texts[period.Unit]
	if period.Count == 1 {
		return lang.T(pair[0])
	}
	return lang.T(pair[1], period.Count)
}

// alike are the customers who may be the one that a form would make, unless the
// form says that it is another.
func (s *Server) alike(req *request, draft customer.Draft) ([]customer.Alike, error) {
	if req.PostFormValue("another") != "" {
		return nil, nil
	}
	return s.Customers.Alike(req.Context(), req.Actor, draft)
}
