package webhook

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"carteira/internal/platform/sqldb"
)

// closer closes the accepted attempts of an engine. They share a transaction
// with all that come while the one before is being committed: nearly all
// attempts are accepted, and a transaction for each costs several times the
// sending.
type closer struct {
	*Service
	running *sync.WaitGroup
	closed  func(ctx context.Context, x closing, kept bool, err error)

	many    chan struct{} // a statement's worth waits
	mu      sync.Mutex
	waiting []closing
	busy    bool
}

func newCloser(s *Service, running *sync.WaitGroup, closed func(context.Context, closing, bool, error)) *closer {
	return &closer{Service: s, running: running, closed: closed, many: make(chan struct{}, 1)}
}

const (
	// fullBatch is what a transaction waits for when the one before had much to
	// do, for as long as linger: it costs about the same for one as for dozens.
	fullBatch = 64
	much      = 16
	linger    = 2 * time.Millisecond
)

// closing is an attempt that is to be closed.
type closing struct {
	job     job
	outcome outcome
}

// gathers says whether an attempt is closed together with others.
func (x closing) gathers() bool { return x.outcome.verdict == accepted && !x.job.test }

// add closes an attempt in a while, and then says so.
func (c *closer) add(ctx context.Context, x closing) {
	c.mu.Lock()
	c.waiting = append(c.waiting, x)
	idle := !c.busy
	c.busy = true
	if len(c.waiting) >= fullBatch {
		select {
		case c.many <- struct{}{}:
		default:
		}
	}
	c.mu.Unlock()
	if idle {
		c.running.Go(func() { c.drain(ctx) })
	}
}

// drain closes until nothing waits.
func (c *closer) drain(ctx context.Context) {
	for batch := c.take(); len(batch) > 0; batch = c.take() {
		closed, err := c.closeAccepted(ctx, batch)
		c.running.Go(func() { c.report(ctx, batch, closed, err) })
		if len(batch) >= much {
			select {
			case <-c.many:
			case <-time.After(linger):
			}
		}
	}
}

// report says what became of a batch, and closes one by one what was not closed
// with it: what was in the way of one is none of the others' business.
func (c *closer) report(ctx context.Context, batch []closing, closed map[int64]bool, err error) {
	for _, x := range batch {
		if err == nil && closed[x.job.id] {
			c.closed(ctx, x, true, nil)
			continue
		}
		c.running.Go(func() {
			kept, err := c.close(ctx, x.job, x.outcome)
			c.closed(ctx, x, kept, err)
		})
	}
}

// take returns what waits, and of one delivery only the first: a late attempt
// and the one after it may both wait, and are told apart one by one. Of many it
// takes as many as one statement closes.
func (c *closer) take() (batch []closing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := len(c.waiting)
	if most >= much {
		most = sqldb.PieceOf(most)
	}
	var later []closing
	taken := make(map[int64]bool, most)
	for _, x := range c.waiting {
		if taken[x.job.id] || len(batch) == most {
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
func (c *closer) closeAccepted(ctx context.Context, batch []closing) (closed map[int64]bool, err error) {
	slices.SortStableFunc(batch, func(a, b closing) int { return a.job.begun - b.job.begun })
	var freed []*hold
	err = c.db.Write(ctx, func(tx *sqldb.Tx) error {
		closed = make(map[int64]bool, len(batch))
		well, err := withoutFailures(ctx, tx, batch)
		if err != nil {
			return err
		}
		for list := range alike(well) {
			if err := closeAlike(ctx, tx, list, closed); err != nil {
				return err
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
func withoutFailures(ctx context.Context, tx *sqldb.Tx, batch []closing) ([]closing, error) {
	var hooks []int64
	for _, x := range batch {
		hooks = append(hooks, x.job.webhookID)
	}
	slices.Sort(hooks)
	failing, err := failingAmong(ctx, tx, slices.Compact(hooks))
	if err != nil || len(failing) == 0 {
		return batch, err
	}
	return slices.DeleteFunc(slices.Clone(batch), func(x closing) bool { return slices.Contains(failing, x.job.webhookID) }), nil
}

// alike cuts a sorted list into those of which equally many attempts had begun.
func alike(list []closing) iter.Seq[[]closing] {
	return func(yield func([]closing) bool) {
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

func closeAlike(ctx context.Context, tx *sqldb.Tx, list []closing, closed map[int64]bool) error {
	settled, err := settleAccepted(ctx, tx, list)
	if err != nil {
		return err
	}
	for _, id := range settled {
		closed[id] = true
	}
	mine := make([]closing, 0, len(list))
	for _, x := range list {
		if closed[x.job.id] {
			mine = append(mine, x)
		}
	}
	return insertAttempts(ctx, tx, mine)
}

// freeLanes gives back the lanes of which nothing is at hand or under way after
// these, in the order in which lanes are taken: two that lock them in different
// orders wait for each other until the database ends it.
func (c *closer) freeLanes(ctx context.Context, tx *sqldb.Tx, batch []closing, closed map[int64]bool) (freed []*hold, err error) {
	for _, h := range c.covered(batch, closed) {
		ok, err := freeLane(ctx, tx, h.row)
		if err != nil {
			return nil, err
		}
		if ok {
			freed = append(freed, h.hold)
		}
	}
	return freed, nil
}

// heldLane is a hold with its lane as it stood when it was looked at.
type heldLane struct {
	hold *hold
	row  laneRow
}

func (c *closer) covered(batch []closing, closed map[int64]bool) (list []heldLane) {
	c.holding.Lock()
	defer c.holding.Unlock()
	seen := map[*hold]bool{}
	for _, x := range batch {
		h := x.job.hold
		if !seen[h] && h.covered(closed) {
			list = append(list, heldLane{h, h.row})
		}
		seen[h] = true
	}
	slices.SortFunc(list, func(a, b heldLane) int { return cmp.Compare(a.row.lane, b.row.lane) })
	return list
}
