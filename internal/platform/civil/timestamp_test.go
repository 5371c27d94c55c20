package civil

import (
	"testing"
	"time"
)

func TestTimestampHasTheOffsetOfTheCompanyAndNeverZ(t *testing.T) {
	winter := time.Date(2026, 1, 15, 23, 59, 59, 999_999_999, time.UTC)
	summer := winter.AddDate(0, 6, 0)
	tests := []struct {
		zone string
		at   time.Time
		want string
	}{
		{"UTC", winter, "2026-01-15T23:59:59+00:00"},
		{"Europe/London", winter, "2026-01-15T23:59:59+00:00"},
		{"Europe/London", summer, "2026-07-16T00:59:59+01:00"},
		{"America/Sao_Paulo", winter, "2026-01-15T20:59:59-03:00"},
		{"Asia/Kathmandu", winter, "2026-01-16T05:44:59+05:45"},
		{"Pacific/Kiritimati", winter, "2026-01-16T13:59:59+14:00"},
	}
	for _, tt := range tests {
		got := Timestamp(tt.at, location(t, tt.zone))
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.zone, got, tt.want)
		}
		if back, err := time.Parse(time.RFC3339, got); err != nil || !back.Equal(tt.at.Truncate(time.Second)) {
			t.Errorf("%s reads back as %v, %v", got, back, err)
		}
		if appended := AppendTimestamp([]byte("at "), tt.at, location(t, tt.zone)); string(appended) != "at "+tt.want {
			t.Errorf("appended %q", appended)
		}
	}
}

func TestTimestampIsThatOfTheLibrary(t *testing.T) {
	zones := []*time.Location{
		time.UTC, location(t, "America/Sao_Paulo"), location(t, "Asia/Kathmandu"),
		time.FixedZone("", -11188), time.FixedZone("", -30), time.FixedZone("", 14*3600),
	}
	for _, zone := range zones {
		for day := -200_000; day < 3_100_000; day += 67 { // the years 1422 to 10457
			at := time.Unix(int64(day)*86400+int64(day%86400), 0)
			if got, want := Timestamp(at, zone), string(appendFormatted(nil, at.In(zone))); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	}
	for second := range 2 * 86400 { // around the end of a leap day
		at := time.Unix(951782400+int64(second), 0)
		if got, want := Timestamp(at, zones[1]), string(appendFormatted(nil, at.In(zones[1]))); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}
