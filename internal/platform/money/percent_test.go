package money

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestParsePercentHasUpToTwoPlaces(t *testing.T) {
	tests := []struct {
		in   string
		want Percent
		err  error
	}{
		{"2", 200, nil},
		{"2.5", 250, nil},
		{"2.50", 250, nil},
		{"0", 0, nil},
		{"0.01", 1, nil},
		{"0.033", 0, ErrPlaces},
		{"100", MaxPercent, nil},
		{"100.01", 0, ErrPercentLarge},
		{"101", 0, ErrPercentLarge},
		{strings.Repeat("9", 400), 0, ErrPercentLarge},
		{"-1", 0, ErrNegative},
		{"", 0, ErrEmpty},
		{"2,5", 0, ErrPercentSyntax},
		{"2%", 0, ErrPercentSyntax},
		{"two", 0, ErrPercentSyntax},
	}
	for _, tt := range tests {
		got, err := ParsePercent(tt.in)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("ParsePercent(%q) = %d, %v; want %d, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
	for in, want := range map[string]Percent{"2": 200, "2,5": 250, "2,50 %": 250, " 2.5% ": 250, "0,33%": 33} {
		if got, err := ParsePercentBR(in); err != nil || got != want {
			t.Errorf("ParsePercentBR(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "%", "2,5,1", "1.000,5", "2,555", "2 % %"} {
		if got, err := ParsePercentBR(in); err == nil {
			t.Errorf("ParsePercentBR(%q) = %d", in, got)
		}
	}
}

func TestPercentIsPrinted(t *testing.T) {
	for p, want := range map[Percent][2]string{
		0: {"0.00", "0 %"}, 1: {"0.01", "0,01 %"}, 200: {"2.00", "2 %"}, 250: {"2.50", "2,5 %"}, 233: {"2.33", "2,33 %"}, 10000: {"100.00", "100 %"},
		1000: {"10.00", "10 %"},
	} {
		if p.String() != want[0] || p.BR() != want[1] {
			t.Errorf("%d is printed as %q and %q", p, p.String(), p.BR())
		}
	}
}

func TestPercentageIsRoundedHalfUp(t *testing.T) {
	tests := []struct {
		percent Percent
		of      Cents
		want    Cents
	}{
		{200, 3500, 70},
		{200, 25, 1}, // 0.5 of a cent
		{200, 24, 0}, // 0.48
		{200, 74, 1}, // 1.48
		{200, 75, 2}, // 1.5
		{200, -75, -2},
		{33, 10000, 33},
		{10000, Max, Max},
		{1, 49, 0},
		{1, 5000, 1}, // 0.5 of a cent
		{1, 4999, 0},
		{0, Max, 0},
	}
	for _, tt := range tests {
		if got := tt.percent.Of(tt.of); got != tt.want {
			t.Errorf("%s of %s = %s, want %s", tt.percent.BR(), tt.of, got, tt.want)
		}
	}
}

func TestShareDoesNotOverflow(t *testing.T) {
	tests := []struct {
		c           Cents
		part, whole int64
		want        Cents
	}{
		{Max, 100_00 * 2_958_463, 30 * 100_00, 986_154_333_234_718}, // 99,999,999.99 at 100 % a month for every day of the calendar: …717.9
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, 2, 1, math.MaxInt64},
		{math.MinInt64, 2, 1, -math.MaxInt64},
		{math.MaxInt64, 1, 2, 4611686018427387904},
		{math.MaxInt64, math.MaxInt64, 1, math.MaxInt64},
		{1, 1, 0, math.MaxInt64},
		{0, 5, 7, 0},
	}
	for _, tt := range tests {
		if got := Share(tt.c, tt.part, tt.whole); got != tt.want {
			t.Errorf("Share(%d, %d, %d) = %d, want %d", tt.c, tt.part, tt.whole, got, tt.want)
		}
	}
}

// The reference: floor(2·c·part / whole + 1) / 2 with integers of any length.
func reference(c, part, whole int64) *big.Int {
	number := new(big.Int).Mul(big.NewInt(c), big.NewInt(part))
	negative := number.Sign() < 0
	number.Abs(number).Lsh(number, 1).Add(number, big.NewInt(whole))
	number.Div(number, new(big.Int).Lsh(big.NewInt(whole), 1))
	if negative {
		number.Neg(number)
	}
	return number
}

func FuzzShare(f *testing.F) {
	f.Add(int64(3500), int64(200), int64(10000))
	f.Add(int64(math.MinInt64), int64(math.MinInt64), int64(math.MaxInt64))
	f.Add(int64(5), int64(-1), int64(2))
	f.Fuzz(func(t *testing.T, c, part, whole int64) {
		if whole <= 0 {
			return
		}
		want := reference(c, part, whole)
		got := Share(Cents(c), part, whole)
		if !want.IsInt64() {
			if got != math.MaxInt64 && got != -math.MaxInt64 {
				t.Fatalf("Share(%d, %d, %d) = %d, and it does not fit", c, part, whole, got)
			}
			return
		}
		if int64(got) != want.Int64() && want.Int64() != math.MinInt64 {
			t.Fatalf("Share(%d, %d, %d) = %d, want %s", c, part, whole, got, want)
		}
	})
}
