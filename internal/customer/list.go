package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
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
	var filter Filter
	filter.Search, _ = in.Text("search", 255).Get()
	status, _ := in.Choice(
		"status",
		string(Active),
		string(DueToday),
		string(Expired),
		string(Cancelled),
	).Get()
	filter.Status = Status(status)
	filter.PlanID, _ = in.ID("plan_id").Get()
	filter.ProductID, _ = in.ID("product_id").Get()
	filter.DueFrom, _ = in.Date("due_from").Get()
	filter.DueTo, _ = in.Date("due_to").Get()
	filter.ExternalID, _ = in.Line("external_id", maxName).Get()
	filter.CpfCnpj = readTaxID(in, "cpf_cnpj").Value
	filter.Figure = readFigure(in)
	return filter
}

// List returns a page of customers, newest first, and how many there are.
func (s *Service) List(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	page input.Page,
) ([]Customer, int64, error) {
	if filter == (Filter{}) && page.Offset() <= sqldb.NearOffset {
		return s.newest(ctx, actor, page)
	}
	l := s.listing(actor, filter)
	window, count, ok, err := s.deep(ctx, l, page)
	if err == nil && !ok {
		return s.counted(ctx, l, page)
	}
	if err != nil || page.Offset() >= count {
		return []Customer{}, count, err
	}
	list, err := reading.Rows(ctx, s.db, l.company, window)
	return list, count, err
}

// counted is List by way of the total.
func (s *Service) counted(ctx context.Context, l listing, page input.Page) ([]Customer, int64, error) {
	n, err := s.numbers(ctx, l, input.Newest)
	if err != nil {
		return nil, 0, err
	}
	if list, total, ok, err := s.searched(ctx, l, n.company, page); err != nil || ok {
		return list, total, err
	}
	if list, total, ok, err := s.listBeside(ctx, l, page); err != nil || ok {
		return list, total, err
	}
	if l, err = s.known(ctx, l, n.company); err != nil {
		return nil, 0, err
	}
	if n.matches == uncounted {
		n.matches, err = s.countMatches(ctx, l, n.company)
	}
	if err != nil || page.Offset() >= n.matches {
		return []Customer{}, n.matches, err
	}
	window, err := s.window(ctx, l, n, page)
	if err != nil {
		return nil, 0, err
	}
	list, err := reading.Rows(ctx, s.db, l.company, window)
	return list, n.matches, err
}

// newest is a page near the beginning of the whole list: where it is does not
// depend on the total, so that both are read in one flight.
func (s *Service) newest(ctx context.Context, actor account.Actor, page input.Page) ([]Customer, int64, error) {
	window := sqldb.Window{
		Source: s.listing(actor, Filter{}).source(),
		Whole:  true, Limit: page.Size, Offset: page.Offset(),
	}
	total, known := sqldb.Recall[int64](ctx, totalOf(actor.Company.ID))
	var before []sqldb.Statement
	if !known {
		before = append(before, counter.TotalStatement(actor.Company.ID, &total))
	}
	list, err := reading.Rows(ctx, s.db, actor.Company.ID, window, before...)
	if err == nil && !known {
		sqldb.Remember(ctx, totalOf(actor.Company.ID), total)
	}
	return list, total, err
}

// totalOf is the company under whose id the number of its customers is remembered.
type totalOf int64

func (s *Service) listing(actor account.Actor, filter Filter) listing {
	today := actor.Today(s.db.Now())
	return listing{
		db:      s.db,
		company: actor.Company.ID,
		filter:  filter,
		due:     filter.due(today),
		month:   monthOf(today),
	}
}

// due is the span of due dates that a filter leaves.
type due struct {
	from, to civil.Date // zero: open
	none     bool       // customers without a date are in it
	missing  bool       // only customers without a date are in it
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

func (d due) open() bool { return d.from.IsZero() && d.to.IsZero() && d.none && !d.missing }

// oneDay reports whether it is one, whose customers the index of dates has in the order
// of their ids.
func (d due) oneDay() bool { return !d.none && !d.missing && !d.from.IsZero() && d.from == d.to }

// conditions hold for a table in which a missing date is noDate.
func (d due) conditions(where *sqldb.Where, column, noDate string) {
	switch {
	case d.open():
	case d.missing:
		where.And(column + " " + noDate)
	case d.none: // only Active leaves it so, which has a beginning and no end
		where.And("("+column+" "+noDate+" OR "+column+" >= ?)", d.from.String())
	case d.oneDay():
		where.And(column+" = ?", d.from.String())
	default:
		if d.from.IsZero() {
			d.from = firstDate
		}
		where.And(column+" >= ?", d.from.String())
		if !d.to.IsZero() {
			where.And(column+" <= ?", d.to.String())
		}
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

// listing is one call of List.
type listing struct {
	db      *sqldb.DB
	company int64
	filter  Filter
	due     due
	month   string  // the present one
	few     bool    // there are so few matches that they are found by what they are filtered by, and sorted
	byDate  bool    // matches are found by their due dates, as foundByDate decides
	found   []int64 // whom the search finds; nil: their texts tell
}

const (
	// smallSearch is up to how many customers reading the texts of all is as fast as
	// looking for a segment.
	smallSearch = 1000
	// smallSort is up to how many matches are read and sorted rather than met on
	// a walk along the ids.
	smallSort = 10_000
	// mostFound is up to how many of a search are: they may all stand at the other end
	// of the order.
	mostFound = 50_000
)

func (l listing) hasGoods() bool { return l.filter.PlanID != 0 || l.filter.ProductID != 0 }

// byGoods reports whether a listing is filtered by a plan, a product or both and nothing
// else.
func (l listing) byGoods() bool {
	return l.hasGoods() && l.filter == (Filter{PlanID: l.filter.PlanID, ProductID: l.filter.ProductID})
}

// byDays reports whether a listing is filtered by days and states and nothing else.
func (l listing) byDays() bool {
	return (!l.due.open() || l.filter.Status != "") &&
		l.filter == (Filter{Status: l.filter.Status, DueFrom: l.filter.DueFrom, DueTo: l.filter.DueTo})
}

// matching finds the customers of the filter, in the order of their ids.
func (l listing) matching() sqldb.Source {
	on := asStored
	if l.byDate {
		on.plan, on.product = inNoIndex.plan, inNoIndex.product
	} else {
		on = on.notByDue()
	}
	if !l.few {
		on.updated = inNoIndex.updated
	}
	source := l.filtered(on)
	if l.filter.Search == "" && (l.byDate && !l.due.oneDay() || l.few && l.filter.UpdatedSince != 0) {
		source.Order = "c.id + 0"
	}
	return source
}

// filterColumns are what customers are filtered by.
type filterColumns struct{ plan, product, cancelled, updated, due, noDate string }

var (
	// asStored are the columns as they are, so that planners use their indexes.
	asStored = filterColumns{
		plan: "c.plan_id", product: "c.product_id", cancelled: "c.cancelled_at", updated: "c.updated_at",
		due: "c.due_on", noDate: "IS NULL",
	}
	// inNoIndex are expressions of the same values, so that planners use none.
	inNoIndex = filterColumns{
		plan: "c.plan_id + 0", product: "c.product_id + 0", cancelled: "c.cancelled_at + 0", updated: "c.updated_at + 0",
		due: "COALESCE(c.due_on, '')", noDate: "= ''",
	}
)

// notByDue are the same columns, of which planners do not use the index of due dates: it
// is in no order of ids, as those of plans, products and cancelled ones are.
func (f filterColumns) notByDue() filterColumns {
	f.due, f.noDate = inNoIndex.due, inNoIndex.noDate
	return f
}

// filtered has the customers of the filter.
func (l listing) filtered(on filterColumns) sqldb.Source {
	source := l.source()
	l.conditions(&source.Where, on)
	return source
}

// conditions are those of the filter but for its search.
func (l listing) conditions(where *sqldb.Where, on filterColumns) {
	if l.filter.ExternalID != "" {
		where.And("c.external_id = ? AND c.external_id <> ''", l.filter.ExternalID)
	}
	if l.filter.CpfCnpj != "" {
		where.And("c.cpf_cnpj = ? AND c.cpf_cnpj <> ''", l.filter.CpfCnpj)
	}
	if l.filter.PlanID != 0 {
		where.And(on.plan+" = ?", l.filter.PlanID)
	}
	if l.filter.ProductID != 0 {
		if l.filter.PlanID != 0 { // whose index has the products
			on.product = inNoIndex.product
		}
		where.And(on.product+" = ?", l.filter.ProductID)
	}
	if l.filter.UpdatedSince != 0 {
		where.And(on.updated+" >= ?", l.filter.UpdatedSince)
	}
	switch l.filter.Status {
	case "":
	case Cancelled:
		where.And(on.cancelled + " IS NOT NULL")
	default:
		where.And(on.cancelled + " IS NULL")
	}
	l.filter.Figure.conditions(where, l.company, l.month)
	l.due.conditions(where, on.due, on.noDate)
}

// source has the customers of the company, or those of them who are searched for.
func (l listing) source() sqldb.Source {
	source := sqldb.Source{From: "customers c", ID: "c.id", Order: "c.id"}
	source.Where.And("c.company_id = ? AND {visible c.id}", l.company)
	terms := searchTerms(l.filter.Search)
	switch {
	case terms == nil:
	case l.handsOver():
		source.Where.And("c.id {in ?}", l.found)
	default:
		// All ids are above 0. That it is said leads SQLite along the ids, where it
		// would else count by way of any index and so read the table back and forth.
		contains, args := containsOne(l.db.Engine(), textColumn, terms)
		source.Where.And("c.id > 0 AND "+contains, args...)
	}
	return source
}
