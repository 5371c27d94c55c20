// Package civil owns calendar days without a time zone, the periods between them and the rule of the month's end.
//
// It does not own the clock (callers say which instant it is and whose zone counts), nor what falls due on a day.
package civil

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// The first and last year of the calendar: earlier or later ones are slips of the keyboard, never due dates.
const (
	MinYear = 1900
	MaxYear = 9999
)

// The reasons for which a day is refused, each fit to stand beside a field.
var (
	ErrSyntax    = errors.New("must be a date in the form YYYY-MM-DD")
	ErrNoSuchDay = errors.New("must be a day that exists in the calendar")
	ErrYear      = errors.New("must be in the years 1900 to 9999")
)

// Date is a calendar day. Dates compare with ==; the zero value means that there is no date.
type Date struct {
	// Year, month and day in one number, the year highest, so that order of numbers is order of days.
	packed int
}

// New makes the day, or says why it does not exist.
func New(year int, month time.Month, day int) (Date, error) {
	if year < MinYear || year > MaxYear {
		return Date{}, ErrYear
	}
	if month < time.January || month > time.December || day < 1 || day > daysIn(year, month) {
		return Date{}, ErrNoSuchDay
	}
	return Date{year<<9 | int(month)<<5 | day}, nil
}

// Of is the day that t falls on in t's own location; the zero Date outside the calendar, so for the zero time too.
func Of(at time.Time) Date {
	day, _ := New(at.Date())
	return day
}

// IsZero tells that there is no date.
func (d Date) IsZero() bool { return d == Date{} }

// Year returns the year, 1900 to 9999.
func (d Date) Year() int { return d.packed >> 9 }

// Month returns the month of the year.
func (d Date) Month() time.Month { return time.Month(d.packed >> 5 & 15) }

// Day returns the day of the month.
func (d Date) Day() int { return d.packed & 31 }

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday { return d.utc().Weekday() }

// Compare returns -1, 0 or +1 as d is before, on or after e. No date comes before every date.
func (d Date) Compare(other Date) int {
	return cmp.Compare(d.packed, other.packed)
}

// Before tells whether d is an earlier day than e.
func (d Date) Before(other Date) bool { return d.packed < other.packed }

// After tells whether d is a later day than e.
func (d Date) After(other Date) bool { return d.packed > other.packed }

// Sub counts the days from e to d, both of which must be dates.
func (d Date) Sub(other Date) int {
	return int((d.utc().Unix() - other.utc().Unix()) / secondsPerDay)
}

// AddDays moves d by n days and stops at the ends of the calendar. From no date it goes nowhere. Where passing
// the end must be noticed, as for a due date, use a Period.
func (d Date) AddDays(count int) Date {
	if d.IsZero() {
		return d
	}
	first, last := Date{MinYear<<9 | 1<<5 | 1}, Date{MaxYear<<9 | 12<<5 | 31}
	switch {
	case count < first.Sub(d):
		return first
	case count > last.Sub(d):
		return last
	}
	return Of(d.utc().AddDate(0, 0, count))
}

// Start is the first instant of the day in loc. That is not always midnight: clocks put forward at midnight begin the
// day at one, and clocks put back after it strike midnight twice. A day that loc skipped begins when the next does.
func (d Date) Start(loc *time.Location) time.Time { return d.At(0, loc) }

// At is the first instant of the day at which clocks in loc have gone so far since midnight. A time that the clocks skip
// comes when they have skipped it; of one that they strike twice it is the first.
func (d Date) At(clock time.Duration, loc *time.Location) time.Time {
	if d.IsZero() {
		return time.Time{}
	}
	read := d.utc().Add(clock)
	for at := d.utc().AddDate(0, 0, -2).In(loc); ; { // two days before is an earlier day everywhere on Earth
		since, until := at.ZoneBounds()
		_, offset := at.Zone()
		start := read.Add(-time.Duration(offset) * time.Second)
		if start.Before(since) {
			start = since
		}
		if until.IsZero() || start.Before(until) {
			return start.In(loc)
		}
		at = until
	}
}

// String prints 2027-01-31, or nothing when there is no date.
func (d Date) String() string {
	var text [len("2027-01-31")]byte
	return string(d.Append(text[:0]))
}

// BR prints 31/01/2027, or nothing when there is no date.
func (d Date) BR() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%02d/%02d/%04d", d.Day(), d.Month(), d.Year())
}

const secondsPerDay = 24 * 60 * 60

func (d Date) utc() time.Time {
	return time.Date(d.Year(), d.Month(), d.Day(), 0, 0, 0, 0, time.UTC)
}

func daysIn(year int, month time.Month) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}
