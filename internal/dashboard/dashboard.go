// Package dashboard gives the figures of a company in one look: customers,
// invoices and revenue of a month, what is overdue by age, recurring revenue and
// its movement, and twelve months side by side. It owns no record and reads only
// the counters of other rooms, so that the cost does not grow with the company;
// of the first steps it reads whether there is a row.
package dashboard

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"carteira/internal/account"
	"carteira/internal/figures"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Month is the figures of a month. Customers and what is overdue are those of
// now.
type Month struct {
	Month       string      `json:"month"`
	Customers   Customers   `json:"customers"`
	Invoices    Invoices    `json:"invoices"`
	Revenue     Revenue     `json:"revenue"`
	Overdue     Overdue     `json:"overdue"`
	Recurring   Recurring   `json:"recurring"`
	Punctuality Punctuality `json:"punctuality"`
	Months      []Period    `json:"months"`
	// Links are the lists that figures count, by the figure's place in this
	// object, as paths of the API and of the panel.
	Links map[string]string `json:"links"`
}

// Customers are counted: Active, DueToday, Expired and Cancelled add up to Total.
// New were created in the month, Renewed are those renewed in it, Lost have a due
// date in it and are expired now.
type Customers struct {
	Total    int64 `json:"total"`
	Active   int64 `json:"active"`
	DueToday int64 `json:"due_today"`
	Expired  int64 `json:"expired"`
	// Cancelled customers are in no other status.
	Cancelled int64 `json:"cancelled"`
	New       int64 `json:"new"`
	// NewDeleted are those of New who were deleted since.
	NewDeleted int64 `json:"new_deleted"`
	// Renewed is null where the figures are of one plan or product.
	Renewed *int64 `json:"renewed"`
	Lost    int64  `json:"lost"`
}

// Invoices are added up: Paid in the month; the others by due date in the month,
// with Open not yet past.
type Invoices struct {
	Open      Sum `json:"open"`
	Paid      Sum `json:"paid"`
	Overdue   Sum `json:"overdue"`
	Cancelled Sum `json:"cancelled"`
}

// Sum is a number of invoices and their amount.
type Sum struct {
	Count  int64       `json:"count"`
	Amount money.Cents `json:"amount"`
}

func (s *Sum) add(sums tally.Sums) {
	s.Count += sums.N
	s.Amount += money.Cents(sums.Cents)
}

// Revenue is the money of the month.
type Revenue struct {
	Received      money.Cents `json:"received"`
	Expected      money.Cents `json:"expected"` // received, open and overdue
	PreviousMonth money.Cents `json:"previous_month"`
	ChangePercent *float64    `json:"change_percent"` // null when nothing was received in the month before
	// Payments is how many came in the month; refunds are none.
	Payments int64 `json:"payments"`
	// AverageTicket is what came by how many payments; null when no more came than went back.
	AverageTicket *money.Cents `json:"average_ticket"`
	ByDay         []Day        `json:"by_day"`
	// PreviousByDay is the month before, for a chart of both.
	PreviousByDay []Day `json:"-"`
}

// Day is what was received on a day.
type Day struct {
	Date   civil.Date  `json:"date"`
	Amount money.Cents `json:"amount"`
	Count  int64       `json:"count"`
}

// Period is the money of one of twelve months: what came, and what is still to
// come of what was due in it.
type Period struct {
	Month    string      `json:"month"`
	Expected money.Cents `json:"expected"` // received, open and overdue
	Received money.Cents `json:"received"`
	Open     money.Cents `json:"open"`
	Overdue  money.Cents `json:"overdue"`
}

// Question is what a caller wants to see.
type Question struct {
	First     civil.Date // the first day of the month; zero: the present one
	PlanID    int64      // 0: of all plans
	ProductID int64      // 0: of all products
}

// Read reads a Question from a query: month, plan_id and product_id.
func Read(in *input.Form) Question {
	return Question{First: ReadMonth(in), PlanID: in.ID("plan_id").Value, ProductID: in.ID("product_id").Value}
}

// Service has the use case.
type Service struct{ db *sqldb.DB }

// New makes the service.
func New(db *sqldb.DB) *Service { return &Service{db: db} }

// ReadMonth reads the month, YYYY-MM, as its first day; the zero Date when none
// was asked for.
func ReadMonth(in *input.Form) civil.Date {
	text := in.Line("month", 20)
	if !text.HasValue() {
		return civil.Date{}
	}
	first, err := civil.Parse(text.Value + "-01")
	if err != nil {
		in.Refuse("month", "must be a month in the form YYYY-MM")
	}
	return first
}

// Month computes the figures of a month.
func (s *Service) Month(ctx context.Context, actor account.Actor, question Question) (Month, error) {
	if err := actor.NotAttendant(); err != nil {
		return Month{}, err
	}
	today := actor.Today(s.db.Now())
	if question.First.IsZero() {
		question.First = firstOf(today)
	}
	look := look{
		db:        s.db,
		companyID: actor.Company.ID,
		question:  question,
		first:     question.First,
		last:      lastOf(question.First),
		today:     today,
	}
	month := Month{Month: monthOf(question.First)}
	for _, part := range []struct {
		name string
		read func(context.Context, *Month) error
	}{
		{"customers", look.customers},
		{"creations", look.creations},
		{"renewals", look.renewals},
		{"invoices", look.paid},
		{"months", look.months},
		{"revenue", look.revenue},
		{"overdue", look.overdue},
		{"recurring revenue", look.recurring},
	} {
		if err := part.read(ctx, &month); err != nil {
			return month, fmt.Errorf("dashboard %s: %w", part.name, err)
		}
	}
	month.Revenue.Expected = month.Revenue.Received + month.Invoices.Open.Amount + month.Invoices.Overdue.Amount
	month.Links = look.links()
	return month, nil
}

// look is one call of Month.
type look struct {
	db          *sqldb.DB
	companyID   int64
	question    Question
	first, last civil.Date // of the month
	today       civil.Date
}

// of has the conditions of the question, which every counter knows.
func (l look) of(days ...tally.Days) (filter tally.Filter) {
	if l.question.PlanID != 0 {
		filter.And("plan_id = ?", l.question.PlanID)
	}
	if l.question.ProductID != 0 {
		filter.And("product_id = ?", l.question.ProductID)
	}
	filter.Days = days
	return filter
}

// asked are the days of the month.
func (l look) asked() tally.Days { return tally.On(monthOf(l.first)) }

// spans reads a counter by spans of days and by state.
func (l look) spans(ctx context.Context, counter tally.Counter, filter tally.Filter) ([]map[string]tally.Sums, error) {
	return tally.Spans(ctx, l.db, counter, l.companyID, filter)
}

// byState reads the month of a counter.
func (l look) byState(ctx context.Context, counter tally.Counter) (map[string]tally.Sums, error) {
	return tally.By[string](ctx, l.db, counter, l.companyID, "state", l.of(l.asked()))
}

func (l look) has(day string) bool {
	return day >= l.first.String() && day <= l.last.String()
}

func monthOf(day civil.Date) string { return day.String()[:len("2006-01")] }

func firstOf(day civil.Date) civil.Date { return day.AddDays(1 - day.Day()) }

func lastOf(first civil.Date) civil.Date {
	next := first.AddDays(31)
	if next.Month() == first.Month() { // the calendar ends before
		return next
	}
	return next.AddDays(-next.Day())
}

// Begun is what a company has set up of what it begins with.
type Begun struct {
	Plan, Gateway, Rules, Team bool
}

// Begun reads in one statement which of the first steps are done.
func (s *Service) Begun(ctx context.Context, actor account.Actor) (Begun, error) {
	company := actor.Company.ID
	begun, err := sqldb.One(ctx, s.db, rows.Into(func(begun *Begun) []any {
		return []any{&begun.Plan, &begun.Gateway, &begun.Rules, &begun.Team}
	}), `SELECT EXISTS (SELECT 1 FROM customer_plans WHERE company_id = ?),
			EXISTS (SELECT 1 FROM gateways WHERE company_id = ? AND active = ?),
			EXISTS (SELECT 1 FROM reminder_rules WHERE company_id = ?),
			(SELECT count(*) FROM users WHERE company_id = ?) > 1`, company, company, true, company, company)
	if err != nil {
		return begun, fmt.Errorf("first steps: %w", err)
	}
	return begun, nil
}

// links are the lists that figures count. What no list can show is not among
// them: money by means of payment, and movements of past months.
func (l look) links() map[string]string {
	month := []string{l.first.String(), l.last.String()}
	links := map[string]string{
		"customers.total":          l.link("customers"),
		"customers.active":         l.link("customers", "status", "Ativo"),
		"customers.due_today":      l.link("customers", "status", "Vence hoje"),
		"customers.expired":        l.link("customers", "status", "Vencido"),
		"customers.cancelled":      l.link("customers", "status", "Cancelado"),
		"customers.new":            l.link("customers", "created_from", month[0], "created_to", month[1]),
		"customers.lost":           l.link("customers", "status", "Vencido", "due_from", month[0], "due_to", month[1]),
		"invoices.open.count":      l.link("invoices", "status", "Em aberto", "overdue", "false", "due_from", month[0], "due_to", month[1]),
		"invoices.overdue.count":   l.link("invoices", "overdue", "true", "due_from", month[0], "due_to", month[1]),
		"invoices.cancelled.count": l.link("invoices", "status", "Cancelado", "due_from", month[0], "due_to", month[1]),
		"invoices.paid.count":      l.link("invoices", "status", "Pago", "paid_from", month[0], "paid_to", month[1]),
		"overdue.invoices":         l.link("invoices", "overdue", "true"),
		"overdue.customers":        l.link("customers", "owes_to", l.today.AddDays(-1).String()),
	}
	if l.question.PlanID == 0 && l.question.ProductID == 0 {
		links["customers.renewed"] = l.link("customers", "renewed_in", monthOf(l.first))
	}
	for n, span := range figures.Spans {
		first, last := span.DueDates(l.today)
		from, to := first.String(), last.String()
		links[fmt.Sprintf("overdue.by_age.%d.customers", n)] = l.link("customers", "owes_from", from, "owes_to", to)
		links[fmt.Sprintf("overdue.by_age.%d.invoices", n)] = l.link("invoices", "overdue", "true", "due_from", from,
			"due_to", to)
	}
	if l.isPresent() {
		links["recurring.customers"] = l.link("customers", "recurring", "true")
		for _, kind := range []figures.Kind{figures.New, figures.Lost, figures.Up, figures.Down} {
			links["recurring."+string(kind)+".customers"] = l.link("customers", "moved", string(kind))
		}
	}
	return links
}

// isPresent reports whether the month asked for is that of today.
func (l look) isPresent() bool { return l.first == firstOf(l.today) }

// link is a list with filters, of the plan and the product asked for. A filter
// without a value is left out.
func (l look) link(list string, filters ...string) string {
	query := url.Values{}
	for filter := range slices.Chunk(filters, 2) {
		if filter[1] != (civil.Date{}).String() {
			query.Set(filter[0], filter[1])
		}
	}
	for name, id := range map[string]int64{"plan_id": l.question.PlanID, "product_id": l.question.ProductID} {
		if id != 0 {
			query.Set(name, fmt.Sprint(id))
		}
	}
	if len(query) == 0 {
		return "/" + list
	}
	return "/" + list + "?" + query.Encode()
}
