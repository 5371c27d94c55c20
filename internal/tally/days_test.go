package tally

import (
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// everyDay is some of the days that records have, ends of months and of the
// calendar among them.
var everyDay = []string{
	"", "0001-01-01", "1900-01-01", "2025-12-31", "2026-01-01", "2026-01-31", "2026-02-01", "2026-02-15", "2026-02-28",
	"2026-03-01", "2026-03-02", "2027-01-01", "9999-12-31",
}

// Whatever days are asked for, the months and the single days that are read hold
// each of them once and no other.
func TestRunsHoldEachOfTheDaysOnce(t *testing.T) {
	ends := []string{"", "0", "2026", "2026-02", After("2026-02"), After("2026-03")}
	for _, day := range everyDay[1:] {
		ends = append(ends, day, After(day))
	}
	for _, from := range ends {
		for _, until := range ends {
			days := Days{from, until}
			for _, day := range everyDay {
				want := 0
				if day >= from && (until == "" || day < until) {
					want = 1
				}
				if got := timesRead(runsOf([]Days{days}), day); got != want {
					t.Errorf("%q of %+v is read %d times, want %d: %+v", day, days, got, want, days.runs())
				}
			}
		}
	}
}

func timesRead(runs []run, day string) (times int) {
	for _, run := range runs {
		at := day
		if run.unit == unitMonth {
			at = monthOf(day)
		}
		if at >= run.From && (run.Until == "" || at < run.Until) {
			times++
		}
	}
	return times
}

func TestSpansThatFollowEachOtherAreReadTogether(t *testing.T) {
	starts := []string{"", "0", "2026-01-01", "2026-02-10", After("2026-02-10"), After("2026-02-28")}
	got := runsOf(Cut(starts, ""))
	want := []run{
		{unitMonth, Days{"", "2026-02"}}, {unitDay, Days{"2026-02", After("2026-02")}}, {unitMonth, Days{After("2026-02"), ""}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// What leaves a day altogether leaves no row behind.
func TestDaysThatNobodyHasLeaveNoRow(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		first := Change{Key: Key{Day: "2026-01-31", PlanID: 1}, N: 1, Cents: 7}
		second := Change{Key: Key{Day: "2026-02-28", PlanID: 1}, N: 1, Cents: 7}
		write(t, db, func(tx *sqldb.Tx) error { return Customers.Add(t.Context(), tx, 1, first) })
		must(t, Compact(t.Context(), db))
		write(t, db, func(tx *sqldb.Tx) error { return Customers.Move(t.Context(), tx, 1, first, second) })
		must(t, Compact(t.Context(), db))
		for text, want := range map[string]int64{
			`SELECT count(*) FROM tally_months`:                      1,
			`SELECT cents FROM tally_months WHERE month = '2026-02'`: 7,
		} {
			if n := number(t, db, text); n != want {
				t.Errorf("%s: %d, want %d", text, n, want)
			}
		}
	})
}
