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
}

func (s sample) allCPU() float64 { return s.cpu + s.dbCPU }

type results map[key][]sample

// median takes the median of each figure by itself.
func (r results) median(k key) sample {
	of := func(figure func(sample) float64) float64 {
		list := make([]float64, len(r[k]))
		for i, s := range r[k] {
			list[i] = figure(s)
		}
		return median(list)
	}
	return sample{
		perSecond: of(func(s sample) float64 { return s.perSecond }),
		cpu:       of(func(s sample) float64 { return s.cpu }),
		dbCPU:     of(func(s sample) float64 { return s.dbCPU }),
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
func (d *dataset) kinds() []string {
	if d.engine == sqldb.Postgres {
		return []string{carteira, direct}
	}
	return []string{carteira}
}

// works are those that were asked for.
func (b *bench) works() []work {
	return slices.DeleteFunc(works(), func(w work) bool { return !b.only.MatchString(w.name) })
}

// compare measures the product and the baselines in turns. Only one server
// runs at a time, so that nobody's own affairs are in another's figures.
func (b *bench) compare(ctx context.Context, sets []*dataset) error {
	for _, w := range b.works() {
		if err := b.capture(ctx, sets[0]); err != nil {
			return err
		}
		bar := newProgress(fmt.Sprintf("measuring %s on %s", w.name, sets[0].engine))
		for round := range b.rounds {
			if err := b.turn(ctx, w, bare, sets[0]); err != nil {
				return err
			}
			for _, d := range sets {
				for _, kind := range d.kinds() {
					if err := b.turn(ctx, w, kind, d); err != nil {
						return err
					}
				}
			}
			bar.show(round+1, b.rounds)
		}
		b.printWork(w, sets)
	}
	return nil
}

// turn is one measurement of one server.
func (b *bench) turn(ctx context.Context, w work, kind string, d *dataset) error {
	p, err := b.serve(ctx, kind, d)
	if err != nil {
		return err
	}
	s, err := b.sample(ctx, p, w, d)
	if kind == carteira {
		b.peak[d.engine] = max(b.peak[d.engine], memoryOf(p.pid(), "VmHWM"))
	}
	p.stop()
	if err != nil {
		return fmt.Errorf("%s, %s, %d customers: %w", w.name, kind, d.size, err)
	}
	k := key{d.engine, w.name, d.size, kind}
	b.results[k] = append(b.results[k], s)
	return foldAll(ctx, d)
}

func (b *bench) serve(ctx context.Context, kind string, d *dataset) (*process, error) {
	if kind != carteira {
		return b.startBaseline(ctx, kind, d)
	}
	p, err := b.startProduct(ctx, d)
	if err != nil {
		return nil, err
	}
	k := startKey{d.engine, d.size}
	b.starts[k] = append(b.starts[k], start{p.ready, memoryOf(p.pid(), "VmRSS")})
	return p, nil
}

// warmUp is how long a server is under load before it is measured.
func (b *bench) warmUp() time.Duration { return min(b.span/2, 500*time.Millisecond) }

func (b *bench) sample(ctx context.Context, p *process, w work, d *dataset) (sample, error) {
	requests := func(conn int) requests { return w.requests(d, conn) }
	if _, err := load(ctx, p.addr, b.conns, b.warmUp(), requests); err != nil {
		return sample{}, err
	}
	before, err := b.used(ctx, p, d)
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	n, err := load(ctx, p.addr, b.conns, b.span, requests)
	if err != nil {
		return sample{}, err
	}
	took := time.Since(began)
	after, err := b.used(ctx, p, d)
	if err != nil {
		return sample{}, err
	}
	s := sample{perSecond: float64(n) / took.Seconds()}
	for pid, cpu := range after {
		spent := float64((cpu - before[pid]).Microseconds()) / float64(n)
		if pid == p.pid() {
			s.cpu += spent
		} else {
			s.dbCPU += spent
		}
	}
	return s, nil
}

// used is the processor time so far of the server and of the database's
// processes behind it.
func (b *bench) used(ctx context.Context, p *process, d *dataset) (map[int]time.Duration, error) {
	used := map[int]time.Duration{}
	if d.engine == sqldb.Postgres {
		var err error
		if used, err = b.postgres.backends(ctx, d.url); err != nil {
			return nil, err
		}
	}
	used[p.pid()] = cpuOf(p.pid())
	return used, nil
}

// foldAll does what the product's server does every two seconds, so that none
// pays in its turn for what another one wrote.
func foldAll(ctx context.Context, d *dataset) error {
	db, err := sqldb.Open(ctx, d.url, sqldb.Options{})
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the fold has been committed or has failed
	return tally.Compact(ctx, db)
}

// capture keeps what the product answers, for the baselines to repeat.
func (b *bench) capture(ctx context.Context, d *dataset) error {
	p, err := b.serve(ctx, carteira, d)
	if err != nil {
		return err
	}
	defer p.stop()
	c, err := dial(ctx, p.addr)
	if err != nil {
		return err
	}
	defer c.close()
	for _, w := range works() {
		body, err := c.do(w.requests(d, 0)())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.dir, w.answer+".json"), body, 0o600); err != nil {
			return err
		}
	}
	return nil
}
