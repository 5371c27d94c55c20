package account

import (
	"context"
	"encoding/hex"
	"strconv"
	"sync"
	"time"

	"carteira/internal/platform/fault"
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

// How many attempts are let through in a window: of one person from one network,
// of all persons from one network, from a wider one, and of one person from
// everywhere. A stranger can use the last one up, so a device in which the
// person has signed in before is counted by itself.
const (
	attemptWindow     = 15 * time.Minute
	attemptsOfPair    = 10
	attemptsOfNetwork = 50
	attemptsOfWide    = 250
	attemptsOfPerson  = 100
	attemptsOfDevice  = 10
)

// Who guesses codes has the password already. A code has a million values, of
// which three are right at a time, so that a day of guessing has one chance in
// ten thousand.
const (
	codesOfAccount = 10
	codesOfDay     = 30
	proofsOfUser   = 10
)

// dayWindow is the longest window that attempts are counted in.
const dayWindow = 24 * time.Hour

// quota is how many attempts under a key are let through in a window.
type quota struct {
	key    string
	limit  int
	window time.Duration
}

func errTooMany() error {
	return fault.New(fault.KindRateLimited, "too many attempts to sign in; wait 15 minutes and try again")
}

// networkQuotas are those of the networks that a request comes from.
func networkQuotas(what string, from Visitor) []quota {
	narrow, wide := Networks(from.Address)
	list := []quota{{what + narrow, attemptsOfNetwork, attemptWindow}}
	if wide != "" {
		list = append(list, quota{what + wide, attemptsOfWide, attemptWindow})
	}
	return list
}

// signInQuotas are those of an attempt to sign in.
func signInQuotas(person string, from Visitor, known bool) []quota {
	if known {
		return []quota{{"device:" + from.deviceKey(), attemptsOfDevice, attemptWindow}}
	}
	narrow, _ := Networks(from.Address)
	list := []quota{{"pair:" + person + " " + narrow, attemptsOfPair, attemptWindow}}
	list = append(list, networkQuotas("address:", from)...)
	return append(list, quota{"person:" + person, attemptsOfPerson, attemptWindow})
}

// codeQuotas are those of a guess at the second factor of an account.
func codeQuotas(userID int64, from Visitor, known bool) []quota {
	if known {
		return []quota{{"code device:" + from.deviceKey(), codesOfAccount, attemptWindow}}
	}
	account := strconv.FormatInt(userID, 10)
	list := []quota{{"code:" + account, codesOfAccount, attemptWindow}, {"code day:" + account, codesOfDay, dayWindow}}
	return append(list, networkQuotas("code address:", from)...)
}

// proofQuotas are those of a password that is asked for again in a session.
func proofQuotas(userID int64) []quota {
	return []quota{{"proof:" + strconv.FormatInt(userID, 10), proofsOfUser, attemptWindow}}
}

func (v Visitor) deviceKey() string {
	return hex.EncodeToString(linkHash(v.Device))
}

// refuseSpent refuses an attempt if its quotas are used up, without counting
// it: a flood must cost less than what it asks for.
func (s *Service) refuseSpent(ctx context.Context, quotas []quota) error {
	for _, quota := range quotas {
		n, err := sqldb.Value[int](ctx, s.db, `
			SELECT COALESCE((SELECT n FROM signin_attempts WHERE key = ? AND began_at > ?), 0)`, quota.key,
			s.db.Real().Add(-quota.window).UnixMicro())
		if err != nil {
			return err
		}
		if n >= quota.limit {
			return errTooMany()
		}
	}
	return nil
}

// countAttempt counts an attempt, and refuses one too many.
func (s *Service) countAttempt(ctx context.Context, quotas []quota) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return countAttemptTx(ctx, tx, quotas) })
}

func countAttemptTx(ctx context.Context, tx *sqldb.Tx, quotas []quota) error {
	for _, quota := range quotas {
		n, err := addAttempt(ctx, tx, quota)
		if err != nil {
			return err
		}
		if n > quota.limit {
			return errTooMany()
		}
	}
	return nil
}

// uncountAttempt takes a good attempt out of the count, with all of those that
// are closest to it.
func uncountAttempt(ctx context.Context, tx *sqldb.Tx, quotas []quota) error {
	if err := tx.Do(ctx, `DELETE FROM signin_attempts WHERE key = ?`, quotas[0].key); err != nil {
		return err
	}
	for _, quota := range quotas[1:] {
		if err := tx.Do(ctx, `UPDATE signin_attempts SET n = n - 1 WHERE key = ? AND n > 0`, quota.key); err != nil {
			return err
		}
	}
	return nil
}
