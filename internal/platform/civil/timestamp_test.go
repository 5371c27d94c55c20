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

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}
