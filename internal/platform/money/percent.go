package money

import (
	"errors"
	"math"
	"math/bits"
	"strings"
)

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
		return -uint64(n) //nolint:gosec // right for the least number too, whose negation does not fit
	}
	return uint64(n)
}

func signed(n uint64, negative bool) Cents {
	if negative {
		return -Cents(n) //nolint:gosec // at most the greatest int64
	}
	return Cents(n) //nolint:gosec // at most the greatest int64
}
