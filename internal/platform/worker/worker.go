// Package worker runs what a server does by itself: jobs that repeat, each in
// a goroutine of its own, until the program stops. A job that fails is logged
// and runs again at its next turn, later and later while it keeps failing; it
// never ends the program. It owns no schedule of the business: what is due is
// for the job to find out, and a turn is only a hint to look.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Job is something to do every so often.
type Job struct {
	Name  string
	Every time.Duration
	Run   func(ctx context.Context) error
}

// slowest bounds how long a failing job waits.
const slowest = time.Minute

// Start runs the jobs until ctx ends. The function it returns waits for those
// that are in the middle of a turn.
func Start(ctx context.Context, log *slog.Logger, jobs ...Job) (wait func()) {
	var running sync.WaitGroup
	for _, j := range jobs {
		running.Go(func() { j.loop(ctx, log) })
	}
	return running.Wait
}

func (j Job) loop(ctx context.Context, log *slog.Logger) {
	pause := j.Every
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		err := j.turn(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
			pause = j.Every
		default:
			pause = max(j.Every, min(slowest, 2*pause))
			log.ErrorContext(ctx, "job failed", "job", j.Name, "error", err)
		}
	}
}

// turn runs the job once and turns a panic into an error.
func (j Job) turn(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return j.Run(ctx)
}
