// Package figures owns what the numbers of a portfolio mean: what a customer is worth a month, what came and went of
// that in a month, how many were lost, and how old debts are. It is arithmetic on rows that other rooms have read.
//
// It does not own the rows, how they are counted cheaply, or how a figure is shown.
//
// # Worked example
//
// On 1 March three customers are in force: Ana pays R$ 35,00 a month, Bia R$ 360,00 a year (30,00 a month), Caio
// R$ 10,00 a week (10,00 × 365 ÷ 84 = 43,45 a month). Monthly recurring revenue: R$ 108,45. During March Ana goes to a
// plan of R$ 50,00, Bia's year ends and she does not renew, and Davi comes with R$ 35,00 a month. Caio is late, lapses
// on the 10th and pays on the 12th. At the end of March:
//
//	new    Davi   1 customer    35,00
//	lost   Bia    1 customer    30,00
//	up     Ana    1 customer    15,00
//	down          0 customers    0,00
//	revenue at the end: 108,45 + 35,00 − 30,00 + 15,00 − 0,00 = 128,45
//	churn: 1 lost of the 3 who were there at the beginning = 33.3 %
//
// Caio is neither lost nor new: the month is compared by its two ends.
package figures

import (
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// Sum is a number of customers and their money.
type Sum struct {
	Customers int64
	Amount    money.Cents
}

// Kind is how a customer's worth has moved between two days.
type Kind string

// The kinds of movement. Each customer that has moved has one.
const (
	Unmoved Kind = ""
	New     Kind = "new"  // worth nothing before, something after; one who comes back is new
	Lost    Kind = "lost" // worth something before, nothing after
	Up      Kind = "up"
	Down    Kind = "down"
)

// KindOf returns how a customer has moved, and by how much; the amount is never negative.
func KindOf(before, after money.Cents) (Kind, money.Cents) {
	switch {
	case before == after:
		return Unmoved, 0
	case before == 0:
		return New, after
	case after == 0:
		return Lost, before
	case after > before:
		return Up, after - before
	}
	return Down, before - after
}

// Movement is what became of the recurring revenue between the beginning of a first day and the end of a last one:
// End = Start + New − Lost + Up − Down, in money; in customers only New and Lost count.
type Movement struct {
	Start Sum
	New   Sum
	Lost  Sum
	Up    Sum
	Down  Sum
	End   Sum
}

// Churn is the share of the customers at the start who are not there at the end, in hundredths of a percent, rounded
// half up; known is false when there was none at the start.
func (m Movement) Churn() (churn money.Percent, known bool) {
	return Rate(m.Lost.Customers, m.Start.Customers)
}

// RevenueChurn is the share of the recurring revenue at the start that was lost with customers or by lower prices.
func (m Movement) RevenueChurn() (churn money.Percent, known bool) {
	return Rate(int64(m.Lost.Amount+m.Down.Amount), int64(m.Start.Amount))
}

// Rate is part of whole in hundredths of a percent, rounded half up; known is false when there is no whole.
func Rate(part, whole int64) (rate money.Percent, known bool) {
	if whole <= 0 {
		return 0, false
	}
	return money.Percent(money.Share(money.Cents(part), int64(money.MaxPercent), whole)), true
}

// Average is a sum of money divided by a number, rounded half up to the cent; known is false when the number is zero.
func Average(amount money.Cents, n int64) (average money.Cents, known bool) {
	if n <= 0 {
		return 0, false
	}
	return money.Share(amount, 1, n), true
}

// Span is a range of days late, both ends included; To 0 has no end.
type Span struct{ From, To int }

// Spans are the ages of overdue invoices. They touch and do not overlap, so that the buckets add up to all that is
// overdue.
var Spans = []Span{{1, 7}, {8, 15}, {16, 30}, {31, 60}, {61, 0}}

// DueDates are the due dates of invoices that are so late today, as a filter of the list takes them: first is the zero
// Date when there is no end.
func (s Span) DueDates(today civil.Date) (first, last civil.Date) {
	if s.To > 0 {
		first = today.AddDays(-s.To)
	}
	return first, today.AddDays(-s.From)
}

// Monthly is what a price for a period is worth a month, rounded once, half up to the cent. A year has twelve months,
// 365 days and 365 ÷ 7 weeks, so that a price by the day, the week and the month that cost the same in a year are worth
// the same in a month. The rule is exact: it is one fraction of whole numbers.
//
//	month: price ÷ count        week: price × 365 ÷ (84 × count)
//	year:  price ÷ (12 × count) day:  price × 365 ÷ (12 × count)
//
// A customer is worth its own rounded amount, and the revenue of many is the sum of those: what the list of customers
// adds up to, to the cent. A period that is none is worth nothing.
func Monthly(price money.Cents, period civil.Period) money.Cents {
	count := int64(period.Count)
	if count < 1 {
		return 0
	}
	switch period.Unit {
	case civil.Day:
		return money.Share(price, daysInYear, monthsInYear*count)
	case civil.Week:
		return money.Share(price, daysInYear, monthsInYear*daysInWeek*count)
	case civil.Month:
		return money.Share(price, 1, count)
	case civil.Year:
		return money.Share(price, 1, monthsInYear*count)
	}
	return 0
}

const (
	daysInYear   = 365
	daysInWeek   = 7
	monthsInYear = 12
)
