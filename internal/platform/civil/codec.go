package civil

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Parse reads 2027-01-31 and no other form.
func Parse(s string) (Date, error) {
	if len(s) != len("2027-01-31") || s[4] != '-' || s[7] != '-' {
		return Date{}, ErrSyntax
	}
	return fromDigits(s[:4], s[5:7], s[8:])
}

// ParseBR reads what people in Brazil write, 31/01/2027, and the form of Parse too.
func ParseBR(s string) (Date, error) {
	s = strings.TrimSpace(s)
	if len(s) != len("31/01/2027") || s[2] != '/' || s[5] != '/' {
		return Parse(s)
	}
	return fromDigits(s[6:], s[3:5], s[:2])
}

// MustParse is Parse for days written in the program; it panics where Parse refuses.
func MustParse(s string) Date {
	d, err := Parse(s)
	if err != nil {
		panic(fmt.Sprintf("civil: %q %v", s, err))
	}
	return d
}

// Append appends what String prints.
func (d Date) Append(b []byte) []byte {
	if d.IsZero() {
		return b
	}
	year, month, day := d.Year(), d.Month(), d.Day()
	return append(b,
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

// MarshalJSON writes "2027-01-31", or null when there is no date.
func (d Date) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return append(d.Append([]byte{'"'}), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Date) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return ErrSyntax
	}
	if s == nil {
		*d = Date{}
		return nil
	}
	parsed, err := Parse(*s)
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
