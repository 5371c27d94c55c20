package tally

import (
	"cmp"
	"strings"

	"carteira/internal/platform/sqldb"
)

// Days are those from From on and before Until, compared as texts. A record
// without a day has "", which is before all others; Until "" has no end.
type Days struct{ From, Until string }

// The days of records without one, and of those with one.
var (
	NoDay   = Days{Until: "0"}
	SomeDay = Days{From: "0"}
)

// After is where a day or a month ends: it sorts behind it and before the next,
// also where the calendar has no next.
func After(day string) string { return day + "~" }

// On is one day, or one month of a counter by month.
func On(day string) Days { return Days{day, After(day)} }

// Filter chooses keys by conditions on plan_id, product_id and state, and by
// days; nil Days are all, and the conditions may name day.
type Filter struct {
	sqldb.Where

	Days []Days
}

// The units in which days are counted.
const (
	unitDay   = "day"
	unitMonth = "month"
)

// run is a part of days that is read in one unit.
type run struct {
	unit string
	Days
}

// lengthOfMonth is that of YYYY-MM.
const lengthOfMonth = 7

func monthOf(day string) string { return day[:min(lengthOfMonth, len(day))] }

// runsOf reads whole months where days are made of them, and single days at
// their ends. Where one ends and the next begins in the same unit they are one.
func runsOf(list []Days) (runs []run) {
	for _, days := range list {
		for _, next := range days.runs() {
			last := len(runs) - 1
			if last >= 0 && runs[last].unit == next.unit && runs[last].Until == next.From && next.From != "" {
				runs[last].Until = next.Until
				continue
			}
			runs = append(runs, next)
		}
	}
	return runs
}

func (d Days) runs() []run {
	from, beginsMonth := splitMonth(d.From)
	until, endsMonth := splitMonth(d.Until)
	months := Days{from, until}
	if !beginsMonth {
		months.From = After(from)
	}
	if d.Until != "" && months.From >= months.Until {
		return []run{{unitDay, d}}
	}
	var runs []run
	if months.From > d.From {
		runs = append(runs, run{unitDay, Days{d.From, months.From}})
	}
	runs = append(runs, run{unitMonth, months})
	if !endsMonth {
		runs = append(runs, run{unitDay, Days{months.Until, d.Until}})
	}
	return runs
}

// splitMonth is the month that an end of days is in, and whether that end is
// also one of a month.
func splitMonth(at string) (month string, whole bool) {
	switch {
	case len(at) <= lengthOfMonth:
		return at, true
	case at[lengthOfMonth:] == "-01":
		return at[:lengthOfMonth], true
	case at[lengthOfMonth:] == After(""):
		return at, true
	}
	return at[:lengthOfMonth], false
}

// lastDay sorts behind every day.
var lastDay = After("")

// among holds for what is in one of the days.
func among(list []Days, where *sqldb.Where, column string) {
	one := "(" + column + " >= ? AND " + column + " < ?)"
	conditions, ends := make([]string, len(list)), []any{}
	for n, days := range list {
		conditions[n] = one
		ends = append(ends, days.From, cmp.Or(days.Until, lastDay))
	}
	where.And("("+strings.Join(conditions, " OR ")+")", ends...)
}
