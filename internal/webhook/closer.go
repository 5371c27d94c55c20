package webhook

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"carteira/internal/platform/sqldb"
)

// closer closes attempts of an engine. Those that were accepted share a
// transaction with all that come while the one before is being committed:
// nearly all are, and a transaction for each costs several times the sending.
type closer struct {
	*Service
	underWay atomic.Int64  // attempts that will be closed
	enough   chan struct{} // a share of them waits
	mu       sync.Mutex
	waiting  []*closing
	busy     bool
}

func newCloser(s *Service) *closer { return &closer{Service: s, enough: make(chan struct{}, 1)} }

// linger is how long a transaction waits for half of what is under way, when
// that is much: it costs about the same for one as for dozens.
const (
	linger = 2 * time.Millisecond
	much   = 16
)

// closing is an attempt that waits to be closed.
type closing struct {
	job     job
	outcome outcome
	kept    bool
	err     error
	done    chan struct{}
}

// close is that of the service.
func (c *closer) close(ctx context.Context, j job, o outcome) (kept bool, err error) {
	if o.verdict != accepted || j.test {
		return c.Service.close(ctx, j, o)
	}
	x := &closing{job: j, outcome: o, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, x)
	idle := !c.busy
	c.busy = true
	if c.isEnough() {
		select {
		case c.enough <- struct{}{}:
		default:
		}
	}
	c.mu.Unlock()
	if idle {
		go c.drain(ctx)
	}
	<-x.done
	return x.kept, x.err
}

// drain closes until nobody waits.
func (c *closer) drain(ctx context.Context) {
	for batch := c.gather(); len(batch) > 0; batch = c.gather() {
		closed, err := c.closeAccepted(ctx, batch)
		for _, x := range batch {
			if err == nil && closed[x.job.id] {
				x.kept = true
				close(x.done)
				continue
			}
			// What was in the way of one is none of the others' business.
			go func() {
				defer close(x.done)
				x.kept, x.err = c.Service.close(ctx, x.job, x.outcome)
			}()
		}
	}
}

func (c *closer) isEnough() bool {
	n := c.underWay.Load()
	return n < much || int64(2*len(c.waiting)) >= n
}

// gather takes those who wait, when they are enough or have waited enough.
func (c *closer) gather() []*closing {
	c.mu.Lock()
	ready := len(c.waiting) == 0 || c.isEnough()
	c.mu.Unlock()
	if !ready {
		select {
		case <-c.enough:
		case <-time.After(linger):
		}
	}
	return c.take()
}

// take returns who waits, and of one delivery only the first: a late attempt
// and the one after it may both wait, and are told apart one by one.
func (c *closer) take() (batch []*closing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var later []*closing
	taken := make(map[int64]bool, len(c.waiting))
	for _, x := range c.waiting {
		if taken[x.job.id] {
			later = append(later, x)
			continue
		}
		taken[x.job.id] = true
		batch = append(batch, x)
	}
	c.waiting, c.busy = later, len(batch) > 0
	return batch
}

// closeAccepted closes in one transaction those that are still theirs to close
// and whose webhook has no failures to forget, and returns which. Lanes that
// have nothing more are given back with them.
func (c *closer) closeAccepted(ctx context.Context, batch []*closing) (closed map[int64]bool, err error) {
	slices.SortStableFunc(batch, func(a, b *closing) int { return a.job.begun - b.job.begun })
	var freed []*hold
	err = c.db.Write(ctx, func(tx *sqldb.Tx) error {
		closed = make(map[int64]bool, len(batch))
		well, err := withoutFailures(ctx, tx, batch)
		if err != nil {
			return err
		}
		for list := range alike(well) {
			for piece := range pieces(list) {
				if err := closePiece(ctx, tx, piece, closed); err != nil {
					return err
				}
			}
		}
		freed, err = c.freeLanes(ctx, tx, batch, closed)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.holding.Lock()
	defer c.holding.Unlock()
	for _, h := range freed {
		h.freed = true
	}
	return closed, nil
}

// withoutFailures leaves out those whose webhook has failures to forget.
func withoutFailures(ctx context.Context, tx *sqldb.Tx, batch []*closing) ([]*closing, error) {
	var hooks []int64
	for _, x := range batch {
		hooks = append(hooks, x.job.webhookID)
	}
	slices.Sort(hooks)
	failing, err := failingAmong(ctx, tx, slices.Compact(hooks))
	if err != nil || len(failing) == 0 {
		return batch, err
	}
	return slices.DeleteFunc(slices.Clone(batch), func(x *closing) bool { return slices.Contains(failing, x.job.webhookID) }), nil
}

// alike cuts a sorted list into those of which equally many attempts had begun.
func alike(list []*closing) iter.Seq[[]*closing] {
	return func(yield func([]*closing) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].job.begun == list[0].job.begun {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

func closePiece(ctx context.Context, tx *sqldb.Tx, piece []*closing, closed map[int64]bool) error {
	settled, err := settleAccepted(ctx, tx, piece)
	if err != nil {
		return err
	}
	for _, id := range settled {
		closed[id] = true
	}
	mine := make([]*closing, 0, len(piece))
	for _, x := range piece {
		if closed[x.job.id] {
			mine = append(mine, x)
		}
	}
	return insertAttempts(ctx, tx, mine)
}

// freeLanes gives back the lanes of which nothing is at hand or under way after
// these.
func (c *closer) freeLanes(ctx context.Context, tx *sqldb.Tx, batch []*closing, closed map[int64]bool) (freed []*hold, err error) {
	for h, row := range c.covered(batch, closed) {
		ok, err := freeLane(ctx, tx, row)
		if err != nil {
			return nil, err
		}
		if ok {
			freed = append(freed, h)
		}
	}
	return freed, nil
}

func (c *closer) covered(batch []*closing, closed map[int64]bool) map[*hold]laneRow {
	c.holding.Lock()
	defer c.holding.Unlock()
	rows := map[*hold]laneRow{}
	for _, x := range batch {
		if h := x.job.hold; h.covered(closed) {
			rows[h] = h.row
		}
	}
	return rows
}
