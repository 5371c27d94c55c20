package civil

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	tests := []struct {
		in, want string
		err      error
	}{
		{"2027-01-31", "2027-01-31", nil},
		{"1900-01-01", "1900-01-01", nil},
		{"9999-12-31", "9999-12-31", nil},
		{"2028-02-29", "2028-02-29", nil},
		{"2000-02-29", "2000-02-29", nil},
		{"2027-02-29", "", ErrNoSuchDay},
		{"2100-02-29", "", ErrNoSuchDay},
		{"2027-04-31", "", ErrNoSuchDay},
		{"2027-13-01", "", ErrNoSuchDay},
		{"2027-00-10", "", ErrNoSuchDay},
		{"2027-01-00", "", ErrNoSuchDay},
		{"1899-12-31", "", ErrYear},
		{"0000-01-01", "", ErrYear},
		{"", "", ErrSyntax},
		{"2027-1-31", "", ErrSyntax},
		{"27-01-31", "", ErrSyntax},
		{"2027/01/31", "", ErrSyntax},
		{"31/01/2027", "", ErrSyntax},
		{"2027-01-3a", "", ErrSyntax},
		{"+027-01-31", "", ErrSyntax},
		{"2027-+1-31", "", ErrSyntax},
		{" 2027-01-31", "", ErrSyntax},
		{"2027-01-31T00:00:00Z", "", ErrSyntax},
		{"12027-01-31", "", ErrSyntax},
		{"2027-01-é", "", ErrSyntax},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in)
		if got.String() != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Parse(%q) = %q, %v; want %q, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestParseBR(t *testing.T) {
	tests := []struct {
		in, want string
		err      error
	}{
		{"31/01/2027", "2027-01-31", nil},
		{" 31/01/2027\n", "2027-01-31", nil},
		{"2027-01-31", "2027-01-31", nil},
		{"31/02/2027", "", ErrNoSuchDay},
		{"01/31/2027", "", ErrNoSuchDay},
		{"31/12/1899", "", ErrYear},
		{"31/01/27", "", ErrSyntax},
		{"31-01-2027", "", ErrSyntax},
		{"31/01-2027", "", ErrSyntax},
		{"aa/01/2027", "", ErrSyntax},
		{"", "", ErrSyntax},
	}
	for _, tt := range tests {
		got, err := ParseBR(tt.in)
		if got.String() != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("ParseBR(%q) = %q, %v; want %q, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestPartsOfADayAreReadAsPeopleWriteThem(t *testing.T) {
	tests := []struct {
		day, month, year, want string
		err                    error
	}{
		{"1", "2", "2027", "2027-02-01", nil},
		{"31", "12", "27", "2027-12-31", nil},
		{"2027", "12", "31", "2027-12-31", nil},
		{"31", "Dezembro", "2027", "2027-12-31", nil},
		{"1", "MARÇO", "27", "2027-03-01", nil},
		{"29", "02", "2027", "", ErrNoSuchDay},
		{"1", "13", "2027", "", ErrNoSuchDay},
		{"1", "1", "127", "", ErrYear},
		{"0", "1", "2027", "", ErrSyntax},
		{"1", "xyz", "2027", "", ErrSyntax},
		{"", "1", "2027", "", ErrSyntax},
		{"1º", "1", "2027", "", ErrSyntax},
	}
	for _, tt := range tests {
		got, err := FromParts(tt.day, tt.month, tt.year)
		if got.String() != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("FromParts(%q, %q, %q) = %q, %v; want %q, %v", tt.day, tt.month, tt.year, got, err, tt.want, tt.err)
		}
	}
}

func TestMustParsePanicsOnWhatParseRefuses(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustParse("2027-02-30")
}

func TestPartsAndOrder(t *testing.T) {
	day := MustParse("2027-01-31")
	if day.Year() != 2027 || day.Month() != time.January || day.Day() != 31 || day.Weekday() != time.Sunday {
		t.Errorf("parts of %s: %d %d %d %s", day, day.Year(), day.Month(), day.Day(), day.Weekday())
	}
	if day.BR() != "31/01/2027" || day.IsZero() {
		t.Errorf("BR() = %q", day.BR())
	}
	var none Date
	if none.String() != "" || none.BR() != "" || !none.IsZero() {
		t.Errorf("no date printed %q, %q", none, none.BR())
	}
	ordered := []Date{none, MustParse("1900-01-01"), MustParse("2026-12-31"), MustParse("2027-01-01"), day, MustParse("2027-02-01")}
	for i, date := range ordered {
		for j, b := range ordered {
			if date.Before(b) != (i < j) || date.After(b) != (i > j) || (date == b) != (i == j) || date.Compare(b) < 0 != (i < j) || date.Compare(b) > 0 != (i > j) {
				t.Errorf("order of %q and %q is wrong", date, b)
			}
		}
	}
}

func TestOfUsesTheInstantsOwnZone(t *testing.T) {
	instant := time.Date(2027, 1, 31, 1, 30, 0, 0, time.UTC)
	if got := Of(instant); got != MustParse("2027-01-31") {
		t.Errorf("in UTC: %s", got)
	}
	if got := Of(instant.In(zone(t, "America/Sao_Paulo"))); got != MustParse("2027-01-30") {
		t.Errorf("in São Paulo: %s", got)
	}
	if got := Of(time.Time{}); !got.IsZero() {
		t.Errorf("the zero time fell on %s", got)
	}
}

func TestDayArithmeticAgreesWithPackageTime(t *testing.T) {
	first := time.Date(MinYear, 1, 1, 0, 0, 0, 0, time.UTC)
	base := Of(first)
	for n := 0; ; n += 97 {
		want := first.AddDate(0, 0, n)
		if want.Year() > MaxYear {
			break
		}
		got := base.AddDays(n)
		if got != Of(want) || got.Sub(base) != n || base.Sub(got) != -n || got.AddDays(-n) != base || got.Weekday() != want.Weekday() {
			t.Fatalf("%s + %d days = %s, want %s", base, n, got, want.Format(time.DateOnly))
		}
	}
}

func TestAddDaysStopsAtTheEndsOfTheCalendar(t *testing.T) {
	day := MustParse("2027-01-31")
	for n, want := range map[int]string{math.MaxInt: "9999-12-31", 3_000_000: "9999-12-31", math.MinInt: "1900-01-01", -50_000: "1900-01-01", 1: "2027-02-01"} {
		if got := day.AddDays(n); got.String() != want {
			t.Errorf("AddDays(%d) = %s, want %s", n, got, want)
		}
	}
	if got := (Date{}).AddDays(5); !got.IsZero() {
		t.Errorf("five days after no date is %s", got)
	}
}

func TestStoredAsTextAndNoDateAsNull(t *testing.T) {
	day := MustParse("2027-01-31")
	for want, day := range map[driver.Value]Date{"2027-01-31": day, nil: {}} {
		if got, err := day.Value(); got != want || err != nil {
			t.Errorf("Value() = %v, %v; want %v", got, err, want)
		}
	}
	for _, tt := range []struct {
		src  any
		want Date
		ok   bool
	}{
		{"2027-01-31", day, true},
		{[]byte("2027-01-31"), day, true},
		{nil, Date{}, true},
		{"", Date{}, false},
		{"2027-02-30", Date{}, false},
		{int64(20270131), MustParse("1999-01-01"), false},
	} {
		got := MustParse("1999-01-01")
		if err := got.Scan(tt.src); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("Scan(%#v) = %q, %v", tt.src, got, err)
		}
	}
}

func TestJSON(t *testing.T) {
	type record struct{ Due, Paid Date }
	out, err := json.Marshal(record{Due: MustParse("2027-01-31")})
	if err != nil || string(out) != `{"Due":"2027-01-31","Paid":null}` {
		t.Fatalf("Marshal = %s, %v", out, err)
	}
	back := record{Paid: MustParse("1999-01-01")}
	if err := json.Unmarshal(out, &back); err != nil || back != (record{Due: MustParse("2027-01-31")}) {
		t.Fatalf("Unmarshal = %v, %v", back, err)
	}
	for _, refused := range []string{`""`, `"31/01/2027"`, `20270131`, `{}`, `"2027-02-30"`} {
		if err := json.Unmarshal([]byte(refused), &back.Due); err == nil {
			t.Errorf("%s was read as %s", refused, back.Due)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	day, buf := MustParse("2027-01-31"), make([]byte, 0, 16)
	if n := testing.AllocsPerRun(100, func() { buf = day.Append(buf[:0]) }); n > 0 || string(buf) != "2027-01-31" {
		t.Errorf("Append made %v allocations and %q", n, buf)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"2027-01-31", "31/01/2027", "2027-02-30", "0000-00-00", "é/01/2027", "1month"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (Date, error){Parse, ParseBR} {
			day, err := parse(text)
			if err != nil {
				continue
			}
			if _, err := time.Parse(time.DateOnly, day.String()); err != nil {
				t.Fatalf("%q was read as %s: %v", text, day, err)
			}
			iso, _ := Parse(day.String())
			br, _ := ParseBR(day.BR())
			if iso != day || br != day {
				t.Fatalf("%q was read as %s, then as %s and %s", text, day, iso, br)
			}
		}
		if period, err := ParsePeriod(text); err == nil {
			if again, err := ParsePeriod(period.String()); err != nil || again != period {
				t.Fatalf("%q was read as %s, then as %s, %v", text, period, again, err)
			}
		}
	})
}

func TestAtFollowsTheClocksOfTheZone(t *testing.T) {
	for _, tt := range []struct {
		zone, day string
		clock     time.Duration
		want      string
	}{
		{"America/Sao_Paulo", "2026-01-20", 9 * time.Hour, "2026-01-20T12:00:00Z"},
		{"America/New_York", "2026-03-08", 2*time.Hour + 30*time.Minute, "2026-03-08T07:00:00Z"}, // skipped: clocks go from two to three
		{"America/New_York", "2026-03-08", 9 * time.Hour, "2026-03-08T13:00:00Z"},
		{"America/New_York", "2026-11-01", time.Hour + 30*time.Minute, "2026-11-01T05:30:00Z"}, // struck twice: the first
		{"Pacific/Auckland", "2026-04-05", 9 * time.Hour, "2026-04-04T21:00:00Z"},
	} {
		loc, err := LoadZone(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := MustParse(tt.day).At(tt.clock, loc).UTC().Format(time.RFC3339); got != tt.want {
			t.Errorf("%s %s %v: %s, want %s", tt.zone, tt.day, tt.clock, got, tt.want)
		}
	}
	if !(Date{}).At(time.Hour, time.UTC).IsZero() {
		t.Error("no date has an hour")
	}
}
