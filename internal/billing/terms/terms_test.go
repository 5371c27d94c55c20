package terms

import (
	"errors"
	"math/big"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

func day(s string) civil.Date { return civil.MustParse(s) }

// The figures were computed by hand, from the rule and a calendar, not by the program.
func TestPayableEqualsTheTableComputedByHand(t *testing.T) {
	usual := Terms{LateFeePercent: 2_00, LateInterestPercent: 1_00, DiscountPercent: 5_00}
	tests := map[string]struct {
		terms                          Terms
		face                           money.Cents
		dueOn, on                      string
		fee, interest, discount, total money.Cents
	}{
		// 5 % of 100.00, before the day and on it.
		"a month before":  {usual, 100_00, "2027-03-10", "2027-02-10", 0, 0, 5_00, 95_00},
		"the day before":  {usual, 100_00, "2027-03-10", "2027-03-09", 0, 0, 5_00, 95_00},
		"on the due date": {usual, 100_00, "2027-03-10", "2027-03-10", 0, 0, 5_00, 95_00},
		// 2 % once; 100.00 × 1 % ÷ 30 = 0.0333… a day.
		"one day":     {usual, 100_00, "2027-03-10", "2027-03-11", 2_00, 3, 0, 102_03},
		"two days":    {usual, 100_00, "2027-03-10", "2027-03-12", 2_00, 7, 0, 102_07},     // 0.0667
		"three days":  {usual, 100_00, "2027-03-10", "2027-03-13", 2_00, 10, 0, 102_10},    // 0.1000
		"30 days":     {usual, 100_00, "2027-03-10", "2027-04-09", 2_00, 1_00, 0, 103_00},  // a month of the rule
		"31 days":     {usual, 100_00, "2027-03-10", "2027-04-10", 2_00, 1_03, 0, 103_03},  // a month of the calendar: 1.0333
		"45 days":     {usual, 100_00, "2027-03-10", "2027-04-24", 2_00, 1_50, 0, 103_50},  // the package comment's example
		"400 days":    {usual, 100_00, "2027-03-10", "2028-04-13", 2_00, 13_33, 0, 115_33}, // 13.3333; 366 days to 10 March 2028
		"a year":      {usual, 100_00, "2026-03-10", "2027-03-10", 2_00, 12_17, 0, 114_17}, // 365 ÷ 30 = 12.1667
		"a leap year": {usual, 100_00, "2027-03-10", "2028-03-10", 2_00, 12_20, 0, 114_20}, // 366 ÷ 30 = 12.2000
		// Over 29 February, and not over it.
		"28 Feb to 1 Mar, leap":    {usual, 100_00, "2028-02-28", "2028-03-01", 2_00, 7, 0, 102_07},
		"28 Feb to 1 Mar":          {usual, 100_00, "2027-02-28", "2027-03-01", 2_00, 3, 0, 102_03},
		"29 Feb to 28 Feb":         {usual, 100_00, "2028-02-29", "2029-02-28", 2_00, 12_17, 0, 114_17}, // 365 days
		"a century that has none":  {usual, 100_00, "2100-02-28", "2100-03-01", 2_00, 3, 0, 102_03},
		"a century that has one":   {usual, 100_00, "2000-02-28", "2000-03-01", 2_00, 7, 0, 102_07},
		"New Year's Eve to a week": {usual, 100_00, "2027-12-31", "2028-01-07", 2_00, 23, 0, 102_23}, // 0.2333
		// Cents that round. 2 % of 0.25 is 0.005, of 0.24 is 0.0048; 1 % ÷ 30 of 15.00 is 0.005, of 14.99 is 0.004997.
		"fee of half a cent":      {usual, 25, "2027-03-10", "2027-03-11", 1, 0, 0, 26},
		"fee below half a cent":   {usual, 24, "2027-03-10", "2027-03-11", 0, 0, 0, 24},
		"interest of half a cent": {usual, 15_00, "2027-03-10", "2027-03-11", 30, 1, 0, 15_31},
		"interest below it":       {usual, 14_99, "2027-03-10", "2027-03-11", 30, 0, 0, 15_29}, // fee 0.2998
		"discount of half a cent": {usual, 10, "2027-03-10", "2027-03-10", 0, 0, 1, 9},         // 5 % of 0.10
		"discount below it":       {usual, 9, "2027-03-10", "2027-03-10", 0, 0, 0, 9},          // 0.0045
		// Interest is rounded once, not each day: 10 × 0.0333… is 0.33, not 0.30; and the sum is not rounded again.
		"rounded at the end": {usual, 100_00, "2027-03-10", "2027-03-20", 2_00, 33, 0, 102_33},
		"35.00, ten days":    {usual, 35_00, "2027-03-10", "2027-03-20", 70, 12, 0, 35_82}, // 0.11667
		// Percentages with places.
		"0.33 % a month":       {Terms{LateInterestPercent: 33}, 1000_00, "2027-03-10", "2027-03-27", 0, 1_87, 0, 1001_87}, // 1000 × 0.0033 × 17 ÷ 30 = 1.87
		"2.5 % fee":            {Terms{LateFeePercent: 2_50}, 35_00, "2027-03-10", "2027-12-31", 88, 0, 0, 35_88},          // 0.875
		"0.01 % fee":           {Terms{LateFeePercent: 1}, 35_00, "2027-03-10", "2027-12-31", 0, 0, 0, 35_00},              // 0.0035
		"100 % a month, a day": {Terms{LateInterestPercent: 100_00}, 30_00, "2027-03-10", "2027-03-11", 0, 1_00, 0, 31_00},
		// Nothing chosen.
		"no terms, early": {Terms{}, 35_00, "2027-03-10", "2027-03-01", 0, 0, 0, 35_00},
		"no terms, late":  {Terms{}, 35_00, "2027-03-10", "2029-03-10", 0, 0, 0, 35_00},
		"fee without interest": {
			Terms{LateFeePercent: 2_00}, 35_00, "2027-03-10", "2029-03-10", 70, 0, 0, 35_70,
		},
		"interest without fee": {Terms{LateInterestPercent: 1_00}, 35_00, "2027-03-10", "2027-04-09", 0, 35, 0, 35_35},
		// A discount as an amount, and one that is too much.
		"amount off":         {Terms{DiscountAmount: 5_00}, 35_00, "2027-03-10", "2027-03-10", 0, 0, 5_00, 30_00},
		"amount off, late":   {Terms{DiscountAmount: 5_00}, 35_00, "2027-03-10", "2027-03-11", 0, 0, 0, 35_00},
		"more than there is": {Terms{DiscountAmount: 50_00}, 35_00, "2027-03-10", "2027-03-10", 0, 0, 34_99, 1},
		"all of it":          {Terms{DiscountPercent: 100_00}, 35_00, "2027-03-10", "2027-03-10", 0, 0, 34_99, 1},
		"of one cent":        {Terms{DiscountAmount: 1}, 1, "2027-03-10", "2027-03-10", 0, 0, 0, 1},
		// 99,999,999.99 for 400 days: fee 1,999,999.9998; interest × 400 ÷ 3000 = 13,333,333.332.
		"the greatest amount": {
			usual, money.Max, "2027-03-10", "2028-04-13", 2_000_000_00, 13_333_333_33, 0, 115_333_333_32,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.terms.Payable(tt.face, day(tt.dueOn), day(tt.on))
			if want := (Payable{tt.fee, tt.interest, tt.discount, tt.total}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestTheWholeCalendarDoesNotOverflow(t *testing.T) {
	all := Terms{LateFeePercent: money.MaxPercent, LateInterestPercent: money.MaxPercent}
	got := all.Payable(money.Max, day("1900-01-01"), day("9999-12-31"))
	days := day("9999-12-31").Sub(day("1900-01-01"))
	interest := new(big.Int).Mul(big.NewInt(int64(money.Max)), big.NewInt(int64(days)))
	interest.Add(interest, big.NewInt(15)).Div(interest, big.NewInt(30))
	if big.NewInt(int64(got.Interest)).Cmp(interest) != 0 || got.Fee != money.Max || got.Total != 2*money.Max+got.Interest {
		t.Errorf("got %+v, interest should be %s", got, interest)
	}
}

func TestPartsAreTakenOffTheTotal(t *testing.T) {
	usual := Terms{LateFeePercent: 2_00, LateInterestPercent: 1_00}
	payable := usual.Payable(100_00, day("2027-03-10"), day("2027-04-24"))
	for received, want := range map[money.Cents]money.Cents{
		0: 103_50, 60_00: 43_50, 100_00: 3_50, 103_49: 1, 103_50: 0, 103_51: 0, 500_00: 0,
	} {
		if got := payable.Rest(received); got != want {
			t.Errorf("%s received: %s to pay, want %s", received, got, want)
		}
	}
}

func TestWhenTheAmountIsAnotherOneTomorrow(t *testing.T) {
	fee, discount := Terms{LateFeePercent: 2_00}, Terms{DiscountAmount: 1_00}
	interest := Terms{LateInterestPercent: 1_00}
	tests := map[string]struct {
		terms Terms
		face  money.Cents
		on    string
		want  bool
	}{
		"no terms":                   {Terms{}, 35_00, "2027-03-10", false},
		"fee, before the due date":   {fee, 35_00, "2027-03-09", false},
		"fee, on the due date":       {fee, 35_00, "2027-03-10", true},
		"fee, once it is there":      {fee, 35_00, "2027-03-11", false},
		"discount, before the date":  {discount, 35_00, "2027-03-09", false},
		"discount, on its last day":  {discount, 35_00, "2027-03-10", true},
		"interest, on the due date":  {interest, 35_00, "2027-03-10", true},
		"interest, too small to see": {interest, 1_00, "2027-03-10", false},
		"the end of the calendar":    {interest, 35_00, "9999-12-31", false},
	}
	for name, tt := range tests {
		if got := tt.terms.ChangesAfter(tt.face, day("2027-03-10"), day(tt.on)); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestOneDiscountIsEnough(t *testing.T) {
	if err := (Terms{DiscountPercent: 1, DiscountAmount: 1}).Check(); !errors.Is(err, ErrTwoDiscounts) {
		t.Errorf("got %v", err)
	}
	for _, good := range []Terms{{}, {DiscountPercent: 1}, {DiscountAmount: 1}} {
		if err := good.Check(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}

func FuzzPayable(f *testing.F) {
	f.Add(int64(3500), 10, uint16(200), uint16(100), uint16(500))
	f.Fuzz(func(t *testing.T, face int64, late int, fee, interest, discount uint16) {
		if face < 1 || face > int64(money.Max) || late > 3_000_000 || late < -3_000_000 {
			return
		}
		terms := Terms{money.Percent(fee) % 10001, money.Percent(interest) % 10001, money.Percent(discount) % 10001, 0}
		dueOn := day("2027-03-10")
		on := dueOn.AddDays(late)
		payable := terms.Payable(money.Cents(face), dueOn, on)
		if payable.Fee < 0 || payable.Interest < 0 || payable.Discount < 0 || payable.Total < 1 || payable.Discount > 0 && payable.Fee+payable.Interest > 0 {
			t.Fatalf("%+v", payable)
		}
		if next := terms.Payable(money.Cents(face), dueOn, on.AddDays(1)); next.Total < payable.Total {
			t.Fatalf("waiting a day made %s of %s", next.Total, payable.Total)
		}
	})
}
