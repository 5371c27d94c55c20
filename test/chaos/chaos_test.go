//go:build linux

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestNothingIsLostOrDoubled is the short form. Trials run in parallel: what
// is asserted is that everything goes on at all, and that nothing is lost or
// doubled. Payments and times are for make chaos, on a machine that does nothing
// else.
func TestNothingIsLostOrDoubled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers and breaks them for a minute")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("builds the program")
	}
	house, err := newHouse(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer house.close()
	house.unpaid = true
	var mu sync.Mutex
	var rows []row
	var all sync.WaitGroup
	free := make(chan struct{}, 3)
	for _, trial := range trials {
		if !trial.short {
			continue
		}
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			row := house.try(t.Context(), trial)
			mu.Lock()
			defer mu.Unlock()
			t.Log(row.line())
			row.settled, row.trial.goal.most = 0, time.Hour
			rows = append(rows, row)
		})
	}
	all.Wait()
	if err := verdict(rows); err != nil {
		t.Error(err)
	}
}

func TestVerdictFailsOnlyForWhatMayNotBe(t *testing.T) {
	open, kept := goal{time.Second, everything, false}, goal{time.Second, everything, true}
	for name, tt := range map[string]struct {
		row   row
		fails bool
	}{
		"all is well":           {row{acked: 9, trial: trial{goal: kept}}, false},
		"lost":                  {row{acked: 9, lost: 1, trial: trial{goal: open}}, true},
		"doubled":               {row{acked: 9, doubled: 1, trial: trial{goal: open}}, true},
		"refused":               {row{refused: []string{"422"}, trial: trial{goal: open}}, true},
		"lost with its files":   {row{acked: 9, lost: 1, trial: trial{number: "6", goal: open}}, false},
		"a process ended":       {row{ended: []string{"a"}, trial: trial{goal: open}}, true},
		"an open goal missed":   {row{writes: time.Hour, trial: trial{goal: open}}, false},
		"a kept goal missed":    {row{writes: 2 * time.Second, trial: trial{goal: kept}}, false},
		"a kept one by far":     {row{arrivals: 4 * time.Second, trial: trial{goal: kept}}, true},
		"settlement by far":     {row{settled: 2 * time.Minute, trial: trial{goal: open}}, true},
		"settlement late":       {row{settled: time.Minute, trial: trial{goal: kept}}, false},
		"repeats without cause": {row{repeated: 1, trial: trial{goal: kept}}, true},
		"repeats with cause":    {row{repeated: 2, trial: trial{goal: kept, repeats: 2}}, false},
		"an open one never":     {row{err: errors.New("no settlement"), trial: trial{goal: open}}, false},
		"a kept one never":      {row{err: errors.New("no settlement"), trial: trial{goal: kept}}, true},
		"not run":               {row{skipped: "no root", trial: trial{goal: kept}}, false},
		"only its own counts":   {row{writes: time.Hour, value: time.Second, trial: trial{goal: goal{time.Second, special, true}}}, false},
		"deliveries by far":     {row{arrivals: time.Hour, trial: trial{goal: goal{time.Second, deliveries, true}}}, true},
		"writes, and no others": {row{arrivals: time.Hour, trial: trial{goal: goal{time.Second, writing, true}}}, false},
	} {
		if err := tt.row.verdict(); (err != nil) != tt.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLongestGapCountsFromTheFault(t *testing.T) {
	at := func(seconds ...int) (list []time.Time) {
		for _, second := range seconds {
			list = append(list, time.Unix(int64(second), 0))
		}
		return list
	}
	for _, tt := range []struct {
		from int
		at   []time.Time
		want time.Duration
	}{
		{10, at(), 0}, {10, at(1, 2, 11, 12), time.Second}, {10, at(1, 16, 17), 6 * time.Second}, {10, at(20, 11, 12), 8 * time.Second},
	} {
		if got := longestGap(time.Unix(int64(tt.from), 0), tt.at); got != tt.want {
			t.Errorf("from %d: %s, want %s", tt.from, got, tt.want)
		}
	}
}

func TestTableHasARowForEachTrial(t *testing.T) {
	var rows []row
	for i, trial := range trials {
		r := row{trial: trial, acked: i}
		if i == 0 {
			r.skipped = "no root"
		}
		rows = append(rows, r)
	}
	text := table(rows)
	if n := strings.Count(text, "\n"); n != len(trials)+2 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for _, trial := range trials {
		if !strings.Contains(text, fmt.Sprintf("| %s (%s) | %s |", trial.name, trial.number, trial.database)) {
			t.Errorf("%s is not there", trial.name)
		}
	}
}
