//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"

	"carteira/internal/platform/sqldb"
)

// figures are requests per second and µs of processor time per request.
type figures struct{ perSecond, cpu float64 }

// goal is a multiple of PocketBase that the product should reach on SQLite.
// PocketBase is not here. Two handlers that it was once measured beside are,
// and what it was to them then stands for it now: the bare one, which is the
// same to the letter, and the one with SQL, which is alike.
type goal struct {
	work       string
	size       int // 0: the largest
	times      float64
	bare       figures // measured then
	kind       string  // the handler with SQL
	handler    figures // measured then
	pocketBase figures // measured then
}

// pocketGoals are from the table of docs/benchmarks.md.
var pocketGoals = []goal{
	{"list 50", 10_000, 10, figures{47_000, 22}, counts, figures{1700, 1100}, figures{360, 5320}},
	{"list 50", 100_000, 25, figures{47_000, 22}, direct, figures{4630, 400}, figures{159, 12_050}},
	{"random page", 100_000, 8, figures{47_000, 22}, offset, figures{588, 3010}, figures{63, 26_850}},
	{"read one", 0, 4, figures{64_000, 17}, direct, figures{10_400, 169}, figures{2940, 631}},
	{"create", 0, 3, figures{51_000, 23}, direct, figures{2900, 285}, figures{1830, 905}},
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
	postgresShare = 0.8 // of the handler with the same SQL
	growth        = 1.2 // of the list from the smallest to the largest size
	pageGrowth    = 8.0 // of any page of the big list, from page 1
	startGoal     = 150 * time.Millisecond
	idleGoal      = 40 << 20
	peakGoal      = 200 << 20
)

// printGoals judges what was measured in this run.
func (b *bench) printGoals() {
	var t table
	t.add("Goals", "asked", "measured", "verdict")
	for _, engine := range b.engines {
		if engine == sqldb.SQLite {
			b.judgePocketBase(&t)
		} else {
			b.judgeShare(&t)
		}
		b.judgeGrowth(&t, engine)
		b.judgePages(&t, engine)
		b.judgeProcess(&t, engine)
	}
	if len(t) == 1 {
		return
	}
	t.print()
	fmt.Println("Two figures are by requests/s and by CPU. × PocketBase goes by the bare handler of this run;\n" +
		"what the handler with SQL says of it stands in parentheses. See docs/benchmarks.md.")
}

func (b *bench) judgePocketBase(t *table) {
	for _, g := range pocketGoals {
		size := g.size
		if size == 0 {
			size = b.sizes[len(b.sizes)-1]
		}
		us := b.results.median(key{sqldb.SQLite, g.work, size, carteira})
		if us.perSecond == 0 {
			continue
		}
		byBare := us.times(b.results.median(key{sqldb.SQLite, g.work, b.sizes[0], bare}), g.bare, g.pocketBase)
		bySQL := us.times(b.results.median(key{sqldb.SQLite, g.work, size, g.kind}), g.handler, g.pocketBase)
		t.add(fmt.Sprintf("  SQLite: %s, %s customers", g.work, grouped(size)), fmt.Sprintf("≥ %.0f × PocketBase", g.times),
			fmt.Sprintf("%s (%s)", byBare, bySQL), verdict(byBare.perSecond >= g.times, byBare.cpu >= g.times))
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

func (b *bench) judgeShare(t *table) {
	for _, w := range b.works() {
		for _, size := range b.sizes {
			ours, theirs := key{sqldb.Postgres, w.name, size, carteira}, key{sqldb.Postgres, w.name, size, direct}
			if len(b.results[ours]) == 0 {
				continue
			}
			us, handler := b.results.median(ours), b.results.median(theirs)
			byRate, byCPU := us.perSecond/handler.perSecond, handler.allCPU()/us.allCPU()
			t.add(fmt.Sprintf("  PostgreSQL: %s, %s customers", w.name, grouped(size)), fmt.Sprintf("≥ %.1f of same SQL", postgresShare),
				fmt.Sprintf("%.2f and %.2f", byRate, byCPU), verdict(byRate >= postgresShare, byCPU >= postgresShare))
		}
	}
}

func (b *bench) judgeGrowth(t *table, engine sqldb.Engine) {
	few, many := b.sizes[0], b.sizes[len(b.sizes)-1]
	less, more := key{engine, "list 50", few, carteira}, key{engine, "list 50", many, carteira}
	if few == many || len(b.results[less]) == 0 {
		return
	}
	s, l := b.results.median(less), b.results.median(more)
	byRate, byCPU := s.perSecond/l.perSecond, l.allCPU()/s.allCPU()
	t.add(fmt.Sprintf("  %s: list 50, %s against %s", engineNames[engine], grouped(many), grouped(few)), fmt.Sprintf("≤ %.1f ×", growth),
		fmt.Sprintf("%.2f and %.2f", byRate, byCPU), verdict(byRate <= growth, byCPU <= growth))
}

func (b *bench) judgePages(t *table, engine sqldb.Engine) {
	big := &dataset{engine: engine, size: b.big}
	first := b.latency(big, "page 1")
	if first == 0 {
		return
	}
	worst, name := 0.0, ""
	for _, l := range b.lines() {
		if r := b.latency(big, l.name).Seconds() / first.Seconds(); l.page && r > worst {
			worst, name = r, l.name
		}
	}
	t.add(fmt.Sprintf("  %s: any page of %s (worst: %s)", engineNames[engine], grouped(b.big), name), fmt.Sprintf("≤ %.0f × page 1", pageGrowth),
		fmt.Sprintf("%.1f", worst), met(worst <= pageGrowth))
}

// judgeProcess is about the server as a process: start and memory.
func (b *bench) judgeProcess(t *table, engine sqldb.Engine) {
	largest := b.sizes[len(b.sizes)-1]
	starts := b.starts[startKey{engine, largest}]
	if len(starts) == 0 {
		return
	}
	var took []time.Duration
	var idle []int64
	for _, s := range starts {
		took = append(took, s.took)
		idle = append(idle, s.rss)
	}
	name := engineNames[engine]
	t.add(fmt.Sprintf("  %s: start to ready, %s customers", name, grouped(largest)), "≤ "+startGoal.String(),
		fmt.Sprintf("%s (best %s)", median(took).Round(time.Millisecond), slices.Min(took).Round(time.Millisecond)), met(median(took) <= startGoal))
	t.add(fmt.Sprintf("  %s: memory when ready", name), "≤ "+megabytes(idleGoal), megabytes(median(idle)), met(median(idle) <= idleGoal))
	if peak := b.peak[engine]; peak > 0 {
		t.add(fmt.Sprintf("  %s: memory under load, at most", name), "≤ "+megabytes(peakGoal), megabytes(peak), met(peak <= peakGoal))
	}
}

func met(yes bool) string { return verdict(yes, yes) }

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
