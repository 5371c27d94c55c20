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

// goal is a multiple of PocketBase that the product should reach on SQLite.
// PocketBase is not here yet. The bare handler, which it was once measured
// beside, is the same to the letter, so what PocketBase was to it then counts as
// what it would be now.
type goal struct {
	work       string
	size       int     // 0: the largest
	times      figures // asked, by requests per second and by processor time
	bare       figures // measured then
	pocketBase figures // measured then
}

// pocketGoals are from the table of docs/benchmarks.md.
var pocketGoals = []goal{
	{"list 50", 10_000, figures{18, 18}, figures{47_000, 22}, figures{360, 5320}},
	{"list 50", 100_000, figures{40, 40}, figures{47_000, 22}, figures{159, 12_050}},
	{"random page", 100_000, figures{40, 40}, figures{47_000, 22}, figures{63, 26_850}},
	{"read one", 0, figures{9, 9}, figures{64_000, 17}, figures{2940, 631}},
	{"create", 0, figures{2.5, 4}, figures{51_000, 23}, figures{1830, 905}},
}

// times is how many times PocketBase a measurement is, going by a handler of
// the same run and what that handler was to PocketBase.
func (s sample) times(handler sample, then, pocketBase figures) figures {
	return figures{
		perSecond: s.perSecond / handler.perSecond * then.perSecond / pocketBase.perSecond,
		cpu:       handler.cpu / s.cpu * pocketBase.cpu / then.cpu,
	}
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
		b.judgeProcess(&t, engine)
		b.judgeIdle(&t, engine)
	}
	if len(t) == 1 {
		return
	}
	t.print()
	fmt.Println("Two figures are by requests/s and by CPU. × PocketBase goes by the bare handler of this run:\n" +
		"see docs/benchmarks.md.")
}

func (b *bench) judgePocketBase(table *table) {
	for _, goal := range pocketGoals {
		size := goal.size
		if size == 0 {
			size = b.sizes[len(b.sizes)-1]
		}
		us := b.results.median(key{sqldb.SQLite, goal.work, size, carteira})
		if us.perSecond == 0 {
			continue
		}
		got := us.times(b.results.median(key{sqldb.SQLite, goal.work, b.sizes[0], bare}), goal.bare, goal.pocketBase)
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
}

func met(yes bool) string { return verdict(yes, yes) }

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
