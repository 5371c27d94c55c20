package civil

import (
	"strings"
	"testing"
)

// easters are Sundays that almanacs print, the earliest and the latest that can be among them.
const easters = `1913-03-23 1943-04-25 1954-04-18 1981-04-19 2000-04-23 2008-03-23 2011-04-24 2016-03-27
	2019-04-21 2020-04-12 2021-04-04 2022-04-17 2023-04-09 2024-03-31 2025-04-20 2026-04-05 2027-03-28
	2028-04-16 2029-04-01 2030-04-21 2031-04-13 2032-03-28 2033-04-17 2034-04-09 2035-03-25 2038-04-25
	2049-04-18 2076-04-19 2100-03-28`

func TestEasterIsOnTheSundaysThatAlmanacsPrint(t *testing.T) {
	for text := range strings.FieldsSeq(easters) {
		want := MustParse(text)
		if got := Easter(want.Year()); got != want {
			t.Errorf("Easter of %d is %s, want %s", want.Year(), got, want)
		}
	}
}

// published are the holidays of the national bank calendar, those that fall on a weekend included. They were held
// in November 2026 against what others publish, and agree with all of it:
//
//   - ANBIMA's own table (anbima.com.br/feriados, 2001 to 2099), in two copies: philss/feriados-anbima of December 2024,
//     which knows 20 November but has lost 12 October, and bizdays/data/ANBIMA.txt of wilsonfreitas/python-bizdays,
//     which has 12 October and is older than the law that made 20 November a holiday
//   - the rules of vacanza/holidays (financial/brasil_bolsa_balcao.py) and of commenthol/date-holidays (BR.yaml, type bank),
//     which names CMN resolution 4.880 of 2020 for Carnival and Corpus Christi
//   - Febraban's list of 2024, as the press printed it
var published = map[int]string{
	2023: "01-01 02-20 02-21 04-07 04-21 05-01 06-08 09-07 10-12 11-02 11-15 12-25",
	2024: "01-01 02-12 02-13 03-29 04-21 05-01 05-30 09-07 10-12 11-02 11-15 11-20 12-25",
	2025: "01-01 03-03 03-04 04-18 04-21 05-01 06-19 09-07 10-12 11-02 11-15 11-20 12-25",
	2026: "01-01 02-16 02-17 04-03 04-21 05-01 06-04 09-07 10-12 11-02 11-15 11-20 12-25",
	2027: "01-01 02-08 02-09 03-26 04-21 05-01 05-27 09-07 10-12 11-02 11-15 11-20 12-25",
	2028: "01-01 02-28 02-29 04-14 04-21 05-01 06-15 09-07 10-12 11-02 11-15 11-20 12-25",
	2029: "01-01 02-12 02-13 03-30 04-21 05-01 05-31 09-07 10-12 11-02 11-15 11-20 12-25",
	2030: "01-01 03-04 03-05 04-19 04-21 05-01 06-20 09-07 10-12 11-02 11-15 11-20 12-25",
}

// movable are Carnival, Good Friday and Corpus Christi of later years, from ANBIMA's table.
var movable = map[int]string{
	2031: "02-24 02-25 04-11 06-12",
	2032: "02-09 02-10 03-26 05-27",
	2033: "02-28 03-01 04-15 06-16",
	2034: "02-20 02-21 04-07 06-08",
	2035: "02-05 02-06 03-23 05-24",
	2036: "02-25 02-26 04-11 06-12",
	2037: "02-16 02-17 04-03 06-04",
	2038: "03-08 03-09 04-23 06-24",
	2039: "02-21 02-22 04-08 06-09",
	2040: "02-13 02-14 03-30 05-31",
	2041: "03-04 03-05 04-19 06-20",
	2042: "02-17 02-18 04-04 06-05",
	2043: "02-09 02-10 03-27 05-28",
	2044: "02-29 03-01 04-15 06-16",
	2045: "02-20 02-21 04-07 06-08",
	2046: "02-05 02-06 03-23 05-24",
	2047: "02-25 02-26 04-12 06-13",
	2048: "02-17 02-18 04-03 06-04",
	2049: "03-01 03-02 04-16 06-17",
	2050: "02-21 02-22 04-08 06-09",
}

func TestMovableHolidaysAreThoseOfThePublishedTable(t *testing.T) {
	for year, list := range movable {
		want := strings.Fields(list)
		for i, offset := range movableHolidays {
			if got := Easter(year).AddDays(offset).String()[5:]; got != want[i] {
				t.Errorf("%d: %s, want %s", year, got, want[i])
			}
		}
	}
}

func TestBankHolidaysAreThoseOfThePublishedList(t *testing.T) {
	for year, list := range published {
		first, _ := New(year, 1, 1)
		for day := first; day.Year() == year; day = day.AddDays(1) {
			want := strings.Contains(" "+list+" ", " "+day.String()[5:]+" ")
			if day.bankHoliday() != want {
				t.Errorf("%s is a holiday: %t, want %t", day, day.bankHoliday(), want)
			}
		}
	}
}

func TestWorkingDaysLeaveOutWeekendsAndHolidays(t *testing.T) {
	for _, test := range []struct {
		from  string
		count int
		want  string
	}{
		{"2026-02-13", 1, "2026-02-18"}, // over Carnival
		{"2026-02-18", -1, "2026-02-13"},
		{"2026-02-14", 1, "2026-02-18"}, // from a Saturday
		{"2026-12-24", 1, "2026-12-28"},
		{"2026-11-19", 2, "2026-11-24"},
		{"2023-11-17", 1, "2023-11-20"}, // not yet a holiday
		{"2026-03-10", 0, "2026-03-10"},
		{"2026-03-02", 10, "2026-03-16"},
		{"2026-03-16", -10, "2026-03-02"},
		{"9999-12-31", 3, "9999-12-31"},
	} {
		if got := MustParse(test.from).AddWorkingDays(test.count); got.String() != test.want {
			t.Errorf("%s and %d working days: %s, want %s", test.from, test.count, got, test.want)
		}
	}
}

func TestNextWorkingDayIsTheDayItselfWhenBanksWork(t *testing.T) {
	for from, want := range map[string]string{
		"2026-04-02": "2026-04-02",
		"2026-04-03": "2026-04-06", // Good Friday
		"2026-02-18": "2026-02-18", // Ash Wednesday, on which banks open at noon
		"2027-12-25": "2027-12-27",
		"":           "",
	} {
		var day Date
		if from != "" {
			day = MustParse(from)
		}
		if got := day.NextWorkingDay(); got.String() != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

func TestZeroDateHasNoWorkingDays(t *testing.T) {
	if got := (Date{}).AddWorkingDays(3); !got.IsZero() {
		t.Errorf("%s", got)
	}
}
