package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScalingHoldsWhatTheDayPrints(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "scaling.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range live(usual).report(usual) {
		if !strings.Contains(string(document), strings.TrimSpace(line)) {
			t.Errorf("docs/scaling.md does not hold %q", line)
		}
	}
}

func TestTheSameSeedGivesTheSameDay(t *testing.T) {
	small := plan{companies: 1000, customers: 500, cores: 2, busy: 0.6, night: 2, seed: 7}
	first, second := live(small).report(small), live(small).report(small)
	if strings.Join(first, "\n") != strings.Join(second, "\n") {
		t.Errorf("%q and %q", first, second)
	}
	other := small
	other.seed = 8
	if third := live(other).report(small); strings.Join(first, "\n") == strings.Join(third, "\n") {
		t.Error("another seed gives the same day")
	}
}

func TestHabitsHappenAsOftenAsTheySay(t *testing.T) {
	some := plan{companies: 2000, customers: 500, cores: 2, busy: 0.6, night: 2, seed: 3}
	day := live(some)
	customers := 0
	for _, size := range day.sizes {
		customers += size
	}
	for _, habit := range habits() {
		want := habit.perCompany*float64(some.companies) + habit.perClient*float64(customers)
		if got := day.byHabit[habit.name]; math.Abs(got-want) > 0.03*want {
			t.Errorf("%s: %.0f in a day, %.0f were expected", habit.name, got, want)
		}
	}
}

func TestTwiceTheCompaniesTakeAboutTwiceTheCores(t *testing.T) {
	some := plan{companies: 20_000, customers: 500, cores: 2, busy: 0.6, night: 2, seed: 1}
	double := some
	double.companies *= 2
	few, many := live(some), live(double)
	for _, pair := range [][2]float64{{few.peak.app, many.peak.app}, {few.peak.database, many.peak.database}} {
		if ratio := pair[1] / pair[0]; ratio < 1.5 || ratio > 2.1 {
			t.Errorf("%.0f µs in the busiest second, then %.0f", pair[0], pair[1])
		}
	}
}

func TestMachinesDoTheWorkOfTheBusiestSecondAndOfMidnight(t *testing.T) {
	plan := plan{cores: 2, busy: 0.5, night: 1}
	for name, c := range map[string]struct {
		day  today
		want machines
	}{
		"a quiet day":      {today{peak: cost{app: 10, database: 10}}, machines{app: 1, database: 1}},
		"a busy second":    {today{peak: cost{app: 3.5 * microsecs, database: 2 * microsecs}}, machines{app: 4, database: 2}},
		"a large midnight": {today{waiting: cost{app: 3600 * 2.5 * microsecs, database: 3600 * microsecs}}, machines{app: 3, database: 1}},
	} {
		c.day.sizes = []int{500, 500, 500, 500}
		got := c.day.count(plan)
		if got.app != c.want.app || got.database < c.want.database {
			t.Errorf("%s: %+v, want at least %+v", name, got, c.want)
		}
	}
}
