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
}

func readOptions() (o options, err error) {
	engines := flag.String("db", "sqlite,postgres", "databases to measure on")
	sizes := flag.String("sizes", "10000,100000", "numbers of customers to compare with the baselines at")
	flag.IntVar(&o.big, "big", 1_000_000, "number of customers that everything must stay flat at; 0 leaves that part out")
	seconds := flag.Float64("seconds", 3, "length of one measurement")
	flag.IntVar(&o.rounds, "rounds", 3, "measurements of each thing, in turns; the median counts")
	flag.IntVar(&o.conns, "conns", 32, "connections that send requests at once")
	only := flag.String("only", "", "measure only what matches this regular expression, such as 'create', 'search' or 'deliveries'")
	flag.BoolVar(&o.soak, "soak", false, "measure instead how healthy webhooks fare beside hostile ones")
	flag.IntVar(&o.lanes, "lanes", 500, "healthy webhooks of -soak, and hostile ones")
	flag.Parse()
	o.span = time.Duration(*seconds * float64(time.Second))
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, err
	}
	if o.lanes < 1 || o.lanes > 10_000 {
		return o, fmt.Errorf("-lanes must be 1 to 10000")
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
				turns += len((&dataset{engine: engine, size: size}).kinds())
			}
			all += time.Duration(b.rounds*turns) * (b.span + b.warmUp() + perStart)
		}
		if b.big > 0 {
			all += time.Duration(2*b.rounds*len(b.lines())) * b.lineSpan() * 2
		}
	}
	return all.Round(time.Minute)
}
