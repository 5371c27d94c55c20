//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// house has what all trials share: the binary under trial.
type house struct {
	dir    string
	binary string // with the tests' hooks: its bank is ours, and its clock can be wrong
	short  bool
	unpaid bool // no customer pays: what a bank says may wait for minutes until it is asked again
	env    []string
	pace   float64       // how long trials take: 1 as long as they should
	wait   time.Duration // how long a trial waits for everything to go on
	server func(context.Context) (server, error)
	proxy  func(to string) (proxy, error)
}

func newHouse(ctx context.Context, short bool) (*house, error) {
	dir, err := os.MkdirTemp("", "carteira-chaos-")
	if err != nil {
		return nil, err
	}
	h := &house{dir: dir, binary: filepath.Join(dir, "carteira"), short: short, pace: 1, wait: recoverTimeout}
	h.server, h.proxy = startServer, startProxy
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-w", "-tags", "crashpoints", "-o", h.binary, "carteira/cmd/carteira")
	if out, err := build.CombinedOutput(); err != nil {
		h.close()
		return nil, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return h, nil
}

func (h *house) close() { _ = os.RemoveAll(h.dir) }

// trialTimeout bounds one trial, even if everything hangs.
const trialTimeout = 6 * time.Minute

// try runs one trial and returns what it counted.
func (h *house) try(ctx context.Context, trial trial) row {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	r := row{trial: trial}
	lab, err := newLab(ctx, h, trial)
	if err != nil {
		r.err = err
		return r
	}
	defer lab.close()
	r.err = trial.run(lab)
	r.merge(lab)
	if r.err != nil && r.skipped == "" {
		r.err = fmt.Errorf("%w\n%s", r.err, lab.tails())
	}
	return r
}

// reasonOf500 is the first line of a log that says why a request failed.
func (l *lab) reasonOf500() string {
	for _, process := range l.processes() {
		log, _ := os.ReadFile(process.log)
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, `"status":500`) {
				return line
			}
		}
	}
	return ""
}

// tails are the ends of the logs of a trial that went wrong.
func (l *lab) tails() string {
	var out strings.Builder
	for _, proc := range l.procs {
		fmt.Fprintf(&out, "--- %s\n%s\n", proc.addr, proc.tail())
	}
	return out.String()
}
