package tally

import (
	"context"
	"sync"

	"carteira/internal/platform/sqldb"
)

// Cache keeps counts that no sum can give, such as those of a search, while
// the records stand as they were counted. The zero Cache is ready.
type Cache struct {
	mu    sync.Mutex
	known map[cacheKey]counted
}

type cacheKey struct {
	company int64
	what    string
}

type counted struct {
	at stamp
	n  int64
}

// maxCounts bounds the cache; past it everything is counted again.
const maxCounts = 2000

// Count returns what count returned last for the same thing, if nothing has
// changed since in the company's counters: those of all the records that count
// looks at.
func (c *Cache) Count(
	ctx context.Context,
	querier sqldb.Querier,
	counters []Counter,
	companyID int64,
	what string,
	count func() (int64, error),
) (int64, error) {
	// The stamp comes first: a change between the two is then counted and
	// found again under its own stamp, never hidden under an older one.
	at, err := stampOf(ctx, querier, companyID, counters)
	if err != nil {
		return 0, err
	}
	key := cacheKey{companyID, what}
	if n, ok := c.at(key, at); ok {
		return n, nil
	}
	n, err := count()
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCounts {
		c.known = map[cacheKey]counted{}
	}
	c.known[key] = counted{at, n}
	return n, nil
}

// Known is what Count would return without counting; ok is false where it would
// count.
func (c *Cache) Known(
	ctx context.Context,
	querier sqldb.Querier,
	counters []Counter,
	companyID int64,
	what string,
) (n int64, ok bool, err error) {
	at, err := stampOf(ctx, querier, companyID, counters)
	if err != nil {
		return 0, false, err
	}
	n, ok = c.at(cacheKey{companyID, what}, at)
	return n, ok, nil
}

// at is what was counted under a stamp.
func (c *Cache) at(key cacheKey, at stamp) (n int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hit, ok := c.known[key]
	return hit.n, ok && hit.at == at
}
