// Package worker runs what a server does by itself: loops that wait for work
// and jobs that repeat. One Supervisor has them all: it restarts one that
// panics or ends, later and later while it keeps doing so, counts that, keeps
// the time of each one's last success and says aloud when that is long ago.
// Nothing that runs under it ends the program. The package owns no schedule of
// the business: what is due is for the loop or the job to find out, and a turn
// is only a hint to look.
package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Task is something that runs until its context ends.
type Task struct {
	Name string
	Run  func(ctx context.Context) error
	// Stale is how long the task may be without a success before the log says
	// so; 0: the task does not report successes.
	Stale time.Duration
	// Attended says that somebody looks for the task's work and gives it a hint,
	// as soon as its own looks would find it. So it need not look.
	Attended bool
}

// Job is something to do every so often.
type Job struct {
	Name  string
	Every time.Duration
	Run   func(ctx context.Context) error
	// Wake is how somebody who attends to the job says that there is something to
	// do. It runs no more often than every so often all the same; nil: it looks itself.
	Wake Wake
}

const (
	// slowest bounds how long a task that panics waits.
	slowest = time.Minute
	// slowestJob bounds how long a failing job waits beyond its own pace: what it
	// most often waits for is a database, and it goes on soon after that is back.
	slowestJob = 10 * time.Second
	// jobStale is how long a job may be without a success, beyond a few turns.
	jobStale = 5 * time.Minute
)

// Task is the job as a supervisor runs it.
func (j Job) Task(log *slog.Logger) Task {
	return Task{
		Name: j.Name, Stale: 3*j.Every + jobStale,
		Run: func(ctx context.Context) error { return j.repeat(ctx, log) },
	}
}

func (j Job) repeat(ctx context.Context, log *slog.Logger) error {
	pause := j.Every
	if j.Wake != nil {
		pause = 0 // what there is to do at the start is said at the start
	}
	for asleep := j.Wake != nil; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		if asleep && !j.sleep(ctx) {
			return nil
		}
		err := j.Run(ctx)
		asleep = err == nil && j.Wake != nil
		switch {
		case ctx.Err() != nil: // what it failed with is its end
		case err == nil:
			Succeeded(ctx)
			pause = j.Every
		default:
			Failed(ctx)
			pause = max(j.Every, min(slowestJob, 2*pause))
			log.ErrorContext(ctx, "job failed", "job", j.Name, "error", err)
		}
	}
}

// sleep waits until somebody says that there is something to do, and returns
// false when ctx has ended instead.
func (j Job) sleep(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-j.Wake:
	case <-time.After(attendedPause):
	}
	return true
}

// Jitter lengthens a wait by up to a tenth, so that those who failed together
// do not come back together.
func Jitter(span time.Duration) time.Duration {
	return span + time.Duration(rand.Int64N(int64(span)/10+1)) //nolint:gosec // jitter needs no secrecy
}
