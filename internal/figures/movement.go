package figures

import (
	"slices"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// Value says that from a day on a customer is worth an amount a month: what Monthly makes of its price while it is in
// force (neither expired nor cancelled), and 0 from the day on which it is not.
type Value struct {
	CustomerID int64
	From       civil.Date
	Monthly    money.Cents
}

// Sum is a number of customers and their money.
type Sum struct {
	Customers int64
	Amount    money.Cents
}

func (s *Sum) add(amount money.Cents) {
	s.Customers++
	s.Amount += amount
}

// Kind is how a customer's worth has moved between two days.
type Kind string

// The kinds. Each customer that has moved is of one.
const (
	Unmoved Kind = ""
	New     Kind = "new"  // worth nothing before, something after; one who comes back is new
	Lost    Kind = "lost" // worth something before, nothing after
	Up      Kind = "up"
	Down    Kind = "down"
)

// KindOf tells how a customer has moved, and by how much; the amount is never negative.
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

// Move compares the customers' worth at the two ends of a span of days: as it was at the end of the day before first,
// and as it is at the end of last. What happened between and was taken back does not show. The values may come in any
// order; of several of one customer and day the last one counts, as in a log.
func Move(values []Value, first, last civil.Date) Movement {
	byCustomer := map[int64][]Value{}
	for _, value := range values {
		byCustomer[value.CustomerID] = append(byCustomer[value.CustomerID], value)
	}
	var movement Movement
	for _, history := range byCustomer {
		slices.SortStableFunc(history, func(a, b Value) int { return a.From.Compare(b.From) })
		movement.count(worth(history, first.AddDays(-1)), worth(history, last))
	}
	return movement
}

// worth is the value in force on a day; nothing before the first.
func worth(history []Value, on civil.Date) money.Cents {
	var monthly money.Cents
	for _, value := range history {
		if value.From.After(on) {
			break
		}
		monthly = value.Monthly
	}
	return monthly
}

func (m *Movement) count(before, after money.Cents) {
	if before != 0 {
		m.Start.add(before)
	}
	if after != 0 {
		m.End.add(after)
	}
	kind, amount := KindOf(before, after)
	switch kind {
	case New:
		m.New.add(amount)
	case Lost:
		m.Lost.add(amount)
	case Up:
		m.Up.add(amount)
	case Down:
		m.Down.add(amount)
	case Unmoved:
	}
}

// Churn is the share of the customers who were there at the start and are not at the end, in hundredths of a percent,
// rounded half up; known is false when nobody was there.
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

// Average is a sum of money by how many it is of, rounded half up to the cent; known is false when it is of none.
func Average(amount money.Cents, n int64) (average money.Cents, known bool) {
	if n <= 0 {
		return 0, false
	}
	return money.Share(amount, 1, n), true
}
