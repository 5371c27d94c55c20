package dashboard

import (
	"context"
	"math"
	"slices"

	"carteira/internal/figures"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/tally"
)

// customers adds up customers, which are counted by due date. No date sorts
// before every date.
func (l look) customers(ctx context.Context, month *Month) error {
	today := l.today.String()
	starts := []string{"", "0", today, tally.After(today), l.first.String(), tally.After(l.last.String())}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	found, err := l.spans(ctx, tally.Customers, l.of(tally.Cut(starts, "")...))
	if err != nil {
		return err
	}
	counted := &month.Customers
	for n, start := range starts {
		for state, sums := range found[n] {
			counted.Total += sums.N
			switch {
			case state == tally.CustomerCancelled:
				counted.Cancelled += sums.N
			case start == "" || start > today:
				counted.Active += sums.N
			case start == today:
				counted.DueToday += sums.N
			default:
				counted.Expired += sums.N
				if l.has(start) {
					counted.Lost += sums.N
				}
			}
		}
	}
	return nil
}

// percent is a percentage as the API has it.
func percent(p money.Percent) *float64 {
	f := float64(p) / 100
	return &f
}

// creations counts the customers created in the month, also those deleted
// since.
func (l look) creations(ctx context.Context, month *Month) error {
	byState, err := l.byState(ctx, tally.Created)
	month.Customers.NewDeleted = byState[tally.Gone].N
	month.Customers.New = byState[""].N + byState[tally.Gone].N
	return err
}

func (l look) renewals(ctx context.Context, month *Month) error {
	if l.question.PlanID != 0 || l.question.ProductID != 0 {
		return nil
	}
	n, _, err := tally.Renewals.Sum(ctx, l.db, l.companyID, l.of(l.asked()))
	month.Customers.Renewed = &n
	return err
}

// The states of invoices, as billing counts them.
const (
	open      = "open"
	cancelled = "cancelled"
	onTime    = "on_time"
	late      = "late"
)

// Punctuality is how many of the month's paid invoices were paid by their due
// date. Those of customers who were deleted since count too.
type Punctuality struct {
	OnTime        int64    `json:"on_time"`
	Late          int64    `json:"late"`
	OnTimePercent *float64 `json:"on_time_percent"` // null when nothing was paid
}

func (l look) paid(ctx context.Context, month *Month) error {
	byState, err := l.byState(ctx, tally.Paid)
	if err != nil {
		return err
	}
	onTimeGone, lateGone := byState[onTime+"_"+tally.Gone], byState[late+"_"+tally.Gone]
	for _, sums := range []tally.Sums{byState[onTime], byState[late], onTimeGone, lateGone} {
		month.Invoices.Paid.add(sums)
	}
	kept := &month.Punctuality
	kept.OnTime = byState[onTime].N + onTimeGone.N
	kept.Late = byState[late].N + lateGone.N
	if share, known := figures.Rate(kept.OnTime, kept.OnTime+kept.Late); known {
		kept.OnTimePercent = percent(share)
	}
	return nil
}

// monthsShown is how many months stand side by side.
const monthsShown = 12

// months reads twelve months that end with the one asked for. Each is cut in two
// where today is in it: before it what is open is overdue.
func (l look) months(ctx context.Context, month *Month) error {
	firsts := []civil.Date{l.first}
	for range monthsShown - 1 {
		earlier := firsts[0].AddDays(-1)
		if earlier == firsts[0] { // the calendar begins
			break
		}
		firsts = slices.Insert(firsts, 0, firstOf(earlier))
	}
	starts := make([]string, len(firsts))
	for n, first := range firsts {
		starts[n] = first.String()
		month.Months = append(month.Months, Period{Month: monthOf(first)})
	}
	money, err := l.spans(ctx, tally.Receipts, l.of(tally.Cut(starts, l.asked().Until)...))
	if err != nil {
		return err
	}
	for n := range month.Months {
		for _, sums := range money[n] {
			month.Months[n].Received += cents(sums)
		}
	}
	return l.owed(ctx, month, starts)
}

// owed fills in what of the months' invoices is still to come, and those of the
// month asked for.
func (l look) owed(ctx context.Context, month *Month, starts []string) error {
	cut := append(slices.Clone(starts), l.today.String())
	slices.Sort(cut)
	cut = slices.Compact(slices.DeleteFunc(cut, func(day string) bool {
		return day < starts[0] || day > l.last.String()
	}))
	found, err := l.spans(ctx, tally.Invoices, l.of(tally.Cut(cut, l.asked().Until)...))
	if err != nil {
		return err
	}
	for n, start := range cut {
		at := &month.Months[slices.IndexFunc(month.Months, func(period Period) bool { return period.Month == start[:len("2006-01")] })]
		asked := at.Month == month.Month
		if asked {
			month.Invoices.Cancelled.add(found[n][cancelled])
		}
		sum := Sum{}
		sum.add(found[n][open])
		if start < l.today.String() {
			at.Overdue += sum.Amount
			month.Invoices.Overdue.addIf(asked, sum)
		} else {
			at.Open += sum.Amount
			month.Invoices.Open.addIf(asked, sum)
		}
	}
	for n := range month.Months {
		period := &month.Months[n]
		period.Expected = period.Received + period.Open + period.Overdue
	}
	return nil
}

func (s *Sum) addIf(asked bool, other Sum) {
	if asked {
		s.Count += other.Count
		s.Amount += other.Amount
	}
}

func cents(sums tally.Sums) money.Cents { return money.Cents(sums.Cents) }

// revenue adds up the month's money by day.
func (l look) revenue(ctx context.Context, month *Month) error {
	previous := l.first.AddDays(-1)
	byDay, err := tally.By[string](ctx, l.db, tally.Receipts, l.companyID, "day",
		l.of(tally.Days{From: firstOf(previous).String(), Until: l.asked().Until}))
	if err != nil {
		return err
	}
	revenue := &month.Revenue
	for day, sums := range byDay {
		if !l.has(day) {
			revenue.PreviousMonth += cents(sums)
		}
	}
	for n := range previous.Day() {
		date := firstOf(previous).AddDays(n)
		sums := byDay[date.String()]
		revenue.PreviousByDay = append(revenue.PreviousByDay, Day{date, cents(sums), sums.N})
	}
	for n := range l.last.Day() {
		date := l.first.AddDays(n)
		sums := byDay[date.String()]
		revenue.Received += cents(sums)
		revenue.Payments += sums.N
		revenue.ByDay = append(revenue.ByDay, Day{date, cents(sums), sums.N})
	}
	ticket, known := figures.Average(revenue.Received, revenue.Payments)
	if known && revenue.Received > 0 {
		revenue.AverageTicket = &ticket
	}
	if revenue.PreviousMonth > 0 {
		percent := math.Round(float64(revenue.Received-revenue.PreviousMonth)*1000/float64(revenue.PreviousMonth)) / 10
		revenue.ChangePercent = &percent
	}
	return nil
}
