package sqldbtest

import (
	"sync/atomic"
	"time"
)

// Clock is a clock that stands still until it is told otherwise. It may be
// used by any number of goroutines.
type Clock struct {
	micros atomic.Int64
}

// NewClock makes a clock that shows t.
func NewClock(at time.Time) *Clock {
	clock := &Clock{}
	clock.Set(at)
	return clock
}

// Now is the time that the clock shows, in UTC and whole microseconds.
func (c *Clock) Now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

// Set makes the clock show t.
func (c *Clock) Set(at time.Time) { c.micros.Store(at.UnixMicro()) }

// Advance moves the clock on by d.
func (c *Clock) Advance(span time.Duration) { c.micros.Add(span.Microseconds()) }
