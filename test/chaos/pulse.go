//go:build linux

package main

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// pulse asks the processes for their metrics all the time, to learn when the
// settlement of charges last worked in any of them, or the look that wakes it: one
// that finds no charge to settle has done all there is to do.
type pulse struct {
	stop context.CancelFunc
	done sync.WaitGroup
	mu   sync.Mutex
	at   []time.Time
}

var lastSettled = regexp.MustCompile(
	`(?m)^carteira_worker_last_success_timestamp_seconds\{task="(?:settle charges|look for work)"\} (\S+)$`)

const pulseEvery = 300 * time.Millisecond

func startPulse(ctx context.Context, lab *lab) *pulse {
	ctx, stop := context.WithCancel(ctx)
	p := &pulse{stop: stop}
	p.done.Go(func() {
		for ctx.Err() == nil {
			for _, process := range lab.processes() {
				go p.ask(process)
			}
			pause(ctx, pulseEvery)
		}
	})
	return p
}

func (p *pulse) end() {
	p.stop()
	p.done.Wait()
}

func (p *pulse) ask(process *proc) {
	response, err := probe.Get("http://" + process.addr + "/metrics")
	if err != nil {
		return
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, found := range lastSettled.FindAllSubmatch(text, -1) {
		if seconds, err := strconv.ParseFloat(string(found[1]), 64); err == nil {
			p.at = append(p.at, time.UnixMilli(int64(seconds*1000)))
		}
	}
}

// times are the moments of success that were seen.
func (p *pulse) times() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.at)
}
