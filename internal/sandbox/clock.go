package sandbox

import (
	"context"
	"sync/atomic"
	"time"

	"carteira/internal/platform/sqldb"
)

// Clock is the moved clock. The row in the database is the truth: each
// transaction reads it, and nobody moves the clock while one runs. What a
// process remembers of it is for reading, and is refreshed with each request.
type Clock struct {
	db    *sqldb.DB
	state atomic.Pointer[clockRow]
}

// clockRow is the clock as the database has it.
type clockRow struct {
	ahead   time.Duration
	stopped time.Time // zero: the clock runs
	moves   int64
	from    time.Time
	to      time.Time
}

// running reports whether an advance is under way: the clock stands still between
// its steps.
func (r *clockRow) running() bool { return !r.stopped.IsZero() }

func (r *clockRow) at(real time.Time) time.Time {
	if r.running() {
		return r.stopped
	}
	return real.Add(r.ahead)
}

// At is the sandbox's time at a real instant, as far as this process has heard.
func (c *Clock) At(real time.Time) time.Time { return c.known().at(real) }

// Read is the sandbox's time as the database has it.
func (c *Clock) Read(ctx context.Context, querier sqldb.Querier, real time.Time) (time.Time, error) {
	row, err := readClock(ctx, querier)
	if err != nil {
		return time.Time{}, err
	}
	c.learn(row)
	return row.at(real), nil
}

// Refresh has this process hear of moves that others have made.
func (c *Clock) Refresh(ctx context.Context) error {
	row, err := readClock(ctx, c.db)
	if err == nil {
		c.learn(row)
	}
	return err
}

// learn keeps the newer of two states: a reading may end after a later one.
func (c *Clock) learn(row *clockRow) {
	for {
		known := c.state.Load()
		if known != nil && known.moves > row.moves || c.state.CompareAndSwap(known, row) {
			return
		}
	}
}

// Stands reports whether an advance is under way, as far as this process has
// heard: the clock then stands still between its steps.
func (c *Clock) Stands() bool { return c.known().running() }

// Arrived reports whether the advance under way has reached its end, where what is
// due then is still done.
func (c *Clock) Arrived() bool {
	row := c.known()
	return row.running() && !row.stopped.Before(row.to)
}

// From is where the advance under way, or the last one, has begun.
func (c *Clock) From() time.Time { return c.known().from }

func (c *Clock) known() *clockRow { return c.state.Load() }

// Count writes down that something has happened to a company, once for each id,
// in the transaction in which it does, while an advance is under way.
func (c *Clock) Count(ctx context.Context, tx *sqldb.Tx, companyID int64, kind string, ids ...string) error {
	if c == nil || !c.known().running() || len(ids) == 0 {
		return nil
	}
	return countHappening(ctx, tx, happening{companyID, kind, ids})
}
