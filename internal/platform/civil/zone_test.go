package civil

import (
	"errors"
	"testing"
	"time"
)

func TestStart(t *testing.T) {
	tests := []struct{ zone, day, want string }{
		{"America/Sao_Paulo", "2027-01-31", "2027-01-31T00:00:00-03:00"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00"}, // no midnight
		{"America/Sao_Paulo", "2018-11-05", "2018-11-05T00:00:00-02:00"},
		{"America/Sao_Paulo", "2018-02-18", "2018-02-18T00:00:00-03:00"}, // the hour before came twice
		{"America/Asuncion", "2023-10-01", "2023-10-01T01:00:00-03:00"},
		{"Pacific/Auckland", "2027-01-31", "2027-01-31T00:00:00+13:00"},
		{"Pacific/Auckland", "2026-04-05", "2026-04-05T00:00:00+13:00"}, // clocks go back at three
		{"Pacific/Auckland", "2026-09-27", "2026-09-27T00:00:00+12:00"}, // and forward at two
		{"America/Havana", "2025-11-02", "2025-11-02T00:00:00-04:00"},   // midnight twice: the first
		{"America/St_Johns", "2010-11-07", "2010-11-07T00:00:00-02:30"}, // one minute of the day, then the day before again
		{"Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00"},     // a day that never was
		{"Pacific/Kiritimati", "2027-01-31", "2027-01-31T00:00:00+14:00"},
		{"Etc/GMT+12", "2027-01-31", "2027-01-31T00:00:00-12:00"},
		{"UTC", "1900-01-01", "1900-01-01T00:00:00Z"},
	}
	for _, tt := range tests {
		if got := MustParse(tt.day).Start(zone(t, tt.zone)).Format(time.RFC3339); got != tt.want {
			t.Errorf("%s begins in %s at %s, want %s", tt.day, tt.zone, got, tt.want)
		}
	}
	if got := (Date{}).Start(time.UTC); !got.IsZero() {
		t.Errorf("no date begins at %s", got)
	}
}

// The model looks at the clock every half hour, as slowly as it must to be plainly right.
func TestStartIsTheFirstInstantOfTheDay(t *testing.T) {
	for _, name := range []string{"America/Sao_Paulo", "Pacific/Auckland", "America/Havana", "Atlantic/Azores", "Australia/Lord_Howe", "Asia/Kathmandu"} {
		loc := zone(t, name)
		for day := MustParse("2018-01-01"); day.Year() < 2020; day = day.AddDays(1) {
			start := day.Start(loc)
			if Of(start) != day {
				t.Fatalf("%s in %s begins on another day: %s", day, name, start)
			}
			for before := start.Add(-time.Nanosecond); start.Sub(before) < 26*time.Hour; before = before.Add(-30 * time.Minute) {
				if !Of(before).Before(day) {
					t.Fatalf("%s in %s had begun before %s: at %s", day, name, start, before)
				}
			}
		}
	}
}

func TestLoadZone(t *testing.T) {
	for _, name := range []string{"America/Sao_Paulo", "America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Etc/GMT+5", "EST5EDT", "UTC"} {
		first, err := LoadZone(name)
		if err != nil || first.String() != name {
			t.Errorf("LoadZone(%q) = %v, %v", name, first, err)
		}
		if again, _ := LoadZone(name); again != first {
			t.Errorf("LoadZone(%q) was not cached", name)
		}
	}
	for _, name := range []string{
		"", "Local", "localtime", "posixrules", "posix/America/Sao_Paulo", "right/America/Sao_Paulo", "America/Nowhere", "America",
		"/etc/localtime", "../etc/passwd", "America/../UTC", "America//Sao_Paulo", "America/./Sao_Paulo", "America/Sao_Paulo/",
		`America\Sao_Paulo`, "America/São_Paulo", "America/Sao Paulo", "UTC\x00", "zone.tab", "-03:00",
	} {
		if loc, err := LoadZone(name); !errors.Is(err, ErrZone) {
			t.Errorf("LoadZone(%q) = %v, %v", name, loc, err)
		}
	}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := LoadZone(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return loc
}
