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

	UpdatedSince int64 // in microseconds; 0: whenever
}

const maxSearch = 255

// ReadFilter reads a Filter from a query. Wrong values are left to in.Err.
func ReadFilter(in *input.Form) Filter {
	filter := Filter{
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
		filter.Overdue = fmt.Sprint(overdue.Value)
	}
	return filter
}

// List returns a page of invoices, newest first, and how many there are.
func (s *Service) List(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	page input.Page,
) ([]Invoice, int64, error) {
	l, all, count, err := s.matches(ctx, actor, filter)
	if err != nil || page.Offset() >= count {
		return []Invoice{}, count, err
	}
	if l, err = l.known(ctx); err != nil {
		return nil, 0, err
	}
	window, err := counter.Window(
		ctx,
		s.db,
		actor.Company.ID,
		l.matching(all, count),
		filter == (Filter{}),
		count,
		page,
	)
	if err != nil {
		return nil, 0, err
	}
	list, err := reading.Rows(ctx, s.db, actor.Company.ID, window)
	return list, count, err
}

// Count is how many invoices a filter has.
func (s *Service) Count(ctx context.Context, actor account.Actor, filter Filter) (int64, error) {
	_, _, count, err := s.matches(ctx, actor, filter)
	return count, err
}

func (s *Service) listing(actor account.Actor, filter Filter) listing {
	return listing{
		db:      s.db,
		company: actor.Company.ID,
		filter:  filter,
		today:   actor.Today(s.db.Now()),
	}
}

// matches is what a filter chooses, with how many invoices the company has and how
// many of them match.
func (s *Service) matches(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
) (l listing, all, count int64, err error) {
	l = s.listing(actor, filter)
	if filter != (Filter{}) && filter.tallied() {
		at, err := counter.Standing(ctx, s.db, l.company, l.keys())
		return l, at.Total, at.Left, err
	}
	if all, err = counter.Total(ctx, s.db, l.company); err == nil {
		count, err = s.count(ctx, l, all)
	}
	return l, all, count, err
}

// Latest returns the newest invoices of each of some customers, newest first;
// limit 0 means all of them. It runs one statement for any number of customers.
func (s *Service) Latest(
	ctx context.Context,
	actor account.Actor,
	customerIDs []int64,
	limit int64,
) (map[int64][]Invoice, error) {
	byCustomer := map[int64][]Invoice{}
	list, err := latest(ctx, s.db, actor.Company.ID, customerIDs, limit)
	for _, invoice := range list {
		byCustomer[invoice.Customer.ID] = append(byCustomer[invoice.Customer.ID], invoice)
	}
	return byCustomer, err
}

// listing is one call of List.
type listing struct {
	db      *sqldb.DB
	company int64
	filter  Filter
	today   civil.Date
	found   []int64 // the customers who are searched for; nil: they are not known yet
}

// known is the listing with the customers who are searched for.
func (l listing) known(ctx context.Context) (listing, error) {
	if l.found != nil || !customer.Searches(l.filter.Search) {
		return l, nil
	}
	found, err := customer.Found(ctx, l.db, l.company, l.filter.Search)
	l.found = found
	return l, err
}

// tallied reports whether the counter alone can count the listing.
func (f Filter) tallied() bool {
	f.Status, f.PlanID, f.ProductID, f.Overdue = "", 0, 0, ""
	f.DueFrom, f.DueTo = civil.Date{}, civil.Date{}
	return f == (Filter{})
}

func (s *Service) count(ctx context.Context, listing listing, all int64) (int64, error) {
	if listing.filter == (Filter{}) {
		return all, nil
	}
	if listing.filter.UpdatedSince != 0 { // a change that moves no counter counts, too
		return s.countRows(ctx, listing, 1+smallSort)
	}
	return s.counts.Get(ctx, s.db, listing.question(), func() (int64, error) {
		return s.countFound(ctx, listing, all)
	})
}

// question is what is counted, as the cache of counts knows it.
func (l listing) question() tally.Question {
	counters := []tally.Counter{counter}
	if l.filter.Search != "" {
		counters = append(counters, tally.Customers) // whose names are searched
	}
	return tally.Question{CompanyID: l.company, What: fmt.Sprintf("%+v %s", l.filter, l.today), Counters: counters}
}

// filterColumns name what both the counter and the table can filter by.
type filterColumns struct{ plan, product, status, due string }

// conditions are the filters that both the counter and the table have.
func (l listing) conditions(where *sqldb.Where, on filterColumns) {
	filter := l.filter
	if filter.Status != "" {
		where.And(on.status+" = ?", string(filter.Status))
	}
	if filter.PlanID != 0 {
		where.And(on.plan+" = ?", filter.PlanID)
	}
	if filter.ProductID != 0 {
		where.And(on.product+" = ?", filter.ProductID)
	}
	span(where, on.due, filter.DueFrom, filter.DueTo)
	switch filter.Overdue {
	case "true":
		where.And(on.status+" = ?", string(Open))
		where.And(on.due+" < ?", l.today.String())
	case "false":
		where.And("("+on.status+" <> ? OR "+on.due+" >= ?)", string(Open), l.today.String())
	}
}

// keys are the filters as the counter knows them.
func (l listing) keys() (filter tally.Filter) {
	if l.filter.Overdue == "false" { // of open ones some days, and of others all
		l.conditions(&filter.Where, filterColumns{plan: "plan_id", product: "product_id", status: "state", due: "day"})
		return filter
	}
	days := countedDays(l.filter.DueFrom, l.filter.DueTo)
	if l.filter.Overdue == "true" && (days.Until == "" || days.Until > l.today.String()) {
		days.Until = l.today.String()
	}
	filter.Days = []tally.Days{days}
	if l.filter.Overdue == "true" {
		filter.And("state = ?", string(Open))
	}
	l.filter.DueFrom, l.filter.DueTo, l.filter.Overdue = civil.Date{}, civil.Date{}, ""
	l.conditions(&filter.Where, filterColumns{plan: "plan_id", product: "product_id", status: "state"})
	return filter
}

// countedDays are the days of a counter from one date to another; a zero one
// leaves that end open.
func countedDays(from, to civil.Date) tally.Days {
	days := tally.Days{From: from.String()}
	if !to.IsZero() {
		days.Until = tally.After(to.String())
	}
	return days
}

func span(where *sqldb.Where, column string, from, to civil.Date) {
	if !from.IsZero() {
		where.And(column+" >= ?", from.String())
	}
	if !to.IsZero() {
		where.And(column+" <= ?", to.String())
	}
}

// smallSort is up to how many matches are read through their own index and
// sorted, rather than met on a scan along the ids.
const smallSort = 10_000

// matching finds the invoices of the filter in the order of their ids. As in
// lists of customers, exact counts choose the plan: few matches are read from
// the index of what they are filtered by, many are met on a scan along the ids.
func (l listing) matching(all, matches int64) sqldb.Source {
	few := matches < smallSort && all > smallSort
	switch {
	case l.found != nil:
		return l.filtered(l.source(), inNoIndex)
	case !few || l.filter.CustomerID != 0:
		return l.filtered(l.source(), withoutDates)
	}
	source := l.filtered(l.source(), asStored)
	source.Order = "i.id + 0"
	return source
}

// tableColumns are what the table is filtered by.
type tableColumns struct {
	filterColumns

	paid, created, updated string
}

var (
	// asStored are the columns as they are, so that planners use their indexes.
	asStored = tableColumns{
		filterColumns{plan: "i.plan_id", product: "i.product_id", status: "i.status", due: "i.due_on"},
		"i.paid_on", "i.created_on", "i.updated_at",
	}
	// withoutDates has expressions for dates, which keep planners from sorting all
	// matches.
	withoutDates = tableColumns{
		filterColumns{plan: "i.plan_id", product: "i.product_id", status: "i.status", due: "COALESCE(i.due_on, '')"},
		"COALESCE(i.paid_on, '')", "COALESCE(i.created_on, '')", "i.updated_at + 0",
	}
)

// invoicesAlone is where invoices are found unless customers are searched for.
const invoicesAlone = "invoices i"

// source has the invoices of the company, or of those customers who are searched
// for. These are read from the index of customers and sorted: the order is an
// expression, and what else they are filtered by is to be in no index.
func (l listing) source() sqldb.Source {
	source := sqldb.Source{From: invoicesAlone, ID: "i.id", Order: "i.id"}
	if l.found != nil {
		source.Order = "i.id + 0"
		source.Where.And("i.customer_id {in ?}", l.found)
	}
	source.Where.And("i.company_id = ?", l.company)
	return source
}

// filtered leaves the invoices of the filter.
func (l listing) filtered(source sqldb.Source, on tableColumns) sqldb.Source {
	filter := l.filter
	if filter.CustomerID != 0 {
		source.Where.And("i.customer_id = ?", filter.CustomerID)
	}
	l.conditions(&source.Where, on.filterColumns)
	span(&source.Where, on.paid, filter.PaidFrom, filter.PaidTo)
	if !filter.PaidFrom.IsZero() || !filter.PaidTo.IsZero() {
		source.Where.And("i.paid_on IS NOT NULL")
	}
	span(&source.Where, on.created, filter.CreatedFrom, filter.CreatedTo)
	if filter.UpdatedSince != 0 {
		source.Where.And(on.updated+" >= ?", filter.UpdatedSince)
	}
	return source
}
