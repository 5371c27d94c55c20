package billing

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
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

// table is the list of invoices. The name is that of the customer.
var table = listing.Table[Invoice]{
	From: "invoices i", ID: "i.id", Owner: "i.company_id", Columns: columns, Joins: joins, Scan: scan,
	RowID: func(invoice Invoice) int64 { return invoice.ID },
	Orders: map[string]listing.Order{
		input.ByName: {
			Column: "c.name_key", From: "customers c CROSS JOIN invoices i", On: "c.company_id = i.company_id AND i.customer_id = c.id",
		},
		input.ByDueDate: {Column: "i.due_on"},
		input.ByUpdated: {Column: "i.updated_at"},
	},
}

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

// List returns a page of invoices, newest first, and how many there are.
func (s *Service) List(ctx context.Context, actor account.Actor, filter Filter, page input.Page) ([]Invoice, int64, error) {
	return s.Sorted(ctx, actor, Query{Filter: filter}, page)
}

// Sorted returns a page of invoices in the order of the query, and how many
// there are.
func (s *Service) Sorted(ctx context.Context, actor account.Actor, query Query, page input.Page) ([]Invoice, int64, error) {
	asked, err := s.query(ctx, actor, query)
	if err != nil {
		return nil, 0, err
	}
	page.Sort = "" // the query's counts
	return table.Page(ctx, s.db, asked, page)
}

// Count is how many invoices a filter has.
func (s *Service) Count(ctx context.Context, actor account.Actor, filter Filter) (int64, error) {
	query, err := s.query(ctx, actor, Query{Filter: filter})
	if err != nil {
		return 0, err
	}
	return table.Count(ctx, s.db, query)
}

// Walk calls visit for every invoice of a filter, newest first.
func (s *Service) Walk(ctx context.Context, actor account.Actor, filter Filter, visit func(Invoice) error) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	query, err := s.query(ctx, actor, Query{Filter: filter})
	if err != nil {
		return err
	}
	return table.Each(ctx, s.db, query, visit)
}

// query is what the table is asked for. Where the counter knows the filter, it
// has the total.
func (s *Service) query(ctx context.Context, actor account.Actor, query Query) (listing.Query, error) {
	l := s.asked(actor, query.Filter)
	asked := listing.Query{CompanyID: actor.Company.ID, Sort: query.Sort}
	if customer.Searches(query.Filter.Search) {
		found, err := customer.Found(ctx, s.db, actor.Company.ID, query.Filter.Search)
		if err != nil {
			return asked, err
		}
		asked.Where.And("i.customer_id {in ?}", found)
	}
	l.where(&asked.Where, query.Sort)
	if query.Filter.tallied() {
		asked.Total = func(ctx context.Context) (int64, error) { return l.total(ctx, s.db, actor.Company.ID) }
	}
	return asked, nil
}

// asked is a filter on a day of the company.
type asked struct {
	filter Filter
	today  civil.Date
}

func (s *Service) asked(actor account.Actor, filter Filter) asked {
	return asked{filter: filter, today: actor.Today(s.db.Now())}
}

// total is that of the counter.
func (l asked) total(ctx context.Context, querier sqldb.Querier, companyID int64) (int64, error) {
	if l.filter == (Filter{}) {
		return counter.Total(ctx, querier, companyID)
	}
	count, _, err := counter.Sum(ctx, querier, companyID, l.keys())
	return count, err
}

// Latest returns the newest invoices of each of some customers, newest first;
// limit 0 means all of them. It runs one statement for any number of customers.
func (s *Service) Latest(
	ctx context.Context, actor account.Actor, customerIDs []int64, limit int64,
) (map[int64][]Invoice, error) {
	byCustomer := map[int64][]Invoice{}
	list, err := latest(ctx, s.db, actor.Company.ID, customerIDs, limit)
	for _, invoice := range list {
		byCustomer[invoice.Customer.ID] = append(byCustomer[invoice.Customer.ID], invoice)
	}
	return byCustomer, err
}

// Existing are those of some invoices that were not deleted, by their ids.
func (s *Service) Existing(ctx context.Context, actor account.Actor, ids []int64) (map[int64]bool, error) {
	found := make(map[int64]bool, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	err := sqldb.Each(ctx, s.db, `SELECT id FROM invoices WHERE company_id = ? AND id {in ?}`,
		[]any{actor.Company.ID, ids}, func(row sqldb.Row) error {
			var id int64
			err := row.Scan(&id)
			found[id] = true
			return err
		})
	return found, err
}

// tallied reports whether the counter alone can count the filter.
func (f Filter) tallied() bool {
	f.Status, f.PlanID, f.ProductID, f.Overdue = "", 0, 0, ""
	f.DueFrom, f.DueTo = civil.Date{}, civil.Date{}
	return f == (Filter{})
}

// filterColumns name what both the counter and the table can filter by.
type filterColumns struct{ plan, product, status, due string }

// conditions are the filters that both the counter and the table have.
func (l asked) conditions(where *sqldb.Where, on filterColumns) {
	filter := l.filter
	where.If(filter.Status != "", on.status+" = ?", string(filter.Status))
	where.If(filter.PlanID != 0, on.plan+" = ?", filter.PlanID)
	where.If(filter.ProductID != 0, on.product+" = ?", filter.ProductID)
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
func (l asked) keys() (filter tally.Filter) {
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
	where.If(!from.IsZero(), column+" >= ?", from.String())
	where.If(!to.IsZero(), column+" <= ?", to.String())
}

// where adds the conditions of the filter. A list is walked along the index of its
// order, which has the usual columns: the expressions keep planners from the index
// of another order, where they would find the rows and sort all of them.
func (l asked) where(where *sqldb.Where, sort input.Sort) {
	filter, due, updated := l.filter, "i.due_on || ''", "i.updated_at + 0"
	switch sort.Field() {
	case input.ByDueDate:
		due = "i.due_on"
	case input.ByUpdated:
		updated = "i.updated_at"
	}
	where.If(filter.CustomerID != 0, "i.customer_id = ?", filter.CustomerID)
	l.conditions(where, filterColumns{plan: "i.plan_id", product: "i.product_id", status: "i.status", due: due})
	span(where, "i.paid_on", filter.PaidFrom, filter.PaidTo)
	span(where, "i.created_on", filter.CreatedFrom, filter.CreatedTo)
	where.If(filter.UpdatedSince != 0, updated+" >= ?", filter.UpdatedSince)
}
