//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// key names what was measured.
type key struct {
	engine sqldb.Engine
	work   string
	size   int
	kind   string // a baseline, or carteira
}

// carteira is the kind of the product.
const carteira = "carteira"

// sample is one measurement.
type sample struct {
	perSecond float64
	cpu       float64 // µs per request
	dbCPU     float64 // µs per request of PostgreSQL's processes
	takeCPU   float64 // µs per delivery of its receiver
}

func (s sample) allCPU() float64 { return s.cpu + s.dbCPU }

type results map[key][]sample

// median takes the median of each figure by itself.
func (r results) median(key key) sample {
	of := func(figure func(sample) float64) float64 {
		list := make([]float64, len(r[key]))
		for i, sample := range r[key] {
			list[i] = figure(sample)
		}
		return median(list)
	}
	return sample{
		perSecond: of(func(sample sample) float64 { return sample.perSecond }),
		cpu:       of(func(sample sample) float64 { return sample.cpu }),
		dbCPU:     of(func(sample sample) float64 { return sample.dbCPU }),
		takeCPU:   of(func(sample sample) float64 { return sample.takeCPU }),
	}
}

func median[T cmp.Ordered](list []T) T {
	if len(list) == 0 {
		var none T
		return none
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// start is how a server of the product came up.
type start struct {
	took time.Duration
	rss  int64
}

type startKey struct {
	engine sqldb.Engine
	size   int
}

// kinds are what a dataset is measured with, besides the bare handler.
func (b *bench) kinds(dataset *dataset) []string {
	switch {
	case dataset.engine == sqldb.Postgres:
		return []string{carteira, direct}
	case b.beside:
		return []string{carteira, pocketBase}
	}
	return []string{carteira}
}

// works are those that were asked for.
func (b *bench) works() []work {
	return slices.DeleteFunc(works(), func(work work) bool { return !b.only.MatchString(work.name) })
}

// compare measures the product and the baselines in turns. Only one server
// runs at a time, so that nobody's own affairs are in another's figures.
func (b *bench) compare(ctx context.Context, sets []*dataset) error {
	for _, work := range b.works() {
		if err := b.capture(ctx, sets[0]); err != nil {
			return err
		}
		bar := newProgress(fmt.Sprintf("measuring %s on %s", work.name, sets[0].engine))
		for round := range b.rounds {
			if err := b.turn(ctx, work, bare, sets[0]); err != nil {
				return err
			}
			for _, set := range sets {
				for _, kind := range b.kinds(set) {
					if err := b.turn(ctx, work, kind, set); err != nil {
						return err
					}
				}
			}
			bar.show(round+1, b.rounds)
		}
		b.printWork(work, sets)
	}
	return nil
}

// turn is one measurement of one server.
func (b *bench) turn(ctx context.Context, work work, kind string, dataset *dataset) error {
	process, err := b.serve(ctx, kind, dataset)
	if err != nil {
		return err
	}
	sample, err := b.sample(ctx, process, work.asked(kind, dataset), dataset)
	switch kind {
	case carteira:
		b.peak[dataset.engine] = max(b.peak[dataset.engine], memoryOf(process.pid(), "VmHWM"))
	case pocketBase:
		b.pocketPeak = max(b.pocketPeak, memoryOf(process.pid(), "VmHWM"))
		b.pocketStarts = append(b.pocketStarts, process.ready)
	}
	process.stop()
	if err != nil {
		return fmt.Errorf("%s, %s, %d customers: %w", work.name, kind, dataset.size, err)
	}
	k := key{dataset.engine, work.name, dataset.size, kind}
	b.results[k] = append(b.results[k], sample)
	if kind == pocketBase {
		return nil
	}
	return foldAll(ctx, dataset)
}

func (b *bench) serve(ctx context.Context, kind string, dataset *dataset) (*process, error) {
	switch kind {
	case carteira:
	case pocketBase:
		return b.startPocketBase(ctx, dataset)
	default:
		return b.startBaseline(ctx, kind, dataset)
	}
	process, err := b.startProduct(ctx, dataset)
	if err != nil {
		return nil, err
	}
	key := startKey{dataset.engine, dataset.size}
	b.starts[key] = append(b.starts[key], start{process.ready, memoryOf(process.pid(), "VmRSS")})
	return process, nil
}

// warmUp is how long a server is under load before it is measured.
func (b *bench) warmUp() time.Duration { return min(b.span/2, 500*time.Millisecond) }

func (b *bench) sample(ctx context.Context, process *process, requests asking, dataset *dataset) (sample, error) {
	if _, err := load(ctx, process.addr, b.conns, b.warmUp(), requests); err != nil {
		return sample{}, err
	}
	before, err := b.used(ctx, process, dataset)
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	count, err := load(ctx, process.addr, b.conns, b.span, requests)
	if err != nil {
		return sample{}, err
	}
	took := time.Since(began)
	after, err := b.used(ctx, process, dataset)
	if err != nil {
		return sample{}, err
	}
	s := sample{perSecond: float64(count) / took.Seconds()}
	for pid, cpu := range after {
		spent := float64((cpu - before[pid]).Microseconds()) / float64(count)
		if pid == process.pid() {
			s.cpu += spent
		} else {
			s.dbCPU += spent
		}
	}
	return s, nil
}

// used is the processor time so far of the server and of the database's
// processes behind it.
func (b *bench) used(ctx context.Context, process *process, dataset *dataset) (map[int]time.Duration, error) {
	used := map[int]time.Duration{}
	if dataset.engine == sqldb.Postgres {
		var err error
		if used, err = b.postgres.backends(ctx, dataset.url); err != nil {
			return nil, err
		}
	}
	used[process.pid()] = cpuOf(process.pid())
	return used, nil
}

// foldAll does what the product's server does every two seconds, so that none
// pays in its turn for what another one wrote.
func foldAll(ctx context.Context, dataset *dataset) error {
	db, err := sqldb.Open(ctx, dataset.url, sqldb.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	return tally.Compact(ctx, db)
}

// capture keeps what the product answers, for the baselines to repeat.
func (b *bench) capture(ctx context.Context, dataset *dataset) error {
	process, err := b.serve(ctx, carteira, dataset)
	if err != nil {
		return err
	}
	defer process.stop()
	client, err := dial(ctx, process.addr)
	if err != nil {
		return err
	}
	defer client.close()
	for _, work := range works() {
		body, err := client.do(work.requests(dataset, 0)())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.dir, work.answer+".json"), body, 0o600); err != nil {
			return err
		}
	}
	return nil
}
