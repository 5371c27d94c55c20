package panel

import (
	"slices"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
)

type customersData struct {
	Form     *page.Form // the filters
	List     []customer.Customer
	Pager    page.Pager
	Plans    []page.Option
	Products []page.Option
	Chips    []chipLine
	Heads    map[string]sortHead // by field
	Arranged arrangement
	Hidden   map[string]string // filters that the search hands on
	Others   map[string]string // filters that the form of more filters hands on
	More     bool              // one of more filters is set
	Filtered bool
	Export   string
	Today    civil.Date
	Back     string
	Query    string                // of the list
	Figures  map[string]string     // filters of a figure, which the form hands on
	Owes     map[int64]money.Cents // what is overdue, by customer
	Total    string                // how many, and what they pay together where that is known
}

// readCustomers reads the filters of the list; the API has no filter by own prices.
func readCustomers(in *input.Form) customer.Filter {
	filter := customer.ReadFilter(in)
	filter.Figure.OwnPrice = in.Bool("own_price").Value
	return filter
}

func (s *Server) customers(req *request) error {
	in := req.query()
	paging, filter := in.Page(), readCustomers(in)
	data := customersData{
		Form:   queryForm(req),
		Today:  req.today,
		Back:   req.URL.RequestURI(),
		Query:  listQuery(req),
		Export: "/customers/export?" + req.URL.RawQuery,
		Chips:  customerChips(req),
		Heads:  listHeads(req, "Name"),
		Hidden: hiddenFilters(req, "search"),
		Others: hiddenFilters(req, moreOfCustomers...),
		More:   anyGiven(req, "plan_id", "product_id"),
	}
	if err := in.Err(); err != nil {
		data.Form.Fail(err)
		filter = customer.Filter{}
	}
	data.Figures = figureFilters(req)
	found, total, err := s.customersIn(req, req.URL.Query(), filter, paging)
	if err != nil {
		return err
	}
	data.List, data.Pager, data.Filtered = found, page.NewPager(req.URL, paging, total), filter != (customer.Filter{})
	if data.Owes, err = s.owing(req, data.List); err != nil {
		return err
	}
	if data.Total, err = s.customersFoot(req, filter, total); err != nil {
		return err
	}
	if data.Plans, data.Products, err = s.choices(req, true); err != nil {
		return err
	}
	if data.Arranged, err = s.arranged(req, account.CustomerList); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "customers", Title: "Customers", Data: data})
}

// owing is what the customers of a page owe.
func (s *Server) owing(req *request, list []customer.Customer) (map[int64]money.Cents, error) {
	ids := make([]int64, len(list))
	for n, record := range list {
		ids[n] = record.ID
	}
	return s.Billing.Owing(req.Context(), req.Actor, ids)
}

// customersFoot is how many customers a filter has, and for who may see totals
// what they pay together, where that is known.
func (s *Server) customersFoot(req *request, filter customer.Filter, count int64) (string, error) {
	text := counted(req.lang, count, "1 customer", "%s customers")
	if !allows(req.User.Role, viewer) {
		return text, nil
	}
	amount, known, err := s.Customers.Amount(req.Context(), req.Actor, filter, count)
	if err != nil || !known || amount == 0 {
		return text, err
	}
	return text + " · " + req.lang.T("%s a month", amount.BR()), nil
}

// moreOfCustomers are the filters that are folded away.
var moreOfCustomers = []string{"plan_id", "product_id", "due_from", "due_to"}

// anyGiven reports whether the address has one of some filters.
func anyGiven(req *request, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return req.URL.Query().Get(name) != "" })
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

// renewSteps are the renewals by one click. A customer with a due date that
// cannot be counted on has none.
func renewSteps(req *request, record customer.Customer) (steps []renewStep) {
	const most = 12
	offered := map[int]bool{1: true, 3: true, 6: true, most: true}
	period := record.Period()
	for n := 1; n <= most; n++ {
		renewal, err := renewalOf(req, record)
		if err != nil {
			return steps
		}
		record = renewal.Customer
		if !offered[n] {
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
