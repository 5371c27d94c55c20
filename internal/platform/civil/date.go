// Package civil owns calendar days without a time zone, the periods between them and the rule of the month's end.
//
// It does not own the clock (callers pass the instant and the zone), nor what falls due on a day.
package civil

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a container or a Windows machine may have no zone files of its own

	"carteira/internal/platform/text"
)

// The first and last year of the calendar: earlier or later ones are slips of the keyboard, never due dates.
const (
	MinYear = 1900
	MaxYear = 9999
)

// The reasons to refuse a day, worded for display next to a field.
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

// IsZero reports whether there is no date.
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

// Before reports whether d is an earlier day than e.
func (d Date) Before(other Date) bool { return d.packed < other.packed }

// After reports whether d is a later day than e.
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

// Timestamp prints t as the API does: RFC 3339 in the company's zone, with a
// numeric offset, never Z.
func Timestamp(at time.Time, zone *time.Location) string {
	return string(AppendTimestamp(nil, at, zone))
}

// AppendTimestamp is Timestamp into a buffer.
func AppendTimestamp(buf []byte, at time.Time, zone *time.Location) []byte {
	buf = at.In(zone).AppendFormat(buf, time.RFC3339) // whole seconds
	if last := len(buf) - 1; buf[last] == 'Z' {
		buf = append(buf[:last], "+00:00"...)
	}
	return buf
}

// ErrZone is the reason to refuse a zone's name, worded for display next to a field.
var ErrZone = errors.New("must be a time zone such as America/Sao_Paulo")

var zones sync.Map // name → *time.Location; only names that exist get in, so it stays small

// LoadZone finds the zone of an IANA name. It refuses names that mean this machine's own zone, since due dates
// must not depend on where the program runs, and names that are spelled like paths.
func LoadZone(name string) (*time.Location, error) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if !zoneName(name) {
		return nil, ErrZone
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, ErrZone
	}
	first, _ := zones.LoadOrStore(name, loc)
	return first.(*time.Location), nil
}

const zoneCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits + "_+-"

func zoneName(name string) bool {
	area, _, _ := strings.Cut(name, "/")
	switch area {
	case "Local", "localtime", "posixrules": // this machine's own zone
		return false
	case "posix", "right": // the same zones once more; those of right count leap seconds, which Go does not
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.Trim(part, zoneCharacters) != "" {
			return false
		}
	}
	return true
}

// Parse reads 2027-01-31 and no other form.
func Parse(text string) (Date, error) {
	if len(text) != len("2027-01-31") || text[4] != '-' || text[7] != '-' {
		return Date{}, ErrSyntax
	}
	return fromDigits(text[:4], text[5:7], text[8:])
}

// ParseBR reads what people in Brazil write, 31/01/2027, and the form of Parse too.
func ParseBR(text string) (Date, error) {
	text = strings.TrimSpace(text)
	if len(text) != len("31/01/2027") || text[2] != '/' || text[5] != '/' {
		return Parse(text)
	}
	return fromDigits(text[6:], text[3:5], text[:2])
}

var months = strings.Fields("jan fev mar abr mai jun jul ago set out nov dez")

// FromParts is the day of three parts as people write them: 1, dez and 27. The year may come first, where it has four
// digits. Two digits are a year from 2000 to 2099: a rule that looks at today's date would read one file in two ways.
func FromParts(day, month, year string) (Date, error) {
	if len(day) == len("2027") {
		day, year = year, day
	}
	if len(year) == 2 {
		year = "20" + year
	}
	if name := text.Fold(month); len(name) >= 3 {
		month = strconv.Itoa(1 + slices.Index(months, name[:3]))
	}
	var numbers [3]int
	for n, part := range []string{year, month, day} {
		var err error
		if numbers[n], err = strconv.Atoi(part); err != nil || numbers[n] == 0 {
			return Date{}, ErrSyntax
		}
	}
	return New(numbers[0], time.Month(numbers[1]), numbers[2])
}

// MustParse is Parse for days written in the program; it panics where Parse refuses.
func MustParse(text string) Date {
	day, err := Parse(text)
	if err != nil {
		panic(fmt.Sprintf("civil: %q %v", text, err))
	}
	return day
}

// Append appends what String prints.
func (d Date) Append(buf []byte) []byte {
	if d.IsZero() {
		return buf
	}
	year, month, day := d.Year(), d.Month(), d.Day()
	return append(buf, digits[year/1000], digits[year/100%10], digits[year/10%10], digits[year%10], '-',
		digits[month/10], digits[month%10], '-', digits[day/10], digits[day%10])
}

// Value stores the day as text, and no date as NULL.
func (d Date) Value() (driver.Value, error) {
	if d.IsZero() {
		return nil, nil
	}
	return d.String(), nil
}

// Scan reads what Value stored.
func (d *Date) Scan(src any) error {
	var err error
	switch src := src.(type) {
	case nil:
		*d = Date{}
	case string:
		*d, err = Parse(src)
	case []byte:
		*d, err = Parse(string(src))
	default:
		return fmt.Errorf("scan a date from %T", src)
	}
	if err != nil {
		return fmt.Errorf("scan date %q: %w", src, err)
	}
	return nil
}

// MarshalJSON writes "2027-01-31", or null when there is no date.
func (d Date) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return append(d.Append([]byte{'"'}), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Date) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err != nil {
		return ErrSyntax
	}
	if text == nil {
		*d = Date{}
		return nil
	}
	parsed, err := Parse(*text)
	if err == nil {
		*d = parsed
	}
	return err
}

const digits = "0123456789"

func fromDigits(year, month, day string) (Date, error) {
	y, m, d := number(year), number(month), number(day)
	if min(y, m, d) < 0 {
		return Date{}, ErrSyntax
	}
	return New(y, time.Month(m), d)
}

// number reads digits and nothing else, where strconv would let a sign pass; it returns -1 for the rest.
func number(s string) int {
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' {
			return -1
		}
		n = n*10 + int(r-'0')
	}
	return n
}

// Instant reads a time that is stored in microseconds. NULL and 0 are the zero time.
type Instant time.Time

// Scan takes the microseconds.
func (i *Instant) Scan(src any) error {
	micros, ok := src.(int64)
	if !ok && src != nil {
		return fmt.Errorf("a %T is no instant", src)
	}
	*i = Instant{}
	if micros != 0 {
		*i = Instant(time.UnixMicro(micros))
	}
	return nil
}

// Micros is a time as it is stored; 0 is the zero time.
func Micros(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMicro()
}
