package secret

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// outcome is how long a caller was kept for a hash, and how that ended.
type outcome struct {
	took time.Duration
	err  error
}

// outcomes are the last ones.
type outcomes struct {
	list []outcome
	next int
}

const maxOutcomes = 64

func (o *outcomes) add(how outcome) {
	if how.err != nil && !errors.Is(how.err, ErrBusy) {
		return // the caller went away
	}
	if len(o.list) < maxOutcomes {
		o.list = append(o.list, how)
		return
	}
	o.list[o.next] = how
	o.next = (o.next + 1) % maxOutcomes
}

// Pretend stands in for the hash of a password of nobody, while others wait for
// theirs: an address that nobody has costs a flood nothing to make up, and must
// not cost those who have one their turn. It takes as long, and ends in the same
// way, as one of the last hashes that were waited for did, so that nobody learns
// which addresses there are. It does nothing, and says so, while a slot is free.
func Pretend(ctx context.Context) (pretended bool, err error) {
	queue := hashing.Load()
	how, crowded := queue.likely(ticketOf(ctx))
	if !crowded {
		return false, nil
	}
	timer := time.NewTimer(how.took)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true, how.err
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

// likely is how a caller would fare who waited now.
func (q *queue) likely(ticket ticket) (how outcome, crowded bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ticket.lane != LaneSignIn || q.free(ticket.lane) || len(q.outcomes.list) == 0 {
		return outcome{}, false
	}
	return q.outcomes.list[rand.IntN(len(q.outcomes.list))], true //nolint:gosec // no secret comes of it
}
