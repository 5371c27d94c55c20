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
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

// Task is something that runs until its context ends.
type Task struct {
	Name string
	Run  func(ctx context.Context) error
	// Stale is how long the task may be without a success before the log says
	// so; 0: the task does not report successes.
	Stale time.Duration
	// Attended says that a lookout finds the task's work and wakes it, so that
	// the task need not poll.
	Attended bool
}

// Job is something to do every so often.
type Job struct {
	Name  string
	Every time.Duration
	Run   func(ctx context.Context) error
	// Wake is how a lookout says that there is something to do. The job still runs no
	// more often than Every; nil: the job polls by itself.
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

// sleep waits until there is a hint of something to do, and returns false
// when ctx has ended instead.
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

// Wake is a hint to a loop that something is due.
type Wake chan struct{}

// NewWake makes one.
func NewWake() Wake { return make(Wake, 1) }

// Hint wakes the loop, which looks by itself now and then all the same.
func (w Wake) Hint() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// The pause after a round that failed doubles between these bounds.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 10 * time.Second
)

// attendedPause is how long an attended task waits without a hint: it matters
// only when a hint was lost.
const attendedPause = 30 * time.Second

// Pause is how long the task that ctx belongs to waits for a hint, if it polls
// every so often when it is not attended to.
func Pause(ctx context.Context, every time.Duration) time.Duration {
	if run := runOf(ctx); run != nil && run.task.Attended {
		return max(every, attendedPause)
	}
	return every
}

// Loop runs rounds of work: when it is woken, and else after a pause that each
// round asks for.
type Loop struct {
	Name string // what the log calls it, such as "settle charges"
	Wake Wake
	Poll time.Duration // the longest pause
	Log  *slog.Logger
}

// Run runs rounds until ctx ends. A round returns how long to wait for the
// next, 0: not at all. One that fails is logged and runs again, later and later
// while it keeps failing. A panic is the supervisor's.
func (l Loop) Run(ctx context.Context, round func(ctx context.Context) (next time.Duration, err error)) {
	pause := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.Wake:
		case <-time.After(pause):
		}
		next, err := round(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			Failed(ctx)
			l.Log.ErrorContext(ctx, "loop failed", "loop", l.Name, "error", err)
			pause = min(max(2*pause, shortestPause), longestPause)
		default:
			Succeeded(ctx)
			if pause = next; next >= l.Poll {
				pause = Pause(ctx, l.Poll)
			}
		}
	}
}

// Panic is a panic as an error.
type Panic struct {
	Value any
	Stack []byte
}

// Error has the stack too: it is for the log.
func (p *Panic) Error() string {
	return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack)
}

// Guard runs do and returns a panic of it as a *Panic, counted for the task
// that ctx belongs to. A goroutine that a task starts must have one: a
// supervisor cannot recover for it.
func Guard(ctx context.Context, do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Panic{Value: value, Stack: debug.Stack()}
			panicked(ctx)
		}
	}()
	return do()
}

// Panicked reports whether err comes from a panic.
func Panicked(err error) bool {
	_, ok := errors.AsType[*Panic](err)
	return ok
}

// MaxStrikes is how many panics over one row set it aside.
const MaxStrikes = 3

// Strikes counts the panics over each row in this process, so that one which
// always panics is not claimed for ever. The zero value is ready.
type Strikes struct {
	mu     sync.Mutex
	counts map[int64]int
}

// Add counts a panic over a row and reports whether to set it aside.
func (s *Strikes) Add(id int64) (setAside bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[int64]int{}
	}
	s.counts[id]++
	return s.counts[id] >= MaxStrikes
}

// Clear forgets a row that did not panic, or that is no longer claimed.
func (s *Strikes) Clear(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.counts, id)
}
