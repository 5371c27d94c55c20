package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// ForecastDays is how many days a forecast has; the first is today.
const ForecastDays = 30

// ForecastPart is what a figure of a forecast is made of.
type ForecastPart string

// The parts.
const (
	ForecastIssued  ForecastPart = "issued"  // open invoices, less what came for them
	ForecastPlanned ForecastPart = "planned" // due dates without an invoice, at the customer's price
	ForecastOverdue ForecastPart = "overdue" // either, with a date before today
)

// ForecastDay is what is expected on a day.
type ForecastDay struct {
	Date     civil.Date
	Expected MonthFigure
	Received money.Cents // as many days after the same day of last month, less what went back
	Passed   bool        // that day is over, and Received complete
}

// Forecast is what the next days should bring, from what is known today. Renewals
// that these payments bring about are not known, and not in it.
type Forecast struct {
	First, Last civil.Date
	Before      civil.Date // the same day of last month, from which on Received is counted
	Days        []ForecastDay
	Parts       map[ForecastPart]MonthFigure
}

// Expected is what all days bring together, without what is overdue.
func (f Forecast) Expected() MonthFigure {
	total := f.Parts[ForecastIssued]
	total.add(f.Parts[ForecastPlanned])
	return total
}

// ForecastQuestion asks for the rows of a figure; the zero one for those of all days.
type ForecastQuestion struct {
	Part ForecastPart
	Day  civil.Date
}

// ReadForecastQuestion reads the fields of and day.
func ReadForecastQuestion(in *input.Form) ForecastQuestion {
	part := input.OneOf(in, "of", ForecastIssued, ForecastPlanned, ForecastOverdue).Value
	return ForecastQuestion{Part: part, Day: in.Date("day").Value}
}

// Forecast adds up what the next days should bring. Each figure is the sum of the
// rows that ForecastRows has for it: both read the same statement.
func (s *Service) Forecast(ctx context.Context, actor account.Actor) (Forecast, error) {
	today := actor.Today(s.db.Now())
	forecast := Forecast{
		First: today, Last: today.AddDays(ForecastDays - 1), Before: monthBefore(today),
		Days: make([]ForecastDay, ForecastDays), Parts: map[ForecastPart]MonthFigure{},
	}
	if err := actor.NotAttendant(); err != nil {
		return forecast, err
	}
	received, err := tally.By[string](ctx, s.db, receipts, actor.Company.ID, "day", tally.Filter{
		Days: []tally.Days{countedDays(forecast.Before, forecast.Before.AddDays(ForecastDays-1))},
	})
	if err != nil {
		return forecast, err
	}
	for n := range forecast.Days {
		before := forecast.Before.AddDays(n)
		forecast.Days[n] = ForecastDay{
			Date: today.AddDays(n), Received: money.Cents(received[before.String()].Cents), Passed: before.Before(today),
		}
	}
	for _, part := range []ForecastPart{ForecastIssued, ForecastPlanned, ForecastOverdue} {
		sums, err := forecastSums(ctx, s.db, actor.Company.ID, ForecastQuestion{Part: part}, today)
		if err != nil {
			return forecast, err
		}
		total := MonthFigure{}
		for _, sum := range sums {
			total.add(sum)
			if part != ForecastOverdue {
				forecast.Days[civil.MustParse(sum.Key).Sub(today)].Expected.add(sum)
			}
		}
		forecast.Parts[part] = total
	}
	return forecast, nil
}

// monthBefore is the same day of last month, or its last day where it is shorter.
func monthBefore(day civil.Date) civil.Date {
	last := firstOf(day).AddDays(-1)
	return last.AddDays(min(day.Day(), last.Day()) - last.Day())
}

// ForecastRows lists the rows of a figure by their days, and what all of them are.
func (s *Service) ForecastRows(
	ctx context.Context, actor account.Actor, question ForecastQuestion, page input.Page,
) (rows []MonthRow, total MonthFigure, err error) {
	if err := actor.NotAttendant(); err != nil {
		return nil, total, err
	}
	today := actor.Today(s.db.Now())
	sums, err := forecastSums(ctx, s.db, actor.Company.ID, question, today)
	if err != nil {
		return nil, total, err
	}
	for _, sum := range sums {
		total.add(sum)
	}
	text, args := question.source(actor.Company.ID, today)
	err = eachMonthRow(ctx, s.db, `SELECT day, customer_id, customer, invoice_id, '', plan_id, plan, cents, '' FROM `+text+`
		ORDER BY day, invoice_id, customer_id LIMIT ? OFFSET ?`, append(args, page.Size, page.Offset()), func(row MonthRow) error {
		rows = append(rows, row)
		return nil
	})
	return rows, total, err
}

const (
	forecastIssued = `SELECT i.due_on AS day, i.customer_id, COALESCE(c.name, '') AS customer, i.id AS invoice_id,
		COALESCE(i.plan_id, 0) AS plan_id, COALESCE(l.name, '') AS plan, i.amount_cents - i.received_cents AS cents
		FROM invoices i LEFT JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id
		LEFT JOIN customer_plans l ON l.company_id = i.company_id AND l.id = i.plan_id
		WHERE i.company_id = ? AND i.status = 'open' AND i.due_on <= ? AND i.amount_cents > i.received_cents`
	forecastPlanned = `SELECT s.due_on AS day, c.id AS customer_id, c.name AS customer, 0 AS invoice_id,
		l.id AS plan_id, l.name AS plan, COALESCE(c.price_cents, l.value_cents) AS cents
		FROM invoice_schedule s JOIN customers c ON c.company_id = s.company_id AND c.id = s.customer_id
		JOIN customer_plans l ON l.company_id = c.company_id AND l.id = c.plan_id
		WHERE s.company_id = ? AND s.due_on <= ? AND c.cancelled_at IS NULL AND COALESCE(c.price_cents, l.value_cents) > 0
			AND ` + customer.VisibleC
)

// source is the rows of a figure, and their arguments.
func (q ForecastQuestion) source(companyID int64, today civil.Date) (string, []any) {
	last := today.AddDays(ForecastDays - 1)
	text, args := forecastIssued+` UNION ALL `+forecastPlanned, []any{companyID, last, companyID, last}
	switch q.Part {
	case ForecastIssued:
		text, args = forecastIssued, args[:2]
	case ForecastPlanned:
		text, args = forecastPlanned, args[:2]
	case ForecastOverdue:
	}
	var where sqldb.Where
	if q.Part == ForecastOverdue {
		where.And("day < ?", today)
	} else {
		where.And("day >= ?", today)
	}
	where.If(!q.Day.IsZero(), "day = ?", q.Day)
	return `(` + text + `) AS part` + where.String(), append(args, where.Args...)
}

// forecastSums are the figures of each day.
func forecastSums(
	ctx context.Context, querier sqldb.Querier, companyID int64, question ForecastQuestion, today civil.Date,
) ([]MonthFigure, error) {
	text, args := question.source(companyID, today)
	return sqldb.All(ctx, querier, rows.Into(func(sum *MonthFigure) []any {
		return []any{&sum.Key, &sum.Count, (*int64)(&sum.Amount)}
	}), `SELECT day, COUNT(*), CAST(SUM(cents) AS BIGINT) FROM `+text+` GROUP BY day`, args...)
}
