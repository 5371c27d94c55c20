package billing

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Filter chooses invoices; the zero Filter chooses all.
type Filter struct {
	Status      Status
	CustomerID  int64
	PlanID      int64
	ProductID   int64
	DueFrom     civil.Date
	DueTo       civil.Date
	PaidFrom    civil.Date
	PaidTo      civil.Date
	CreatedFrom civil.Date
	CreatedTo   civil.Date
	Overdue     string // "", "true" or "false"
	Search      string // of the customer
}

const maxSearch = 255

// ReadFilter reads a Filter from a query. Wrong values are left to in.Err.
func ReadFilter(in *input.Form) Filter {
	f := Filter{
		Status:      readStatus(in),
		CustomerID:  in.ID("customer_id").Value,
		PlanID:      in.ID("plan_id").Value,
		ProductID:   in.ID("product_id").Value,
		DueFrom:     in.Date("due_from").Value,
		DueTo:       in.Date("due_to").Value,
		PaidFrom:    in.Date("paid_from").Value,
		PaidTo:      in.Date("paid_to").Value,
		CreatedFrom: in.Date("created_from").Value,
		CreatedTo:   in.Date("created_to").Value,
		Search:      in.Text("search", maxSearch).Value,
	}
	if overdue := in.Bool("overdue"); overdue.HasValue() {
		f.Overdue = fmt.Sprint(overdue.Value)
	}
	return f
}

// List returns a page of invoices, newest first, and how many there are.
func (s *Service) List(ctx context.Context, a account.Actor, f Filter, page input.Page) ([]Invoice, int64, error) {
	l := listing{db: s.db, company: a.Company.ID, filter: f, today: a.Today(s.db.Now())}
	all, err := counter.Total(ctx, s.db, a.Company.ID)
	if err != nil {
		return nil, 0, err
	}
	n, err := s.count(ctx, l, all)
	if err != nil || page.Offset() >= n {
		return []Invoice{}, n, err
	}
	window, err := counter.Window(ctx, s.db, a.Company.ID, l.matching(all, n), f == (Filter{}), n, page)
	if err != nil {
		return nil, 0, err
	}
	list, err := rows(ctx, s.db, a.Company.ID, window)
	return list, n, err
}

// Latest returns the newest invoices of each of some customers, newest first;
// limit 0 means all of them. It runs one statement for any number of customers.
func (s *Service) Latest(ctx context.Context, a account.Actor, customerIDs []int64, limit int64) (map[int64][]Invoice, error) {
	byCustomer := map[int64][]Invoice{}
	list, err := latest(ctx, s.db, a.Company.ID, customerIDs, limit)
	for _, i := range list {
		byCustomer[i.Customer.ID] = append(byCustomer[i.Customer.ID], i)
	}
	return byCustomer, err
}

// listing is one call of List.
type listing struct {
	db      *sqldb.DB
	company int64
	filter  Filter
	today   civil.Date
}

// tallied reports whether the counter alone can count the listing.
func (f Filter) tallied() bool {
	f.Status, f.PlanID, f.ProductID, f.Overdue = "", 0, 0, ""
	f.DueFrom, f.DueTo = civil.Date{}, civil.Date{}
	return f == (Filter{})
}

func (s *Service) count(ctx context.Context, l listing, all int64) (int64, error) {
	if l.filter == (Filter{}) {
		return all, nil
	}
	if l.filter.tallied() {
		var w sqldb.Where
		l.conditions(&w, filterColumns{plan: "plan_id", product: "product_id", status: "state", due: "day"})
		n, _, err := counter.Sum(ctx, s.db, l.company, w)
		return n, err
	}
	counters := []tally.Counter{counter}
	if l.filter.Search != "" {
		counters = append(counters, tally.Customers) // whose names are searched
	}
	what := fmt.Sprintf("%+v %s", l.filter, l.today)
	return s.counts.Count(ctx, s.db, counters, l.company, what, func() (int64, error) {
		return countRows(ctx, s.db, l.matching(all, 0))
	})
}

// filterColumns name what both the counter and the table can filter by.
type filterColumns struct{ plan, product, status, due string }

// conditions are the filters that both the counter and the table have.
func (l listing) conditions(w *sqldb.Where, on filterColumns) {
	f := l.filter
	if f.Status != "" {
		w.And(on.status+" = ?", string(f.Status))
	}
	if f.PlanID != 0 {
		w.And(on.plan+" = ?", f.PlanID)
	}
	if f.ProductID != 0 {
		w.And(on.product+" = ?", f.ProductID)
	}
	span(w, on.due, f.DueFrom, f.DueTo)
	switch f.Overdue {
	case "true":
		w.And(on.status+" = ?", string(Open))
		w.And(on.due+" < ?", l.today.String())
	case "false":
		w.And("("+on.status+" <> ? OR "+on.due+" >= ?)", string(Open), l.today.String())
	}
}

func span(w *sqldb.Where, column string, from, to civil.Date) {
	if !from.IsZero() {
		w.And(column+" >= ?", from.String())
	}
	if !to.IsZero() {
		w.And(column+" <= ?", to.String())
	}
}

// smallSort is up to how many matches are read through their own index and
// sorted, rather than met on a scan along the ids.
const smallSort = 10_000

// matching finds the invoices of the filter in the order of their ids. As in
// lists of customers, exact counts choose the plan: few matches are read from
// the index of what they are filtered by, many are met on a scan along the ids.
func (l listing) matching(all, matches int64) sqldb.Source {
	s := sqldb.Source{From: "invoices i", ID: "i.id", Order: "i.id"}
	f := l.filter
	if found, ok := customer.SearchSource(l.db.Engine(), l.company, f.Search); ok {
		s.From = found.From + " CROSS JOIN invoices i"
		s.Where = found.Where
		s.Where.And("i.customer_id = c.id")
	}
	s.Where.And("i.company_id = ?", l.company)
	if f.CustomerID != 0 {
		s.Where.And("i.customer_id = ?", f.CustomerID)
	}
	few := matches < smallSort && all > smallSort
	due, paid, created := "i.due_on", "i.paid_on", "i.created_on"
	if few && f.CustomerID == 0 {
		s.Order = "i.id + 0"
	} else { // the expressions keep planners from sorting all matches
		due, paid, created = "COALESCE(i.due_on, '')", "COALESCE(i.paid_on, '')", "COALESCE(i.created_on, '')"
	}
	l.conditions(&s.Where, filterColumns{plan: "i.plan_id", product: "i.product_id", status: "i.status", due: due})
	span(&s.Where, paid, f.PaidFrom, f.PaidTo)
	if !f.PaidFrom.IsZero() || !f.PaidTo.IsZero() {
		s.Where.And("i.paid_on IS NOT NULL")
	}
	span(&s.Where, created, f.CreatedFrom, f.CreatedTo)
	return s
}
