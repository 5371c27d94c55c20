//go:build linux

// Command bench measures the real server on both databases:
//
//	go run ./test/bench [-db sqlite,postgres] [-sizes 10000,100000] [-big 1000000] [-only REGEX] …
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
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	o, err := readOptions()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	return b.run(ctx)
}

// options are the flags.
type options struct {
	engines []sqldb.Engine
	sizes   []int
	big     int
	span    time.Duration
	rounds  int
	conns   int
	only    *regexp.Regexp
}

func readOptions() (o options, err error) {
	engines := flag.String("db", "sqlite,postgres", "databases to measure on")
	sizes := flag.String("sizes", "10000,100000", "numbers of customers to compare with the baselines at")
	flag.IntVar(&o.big, "big", 1_000_000, "number of customers that everything must stay flat at; 0 leaves that part out")
	seconds := flag.Float64("seconds", 3, "length of one measurement")
	flag.IntVar(&o.rounds, "rounds", 3, "measurements of each thing, in turns; the median counts")
	flag.IntVar(&o.conns, "conns", 32, "connections that send requests at once")
	only := flag.String("only", "", "measure only what matches this regular expression, such as 'create' or 'search'")
	flag.Parse()
	o.span = time.Duration(*seconds * float64(time.Second))
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, err
	}
	if flag.NArg() > 0 || o.rounds < 1 || o.span <= 0 || o.conns < 1 || o.conns > maxConns {
		return o, fmt.Errorf("-rounds and -seconds must be positive, -conns 1 to %d, and there are no arguments", maxConns)
	}
	for name := range strings.SplitSeq(*engines, ",") {
		e := sqldb.Engine(name)
		if e != sqldb.SQLite && e != sqldb.Postgres {
			return o, fmt.Errorf("-db: %q is neither sqlite nor postgres", name)
		}
		o.engines = append(o.engines, e)
	}
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1000 {
			return o, fmt.Errorf("-sizes: %q is no number from 1000 on", size)
		}
		o.sizes = append(o.sizes, n)
	}
	slices.Sort(o.sizes)
	return o, nil
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
}

func newBench(ctx context.Context, o options) (b *bench, err error) {
	b = &bench{
		options: o, results: results{}, flatness: map[flatKey][]time.Duration{},
		starts: map[startKey][]start{}, peak: map[sqldb.Engine]int64{},
	}
	if slices.Contains(o.engines, sqldb.Postgres) {
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
		if err := b.measure(ctx, engine); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	b.printGoals()
	return nil
}

// measure does everything for one database.
func (b *bench) measure(ctx context.Context, engine sqldb.Engine) (err error) {
	var sets []*dataset
	defer func() { err = errors.Join(err, b.discard(sets)) }()
	for _, size := range b.sizes {
		d, err := b.dataset(ctx, engine, size)
		if err != nil {
			return err
		}
		sets = append(sets, d)
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
	return b.flat(ctx, sets[0], big)
}

// dataset makes a database and checks that the product finds in it what was put
// there.
func (b *bench) dataset(ctx context.Context, engine sqldb.Engine, size int) (*dataset, error) {
	url := "sqlite:" + filepath.Join(b.dir, fmt.Sprintf("%d.db", size))
	if engine == sqldb.Postgres {
		var err error
		if url, err = b.postgres.create(ctx, size); err != nil {
			return nil, err
		}
	}
	d, err := seed(ctx, engine, url, size)
	if err != nil {
		return nil, err
	}
	return d, b.verify(ctx, d)
}

// discard deletes databases as soon as they are no longer needed: the large
// ones take gigabytes.
func (b *bench) discard(sets []*dataset) error {
	var failures []error
	for _, d := range sets {
		if d.engine == sqldb.Postgres {
			failures = append(failures, b.postgres.drop(d.url))
			continue
		}
		files, _ := filepath.Glob(strings.TrimPrefix(d.url, "sqlite:") + "*")
		for _, f := range files {
			failures = append(failures, os.Remove(f))
		}
	}
	return errors.Join(failures...)
}

// estimate is about how long the run takes.
func (b *bench) estimate() time.Duration {
	const (
		perMillion = 4 * time.Minute // to seed
		perStart   = 500 * time.Millisecond
	)
	var all time.Duration
	for _, engine := range b.engines {
		customers := b.big
		for _, size := range b.sizes {
			customers += size
		}
		all += perMillion * time.Duration(customers) / 1_000_000
		for _, w := range b.works() {
			turns := 1
			for _, size := range b.sizes {
				turns += len(w.kinds(&dataset{engine: engine, size: size}))
			}
			all += time.Duration(b.rounds*turns) * (b.span + b.warmUp() + perStart)
		}
		if b.big > 0 {
			all += time.Duration(2*b.rounds*len(b.lines())) * b.lineSpan() * 2
		}
	}
	return all.Round(time.Minute)
}
