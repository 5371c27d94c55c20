//go:build linux

// Command bench measures the real server on both databases:
//
//	go run ./test/bench [-db sqlite,postgres] [-sizes 10000,100000] [-big 1000000] [-only REGEX] …
//	go run ./test/bench -soak
//
// `make bench` runs it beside a throw-away PostgreSQL that flushes every commit
// to the disk. It owns the seeded companies, the load, the baselines (handlers
// of its own that the product is compared with, each in a process of its own)
// and the goals of docs/benchmarks.md with their verdicts. A goal that is not
// met is shown and fails nothing: speed is for people to judge, and a busy
// machine is no bug. Only what does not work ends it with an error.
//
// Figures of different runs are not comparable on a shared machine. What is
// compared here is measured in turns, in one run, and told as a ratio.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"carteira/internal/platform/sqldb"
)

const postgresVariable = "CARTEIRA_TEST_POSTGRES_URL"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	if settings := os.Getenv(baselineVariable); settings != "" {
		return serveBaseline(settings)
	}
	if file := os.Getenv(senderVariable); file != "" {
		return runSender(file)
	}
	if settings := os.Getenv(hostileVariable); settings != "" {
		return serveHostile(settings)
	}
	options, err := readOptions()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bench, err := newBench(ctx, options)
	if err != nil {
		return err
	}
	defer bench.close()
	return bench.run(ctx)
}

// bench is one run.
type bench struct {
	options
	dir      string
	product  string // the real program
	postgres *cluster
	results  results
	flatness map[flatKey][]time.Duration
	starts   map[startKey][]start
	peak     map[sqldb.Engine]int64 // bytes
	lived    time.Duration          // for a year in a sandbox
	idled    map[sqldb.Engine][]idle
	panel    map[sqldb.Engine][]pageCost

	pocketBase   string // the program; empty until it is needed
	pocketPeak   int64  // bytes
	pocketStarts []time.Duration
}

func newBench(ctx context.Context, options options) (b *bench, err error) {
	b = &bench{
		options: options, results: results{}, flatness: map[flatKey][]time.Duration{},
		starts: map[startKey][]start{}, peak: map[sqldb.Engine]int64{}, idled: map[sqldb.Engine][]idle{},
		panel: map[sqldb.Engine][]pageCost{},
	}
	if slices.Contains(options.engines, sqldb.Postgres) {
		if b.postgres, err = connectCluster(ctx, os.Getenv(postgresVariable)); err != nil {
			return nil, err
		}
	}
	if b.dir, err = os.MkdirTemp("", "carteira-bench-"); err != nil {
		return nil, err
	}
	b.product = filepath.Join(b.dir, "carteira")
	build := exec.CommandContext(ctx, "go", "build", "-o", b.product, "carteira/cmd/carteira")
	if out, err := build.CombinedOutput(); err != nil {
		b.close()
		return nil, fmt.Errorf("build the product: %w\n%s", err, out)
	}
	return b, nil
}

func (b *bench) close() {
	if b.postgres != nil {
		b.postgres.close()
	}
	_ = os.RemoveAll(b.dir)
}

func (b *bench) run(ctx context.Context) error {
	fmt.Printf("%s · %s\n%d connections, medians of %d rounds of %s each; about %s to go\n\n",
		time.Now().Format("2006-01-02 15:04"), machine(), b.conns, b.rounds, b.span, b.estimate())
	for _, engine := range b.engines {
		for _, measure := range b.parts() {
			if err := measure(ctx, engine); err != nil {
				return fmt.Errorf("%s: %w", engine, err)
			}
		}
	}
	b.printGoals()
	return nil
}

// parts are those that were asked for, each for one database.
func (b *bench) parts() (list []func(context.Context, sqldb.Engine) error) {
	if b.soak {
		return append(list, b.isolation)
	}
	if b.comparing() {
		list = append(list, b.measure)
	}
	if b.delivering() {
		list = append(list, b.deliveries)
	}
	if b.living() {
		list = append(list, b.year)
	}
	if b.idling() {
		list = append(list, b.idleness)
	}
	if b.spreading() {
		list = append(list, b.processes)
	}
	if b.paging() {
		list = append(list, b.pages)
	}
	return list
}

// measure compares requests with the baselines on one database.
func (b *bench) measure(ctx context.Context, engine sqldb.Engine) (err error) {
	var sets []*dataset
	defer func() { err = errors.Join(err, b.discard(context.WithoutCancel(ctx), sets)) }()
	for _, size := range b.sizes {
		dataset, err := b.dataset(ctx, engine, size)
		if err != nil {
			return err
		}
		sets = append(sets, dataset)
		if err := b.addPocket(ctx, dataset); err != nil {
			return err
		}
	}
	if err := b.compare(ctx, sets); err != nil {
		return err
	}
	if b.big == 0 {
		return nil
	}
	big, err := b.dataset(ctx, engine, b.big)
	if err != nil {
		return err
	}
	sets = append(sets, big)
	if err := b.flat(ctx, sets[0], big); err != nil {
		return err
	}
	return b.schedules(ctx, sets[0], big)
}

// dataset makes a database and checks that the product finds in it what was put
// there.
func (b *bench) dataset(ctx context.Context, engine sqldb.Engine, size int) (*dataset, error) {
	dataset, err := b.fill(ctx, engine, size)
	if err != nil {
		return nil, err
	}
	return dataset, b.verify(ctx, dataset)
}

// address is that of a fresh database.
func (b *bench) address(ctx context.Context, engine sqldb.Engine, size int) (string, error) {
	if engine == sqldb.Postgres {
		return b.postgres.create(ctx, size)
	}
	return "sqlite:" + filepath.Join(b.dir, fmt.Sprintf("%d.db", size)), nil
}

// discard deletes databases as soon as they are no longer needed: the large
// ones take gigabytes.
func (b *bench) discard(ctx context.Context, sets []*dataset) error {
	var failures []error
	for _, set := range sets {
		if set.pocket != nil {
			failures = append(failures, os.RemoveAll(set.pocket.folder))
		}
		if set.stays {
			continue
		}
		if set.engine == sqldb.Postgres {
			failures = append(failures, b.postgres.drop(ctx, set.url))
			continue
		}
		files, _ := filepath.Glob(strings.TrimPrefix(set.url, "sqlite:") + "*")
		for _, file := range files {
			failures = append(failures, os.Remove(file))
		}
	}
	return errors.Join(failures...)
}
