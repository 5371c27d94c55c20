package civil

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

func TestParsePeriod(t *testing.T) {
	tests := []struct {
		in   string
		want Period
		err  error
	}{
		{"1month", Period{Month, 1}, nil},
		{"30days", Period{Day, 30}, nil},
		{"2 weeks", Period{Week, 2}, nil},
		{"1year", Period{Year, 1}, nil},
		{"1mes", Period{Month, 1}, nil},
		{"1 mês", Period{Month, 1}, nil},
		{"3 MESES", Period{Month, 3}, nil},
		{"ano", Period{Year, 1}, nil},
		{"dia", Period{Day, 1}, nil},
		{"semana", Period{Week, 1}, nil},
		{" 15  dias ", Period{Day, 15}, nil},
		{"007 days", Period{Day, 7}, nil},
		{"1000 years", Period{Year, 1000}, nil},
		{"1001days", Period{}, ErrCount},
		{"0months", Period{}, ErrCount},
		{"99999999999999999999days", Period{}, ErrCount},
		{"", Period{}, ErrPeriod},
		{"1", Period{}, ErrPeriod},
		{"-1month", Period{}, ErrPeriod},
		{"1.5 months", Period{}, ErrPeriod},
		{"1 fortnight", Period{}, ErrPeriod},
		{"1 2 days", Period{}, ErrPeriod},
		{"monthly", Period{}, ErrPeriod},
	}
	for _, tt := range tests {
		got, err := ParsePeriod(tt.in)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("ParsePeriod(%q) = %v, %v; want %v, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
	if _, err := NewPeriod("hour", 1); !errors.Is(err, ErrUnit) {
		t.Errorf("a period of hours: %v", err)
	}
}

func TestPeriodNames(t *testing.T) {
	tests := []struct {
		p             Period
		string, label string
	}{
		{Period{Day, 1}, "1day", "Diário"},
		{Period{Day, 15}, "15days", "Quinzenal"},
		{Period{Day, 30}, "30days", "A cada 30 dias"},
		{Period{Week, 1}, "1week", "Semanal"},
		{Period{Week, 2}, "2weeks", "Quinzenal"},
		{Period{Week, 3}, "3weeks", "A cada 3 semanas"},
		{Period{Month, 1}, "1month", "Mensal"},
		{Period{Month, 2}, "2months", "Bimestral"},
		{Period{Month, 3}, "3months", "Trimestral"},
		{Period{Month, 4}, "4months", "Quadrimestral"},
		{Period{Month, 5}, "5months", "A cada 5 meses"},
		{Period{Month, 6}, "6months", "Semestral"},
		{Period{Month, 12}, "12months", "Anual"},
		{Period{Year, 1}, "1year", "Anual"},
		{Period{Year, 2}, "2years", "A cada 2 anos"},
	}
	for _, tt := range tests {
		if tt.p.String() != tt.string || tt.p.Label() != tt.label {
			t.Errorf("%#v: %q, %q; want %q, %q", tt.p, tt.p, tt.p.Label(), tt.string, tt.label)
		}
	}
}

func TestTwentyFourRenewalsFrom31JanuaryNeverDrift(t *testing.T) {
	want := []string{
		"2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31", "2027-06-30", "2027-07-31",
		"2027-08-31", "2027-09-30", "2027-10-31", "2027-11-30", "2027-12-31", "2028-01-31",
		"2028-02-29", "2028-03-31", "2028-04-30", "2028-05-31", "2028-06-30", "2028-07-31",
		"2028-08-31", "2028-09-30", "2028-10-31", "2028-11-30", "2028-12-31", "2029-01-31",
	}
	date := MustParse("2027-01-31")
	for i, day := range want {
		date = after(t, Period{Month, 1}, date, 31)
		if date.String() != day {
			t.Fatalf("renewal %d falls on %s, want %s", i+1, date, day)
		}
	}
}

func TestYearlyRenewalsOf29FebruaryComeBackInLeapYears(t *testing.T) {
	day := MustParse("2096-02-29")
	for _, want := range []string{"2097-02-28", "2098-02-28", "2099-02-28", "2100-02-28", "2101-02-28", "2102-02-28", "2103-02-28", "2104-02-29"} {
		if day = after(t, Period{Year, 1}, day, 29); day.String() != want {
			t.Fatalf("got %s, want %s", day, want)
		}
	}
}

func TestAfter(t *testing.T) {
	tests := []struct {
		p      Period
		from   string
		ownDay int
		want   string
	}{
		{Period{Month, 1}, "2027-01-31", 0, "2027-02-28"},
		{Period{Month, 1}, "2027-02-28", 0, "2027-03-28"},
		{Period{Month, 1}, "2027-02-28", 30, "2027-03-30"},
		{Period{Month, 13}, "2027-11-30", 31, "2028-12-31"},
		{Period{Month, 1}, "2027-12-10", 10, "2028-01-10"},
		{Period{Day, 30}, "2027-01-31", 31, "2027-03-02"},
		{Period{Week, 2}, "2027-12-25", 1, "2028-01-08"},
		{Period{Day, 1}, "9999-12-30", 0, "9999-12-31"},
		{Period{Month, 1}, "9999-11-30", 31, "9999-12-31"},
	}
	for _, tt := range tests {
		if got := after(t, tt.p, MustParse(tt.from), tt.ownDay); got.String() != tt.want {
			t.Errorf("%s after %s with day %d = %s, want %s", tt.p, tt.from, tt.ownDay, got, tt.want)
		}
	}
}

func TestAfterRefusesToLeaveTheCalendar(t *testing.T) {
	for _, period := range []Period{{Day, 1}, {Week, 1}, {Month, 1}, {Year, 1}, {Year, 1000}} {
		if got, err := period.After(MustParse("9999-12-31"), 0); !errors.Is(err, ErrOverflow) || !got.IsZero() {
			t.Errorf("%s: %s, %v", period, got, err)
		}
	}
	if _, err := (Period{Month, 1}).After(Date{}, 0); err == nil {
		t.Error("a period was counted from no date")
	}
	for _, period := range []Period{{}, {"hour", 1}, {Month, 0}, {Month, -1}, {Day, MaxCount + 1}} {
		if got, err := period.After(MustParse("2027-01-31"), 0); err == nil {
			t.Errorf("%#v led to %s", period, got)
		}
	}
}

// The model steps to the first day of the target month and asks package time where that month ends.
func TestAfterAgreesWithASimpleModel(t *testing.T) {
	model := func(period Period, day Date, ownDay int) time.Time {
		from := day.utc()
		month := from.AddDate(0, 0, 1-from.Day())
		switch period.Unit {
		case Day:
			return from.AddDate(0, 0, period.Count)
		case Week:
			return from.AddDate(0, 0, 7*period.Count)
		case Month:
			month = month.AddDate(0, period.Count, 0)
		case Year:
			month = month.AddDate(period.Count, 0, 0)
		}
		last := month.AddDate(0, 1, -1).Day()
		return month.AddDate(0, 0, min(ownDay, last)-1)
	}
	random := rand.New(rand.NewPCG(1, 2))
	units := []Unit{Day, Week, Month, Year}
	for range 50_000 {
		day := MustParse("1900-01-01").AddDays(random.IntN(2_958_000))
		period, ownDay := Period{units[random.IntN(4)], 1 + random.IntN(MaxCount)}, 1+random.IntN(31)
		want := model(period, day, ownDay)
		got, err := period.After(day, ownDay)
		if want.Year() > MaxYear {
			if !errors.Is(err, ErrOverflow) {
				t.Fatalf("%s after %s with day %d = %s, %v; want an overflow", period, day, ownDay, got, err)
			}
		} else if err != nil || got != Of(want) {
			t.Fatalf("%s after %s with day %d = %s, %v; want %s", period, day, ownDay, got, err, want.Format(time.DateOnly))
		}
	}
}

func after(t *testing.T, period Period, day Date, ownDay int) Date {
	t.Helper()
	next, err := period.After(day, ownDay)
	if err != nil {
		t.Fatalf("%s after %s: %v", period, day, err)
	}
	return next
}
