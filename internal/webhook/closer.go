package webhook

import (
	"context"
	"slices"
	"sync"

	"carteira/internal/platform/sqldb"
)

// closer closes attempts of an engine. Those that were accepted share a
// transaction with all that come while the one before is being committed:
// nearly all are, and a transaction for each costs several times the sending.
type closer struct {
	*Service
	mu      sync.Mutex
	waiting []*closing
	busy    bool
}

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
	c.mu.Unlock()
	if idle {
		go c.drain(ctx)
	}
	<-x.done
	return x.kept, x.err
}

// drain closes until nobody waits.
func (c *closer) drain(ctx context.Context) {
	for batch := c.take(); len(batch) > 0; batch = c.take() {
		closed, err := c.closeAccepted(ctx, batch)
		for _, x := range batch {
			if err == nil && closed[x] {
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

// take returns who waits, and of one delivery only the first: a late attempt
// and the one after it may both wait, and the claim tells them apart one by one.
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

// closeAccepted closes in one transaction those whose claim still stands and
// whose webhook has no failures to forget, and returns which.
func (c *closer) closeAccepted(ctx context.Context, batch []*closing) (closed map[*closing]bool, err error) {
	err = c.db.Write(ctx, func(tx *sqldb.Tx) error {
		closed = make(map[*closing]bool, len(batch))
		for piece := range sqldb.Pieces(batch) {
			settled, err := settleAccepted(ctx, tx, piece)
			if err != nil {
				return err
			}
			var mine []*closing
			for _, x := range piece {
				if slices.Contains(settled, x.job.id) {
					mine = append(mine, x)
					closed[x] = true
				}
			}
			if err := insertAttempts(ctx, tx, mine); err != nil {
				return err
			}
		}
		return nil
	})
	return closed, err
}
