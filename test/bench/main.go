//go:build linux

// Command bench measures the real server on both databases:
//
//	go run ./test/bench [-db sqlite,postgres] [-sizes 10000,100000] [-big 1000000] [-only REGEX] …
//	go run ./test/bench -soak
//
// `make bench` runs it next to a throw-away PostgreSQL that flushes every commit
// to the disk. The works are those of docs/benchmarks.md: requests against
// PocketBase (SQLite) or plain SQL for the same rows (PostgreSQL), lists of every
// kind at each size, deliveries against a bare loop, memory and start. A floor that
// is missed is shown and fails nothing: a busy machine is no bug. Only what does
// not work ends it with an error.
//
// Figures of different runs are not comparable on a shared machine. What is
// compared here is measured in turns, in one run, and shown as a ratio.
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
	for variable, role := range map[string]func(string) error{
		directVariable: serveDirect, senderVariable: runSender, hostileVariable: serveHostile,
	} {
		if settings := os.Getenv(variable); settings != "" {
			return role(settings)
		}
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

// options are the flags.
type options struct {
	engines []sqldb.Engine
	sizes   []int
	big     int
	span    time.Duration
	rounds  int
	conns   int
	only    *regexp.Regexp
	soak    bool
	lanes   int
	sends   int // deliveries of one measurement
	pocket  bool
}

func readOptions() (options options, err error) {
	engines := flag.String("db", "sqlite,postgres", "databases to measure on")
	sizes := flag.String("sizes", "10000,100000", "numbers of customers, at least 1000 each")
	flag.IntVar(&options.big, "big", 1_000_000, "number of customers at which every list answers within a second; 0 leaves that out")
	flag.DurationVar(&options.span, "span", 3*time.Second, "length of one measurement")
	flag.IntVar(&options.rounds, "rounds", 3, "measurements of each thing, in turns; the median counts")
	flag.IntVar(&options.conns, "conns", 32, "connections that send requests at once")
	only := flag.String("only", "", "measure only what matches this regular expression, such as 'create', 'lists' or 'deliveries'")
	flag.BoolVar(&options.soak, "soak", false, "measure instead healthy webhooks next to hostile ones")
	flag.IntVar(&options.lanes, "lanes", 500, "healthy webhooks of -soak, and hostile ones")
	flag.IntVar(&options.sends, "sends", 32_000, "deliveries of one measurement of 'deliveries', after those that warm up")
	flag.BoolVar(&options.pocket, "pocketbase", true, "measure PocketBase too, on SQLite; the Go registry has it")
	flag.Parse()
	if options.only, err = regexp.Compile(*only); err != nil {
		return options, err
	}
	if flag.NArg() > 0 || options.rounds < 1 || options.span <= 0 || options.conns < 1 || options.lanes < 1 {
		return options, errors.New("-rounds, -span, -conns and -lanes must be positive, and there are no arguments")
	}
	for name := range strings.SplitSeq(*engines, ",") {
		engine := sqldb.Engine(name)
		if engine != sqldb.SQLite && engine != sqldb.Postgres {
			return options, fmt.Errorf("-db: %q is neither sqlite nor postgres", name)
		}
		options.engines = append(options.engines, engine)
	}
	for size := range strings.SplitSeq(*sizes, ",") {
		number, err := strconv.Atoi(size)
		if err != nil || number < 1000 {
			return options, fmt.Errorf("-sizes: %q is no number from 1000 on", size)
		}
		options.sizes = append(options.sizes, number)
	}
	slices.Sort(options.sizes)
	return options, nil
}

// bench is one run.
type bench struct {
	options
	dir        string
	product    string // the real program
	pocketBase string // the other one; empty until it is needed
	postgres   *cluster
	report     report
}

func newBench(ctx context.Context, options options) (b *bench, err error) {
	b = &bench{options: options}
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
	fmt.Printf("%s · %s\n%d connections, medians of %d rounds of %s each\n\n",
		time.Now().Format("2006-01-02 15:04"), machine(), b.conns, b.rounds, b.span)
	for _, engine := range b.engines {
		var err error
		switch {
		case b.soak:
			err = b.isolation(ctx, engine)
		default:
			if err = b.requests(ctx, engine); err == nil && b.only.MatchString("deliveries") {
				err = b.deliveries(ctx, engine)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	b.report.print()
	return nil
}

// requests measures what clients ask for on one database.
func (b *bench) requests(ctx context.Context, engine sqldb.Engine) (err error) {
	lists := b.only.MatchString("lists")
	if len(b.works()) == 0 && !lists {
		return nil
	}
	var sets []*dataset
	defer func() { err = errors.Join(err, b.discard(context.WithoutCancel(ctx), sets)) }()
	for _, size := range b.sizes {
		set, err := b.dataset(ctx, engine, size)
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	if err := b.compare(ctx, sets); err != nil || !lists {
		return err
	}
	if b.big > 0 {
		big, err := b.dataset(ctx, engine, b.big)
		if err != nil {
			return err
		}
		sets = append(sets, big)
	}
	return b.lists(ctx, sets)
}

// address is that of a fresh database.
func (b *bench) address(ctx context.Context, engine sqldb.Engine, name string) (string, error) {
	if engine == sqldb.Postgres {
		return b.postgres.create(ctx, name)
	}
	return "sqlite:" + filepath.Join(b.dir, name+".db"), nil
}

// discard deletes databases: the large ones take gigabytes.
func (b *bench) discard(ctx context.Context, sets []*dataset) error {
	var failures []error
	for _, set := range sets {
		if set.pocket != nil {
			failures = append(failures, os.RemoveAll(set.pocket.folder))
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
