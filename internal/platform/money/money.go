// Package money owns amounts of Brazilian reais: whole cents, their spellings and their limit.
//
// Cents add and compare as the integers they are; a share or a percentage of them is rounded here. It does not own
// other currencies, or what an amount is for.
package money

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Cents is an amount in hundredths of a real.
type Cents int64

// Max is the greatest amount that can be entered.
const Max Cents = 99_999_999_99

// The reasons to refuse a spelling, worded for display next to a field.
var (
	ErrEmpty    = errors.New("must not be empty")
	ErrSyntax   = errors.New("must be an amount such as 1234.50")
	ErrNegative = errors.New("must not be negative")
	ErrPlaces   = errors.New("must have at most two decimal places")
	ErrTooLarge = errors.New("must not be greater than 99999999.99")
)

// Parse reads 1234.50, 1234.5 or 1234, and nothing looser.
func Parse(text string) (Cents, error) {
	if text == "" {
		return 0, ErrEmpty
	}
	if text[0] == '-' {
		return 0, ErrNegative
	}
	whole, fraction, point := strings.Cut(text, ".")
	switch {
	case !digits(whole), point && !digits(fraction):
		return 0, ErrSyntax
	case len(fraction) > 2:
		return 0, ErrPlaces
	}
	return sum(whole + (fraction + "00")[:2])
}

// ParseBR reads what people in Brazil write (R$ 1.234,50; 1.234,50; 35,00; 35) and the plain form too. A point
// before exactly three digits groups thousands: 1.234 is one thousand two hundred and thirty-four.
func ParseBR(text string) (Cents, error) {
	text = strings.TrimSpace(text)
	if len(text) >= 2 && strings.EqualFold(text[:2], "R$") {
		text = strings.TrimSpace(text[2:])
	}
	whole, fraction, comma := strings.Cut(text, ",")
	if grouped(whole) {
		whole = strings.ReplaceAll(whole, ".", "")
	}
	if comma {
		whole += "." + fraction
	}
	return Parse(whole)
}

// String prints 1234.50.
func (c Cents) String() string { return string(c.Append(nil)) }

// Append appends what String prints.
func (c Cents) Append(buf []byte) []byte {
	whole, rest := int64(c/100), c%100
	if c < 0 {
		buf = append(buf, '-')
		whole, rest = -whole, -rest
	}
	buf = strconv.AppendInt(buf, whole, 10)
	return append(buf, '.', "0123456789"[rest/10], "0123456789"[rest%10])
}

// BR prints R$ 1.234,50.
func (c Cents) BR() string {
	whole, fraction, _ := strings.Cut(c.String(), ".")
	whole, negative := strings.CutPrefix(whole, "-")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "." + whole[i:]
	}
	if negative {
		return "-R$ " + whole + "," + fraction
	}
	return "R$ " + whole + "," + fraction
}

// MarshalText makes JSON carry an amount as the string "1234.50".
func (c Cents) MarshalText() ([]byte, error) { return c.Append(nil), nil }

// UnmarshalText reads what Parse does. It exists so that a JSON number is refused: without it, 35 would
// silently be read as thirty-five cents.
func (c *Cents) UnmarshalText(b []byte) error {
	parsed, err := Parse(string(b))
	if err == nil {
		*c = parsed
	}
	return err
}

func sum(digits string) (Cents, error) {
	var amount Cents
	for _, digit := range digits {
		if amount = amount*10 + Cents(digit-'0'); amount > Max {
			return 0, ErrTooLarge
		}
	}
	return amount, nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// grouped reports whether every point in s groups thousands: 1.234.567, but not 1.5, 12.3456 or 0.123.
func grouped(s string) bool {
	first, rest, point := strings.Cut(s, ".")
	if !point || !digits(first) || first[0] == '0' || len(first) > 3 {
		return false
	}
	for group := range strings.SplitSeq(rest, ".") {
		if !digits(group) || len(group) != 3 {
			return false
		}
	}
	return true
}

// Percent is a percentage in hundredths of a percent: 250 is 2.50 %.
type Percent int64

// MaxPercent is the greatest percentage that can be entered.
const MaxPercent Percent = 100_00

// The reasons for which the spelling of a percentage is refused; the others are those of amounts.
var (
	ErrPercentSyntax = errors.New("must be a percentage such as 2.50")
	ErrPercentLarge  = errors.New("must not be greater than 100.00")
)

// ParsePercent reads 2, 2.5 or 2.50, and nothing looser.
func ParsePercent(s string) (Percent, error) {
	amount, err := Parse(s)
	switch {
	case errors.Is(err, ErrSyntax):
		return 0, ErrPercentSyntax
	case errors.Is(err, ErrTooLarge), err == nil && Percent(amount) > MaxPercent:
		return 0, ErrPercentLarge
	}
	return Percent(amount), err
}

// ParsePercentBR reads what people in Brazil write, 2,5 or 2,5 %, and the plain form too.
func ParsePercentBR(text string) (Percent, error) {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	if strings.Count(text, ",") == 1 && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	return ParsePercent(text)
}

// String prints 2.50.
func (p Percent) String() string { return Cents(p).String() }

// BR prints 2,5 %, without zeros that say nothing.
func (p Percent) BR() string {
	digits := strings.TrimSuffix(strings.TrimRight(p.String(), "0"), ".")
	if p == 0 {
		digits = "0"
	}
	return strings.Replace(digits, ".", ",", 1) + " %"
}

// Of is the percentage of an amount, rounded half up to the cent.
func (p Percent) Of(amount Cents) Cents {
	return Share(amount, int64(p), int64(MaxPercent))
}

// Share is c × part ÷ whole, rounded once, half up to the cent; below zero it rounds as above zero, so that an amount
// and its reversal cancel out. The product may be longer than an int64. A share that does not fit is the greatest
// amount there is; whole must be positive.
func Share(amount Cents, part, whole int64) Cents {
	negative := (amount < 0) != (part < 0)
	high, low := bits.Mul64(magnitude(int64(amount)), magnitude(part))
	low, carry := bits.Add64(low, magnitude(whole)/2, 0)
	high += carry
	if whole <= 0 || high >= uint64(whole) {
		return signed(math.MaxInt64, negative)
	}
	share, _ := bits.Div64(high, low, uint64(whole))
	return signed(min(share, math.MaxInt64), negative)
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n) //nolint:gosec // right for the least number too, which has no negation
	}
	return uint64(n)
}

func signed(n uint64, negative bool) Cents {
	if negative {
		return -Cents(n) //nolint:gosec // at most the greatest int64
	}
	return Cents(n) //nolint:gosec // at most the greatest int64
}
