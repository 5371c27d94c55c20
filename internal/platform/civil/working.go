package civil

import "time"

// WorkingDay reports whether banks in Brazil work on the day: it is no Saturday, no Sunday and no holiday of
// the national bank calendar. Days on which they open late, such as Ash Wednesday, count; days on which a
// state or a city rests count too, since PIX goes by the national calendar.
func (d Date) WorkingDay() bool {
	if weekday := d.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		return false
	}
	return !d.bankHoliday()
}

// NextWorkingDay is the day itself, or the first one after it on which banks work.
func (d Date) NextWorkingDay() Date {
	for !d.IsZero() && !d.WorkingDay() && d != d.AddDays(1) {
		d = d.AddDays(1)
	}
	return d
}

// AddWorkingDays moves d by a number of working days, back in time when the number is negative. The day it
// starts from is not counted and need be none. It stops at the ends of the calendar, as AddDays does.
func (d Date) AddWorkingDays(count int) Date {
	step := 1
	if count < 0 {
		step, count = -1, -count
	}
	for count > 0 && !d.IsZero() {
		next := d.AddDays(step)
		if next == d {
			return d
		}
		if d = next; d.WorkingDay() {
			count--
		}
	}
	return d
}

// monthDay is a day of every year.
type monthDay struct {
	month time.Month
	day   int
}

// fixedHolidays are the national holidays that have a day of their own, each with the first year in which
// banks rested on it; zero: longer than the calendar matters.
var fixedHolidays = map[monthDay]int{
	{time.January, 1}:   0,
	{time.April, 21}:    0,
	{time.May, 1}:       0,
	{time.September, 7}: 0,
	{time.October, 12}:  0,
	{time.November, 2}:  0,
	{time.November, 15}: 0,
	{time.November, 20}: 2024, // of Zumbi and the black conscience, national since law 14.759
	{time.December, 25}: 0,
}

// movableHolidays are those that go by Easter, in days from its Sunday: Carnival's Monday and Tuesday, Good
// Friday and Corpus Christi.
var movableHolidays = [...]int{-48, -47, -2, 60}

func (d Date) bankHoliday() bool {
	if since, fixed := fixedHolidays[monthDay{d.Month(), d.Day()}]; fixed && d.Year() >= since {
		return true
	}
	fromEaster := d.Sub(Easter(d.Year()))
	for _, movable := range movableHolidays {
		if fromEaster == movable {
			return true
		}
	}
	return false
}

// Easter is Easter Sunday of a year in the Gregorian calendar: the Sunday after the full moon that the church
// reckons for spring.
func Easter(year int) Date {
	golden := year % 19
	century := year / 100
	// The moon's age at the new year, corrected for the leap days that centuries leave out and for the moon's drift.
	epact := (century - century/4 - (8*century+13)/25 + 19*golden + 15) % 30
	moon := epact - epact/28*(1-epact/28*(29/(epact+1))*((21-golden)/11))
	weekday := (year + year/4 + moon + 2 - century + century/4) % 7
	sinceMarch := moon - weekday // days after 28 March
	month := 3 + (sinceMarch+40)/44
	easter, _ := New(year, time.Month(month), sinceMarch+28-31*(month/4))
	return easter
}
