// Package dashboard gives the month's numbers of a company in one look:
// customers, invoices and revenue. It owns no record; it is the only room that
// reads other rooms' tables, and it reads their counts, so that the cost does
// not grow with the company.
package dashboard

import (
	"context"
	"fmt"
	"math"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Month is the numbers of a month. Customers are those of now.
type Month struct {
	Month     string    `json:"month"`
	Customers Customers `json:"customers"`
	Invoices  Invoices  `json:"invoices"`
	Revenue   Revenue   `json:"revenue"`
}

// Customers are counted: Active, DueToday and Expired add up to Total. New were
// created in the month, Renewed are those renewed in it, Lost have a due date in
// it and are expired now.
type Customers struct {
	Total    int64 `json:"total"`
	Active   int64 `json:"active"`
	DueToday int64 `json:"due_today"`
	Expired  int64 `json:"expired"`
	// Cancelled customers are in no other status.
	Cancelled int64 `json:"cancelled"`
	New       int64 `json:"new"`
	Renewed   int64 `json:"renewed"`
	Lost      int64 `json:"lost"`
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

// Revenue is the money of the month.
type Revenue struct {
	Received      money.Cents `json:"received"`
	Expected      money.Cents `json:"expected"` // received, open and overdue
	PreviousMonth money.Cents `json:"previous_month"`
	ChangePercent *float64    `json:"change_percent"` // null when nothing was received in the month before
	ByDay         []Day       `json:"by_day"`
}

// Day is what was received on a day.
type Day struct {
	Date   civil.Date  `json:"date"`
	Amount money.Cents `json:"amount"`
	Count  int64       `json:"count"`
}

// Service has the use case.
type Service struct {
	db     *sqldb.DB
	counts tally.Cache
}

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

// Month computes the numbers of the month that begins on first; of the present
// one when first is zero.
func (s *Service) Month(ctx context.Context, a account.Actor, first civil.Date) (Month, error) {
	today := a.Today(s.db.Now())
	if first.IsZero() {
		first = today.AddDays(1 - today.Day())
	}
	days := span{first: first, last: lastOfMonth(first), today: today}
	month := Month{Month: days.name()}
	var err error
	if month.Customers, err = s.customers(ctx, a, days); err != nil {
		return month, fmt.Errorf("dashboard customers: %w", err)
	}
	if month.Invoices, err = s.invoices(ctx, a, days); err != nil {
		return month, fmt.Errorf("dashboard invoices: %w", err)
	}
	if month.Revenue, err = s.revenue(ctx, a, days); err != nil {
		return month, fmt.Errorf("dashboard revenue: %w", err)
	}
	month.Revenue.Expected = month.Revenue.Received + month.Invoices.Open.Amount + month.Invoices.Overdue.Amount
	return month, nil
}

// span is a month and the day from which it is seen.
type span struct{ first, last, today civil.Date }

func (r span) name() string { return r.first.String()[:len("2006-01")] }

func (r span) has(day string) bool { return day >= r.first.String() && day <= r.last.String() }

func lastOfMonth(first civil.Date) civil.Date {
	next := first.AddDays(31)
	if next.Month() == first.Month() { // the calendar ends before
		return next
	}
	return next.AddDays(-next.Day())
}

func (s *Service) customers(ctx context.Context, a account.Actor, days span) (Customers, error) {
	var inForce, cancelled sqldb.Where
	inForce.And("state <> ?", tally.CustomerCancelled)
	cancelled.And("state = ?", tally.CustomerCancelled)
	byDue, err := tally.By[string](ctx, s.db, tally.Customers, a.Company.ID, "day", inForce)
	if err != nil {
		return Customers{}, err
	}
	counted := byStanding(byDue, days)
	if counted.Cancelled, _, err = tally.Customers.Sum(ctx, s.db, a.Company.ID, cancelled); err != nil {
		return counted, err
	}
	counted.Total += counted.Cancelled
	var month sqldb.Where
	month.And("day = ?", days.name())
	if counted.Renewed, _, err = tally.Renewals.Sum(ctx, s.db, a.Company.ID, month); err != nil {
		return counted, err
	}
	counted.New, err = s.newCustomers(ctx, a, days)
	return counted, err
}

// byStanding adds up customers, which are counted by due date.
func byStanding(byDue map[string]tally.Sums, days span) (counted Customers) {
	today := days.today.String()
	for day, sums := range byDue {
		counted.Total += sums.N
		switch {
		case day == "" || day > today:
			counted.Active += sums.N
		case day == today:
			counted.DueToday += sums.N
		default:
			counted.Expired += sums.N
			if days.has(day) {
				counted.Lost += sums.N
			}
		}
	}
	return counted
}

func (s *Service) newCustomers(ctx context.Context, a account.Actor, days span) (int64, error) {
	what := "new " + days.name()
	return s.counts.Count(ctx, s.db, []tally.Counter{tally.Customers}, a.Company.ID, what, func() (int64, error) {
		return createdIn(ctx, s.db, a.Company.ID, days)
	})
}

// The states of invoices, as billing counts them.
const (
	open      = "open"
	cancelled = "cancelled"
)

func (s *Service) invoices(ctx context.Context, a account.Actor, days span) (sums Invoices, err error) {
	past := days.last
	if days.today.AddDays(-1).Before(past) {
		past = days.today.AddDays(-1)
	}
	before, err := s.byState(ctx, a, days.first, past)
	if err != nil {
		return sums, err
	}
	future := days.first
	if days.today.After(future) {
		future = days.today
	}
	after, err := s.byState(ctx, a, future, days.last)
	if err != nil {
		return sums, err
	}
	listed := between(days.first, days.last)
	listed.And("state IN (?, ?)", "on_time", "late") // not those that were deleted with their customer
	n, cents, err := tally.Paid.Sum(ctx, s.db, a.Company.ID, listed)
	sums.Paid = Sum{n, money.Cents(cents)}
	sums.Overdue, sums.Open = sumOf(before[open]), sumOf(after[open])
	sums.Cancelled = sumOf(tally.Sums{
		N: before[cancelled].N + after[cancelled].N, Cents: before[cancelled].Cents + after[cancelled].Cents,
	})
	return sums, err
}

func (s *Service) byState(ctx context.Context, a account.Actor, from, to civil.Date) (map[string]tally.Sums, error) {
	if to.Before(from) {
		return nil, nil
	}
	return tally.By[string](ctx, s.db, tally.Invoices, a.Company.ID, "state", between(from, to))
}

func (s *Service) revenue(ctx context.Context, a account.Actor, days span) (revenue Revenue, err error) {
	previous := days.first.AddDays(-1)
	both := between(previous.AddDays(1-previous.Day()), days.last)
	byDay, err := tally.By[string](ctx, s.db, tally.Receipts, a.Company.ID, "day", both)
	if err != nil {
		return revenue, err
	}
	for day, sums := range byDay {
		if !days.has(day) {
			revenue.PreviousMonth += money.Cents(sums.Cents)
		}
	}
	for n := range days.last.Day() {
		date := days.first.AddDays(n)
		sums := byDay[date.String()]
		revenue.Received += money.Cents(sums.Cents)
		revenue.ByDay = append(revenue.ByDay, Day{date, money.Cents(sums.Cents), sums.N})
	}
	if revenue.PreviousMonth > 0 {
		percent := math.Round(float64(revenue.Received-revenue.PreviousMonth)*1000/float64(revenue.PreviousMonth)) / 10
		revenue.ChangePercent = &percent
	}
	return revenue, nil
}

func between(from, to civil.Date) (w sqldb.Where) {
	w.And("day >= ?", from.String())
	w.And("day <= ?", to.String())
	return w
}

func sumOf(s tally.Sums) Sum { return Sum{s.N, money.Cents(s.Cents)} }

// createdIn goes by the day on which a customer was created in the zone of that
// time: a company that moves to another zone does not change past months.
func createdIn(ctx context.Context, q sqldb.Querier, companyID int64, days span) (int64, error) {
	return sqldb.Value[int64](ctx, q, `
		SELECT count(*) FROM customers WHERE company_id = ? AND created_on >= ? AND created_on <= ? AND {visible id}`,
		companyID, days.first.String(), days.last.String())
}
