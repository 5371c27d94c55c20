package account

import (
	"context"
	"sync"
	"time"

	"carteira/internal/platform/sqldb"
)

// limiter looks a token up and counts the call as it arrives. No token has more
// calls than its limit let in within any span of a minute: an exact sliding
// window, kept as the times of the last calls. There are two because
// PostgreSQL's must be shared by all processes, and SQLite has only one.
type limiter interface {
	admit(ctx context.Context, hash tokenHash) (Actor, Quota, error)
}

const window = time.Minute

func newLimiter(db *sqldb.DB, limit int) limiter {
	switch {
	case limit <= 0:
		return unlimited{db}
	case db.Engine() == sqldb.Postgres:
		return sharedLimiter{db, limit}
	}
	return &memoryLimiter{db: db, limit: limit, calls: map[int64][]int64{}}
}

type unlimited struct{ db *sqldb.DB }

func (l unlimited) admit(ctx context.Context, hash tokenHash) (Actor, Quota, error) {
	actor, err := actorNamedBy(ctx, l.db, hash, l.db.Real())
	return actor, Quota{}, err
}

// memoryLimiter keeps the times of the last calls in the process.
type memoryLimiter struct {
	db    *sqldb.DB
	limit int
	mu    sync.Mutex
	calls map[int64][]int64 // by token, in microseconds, oldest first
	swept int64
}

func (l *memoryLimiter) admit(ctx context.Context, hash tokenHash) (Actor, Quota, error) {
	actor, err := actorNamedBy(ctx, l.db, hash, l.db.Real())
	if err != nil {
		return actor, Quota{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.db.Real().UnixMicro()
	l.sweep(now)
	recent := since(l.calls[actor.TokenID], now-window.Microseconds())
	quota := Quota{Limit: l.limit}
	if len(recent) >= l.limit {
		quota.RetryAfter = retryAfter(recent[len(recent)-l.limit], now)
	} else {
		recent = append(recent, now)
	}
	l.calls[actor.TokenID] = recent
	quota.Remaining = max(0, l.limit-len(recent))
	return actor, quota, nil
}

// sweep forgets tokens that have been idle for a window, once per window, so
// that memory follows the tokens in use and not all there ever were.
func (l *memoryLimiter) sweep(now int64) {
	if now-l.swept < window.Microseconds() {
		return
	}
	l.swept = now
	for token, calls := range l.calls {
		if calls[len(calls)-1] <= now-window.Microseconds() {
			delete(l.calls, token)
		}
	}
}

// since drops the calls up to an instant.
func since(calls []int64, start int64) []int64 {
	for i, at := range calls {
		if at > start {
			return calls[i:]
		}
	}
	return calls[:0]
}

// retryAfter is when the call at oldest leaves the window, in whole seconds
// rounded up, so that a call made that much later is served.
func retryAfter(oldest, now int64) time.Duration {
	wait := time.Duration(oldest-now)*time.Microsecond + window
	return max(time.Second, (wait + time.Second - 1).Truncate(time.Second))
}

// sharedLimiter keeps the times in PostgreSQL, in an array per token.
type sharedLimiter struct {
	db    *sqldb.DB
	limit int
}

func (l sharedLimiter) admit(ctx context.Context, hash tokenHash) (Actor, Quota, error) {
	actor, call, err := admitShared(ctx, l.db, newCall{hash[:], l.limit, l.db.Real()})
	if err != nil {
		return actor, Quota{}, err
	}
	if call.at == 0 {
		oldest, now, err := oldestCall(ctx, l.db, actor.TokenID, l.limit)
		return actor, Quota{Limit: l.limit, RetryAfter: retryAfter(oldest, now)}, err
	}
	return actor, Quota{Limit: l.limit, Remaining: max(0, l.limit-call.recent)}, nil
}
