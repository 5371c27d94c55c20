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

// Month is the numbers of a month. Customers stand as of now.
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
	v, ok := in.Line("month", 20).Get()
	if !ok || v == "" {
		return civil.Date{}
	}
	d, err := civil.Parse(v + "-01")
	if err != nil {
		in.Refuse("month", "must be a month in the form YYYY-MM")
	}
	return d
}

// Month computes the numbers of the month that begins on first; of the present
// one when first is zero.
func (s *Service) Month(ctx context.Context, a account.Actor, first civil.Date) (Month, error) {
	now := s.db.Now()
	today := a.Today(now)
	if first.IsZero() {
		first = today.AddDays(1 - today.Day())
	}
	r := span{first: first, last: lastOfMonth(first), today: today}
	m := Month{Month: r.name()}
	var err error
	if m.Customers, err = s.customers(ctx, a, r); err != nil {
		return m, fmt.Errorf("dashboard customers: %w", err)
	}
	if m.Invoices, err = s.invoices(ctx, a, r); err != nil {
		return m, fmt.Errorf("dashboard invoices: %w", err)
	}
	if m.Revenue, err = s.revenue(ctx, a, r); err != nil {
		return m, fmt.Errorf("dashboard revenue: %w", err)
	}
	m.Revenue.Expected = m.Revenue.Received + m.Invoices.Open.Amount + m.Invoices.Overdue.Amount
	return m, nil
}

// span is a month and the day from which it is looked at.
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

func (s *Service) customers(ctx context.Context, a account.Actor, r span) (c Customers, err error) {
	var inForce, cancelled sqldb.Where
	inForce.And("state <> ?", tally.CustomerCancelled)
	cancelled.And("state = ?", tally.CustomerCancelled)
	byDue, err := tally.By[string](ctx, s.db, tally.Customers, a.Company.ID, "day", inForce)
	if err != nil {
		return c, err
	}
	if c.Cancelled, _, err = tally.Customers.Sum(ctx, s.db, a.Company.ID, cancelled); err != nil {
		return c, err
	}
	c.Total = c.Cancelled
	today := r.today.String()
	for day, sums := range byDue {
		c.Total += sums.N
		switch {
		case day == "" || day > today:
			c.Active += sums.N
		case day == today:
			c.DueToday += sums.N
		default:
			c.Expired += sums.N
			if r.has(day) {
				c.Lost += sums.N
			}
		}
	}
	var month sqldb.Where
	month.And("day = ?", r.name())
	if c.Renewed, _, err = tally.Renewals.Sum(ctx, s.db, a.Company.ID, month); err != nil {
		return c, err
	}
	counters, what := []tally.Counter{tally.Customers}, "new "+r.name()
	c.New, err = s.counts.Count(ctx, s.db, counters, a.Company.ID, what, func() (int64, error) {
		return createdIn(ctx, s.db, a.Company.ID, r)
	})
	return c, err
}

// The states of invoices, as billing counts them.
const (
	open      = "open"
	cancelled = "cancelled"
)

func (s *Service) invoices(ctx context.Context, a account.Actor, r span) (i Invoices, err error) {
	past := r.last
	if r.today.AddDays(-1).Before(past) {
		past = r.today.AddDays(-1)
	}
	before, err := s.byState(ctx, a, r.first, past)
	if err != nil {
		return i, err
	}
	future := r.first
	if r.today.After(future) {
		future = r.today
	}
	after, err := s.byState(ctx, a, future, r.last)
	if err != nil {
		return i, err
	}
	listed := between(r.first, r.last)
	listed.And("state IN (?, ?)", "on_time", "late") // not those that were deleted with their customer
	n, cents, err := tally.Paid.Sum(ctx, s.db, a.Company.ID, listed)
	i.Paid = Sum{n, money.Cents(cents)}
	i.Overdue, i.Open = sumOf(before[open]), sumOf(after[open])
	i.Cancelled = sumOf(tally.Sums{
		N: before[cancelled].N + after[cancelled].N, Cents: before[cancelled].Cents + after[cancelled].Cents,
	})
	return i, err
}

func (s *Service) byState(ctx context.Context, a account.Actor, from, to civil.Date) (map[string]tally.Sums, error) {
	if to.Before(from) {
		return nil, nil
	}
	return tally.By[string](ctx, s.db, tally.Invoices, a.Company.ID, "state", between(from, to))
}

func (s *Service) revenue(ctx context.Context, a account.Actor, r span) (v Revenue, err error) {
	previous := r.first.AddDays(-1)
	byDay, err := tally.By[string](ctx, s.db, tally.Receipts, a.Company.ID, "day", between(previous.AddDays(1-previous.Day()), r.last))
	if err != nil {
		return v, err
	}
	for day, sums := range byDay {
		if !r.has(day) {
			v.PreviousMonth += money.Cents(sums.Cents)
		}
	}
	for n := range r.last.Day() {
		d := r.first.AddDays(n)
		sums := byDay[d.String()]
		v.Received += money.Cents(sums.Cents)
		v.ByDay = append(v.ByDay, Day{d, money.Cents(sums.Cents), sums.N})
	}
	if v.PreviousMonth > 0 {
		percent := math.Round(float64(v.Received-v.PreviousMonth)*1000/float64(v.PreviousMonth)) / 10
		v.ChangePercent = &percent
	}
	return v, nil
}

func between(from, to civil.Date) (w sqldb.Where) {
	w.And("day >= ?", from.String())
	w.And("day <= ?", to.String())
	return w
}

func sumOf(s tally.Sums) Sum { return Sum{s.N, money.Cents(s.Cents)} }

// createdIn goes by the day on which a customer was created in the zone of that
// time: a company that moves to another zone does not change past months.
func createdIn(ctx context.Context, q sqldb.Querier, companyID int64, r span) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM customers WHERE company_id = ? AND created_on >= ? AND created_on <= ?`,
		companyID, r.first.String(), r.last.String())
}
