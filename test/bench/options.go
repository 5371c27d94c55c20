//go:build linux

package main

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"carteira/internal/platform/sqldb"
)

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
	sends   int  // deliveries of one measurement
	beside  bool // measure PocketBase
	keep    string
}

func readOptions() (options options, err error) {
	engines := flag.String("db", "sqlite,postgres", "databases to measure on")
	sizes := flag.String("sizes", "10000,100000", "numbers of customers to compare with the baselines at")
	flag.IntVar(&options.big, "big", 1_000_000, "number of customers that everything must stay flat at; 0 leaves that part out")
	seconds := flag.Float64("seconds", 3, "length of one measurement")
	flag.IntVar(&options.rounds, "rounds", 3, "measurements of each thing, in turns; the median counts")
	flag.IntVar(&options.conns, "conns", 32, "connections that send requests at once")
	only := flag.String("only", "", "measure only what matches this regular expression, such as 'create', 'search' or 'deliveries'")
	flag.BoolVar(&options.soak, "soak", false, "measure instead how healthy webhooks fare beside hostile ones")
	flag.IntVar(&options.lanes, "lanes", 500, "healthy webhooks of -soak, and hostile ones")
	flag.IntVar(&options.sends, "sends", 32_000, "deliveries of one measurement of 'deliveries', after those that warm up")
	flag.BoolVar(&options.beside, "pocketbase", true, "measure PocketBase beside, on SQLite; the Go registry has it")
	flag.StringVar(&options.keep, "keep", "", "folder in which SQLite databases stay for another run of the day, as those in PostgreSQL do")
	flag.Parse()
	options.span = time.Duration(*seconds * float64(time.Second))
	if options.only, err = regexp.Compile(*only); err != nil {
		return options, err
	}
	if options.lanes < 1 || options.lanes > 10_000 {
		return options, fmt.Errorf("-lanes must be 1 to 10000")
	}
	if flag.NArg() > 0 || options.rounds < 1 || options.span <= 0 || options.conns < 1 || options.conns > maxConns {
		return options, fmt.Errorf("-rounds and -seconds must be positive, -conns 1 to %d, and there are no arguments", maxConns)
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

func (b *bench) comparing() bool { return len(b.works())+len(b.lines()) > 0 || b.scheduling() }

func (b *bench) scheduling() bool { return b.only.MatchString("schedules") }

func (b *bench) delivering() bool { return b.only.MatchString("deliveries") }

// estimate is about how long the run takes.
func (b *bench) estimate() time.Duration {
	const (
		perMillion = 4 * time.Minute // to seed
		perStart   = 500 * time.Millisecond
	)
	var all time.Duration
	if b.soak {
		return time.Duration(len(b.engines)) * 90 * time.Second
	}
	if b.delivering() {
		all += time.Duration(len(b.engines)) * time.Minute
	}
	if b.idling() {
		all += time.Duration(len(b.engines)) * 2 * time.Minute
	}
	if b.spreading() {
		all += time.Duration(b.rounds+len(operations())) * time.Duration(len(processCounts)) * (b.span + 2*time.Second)
	}
	if b.paging() {
		all += time.Duration(len(b.engines)) * 2 * time.Minute
	}
	if !b.comparing() {
		return all
	}
	for _, engine := range b.engines {
		customers := b.big
		for _, size := range b.sizes {
			customers += size
		}
		all += perMillion * time.Duration(customers) / 1_000_000
		for range b.works() {
			turns := 1
			for _, size := range b.sizes {
				turns += len(b.kinds(&dataset{engine: engine, size: size}))
			}
			all += time.Duration(b.rounds*turns) * (b.span + b.warmUp() + perStart)
		}
		if b.big > 0 {
			all += time.Duration(2*b.rounds*len(b.lines())) * b.lineSpan() * 2
		}
	}
	return all.Round(time.Minute)
}
