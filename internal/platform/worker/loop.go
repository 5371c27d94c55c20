package worker

import (
	"context"
	"log/slog"
	"time"
)

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

// attendedPause is how long whoever is attended to waits unasked: only a hint
// that was lost could make it matter.
const attendedPause = 30 * time.Second

// Pause is how long the task that ctx belongs to waits for a hint, if it looks
// for work every so often where nobody attends to it.
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
