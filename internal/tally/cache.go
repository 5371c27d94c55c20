package tally

import (
	"context"
	"sync"

	"carteira/internal/platform/sqldb"
)

// Cache keeps what no sum can give, such as the count of a search, while the
// records stand as they were then. The zero Cache is ready.
type Cache[T any] struct {
	mu    sync.Mutex
	known map[cacheKey]counted[T]
}

// Question is what is kept: a count of one company's records, which stands until
// one of the counters changes. They are those of all the records that it looks at.
type Question struct {
	CompanyID int64
	What      string
	Counters  []Counter
}

type cacheKey struct {
	company int64
	what    string
}

func (q Question) key() cacheKey { return cacheKey{q.CompanyID, q.What} }

type counted[T any] struct {
	at    stamp
	value T
}

// maxCounts bounds the cache; past it everything is counted again.
const maxCounts = 2000

// Get returns what count returned last for the same question, if nothing has
// changed since.
func (c *Cache[T]) Get(ctx context.Context, querier sqldb.Querier, question Question, count func() (T, error)) (value T, err error) {
	// The stamp comes first: a change between the two is then counted and
	// found again under its own stamp, never hidden under an older one.
	at, err := stampOf(ctx, querier, question)
	if err != nil {
		return value, err
	}
	if value, ok := c.at(question.key(), at); ok {
		return value, nil
	}
	return c.put(question.key(), at, count)
}

// Renew returns what count returns, and keeps it for Get.
func (c *Cache[T]) Renew(ctx context.Context, querier sqldb.Querier, question Question, count func() (T, error)) (value T, err error) {
	at, err := stampOf(ctx, querier, question)
	if err != nil {
		return value, err
	}
	return c.put(question.key(), at, count)
}

func (c *Cache[T]) put(key cacheKey, at stamp, count func() (T, error)) (value T, err error) {
	if value, err = count(); err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCounts {
		c.known = map[cacheKey]counted[T]{}
	}
	c.known[key] = counted[T]{at, value}
	return value, nil
}

// Known is what Get would return without counting; ok is false where it would
// count.
func (c *Cache[T]) Known(ctx context.Context, querier sqldb.Querier, question Question) (value T, ok bool, err error) {
	at, err := stampOf(ctx, querier, question)
	if err != nil {
		return value, false, err
	}
	value, ok = c.at(question.key(), at)
	return value, ok, nil
}

// at is what was counted under a stamp.
func (c *Cache[T]) at(key cacheKey, at stamp) (value T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hit, ok := c.known[key]
	return hit.value, ok && hit.at == at
}
