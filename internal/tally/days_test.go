package tally

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
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

// dated are records whose day and state follow from their ids.
func dated(ids []int64, n int64) []Change {
	list := changes(ids, n)
	for i, id := range ids {
		list[i].Day, list[i].State = dayOf(id), stateOf(id)
	}
	return list
}

func dayOf(id int64) string {
	if id%11 == 0 {
		return ""
	}
	return fmt.Sprintf("2026-%02d-%02d", 1+id%5, 1+id%28)
}

func stateOf(id int64) string { return []string{"", CustomerCancelled, CustomerOwnPrice}[min(2, id%7)] }

// Pages deep in a list with gaps of records of some days, of which some are
// folded and some are not.
func TestEveryPageOfDaysIsWhereTheListSaysItIs(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		random := rand.New(rand.NewPCG(7, 8))
		var list []int64 // of company 1, newest first
		for id := int64((2*bucketsInArea + 3) * bucketSize); id > 0; id -= 1 + random.Int64N(9) {
			list = append(list, id)
		}
		others := []int64{5, bucketSize, 3*bucketSize + 1}
		for company, ids := range map[int64][]int64{1: list, 2: others} {
			fill(t, db, company, ids)
			write(t, db, func(tx *sqldb.Tx) error { return Customers.Add(t.Context(), tx, company, dated(ids, 1)...) })
		}
		must(t, Compact(t.Context(), db))
		gone := list[10:900:900]
		write(t, db, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(t.Context(), `DELETE FROM things WHERE company_id = 1 AND id <= ? AND id >= ?`,
				gone[0], gone[len(gone)-1]); err != nil {
				return err
			}
			return Customers.Add(t.Context(), tx, 1, dated(gone, -1)...)
		})
		list = slices.Concat(list[:10], list[900:])
		for range 2 {
			wantDays(t, db, random, list)
			must(t, Compact(t.Context(), db))
		}
	})
}

func wantDays(t *testing.T, db *sqldb.DB, random *rand.Rand, list []int64) {
	t.Helper()
	for _, c := range []struct {
		days  []Days
		state string
		has   func(day, state string) bool
	}{
		{[]Days{{}}, "state = 'cancelled'", func(_, state string) bool { return state == CustomerCancelled }},
		{
			[]Days{NoDay, {From: "2026-03-11"}},
			"state <> 'cancelled'",
			func(day, state string) bool { return state != CustomerCancelled && (day == "" || day >= "2026-03-11") },
		},
		{
			[]Days{{"1900-01-01", "2026-03-10"}},
			"state <> 'cancelled'",
			func(day, state string) bool { return state != CustomerCancelled && day != "" && day < "2026-03-10" },
		},
	} {
		ids := slices.DeleteFunc(slices.Clone(list), func(id int64) bool { return !c.has(dayOf(id), stateOf(id)) })
		filter := Filter{Days: c.days}
		filter.And(c.state)
		for range 20 {
			page := input.Page{Size: 1 + random.Int64N(200)}
			page.Number = 1 + random.Int64N(page.Last(int64(len(ids))))
			wantDaysPage(t, db, filter, ids, page)
		}
	}
}

// wantDaysPage compares the window with the list. The table of the tests has no
// days, so the ids that match are given to the database.
func wantDaysPage(t *testing.T, db *sqldb.DB, filter Filter, ids []int64, page input.Page) {
	t.Helper()
	source := sqldb.Source{From: "things", ID: "id", Order: "id"}
	source.Where.And("company_id = ? AND id {in ?}", 1, ids)
	window, records, err := Customers.DayWindow(t.Context(), db, 1, filter,
		sqldb.Window{Source: source, Limit: page.Size, Offset: page.Offset()})
	must(t, err)
	if records != int64(len(ids)) {
		t.Errorf("%d records, want %d", records, len(ids))
	}
	wantIDs(t, db, window, ids, page)
	wantNear(t, window)
}

// What leaves a day altogether leaves no row behind.
func TestDaysThatNobodyHasLeaveNoRow(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		first := Change{Key: Key{Bucket: 40, Day: "2026-01-31", PlanID: 1}, N: 1, Cents: 7}
		second := Change{Key: Key{Bucket: 40, Day: "2026-02-28", PlanID: 1}, N: 1, Cents: 7}
		write(t, db, func(tx *sqldb.Tx) error { return Customers.Add(t.Context(), tx, 1, first) })
		must(t, Compact(t.Context(), db))
		write(t, db, func(tx *sqldb.Tx) error { return Customers.Move(t.Context(), tx, 1, first, second) })
		must(t, Compact(t.Context(), db))
		for text, want := range map[string]int64{
			`SELECT count(*) FROM tally_places`: 4,
			`SELECT count(*) FROM tally_places WHERE day LIKE '2026-02%' AND area = -1 AND part = 0 AND n2 = 1`: 2,
			`SELECT count(*) FROM tally_places WHERE day LIKE '2026-02%' AND area = 2 AND part = 2 AND n8 = 1`:  2,
			`SELECT count(*) FROM tally_months`:                      1,
			`SELECT cents FROM tally_months WHERE month = '2026-02'`: 7,
		} {
			if n := number(t, db, text); n != want {
				t.Errorf("%s: %d, want %d", text, n, want)
			}
		}
	})
}
