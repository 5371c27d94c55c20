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

// published are the holidays of the national bank calendar as the associations of banks publish them, those that
// fall on a weekend included.
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
