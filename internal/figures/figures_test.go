package figures

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

func day(s string) civil.Date { return civil.MustParse(s) }

func TestMonthlyIsOneFraction(t *testing.T) {
	tests := []struct {
		price money.Cents
		unit  civil.Unit
		count int
		want  money.Cents
	}{
		{35_00, civil.Month, 1, 35_00},
		{100_00, civil.Month, 3, 33_33},
		{200_00, civil.Month, 3, 66_67},
		{360_00, civil.Year, 1, 30_00},
		{100_00, civil.Year, 1, 8_33},
		{100_00, civil.Year, 2, 4_17}, // 4.1667
		{120_00, civil.Month, 12, 10_00},
		{10_00, civil.Week, 1, 43_45}, // 43.452
		{10_00, civil.Week, 2, 21_73}, // 21.726
		{1_00, civil.Day, 1, 30_42},   // 30.4167
		{30_00, civil.Day, 30, 30_42}, // the same by the day
		{35_00, civil.Day, 365, 2_92}, // 2.9167: a year's price
		{7_00, civil.Week, 1, 30_42},  // the same by the week
		{6, civil.Year, 1, 1},         // half a cent
		{5, civil.Year, 1, 0},         // 0.4167
		{0, civil.Month, 1, 0},
		{35_00, civil.Month, 0, 0},
		{35_00, "", 1, 0},
		{money.Max, civil.Day, 1, 3_041_666_666_36}, // 3,041,666,666.3625
	}
	for _, tt := range tests {
		if got := Monthly(tt.price, civil.Period{Unit: tt.unit, Count: tt.count}); got != tt.want {
			t.Errorf("%s for %d %s: %s a month, want %s", tt.price, tt.count, tt.unit, got, tt.want)
		}
	}
}

func TestMonthlyEqualsTheFractionForEveryPeriod(t *testing.T) {
	months := map[civil.Unit]*big.Rat{
		civil.Day: big.NewRat(365, 12), civil.Week: big.NewRat(365, 84), civil.Month: big.NewRat(1, 1), civil.Year: big.NewRat(1, 12),
	}
	for unit, factor := range months {
		for count := 1; count <= civil.MaxCount; count++ {
			for _, price := range []money.Cents{1, 35_00, 99_99, money.Max} {
				exact := new(big.Rat).Mul(factor, big.NewRat(int64(price), int64(count)))
				exact.Add(exact, big.NewRat(1, 2))
				want := new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
				if got := Monthly(price, civil.Period{Unit: unit, Count: count}); int64(got) != want {
					t.Fatalf("%s for %d %s: %d, want %d", price, count, unit, got, want)
				}
			}
		}
	}
}

// Value says that from a day on a customer is worth an amount a month: what Monthly makes of its price while it is in
// force (neither expired nor cancelled), and 0 from the day on which it is not.
type Value struct {
	CustomerID int64
	From       civil.Date
	Monthly    money.Cents
}

func (s *Sum) add(amount money.Cents) {
	s.Customers++
	s.Amount += amount
}

// Move compares the customers' worth at the two ends of a span of days: as it was at the end of the day before first,
// and as it is at the end of last. What happened between and was taken back does not show. The values may come in any
// order; of several of one customer and day the last one counts, as in a log.
func Move(values []Value, first, last civil.Date) Movement {
	byCustomer := map[int64][]Value{}
	for _, value := range values {
		byCustomer[value.CustomerID] = append(byCustomer[value.CustomerID], value)
	}
	var movement Movement
	for _, history := range byCustomer {
		slices.SortStableFunc(history, func(a, b Value) int { return a.From.Compare(b.From) })
		movement.count(worth(history, first.AddDays(-1)), worth(history, last))
	}
	return movement
}

// worth is the value in force on a day; nothing before the first.
func worth(history []Value, on civil.Date) money.Cents {
	var monthly money.Cents
	for _, value := range history {
		if value.From.After(on) {
			break
		}
		monthly = value.Monthly
	}
	return monthly
}

func (m *Movement) count(before, after money.Cents) {
	if before != 0 {
		m.Start.add(before)
	}
	if after != 0 {
		m.End.add(after)
	}
	kind, amount := KindOf(before, after)
	switch kind {
	case New:
		m.New.add(amount)
	case Lost:
		m.Lost.add(amount)
	case Up:
		m.Up.add(amount)
	case Down:
		m.Down.add(amount)
	case Unmoved:
	}
}

// The example of the package comment.
var march = []Value{
	{1, day("2027-01-05"), 35_00},
	{2, day("2026-03-20"), 30_00},
	{3, day("2027-02-01"), 43_45}, // Ana, Bia, Caio
	{1, day("2027-03-08"), 50_00},
	{2, day("2027-03-21"), 0},
	{4, day("2027-03-15"), 35_00},
	{3, day("2027-03-11"), 0},
	{3, day("2027-03-12"), 43_45},
}

func TestTheWorkedExample(t *testing.T) {
	got := Move(march, day("2027-03-01"), day("2027-03-31"))
	want := Movement{
		Start: Sum{3, 108_45}, New: Sum{1, 35_00}, Lost: Sum{1, 30_00}, Up: Sum{1, 15_00}, End: Sum{3, 128_45},
	}
	if got != want {
		t.Errorf("got %+v", got)
	}
	if churn, known := got.Churn(); !known || churn != 33_33 {
		t.Errorf("churn %s, %t", churn, known)
	}
	if churn, known := got.RevenueChurn(); !known || churn != 27_66 { // 30.00 of 108.45
		t.Errorf("revenue churn %s, %t", churn, known)
	}
}

func TestRevenueIsLostByLowerPricesToo(t *testing.T) {
	movement := Move([]Value{
		{1, day("2027-01-01"), 60_00}, {2, day("2027-01-01"), 40_00}, {1, day("2027-03-05"), 50_00}, {2, day("2027-03-06"), 0},
	}, day("2027-03-01"), day("2027-03-31"))
	if churn, known := movement.RevenueChurn(); !known || churn != 50_00 {
		t.Errorf("40.00 lost and 10.00 less of 100.00: %s, %t", churn, known)
	}
}

func TestDaysAtTheEdgesBelongToTheirMonth(t *testing.T) {
	first, last := day("2027-03-01"), day("2027-03-31")
	tests := map[string]struct {
		values []Value
		want   Movement
	}{
		"nothing":               {nil, Movement{}},
		"comes on the first":    {[]Value{{1, first, 10}}, Movement{New: Sum{1, 10}, End: Sum{1, 10}}},
		"comes on the last":     {[]Value{{1, last, 10}}, Movement{New: Sum{1, 10}, End: Sum{1, 10}}},
		"came the day before":   {[]Value{{1, first.AddDays(-1), 10}}, Movement{Start: Sum{1, 10}, End: Sum{1, 10}}},
		"comes the day after":   {[]Value{{1, last.AddDays(1), 10}}, Movement{}},
		"goes on the first":     {[]Value{{1, day("2027-01-01"), 10}, {1, first, 0}}, Movement{Start: Sum{1, 10}, Lost: Sum{1, 10}}},
		"goes the day after":    {[]Value{{1, day("2027-01-01"), 10}, {1, last.AddDays(1), 0}}, Movement{Start: Sum{1, 10}, End: Sum{1, 10}}},
		"comes and goes":        {[]Value{{1, first, 10}, {1, last, 0}}, Movement{}},
		"pays less":             {[]Value{{1, day("2027-01-01"), 10}, {1, last, 7}}, Movement{Start: Sum{1, 10}, Down: Sum{1, 3}, End: Sum{1, 7}}},
		"twice on one day":      {[]Value{{1, last, 10}, {1, last, 12}}, Movement{New: Sum{1, 12}, End: Sum{1, 12}}},
		"told in another order": {[]Value{{1, last, 7}, {1, day("2027-01-01"), 10}}, Movement{Start: Sum{1, 10}, Down: Sum{1, 3}, End: Sum{1, 7}}},
	}
	for name, tt := range tests {
		if got := Move(tt.values, first, last); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestMonthsJoinWithoutALeak(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 1))
	var values []Value
	for range 3000 {
		values = append(values, Value{random.Int64N(200), day("2026-01-01").AddDays(random.IntN(420)), money.Cents(random.Int64N(4) * 10_00)})
	}
	end := Sum{}
	for month := 1; month <= 12; month++ {
		first := day("2026-01-01").AddDays((month - 1) * 30)
		movement := Move(values, first, first.AddDays(29))
		if month > 1 && movement.Start != end {
			t.Fatalf("month %d starts with %+v, the one before ended with %+v", month, movement.Start, end)
		}
		if movement.Start.Amount+movement.New.Amount-movement.Lost.Amount+movement.Up.Amount-movement.Down.Amount != movement.End.Amount ||
			movement.Start.Customers+movement.New.Customers-movement.Lost.Customers != movement.End.Customers {
			t.Fatalf("month %d does not add up: %+v", month, movement)
		}
		end = movement.End
	}
}

func TestRatesAndAveragesOfNothingAreUnknown(t *testing.T) {
	if _, known := (Movement{}).Churn(); known {
		t.Error("nobody can be lost of nobody")
	}
	if _, known := (Movement{}).RevenueChurn(); known {
		t.Error("nothing can be lost of nothing")
	}
	if _, known := Average(10_00, 0); known {
		t.Error("an average of nothing")
	}
	if average, known := Average(100_00, 3); !known || average != 33_33 {
		t.Errorf("average %s", average)
	}
	if rate, known := Rate(2, 3); !known || rate != 66_67 {
		t.Errorf("rate %s", rate)
	}
}

func TestEachDayLateIsInOneSpan(t *testing.T) {
	today := day("2028-03-05") // over a leap day
	for days := -3; days < 500; days++ {
		dueOn, inLists := today.AddDays(-days), 0
		for _, span := range Spans {
			first, last := span.DueDates(today)
			if !dueOn.Before(first) && !dueOn.After(last) {
				inLists++
			}
		}
		want := 0
		if days > 0 {
			want = 1
		}
		if inLists != want {
			t.Errorf("%d days late: in %d lists", days, inLists)
		}
	}
}
