//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run() error {
	only := flag.String("only", "", "run the trials whose name matches this regular expression")
	short := flag.Bool("short", false, "run the short form of the trials that have one")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	house, err := newHouse(ctx, *short)
	if err != nil {
		return err
	}
	defer house.close()
	var rows []row
	for _, trial := range trials {
		if !wanted.MatchString(trial.name) || *short && !trial.short {
			continue
		}
		fmt.Fprintf(os.Stderr, "chaos: %s on %s\n", trial.name, trial.database)
		rows = append(rows, house.try(ctx, trial))
		fmt.Fprintf(os.Stderr, "chaos: %s\n", rows[len(rows)-1].line())
	}
	fmt.Print(table(rows))
	return verdict(rows)
}

// verdict is what fails a run.
func verdict(rows []row) error {
	var failures []error
	for _, row := range rows {
		failures = append(failures, row.verdict())
	}
	return errors.Join(failures...)
}
