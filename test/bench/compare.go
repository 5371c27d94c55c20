//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// carteira is the kind of the product.
const carteira = "carteira"

// sample is one measurement.
type sample struct {
	perSecond float64
	cpu       float64 // µs per request, PostgreSQL's processes included
	takeCPU   float64 // µs per delivery of its receiver
	peak      int64   // bytes
	ready     time.Duration
	rss       int64 // bytes when it was ready
}

// middle takes the median of each figure by itself, and the highest peak.
func middle(samples []sample) (all sample) {
	of := func(figure func(sample) float64) float64 {
		list := make([]float64, len(samples))
		for i, sample := range samples {
			list[i] = figure(sample)
		}
		return median(list)
	}
	for _, sample := range samples {
		all.peak = max(all.peak, sample.peak)
	}
	all.perSecond = of(func(s sample) float64 { return s.perSecond })
	all.cpu = of(func(s sample) float64 { return s.cpu })
	all.takeCPU = of(func(s sample) float64 { return s.takeCPU })
	all.ready = time.Duration(of(func(s sample) float64 { return float64(s.ready) }))
	all.rss = int64(of(func(s sample) float64 { return float64(s.rss) }))
	return all
}

// works are those that were asked for.
func (b *bench) works() []work {
	return slices.DeleteFunc(works(), func(work work) bool { return !b.only.MatchString(work.name) })
}

// rival is what the product is compared with on a database; "": nothing.
func (b *bench) rival(engine sqldb.Engine) string {
	switch {
	case engine == sqldb.Postgres:
		return direct
	case b.pocket:
		return pocketBase
	}
	return ""
}

// compare measures the product and its rival in turns. Only one server runs at a
// time, so that the work of one is not in the figures of the other.
func (b *bench) compare(ctx context.Context, sets []*dataset) error {
	var ours []sample
	for _, work := range b.works() {
		for _, set := range sets {
			rival := b.rival(set.engine)
			if rival == direct && work.search {
				continue
			}
			var us, them []sample
			for range b.rounds {
				sample, err := b.turn(ctx, work, carteira, set)
				if err != nil {
					return err
				}
				us = append(us, sample)
				if rival == "" {
					continue
				}
				if sample, err = b.turn(ctx, work, rival, set); err != nil {
					return err
				}
				them = append(them, sample)
			}
			b.reportWork(work, set, middle(us), middle(them))
			if set == sets[len(sets)-1] {
				ours = append(ours, us...)
			}
		}
	}
	if len(ours) > 0 {
		b.reportProcess(sets[len(sets)-1], middle(ours))
	}
	return nil
}

func (b *bench) reportWork(work work, set *dataset, us, them sample) {
	what := fmt.Sprintf("%s, %s customers", work.name, grouped(set.size))
	figures := fmt.Sprintf("%s/s, %s µs", rate(us.perSecond), rate(us.cpu))
	if them.perSecond == 0 {
		b.report.add(set.engine, what, figures, "")
		return
	}
	byRate, byCPU := us.perSecond/them.perSecond, them.cpu/us.cpu
	floor, name := work.floor(set.size), "PocketBase"
	if set.engine == sqldb.Postgres {
		floor, name = figure{0.9, 0.9}, "plain SQL"
	}
	b.report.add(set.engine, what, fmt.Sprintf("%.2f and %.2f × %s (%s)", byRate, byCPU, name, figures),
		fmt.Sprintf("≥ %g and %g ×", floor.rate, floor.cpu), byRate >= floor.rate, byCPU >= floor.cpu)
}

// reportProcess is about the server as a process: start and memory.
func (b *bench) reportProcess(set *dataset, us sample) {
	const ready, idle, peak = 40 * time.Millisecond, 40 << 20, 120 << 20
	what := fmt.Sprintf(", %s customers", grouped(set.size))
	b.report.add(set.engine, "start to ready"+what, millis(us.ready), "≤ "+millis(ready), us.ready <= ready)
	b.report.add(set.engine, "memory when ready"+what, megabytes(us.rss), "≤ "+megabytes(idle), us.rss <= idle)
	b.report.add(set.engine, "memory under load, at most"+what, megabytes(us.peak), "≤ "+megabytes(peak), us.peak <= peak)
}

// turn is one measurement of one server.
func (b *bench) turn(ctx context.Context, work work, kind string, set *dataset) (measured sample, err error) {
	process, err := b.serve(ctx, kind, set)
	if err != nil {
		return measured, err
	}
	rss := memoryOf(process.pid(), "VmRSS")
	measured, err = b.sample(ctx, process, work.asked(kind, set), set)
	measured.peak, measured.ready, measured.rss = memoryOf(process.pid(), "VmHWM"), process.ready, rss
	process.stop()
	if err != nil {
		return measured, fmt.Errorf("%s, %s, %d customers: %w", work.name, kind, set.size, err)
	}
	if kind == pocketBase {
		return measured, nil
	}
	return measured, foldAll(ctx, set)
}

func (b *bench) serve(ctx context.Context, kind string, set *dataset) (*process, error) {
	switch kind {
	case pocketBase:
		return b.startPocketBase(ctx, set)
	case direct:
		return b.startDirect(ctx, set)
	}
	return b.startProduct(ctx, set)
}

// warmUp is how long a server is under load before it is measured.
func (b *bench) warmUp() time.Duration { return min(b.span/2, 500*time.Millisecond) }

func (b *bench) sample(ctx context.Context, process *process, requests asking, set *dataset) (measured sample, err error) {
	if _, err := load(ctx, process.addr, b.conns, b.warmUp(), requests); err != nil {
		return measured, err
	}
	before, err := b.used(ctx, process, set)
	if err != nil {
		return measured, err
	}
	began := time.Now()
	count, err := load(ctx, process.addr, b.conns, b.span, requests)
	if err != nil {
		return measured, err
	}
	measured.perSecond = float64(count) / time.Since(began).Seconds()
	after, err := b.used(ctx, process, set)
	for pid, cpu := range after {
		measured.cpu += float64((cpu - before[pid]).Microseconds()) / float64(count)
	}
	return measured, err
}

// used is the processor time so far of the server and of the database's processes
// behind it.
func (b *bench) used(ctx context.Context, process *process, set *dataset) (used map[int]time.Duration, err error) {
	used = map[int]time.Duration{}
	if set.engine == sqldb.Postgres {
		if used, err = b.postgres.backends(ctx, set.url); err != nil {
			return nil, err
		}
	}
	used[process.pid()] = cpuOf(process.pid())
	return used, nil
}

// foldAll does what the product's server does every two seconds, so that none pays
// in its turn for what another one wrote.
func foldAll(ctx context.Context, set *dataset) error {
	db, err := sqldb.Open(ctx, set.url, sqldb.Options{})
	if err != nil {
		return err
	}
	return errors.Join(tally.Compact(ctx, db), db.Close())
}
