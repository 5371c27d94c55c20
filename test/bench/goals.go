//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/platform/sqldb"
)

// figures are requests per second and µs of processor time per request.
type figures struct{ perSecond, cpu float64 }

// goal is a multiple of PocketBase, measured in the same run, that the product
// should reach on SQLite.
type goal struct {
	work  string
	size  int     // 0: the largest
	times figures // asked, by requests per second and by processor time
}

var pocketGoals = []goal{
	{"list 50", 10_000, figures{18, 18}},
	{"list 50", 100_000, figures{40, 40}},
	{"random page", 100_000, figures{40, 40}},
	{"read one", 0, figures{9, 9}},
	{"create", 0, figures{2.5, 4}},
}

// times is how many times another measurement this one is.
func (s sample) times(other sample) figures {
	return figures{perSecond: s.perSecond / other.perSecond, cpu: other.cpu / s.cpu}
}

func (f figures) String() string { return fmt.Sprintf("%.1f and %.1f", f.perSecond, f.cpu) }

const (
	postgresShare = 1.0 // of the handler with the same SQL
	pageGoal      = 2 * time.Millisecond
	searchGoal    = 15 * time.Millisecond
	startGoal     = 40 * time.Millisecond
	idleGoal      = 35 << 20
	peakGoal      = 100 << 20
)

// printGoals judges what was measured in this run.
func (b *bench) printGoals() {
	var t table
	t.add("Goals", "asked", "measured", "verdict")
	for _, engine := range b.engines {
		if engine == sqldb.SQLite {
			b.judgePocketBase(&t)
			b.judgeYear(&t)
		} else {
			b.judgeShare(&t)
		}
		b.judgeLines(&t, engine, "page", pageGoal)
		b.judgeLines(&t, engine, "search", searchGoal)
		b.judgeLines(&t, engine, "first answer", searchGoal)
		b.judgeProcess(&t, engine)
		b.judgeIdle(&t, engine)
		b.judgePages(&t, engine)
	}
	if len(t) == 1 {
		return
	}
	t.print()
	fmt.Println("Two figures are by requests/s and by CPU. See docs/benchmarks.md.")
}

func (b *bench) judgePocketBase(table *table) {
	for _, goal := range pocketGoals {
		size := goal.size
		if size == 0 {
			size = b.sizes[len(b.sizes)-1]
		}
		us := b.results.median(key{sqldb.SQLite, goal.work, size, carteira})
		them := b.results.median(key{sqldb.SQLite, goal.work, size, pocketBase})
		if us.perSecond == 0 || them.perSecond == 0 {
			continue
		}
		got := us.times(them)
		table.add(fmt.Sprintf("  SQLite: %s, %s customers", goal.work, grouped(size)), fmt.Sprintf("≥ %s × PocketBase", goal.times),
			got.String(), verdict(got.perSecond >= goal.times.perSecond, got.cpu >= goal.times.cpu))
	}
}

// verdict says by which of the two measures a goal is met. Processor time is
// the steadier one on a shared machine.
func verdict(byRate, byCPU bool) string {
	switch {
	case byRate && byCPU:
		return "met"
	case byRate:
		return "met by requests/s only"
	case byCPU:
		return "met by CPU only"
	}
	return "NOT MET"
}

func (b *bench) judgeShare(table *table) {
	for _, work := range b.works() {
		for _, size := range b.sizes {
			ours, theirs := key{sqldb.Postgres, work.name, size, carteira}, key{sqldb.Postgres, work.name, size, direct}
			if len(b.results[ours]) == 0 {
				continue
			}
			us, handler := b.results.median(ours), b.results.median(theirs)
			byRate, byCPU := us.perSecond/handler.perSecond, handler.allCPU()/us.allCPU()
			table.add(fmt.Sprintf("  PostgreSQL: %s, %s customers", work.name, grouped(size)), fmt.Sprintf("≥ %.1f of same SQL", postgresShare),
				fmt.Sprintf("%.2f and %.2f", byRate, byCPU), verdict(byRate >= postgresShare, byCPU >= postgresShare))
		}
	}
}

// judgeLines judges the slowest request at the big size among those whose name
// contains a word.
func (b *bench) judgeLines(table *table, engine sqldb.Engine, word string, goal time.Duration) {
	big := &dataset{engine: engine, size: b.big}
	var worst time.Duration
	name := ""
	for _, line := range b.lines() {
		if took := b.latency(big, line.name); strings.Contains(line.name, word) && took > worst {
			worst, name = took, line.name
		}
	}
	if worst == 0 {
		return
	}
	table.add(fmt.Sprintf("  %s: any %s of %s (worst: %s)", engineNames[engine], word, grouped(b.big), name),
		"≤ "+goal.String(), millis(worst)+" ms", met(worst <= goal))
}

// judgeProcess is about the server as a process: start and memory.
func (b *bench) judgeProcess(table *table, engine sqldb.Engine) {
	largest := b.sizes[len(b.sizes)-1]
	starts := b.starts[startKey{engine, largest}]
	if len(starts) == 0 {
		return
	}
	var took []time.Duration
	var idle []int64
	for _, start := range starts {
		took = append(took, start.took)
		idle = append(idle, start.rss)
	}
	name := engineNames[engine]
	table.add(fmt.Sprintf("  %s: start to ready, %s customers", name, grouped(largest)), "≤ "+startGoal.String(),
		fmt.Sprintf("%s (best %s)", median(took).Round(time.Millisecond), slices.Min(took).Round(time.Millisecond)),
		met(median(took) <= startGoal))
	table.add(fmt.Sprintf("  %s: memory when ready", name), "≤ "+megabytes(idleGoal), megabytes(median(idle)), met(median(idle) <= idleGoal))
	if peak := b.peak[engine]; peak > 0 {
		table.add(fmt.Sprintf("  %s: memory under load, at most", name), "≤ "+megabytes(peakGoal), megabytes(peak), met(peak <= peakGoal))
	}
	if len(b.pocketStarts) > 0 && engine == sqldb.SQLite {
		table.add("  PocketBase: start to ready, memory under load", "", fmt.Sprintf("%s, %s",
			median(b.pocketStarts).Round(time.Millisecond), megabytes(b.pocketPeak)), "")
	}
}

func met(yes bool) string { return verdict(yes, yes) }

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
