//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// mutantsOf are the ways to break the stand-in that each trial must see.
var mutantsOf = map[string][]string{
	"the database server is killed and starts again":                      {settlesNever, forgets, repeats},
	"the database host vanishes without a word, and a standby takes over": {settlesNever, deliversNone},
	"failover to a standby, connections are refused":                      {settlesNever, settlesTwice},
	"one process of three is cut off from the database":                   {deliversNone, repeats, chargesTwice},
	"one process of three is killed":                                      {deliversNone, dies},
	"one process of three is stopped (SIGSTOP) for 15 s":                  {settlesNever, repeats},
	"one process of three has a clock that is 60 s ahead":                 {renewsTwice, settlesNever},
	"one process of three has a clock that is 60 s behind":                {renewsNever, settlesNever},
	"48 hostile receivers beside 6 healthy ones":                          {deliversLate},
	"the data folder is removed":                                          {staysGreen},
	"the disk is full, and has room again after 5 s":                      {staysGreen, acksFull},
	"an import of 100,000 rows":                                           {importsAlone, importsHalf},
	"30 people sign in at once, in 96 MB":                                 {hangsUp, dies},
	"the only process is killed 5 times, requests are repeated":           {doubles, forgets, refusesCaller, settlesNever},
	"two versions at once, and the newer one is killed":                   {staysGreen, writesOn, worksOn},
	"power cuts, rebuilt from what was written and flushed":               {flushesNever, forgets},
	"200 hostile connections on the pages where people get in":            {refusesPeople},
}

// fakeServer is a database server that the stand-in does not need.
type fakeServer struct{}

func (fakeServer) URL() string                             { return "postgres://nowhere" }
func (fakeServer) URLAt(...string) string                  { return "postgres://nowhere" }
func (fakeServer) Address() string                         { return "nowhere" }
func (fakeServer) Crash()                                  {}
func (fakeServer) Stop()                                   {}
func (fakeServer) Silence()                                {}
func (fakeServer) Speak(...string)                         {}
func (fakeServer) Close()                                  {}
func (fakeServer) Restart(context.Context) error           { return nil }
func (fakeServer) Synchronous(context.Context) error       { return nil }
func (fakeServer) Promote(context.Context) error           { return nil }
func (fakeServer) Standby(context.Context) (server, error) { return fakeServer{}, nil }

// standInHouse has the stand-in tried. A mutant is not waited for as long.
func standInHouse(t *testing.T, mutant string) *house {
	t.Helper()
	program, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	h := &house{
		dir: t.TempDir(), binary: program, short: true, env: []string{standInVariable + "=" + mutant}, pace: 0.05, wait: recoverTimeout,
		server: func(context.Context) (server, error) { return fakeServer{}, nil },
		proxy:  func(string) (proxy, error) { return fakeServer{}, nil },
	}
	if mutant != "" {
		h.wait = 4 * time.Second
	}
	return h
}

func TestEachTrialHasMutants(t *testing.T) {
	for _, trial := range trials {
		if len(mutantsOf[trial.name]) == 0 {
			t.Errorf("%q has no mutant", trial.name)
		}
	}
}

// Every trial is green for a program that keeps what is promised, and red for
// each of its mutants. `make chaos` begins with it; other tests leave it out,
// since a trial times the program and wants a machine that does nothing else.
func TestEachTrialSeesItsMutants(t *testing.T) {
	if os.Getenv("CARTEIRA_TEST_MUTANTS") == "" {
		t.Skip("make chaos tries the mutants: they are timed, and want a machine that does nothing else")
	}
	for _, trial := range trials {
		mutants := mutantsOf[trial.name]
		if trial.database == postgres && mutantsTriedOnSQLite(trial.name) {
			continue // it is the same trial
		}
		t.Run(trial.name, func(t *testing.T) {
			t.Parallel()
			for _, mutant := range append([]string{""}, mutants...) {
				row := standInHouse(t, mutant).try(t.Context(), trial)
				if row.skipped != "" {
					t.Skip(row.skipped)
				}
				err := row.verdict()
				if mutant == "" && err != nil {
					t.Errorf("it is red for a program that does nothing wrong: %v\n%s", err, row.line())
				}
				if mutant != "" && err == nil {
					t.Errorf("it is green for one that %s:\n%s", mutant, row.line())
				}
			}
		})
	}
}

func mutantsTriedOnSQLite(name string) bool {
	for _, trial := range trials {
		if trial.name == name && trial.database == sqlite {
			return true
		}
	}
	return false
}
