package civil

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carteira/internal/platform/text"
)

// Unit is what a period counts.
type Unit string

// The units of a period.
const (
	Day   Unit = "day"
	Week  Unit = "week"
	Month Unit = "month"
	Year  Unit = "year"
)

// MaxCount is how many units a period may have.
const MaxCount = 1000

// The reasons to refuse a period, worded for display next to a field.
var (
	ErrPeriod   = errors.New("must be a period such as 1month, 2weeks or 30days")
	ErrUnit     = errors.New("must be day, week, month or year")
	ErrCount    = errors.New("must be between 1 and 1000")
	ErrOverflow = errors.New("must not lead past the year 9999")
)

// Period is the time between two due dates.
type Period struct {
	Unit  Unit
	Count int
}

// NewPeriod makes the period, or says what is wrong with it.
func NewPeriod(unit Unit, count int) (Period, error) {
	if plurals[unit].en == "" {
		return Period{}, ErrUnit
	}
	if count < 1 || count > MaxCount {
		return Period{}, ErrCount
	}
	return Period{unit, count}, nil
}

// ParsePeriod reads 1month, 30days, 2 weeks, 1 mês, ano: a count (one, when left out) and a unit in English or Portuguese.
func ParsePeriod(value string) (Period, error) {
	value = text.Fold(value)
	word := strings.TrimLeft(value, digits)
	unit, known := units[strings.TrimSpace(word)]
	if !known {
		return Period{}, ErrPeriod
	}
	count := 1
	if typed := value[:len(value)-len(word)]; typed != "" {
		var err error
		if count, err = strconv.Atoi(typed); err != nil {
			return Period{}, ErrCount
		}
	}
	return NewPeriod(unit, count)
}

// String prints 1month or 30days, which ParsePeriod reads.
func (p Period) String() string {
	if p.Count == 1 {
		return "1" + string(p.Unit)
	}
	return strconv.Itoa(p.Count) + plurals[p.Unit].en
}

// Label names the period as people in Brazil say it.
func (p Period) Label() string {
	if label, ok := labels[p]; ok {
		return label
	}
	return fmt.Sprintf("A cada %d %s", p.Count, plurals[p.Unit].pt)
}

// After is the day one period after d. Months and years land on ownDay, the customer's own day of the month, or on the
// last day of a month too short for it: given 31 each time, 31 January leads to 28 February and on to 31 March. Days
// and weeks ignore ownDay; 0 means the day of d.
func (p Period) After(day Date, ownDay int) (Date, error) {
	if day.IsZero() {
		return Date{}, errors.New("count a period from no date")
	}
	if _, err := NewPeriod(p.Unit, p.Count); err != nil {
		return Date{}, fmt.Errorf("count period %q: %w", p, err)
	}
	if ownDay < 1 {
		ownDay = day.Day()
	}
	switch p.Unit {
	case Day:
		return plusDays(day, p.Count)
	case Week:
		return plusDays(day, 7*p.Count)
	case Month:
		return plusMonths(day, p.Count, ownDay)
	default:
		return plusMonths(day, 12*p.Count, ownDay)
	}
}

func plusDays(day Date, n int) (Date, error) {
	next := day.AddDays(n)
	if next.Sub(day) != n { // AddDays stopped at the end of the calendar
		return Date{}, ErrOverflow
	}
	return next, nil
}

func plusMonths(day Date, n, ownDay int) (Date, error) {
	months := day.Year()*12 + int(day.Month()) - 1 + n
	year, month := months/12, time.Month(months%12+1)
	if year > MaxYear {
		return Date{}, ErrOverflow
	}
	return New(year, month, min(ownDay, daysIn(year, month)))
}

var plurals = map[Unit]struct{ en, pt string }{
	Day:   {"days", "dias"},
	Week:  {"weeks", "semanas"},
	Month: {"months", "meses"},
	Year:  {"years", "anos"},
}

var units = map[string]Unit{
	"day": Day, "days": Day, "dia": Day, "dias": Day,
	"week": Week, "weeks": Week, "semana": Week, "semanas": Week,
	"month": Month, "months": Month, "mes": Month, "meses": Month,
	"year": Year, "years": Year, "ano": Year, "anos": Year,
}

var labels = map[Period]string{
	{}: "", {Day, 1}: "Diário", {Day, 15}: "Quinzenal", {Week, 1}: "Semanal",
	{Week, 2}:  "Quinzenal",
	{Month, 1}: "Mensal", {Month, 2}: "Bimestral", {Month, 3}: "Trimestral",
	{Month, 4}: "Quadrimestral",
	{Month, 6}: "Semestral", {Month, 12}: "Anual", {Year, 1}: "Anual",
}
