package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

// usual is the day of docs/scaling.md.
var usual = plan{companies: 100_000, customers: 500, cores: 2, busy: 0.6, night: 2, seed: 1}

func main() {
	plan := usual
	flag.IntVar(&plan.companies, "companies", plan.companies, "how many companies there are")
	flag.IntVar(&plan.customers, "customers", plan.customers, "how many customers a company has in the mean")
	flag.IntVar(&plan.cores, "cores", plan.cores, "cores of a machine")
	flag.Float64Var(&plan.busy, "busy", plan.busy, "share of the cores that may be busy in the worst second")
	flag.Float64Var(&plan.night, "night", plan.night, "hours within which the work of midnight is done")
	flag.Uint64Var(&plan.seed, "seed", plan.seed, "another day of the same kind")
	flag.Parse()
	if err := plan.check(); err != nil {
		fmt.Fprintln(os.Stderr, "day:", err)
		os.Exit(2)
	}
	fmt.Println(strings.Join(live(plan).report(plan), "\n"))
}

func (p plan) check() error {
	switch {
	case p.companies < 1 || p.companies > 10_000_000 || p.customers < 1 || p.customers > 1_000_000:
		return fmt.Errorf("-companies must be 1 to 10000000 and -customers 1 to 1000000")
	case p.cores < 1 || p.busy <= 0 || p.busy > 1 || p.night <= 0:
		return fmt.Errorf("-cores and -night must be positive, and -busy above 0 and at most 1")
	}
	return nil
}
