package dashboard

import (
	"context"
	"strings"

	"carteira/internal/figures"
	"carteira/internal/platform/money"
	"carteira/internal/tally"
)

// Overdue is all that should have been paid before today, by how long ago.
type Overdue struct {
	Customers int64       `json:"customers"` // each once
	Invoices  int64       `json:"invoices"`
	Amount    money.Cents `json:"amount"` // still to come, without fee and interest
	ByAge     []Age       `json:"by_age"`
}

// Age is what is overdue since a span of days.
type Age struct {
	FromDays  int         `json:"from_days"`
	ToDays    *int        `json:"to_days"`   // null: no end
	Customers int64       `json:"customers"` // by their oldest invoice
	Invoices  int64       `json:"invoices"`
	Amount    money.Cents `json:"amount"`
}

// Last is the last of the days; 0 when there is no end.
func (a Age) Last() int {
	if a.ToDays == nil {
		return 0
	}
	return *a.ToDays
}

// overdue sorts what is owed by age. The spans of the calendar run the other way
// than those of age: the oldest come first.
func (l look) overdue(ctx context.Context, month *Month) error {
	starts := make([]string, len(figures.Spans))
	for n, span := range figures.Spans {
		first, _ := span.DueDates(l.today)
		starts[len(starts)-1-n] = first.String() // "" has no beginning
	}
	filter := l.of(tally.Cut(starts, l.today.String())...)
	debtors, err := l.spans(ctx, tally.Debtors, filter)
	if err != nil {
		return err
	}
	filter.And("state = ?", open)
	invoices, err := l.spans(ctx, tally.Invoices, filter)
	if err != nil {
		return err
	}
	for n, span := range figures.Spans {
		at := len(starts) - 1 - n
		age := Age{
			FromDays:  span.From,
			Customers: debtors[at][""].N,
			Invoices:  invoices[at][open].N,
			Amount:    cents(invoices[at][open]),
		}
		if span.To > 0 {
			age.ToDays = &span.To
		}
		month.Overdue.ByAge = append(month.Overdue.ByAge, age)
		month.Overdue.Customers += age.Customers
		month.Overdue.Invoices += age.Invoices
		month.Overdue.Amount += age.Amount
	}
	return nil
}

// Recurring is what the customers in force are worth a month, at the end of the
// month or now, and how that came about: Amount = Start + New − Lost + Up − Down
// + In − Out. Each customer that has moved is in one of New, Lost, Up and Down,
// by the two ends of the month; In and Out are those who changed their plan or
// product, and are there only where the figures are of one.
type Recurring struct {
	Customers int64       `json:"customers"`
	Amount    money.Cents `json:"amount"`
	Start     Worth       `json:"start"`
	New       Worth       `json:"new"`
	Lost      Worth       `json:"lost"`
	Up        Worth       `json:"up"`
	Down      Worth       `json:"down"`
	In        Worth       `json:"in"`
	Out       Worth       `json:"out"`
	Churn     *float64    `json:"churn_percent"`         // lost of those at the start; null when there was none
	Revenue   *float64    `json:"revenue_churn_percent"` // lost and less, of the revenue at the start
}

// Worth is a number of customers and their money a month.
type Worth struct {
	Customers int64       `json:"customers"`
	Amount    money.Cents `json:"amount"`
	// Deleted are those of Customers who were deleted in the month, and that no list has.
	Deleted int64 `json:"deleted"`
}

// recurring reads all movements once: those before the month are where it
// started, those in it are its own.
func (l look) recurring(ctx context.Context, month *Month) error {
	starts := []string{"", month.Month, tally.After(month.Month)}
	found, err := l.spans(ctx, tally.Recurring, l.of(tally.Cut(starts, "")...))
	if err != nil {
		return err
	}
	recurring := &month.Recurring
	recurring.Start = total(found[0])
	for state, place := range map[string]*Worth{
		tally.RecurringNew: &recurring.New, tally.RecurringLost: &recurring.Lost,
		tally.RecurringUp: &recurring.Up, tally.RecurringDown: &recurring.Down,
	} {
		sums, gone := found[1][state], found[1][state+"_"+tally.Gone]
		*place = Worth{sums.N + gone.N, cents(sums) + cents(gone), gone.N}
	}
	if l.question.PlanID != 0 || l.question.ProductID != 0 {
		in, out := found[1][tally.RecurringIn], found[1][tally.RecurringOut]
		recurring.In, recurring.Out = Worth{in.N, cents(in), 0}, Worth{out.N, cents(out), 0}
	}
	moved := total(found[1])
	recurring.Customers, recurring.Amount = recurring.Start.Customers+moved.Customers, recurring.Start.Amount+moved.Amount
	recurring.rates()
	return nil
}

// rates computes what was lost of what was there at the start.
func (r *Recurring) rates() {
	movement := figures.Movement{
		Start: figures.Sum{Customers: r.Start.Customers, Amount: r.Start.Amount},
		Lost:  figures.Sum{Customers: r.Lost.Customers, Amount: r.Lost.Amount},
		Down:  figures.Sum{Customers: r.Down.Customers, Amount: r.Down.Amount},
	}
	if churn, known := movement.Churn(); known {
		r.Churn = percent(churn)
	}
	if churn, known := movement.RevenueChurn(); known {
		r.Revenue = percent(churn)
	}
}

// total is what movements add up to.
func total(byState map[string]tally.Sums) (worth Worth) {
	for state, sums := range byState {
		switch strings.TrimSuffix(state, "_"+tally.Gone) {
		case tally.RecurringBase, tally.RecurringNew, tally.RecurringIn:
			worth.Customers += sums.N
			worth.Amount += cents(sums)
		case tally.RecurringLost, tally.RecurringOut:
			worth.Customers -= sums.N
			worth.Amount -= cents(sums)
		case tally.RecurringUp:
			worth.Amount += cents(sums)
		case tally.RecurringDown:
			worth.Amount -= cents(sums)
		}
	}
	return worth
}
