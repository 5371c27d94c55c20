// Package stopwatch measures time inside a process: how long something took, or
// has been waiting. It is not for instants that are stored or compared with
// those of others; these come from the database.
package stopwatch

import "time"

// Watch shows the time since it was started, whatever is done to the clock of
// the machine.
type Watch struct{ started time.Time }

// Start starts a watch.
func Start() Watch {
	return Watch{time.Now()}
}

// Elapsed is the time since the watch was started.
func (w Watch) Elapsed() time.Duration { return time.Since(w.started) }
