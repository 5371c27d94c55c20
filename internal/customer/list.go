package customer

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Filter chooses customers; the zero Filter chooses all.
type Filter struct {
	Search     string
	Status     Status // "": any
	PlanID     int64
	ProductID  int64
	DueFrom    civil.Date
	DueTo      civil.Date
	ExternalID string
	CpfCnpj    string // without punctuation

	UpdatedSince int64 // in microseconds; 0: whenever

	Figure Figure
}

// ReadFilter reads a Filter from a query. Wrong values are left to in.Err.
func ReadFilter(in *input.Form) Filter {
	return Filter{
		Search:     in.Text("search", 255).Value,
		Status:     input.OneOf(in, "status", Active, DueToday, Expired, Cancelled).Value,
		PlanID:     in.ID("plan_id").Value,
		ProductID:  in.ID("product_id").Value,
		DueFrom:    in.Date("due_from").Value,
		DueTo:      in.Date("due_to").Value,
		ExternalID: in.Line("external_id", maxName).Value,
		CpfCnpj:    account.TaxID(in, "cpf_cnpj").Value,
		Figure:     readFigure(in),
	}
}

// Names are those of some customers, by their ids; deleted ones are left out.
func (s *Service) Names(ctx context.Context, actor account.Actor, ids []int64) (map[int64]string, error) {
	return NamesIn(ctx, s.db, actor, ids)
}

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

// table has the customers as lists show them. Each order has an index, in which
// are the columns that lists are filtered by.
var table = listing.Table[Customer]{
	From: "customers c", ID: "c.id", Owner: "c.company_id",
	Hidden:  listing.Hidden{From: "customer_staging s", None: "s.id = 1 AND s.hidden_to < s.hidden_from", Shown: visible},
	Columns: listColumns, Joins: joins, Scan: scanListed,
	RowID: func(customer Customer) int64 { return customer.ID },
	Orders: map[string]listing.Order{
		input.ByName:    {Column: "c.name_key"},
		input.ByUpdated: {Column: "c.updated_at"},
		input.ByDueDate: {Column: "c.due_on", Last: "c.due_on IS NULL"},
	},
	Texts: listing.Texts{From: "customer_texts t", Owner: "t.company_id", Text: "t.text", ID: "t.id"},
}

// List returns a page of customers, newest first, and how many there are.
func (s *Service) List(ctx context.Context, actor account.Actor, filter Filter, page input.Page) ([]Customer, int64, error) {
	return s.Sorted(ctx, actor, Query{Filter: filter, Sort: input.Newest}, page)
}

// Sorted returns a page of customers in the order of the query, and how many
// there are. Customers without a due date come last in the order of due dates,
// whatever its direction.
func (s *Service) Sorted(ctx context.Context, actor account.Actor, query Query, page input.Page) ([]Customer, int64, error) {
	asked, err := s.query(ctx, actor, query)
	if err != nil {
		return nil, 0, err
	}
	return table.Page(ctx, s.db, asked, page)
}

// First returns the newest few customers of a filter, without a count of the
// others.
func (s *Service) First(ctx context.Context, actor account.Actor, filter Filter, limit int64) ([]Customer, error) {
	asked, err := s.query(ctx, actor, Query{Filter: filter})
	if err != nil {
		return nil, err
	}
	return table.First(ctx, s.db, asked, limit)
}

// Walk calls visit for every customer of a filter, newest first.
func (s *Service) Walk(ctx context.Context, actor account.Actor, filter Filter, visit func(Customer) error) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	asked, err := s.query(ctx, actor, Query{Filter: filter})
	if err != nil {
		return err
	}
	return table.Each(ctx, s.db, asked, visit)
}

// CustomNames are the names of the company's own fields that its customers have,
// in alphabetical order: the columns of an export.
func (s *Service) CustomNames(ctx context.Context, actor account.Actor) ([]string, error) {
	names := map[string]bool{}
	err := sqldb.Each(ctx, s.db, `SELECT DISTINCT custom FROM customers WHERE company_id = ? AND custom <> ''
		AND `+Visible, []any{actor.Company.ID}, func(row sqldb.Row) error {
		var custom Custom
		err := row.Scan((*string)(&custom))
		for name := range custom.Map() {
			names[name] = true
		}
		return err
	})
	return slices.Sorted(maps.Keys(names)), err
}

// query is what the table is asked. The counter knows the totals of the usual
// filters.
func (s *Service) query(ctx context.Context, actor account.Actor, query Query) (listing.Query, error) {
	filter, today := query.Filter, actor.Today(s.db.Now())
	asked := listing.Query{CompanyID: actor.Company.ID, Search: searchTerms(filter.Search), Sort: query.Sort}
	held, err := s.heldFor(ctx, actor.Company.ID, filter, today)
	if err != nil {
		return asked, err
	}
	filter.conditions(&asked.Where, today, held)
	filter.Figure.conditions(&asked.Where, actor.Company.ID, monthOf(today))
	if filter.tallied() && !filter.splits(held) {
		asked.Total = func(ctx context.Context) (int64, error) { return s.total(ctx, actor.Company.ID, filter, today) }
	}
	return asked, nil
}

// heldFor reads the customers who are on time after their due date, where a filter
// goes by either.
func (s *Service) heldFor(ctx context.Context, companyID int64, filter Filter, today civil.Date) ([]Customer, error) {
	if (filter.Status == "" || filter.Status == Cancelled) && !filter.dated() {
		return nil, nil
	}
	return sqldb.All(ctx, s.db, rows.Into(func(customer *Customer) []any {
		return []any{&customer.ID, &customer.DueOn, &customer.expiry.on}
	}), heldText, companyID, today.String())
}

// heldText finds the customers with a debit that is arranged for a day or later,
// after their due date. They are few: only what their status depends on is
// read.
const heldText = `SELECT id, due_on, expiry_on FROM customers
	WHERE company_id = ? AND expiry_on >= ? AND expiry_on > due_on AND ` + Visible

func (f Filter) dated() bool { return !f.DueFrom.IsZero() || !f.DueTo.IsZero() }

// splits reports whether the counter, which has a customer at the day until which
// it is on time, does not know how many are due in the filter's span.
func (f Filter) splits(held []Customer) bool { return f.dated() && len(held) > 0 }

// conditions hold for customers c. Expressions keep planners from other indexes
// than that of the order, which has these columns.
func (f Filter) conditions(where *sqldb.Where, today civil.Date, held []Customer) {
	where.If(f.ExternalID != "", "c.external_id = ? AND c.external_id <> ''", f.ExternalID)
	where.If(f.CpfCnpj != "", "c.cpf_cnpj = ? AND c.cpf_cnpj <> ''", f.CpfCnpj)
	where.If(f.PlanID != 0, "c.plan_id + 0 = ?", f.PlanID)
	where.If(f.ProductID != 0, "c.product_id + 0 = ?", f.ProductID)
	where.If(f.UpdatedSince != 0, "c.updated_at >= ?", f.UpdatedSince)
	switch f.Status {
	case "":
	case Cancelled:
		where.And("c.cancelled_at IS NOT NULL")
	default:
		where.And("c.cancelled_at IS NULL")
	}
	if len(held) == 0 || f.Status == "" || f.Status == Cancelled {
		f.due(today).conditions(where)
		return
	}
	span := f
	span.Status = ""
	span.due(today).conditions(where)
	f.standing(where, today, held)
}

// standing chooses by status where some are on time after their due date.
func (f Filter) standing(where *sqldb.Where, today civil.Date, held []Customer) {
	ids, these := []int64{}, []int64{}
	for _, customer := range held {
		ids = append(ids, customer.ID)
		if customer.Status(today) == f.Status {
			these = append(these, customer.ID)
		}
	}
	var naive sqldb.Where
	Filter{Status: f.Status}.due(today).conditions(&naive)
	text := strings.TrimPrefix(naive.String(), " WHERE ")
	where.And("("+text+" AND NOT c.id {in ?} OR c.id {in ?})", append(naive.Args, ids, these)...)
}

// due is the span of due dates that a filter leaves.
type due struct {
	from, to civil.Date // zero: open
	none     bool       // customers without a date are in it
}

func (f Filter) due(today civil.Date) due {
	d := due{from: f.DueFrom, to: f.DueTo, none: f.DueFrom.IsZero() && f.DueTo.IsZero()}
	switch f.Status {
	case Active:
		d.from = later(d.from, today.AddDays(1))
	case DueToday:
		d.from, d.to, d.none = later(d.from, today), earlier(d.to, today), false
	case Expired:
		d.to, d.none = earlier(d.to, today.AddDays(-1)), false
	case Cancelled: // whatever the date
	}
	return d
}

func (d due) open() bool { return d.from.IsZero() && d.to.IsZero() && d.none }

// conditions hold for customers c.
func (d due) conditions(where *sqldb.Where) {
	switch {
	case d.open():
	case d.none: // only Active leaves it so, which has a beginning and no end
		where.And("(c.due_on IS NULL OR c.due_on >= ?)", d.from.String())
	default:
		where.And("c.due_on >= ?", later(d.from, firstDate).String())
		where.If(!d.to.IsZero(), "c.due_on <= ?", d.to.String())
	}
}

var firstDate = civil.MustParse("1900-01-01")

func later(a, b civil.Date) civil.Date {
	if a.IsZero() || a.Before(b) {
		return b
	}
	return a
}

func earlier(a, b civil.Date) civil.Date {
	if a.IsZero() || a.After(b) {
		return b
	}
	return a
}

// Figure chooses the customers that a figure of the dashboard counts; the zero
// Figure chooses all.
type Figure struct {
	OwesFrom    civil.Date // the due date of the oldest open invoice
	OwesTo      civil.Date
	CreatedFrom civil.Date
	CreatedTo   civil.Date
	RenewedIn   string // YYYY-MM
	Recurring   string // "", "true" or "false": worth something a month
	Moved       string // how, this month: new, lost, up or down
	OwnPrice    bool   // not cancelled, and with a price that is not the plan's
}

// Movements are how a customer's recurring revenue can have moved this month.
var Movements = []string{tally.RecurringNew, tally.RecurringLost, tally.RecurringUp, tally.RecurringDown}

func readFigure(in *input.Form) Figure {
	figure := Figure{
		OwesFrom:    in.Date("owes_from").Value,
		OwesTo:      in.Date("owes_to").Value,
		CreatedFrom: in.Date("created_from").Value,
		CreatedTo:   in.Date("created_to").Value,
		RenewedIn:   in.Line("renewed_in", len("2006-01")+1).Value,
		Moved:       in.Choice("moved", Movements...).Value,
	}
	if _, err := time.Parse("2006-01", figure.RenewedIn); figure.RenewedIn != "" && err != nil {
		in.Refuse("renewed_in", "must be a month in the form YYYY-MM")
	}
	if recurring := in.Bool("recurring"); recurring.HasValue() {
		figure.Recurring = map[bool]string{true: "true", false: "false"}[recurring.Value]
	}
	return figure
}

// conditions hold for customers c.
func (f Figure) conditions(where *sqldb.Where, companyID int64, month string) {
	if !f.OwesFrom.IsZero() || !f.OwesTo.IsZero() {
		var owing sqldb.Where
		owing.And("d.company_id = ?", companyID)
		between(&owing, "d.since", f.OwesFrom, f.OwesTo)
		where.And("c.id IN (SELECT d.customer_id FROM debtors d"+owing.String()+")", owing.Args...)
	}
	between(where, "c.created_on", f.CreatedFrom, f.CreatedTo)
	if f.RenewedIn != "" {
		where.And("c.id IN (SELECT n.customer_id FROM customer_renewals n WHERE n.company_id = ? AND n.month = ?)",
			companyID, f.RenewedIn)
	}
	switch f.Recurring {
	case "true":
		where.And("c.mrr_cents > 0")
	case "false":
		where.And("c.mrr_cents = 0")
	}
	where.If(f.OwnPrice, "c.price_cents IS NOT NULL AND c.cancelled_at IS NULL")
	if f.Moved != "" {
		where.And("c.mrr_month = ? AND c.mrr_month <> ''", month)
		where.And(movements[slices.IndexFunc(movements, func(part movementPart) bool { return part.state == f.Moved })].condition)
	}
}

func between(where *sqldb.Where, column string, from, to civil.Date) {
	where.If(!from.IsZero(), column+" >= ?", from.String())
	where.If(!to.IsZero(), column+" <= ?", to.String())
}
