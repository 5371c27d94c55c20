package figures

import (
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// Span is a range of days late, both ends included; To 0 has no end.
type Span struct{ From, To int }

// Spans are the ages by which overdue invoices are told apart. They touch and do not overlap, so that the buckets add
// up to all that is overdue.
var Spans = []Span{{1, 7}, {8, 15}, {16, 30}, {31, 60}, {61, 0}}

// DueDates are the due dates of invoices that are so late today, as a filter of the list takes them: first is the zero
// Date when there is no end.
func (s Span) DueDates(today civil.Date) (first, last civil.Date) {
	if s.To > 0 {
		first = today.AddDays(-s.To)
	}
	return first, today.AddDays(-s.From)
}

func (s Span) has(days int) bool {
	return days >= s.From && (s.To == 0 || days <= s.To)
}

// Owed is what is still to come for a due date: of one invoice, or of all open ones of a customer or a day.
type Owed struct {
	CustomerID int64 // 0: not told apart by customer
	DueOn      civil.Date
	Invoices   int64
	Amount     money.Cents // the face amounts, less what was received; without fee and interest
}

// Bucket is what is overdue in a span of days.
type Bucket struct {
	Span      Span
	Customers int64 // each counts once, in the span of its oldest
	Invoices  int64
	Amount    money.Cents
}

// Age sorts what is owed into the buckets of Spans. What is due today or later is in none.
func Age(owed []Owed, today civil.Date) []Bucket {
	buckets := make([]Bucket, len(Spans))
	for i, span := range Spans {
		buckets[i].Span = span
	}
	oldest := map[int64]int{}
	for _, o := range owed {
		days := today.Sub(o.DueOn)
		i := bucketOf(days)
		if i < 0 {
			continue
		}
		buckets[i].Invoices += o.Invoices
		buckets[i].Amount += o.Amount
		if o.CustomerID != 0 {
			oldest[o.CustomerID] = max(oldest[o.CustomerID], days)
		}
	}
	for _, days := range oldest {
		buckets[bucketOf(days)].Customers++
	}
	return buckets
}

func bucketOf(days int) int {
	for i, span := range Spans {
		if span.has(days) {
			return i
		}
	}
	return -1
}
