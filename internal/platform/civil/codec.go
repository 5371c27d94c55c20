package civil

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

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
	return append(buf,
		digits[year/1000], digits[year/100%10], digits[year/10%10], digits[year%10], '-',
		digits[month/10], digits[month%10], '-',
		digits[day/10], digits[day%10])
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

// ScanRaw is Scan of a text that belongs to the caller and may change; it is never
// NULL. Its name is not that of pgx's ScanBytes, which is called for NULL, too.
func (d *Date) ScanRaw(text []byte) (err error) {
	if *d, err = Parse(string(text)); err != nil {
		return fmt.Errorf("scan date %q: %w", text, err)
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
