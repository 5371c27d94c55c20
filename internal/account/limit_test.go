package account_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// caller calls with one token by a clock that the test moves.
type caller struct {
	*account.Service
	db    *sqldb.DB
	clock *sqldbtest.Clock
	token string
}

func newCaller(t *testing.T, engine sqldb.Engine, limit int) caller {
	t.Helper()
	clock := sqldbtest.NewClock(noon)
	db := sqldbtest.New(t, engine, sqldbtest.WithClock(clock))
	service := account.New(db, account.Config{CallsPerMinute: limit})
	_, plain := newToken(t, service, newCompany(t, service, "a@example.com"))
	return caller{service, db, clock, plain}
}

// pass lets time go by. PostgreSQL goes by the server's clock, so there the
// calls are made older instead.
func (c caller) pass(t *testing.T, span time.Duration) {
	t.Helper()
	c.clock.Advance(span)
	if c.db.Engine() == sqldb.SQLite {
		return
	}
	err := c.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE token_calls SET calls = ARRAY(SELECT at - ? FROM unnest(calls) AS at)`, span.Microseconds())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c caller) served(t *testing.T, remaining int) {
	t.Helper()
	_, quota, err := c.Admit(t.Context(), c.token)
	if err != nil || quota.Remaining != remaining || quota.RetryAfter != 0 {
		t.Fatalf("quota %+v, %v; want a call that is served and leaves %d", quota, err, remaining)
	}
}

func (c caller) refused(t *testing.T) (retryAfter time.Duration) {
	t.Helper()
	_, quota, err := c.Admit(t.Context(), c.token)
	wantKind(t, err, fault.KindRateLimited)
	if quota.Remaining != 0 || quota.RetryAfter < time.Second || quota.RetryAfter%time.Second != 0 {
		t.Fatalf("quota %+v of a refused call", quota)
	}
	return quota.RetryAfter
}

func TestLimitSlidesWithTheCalls(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newCaller(t, engine, 3)
		caller.served(t, 2)
		caller.pass(t, 25*time.Second)
		caller.served(t, 1)
		caller.served(t, 0)
		caller.pass(t, 25*time.Second)
		for range 5 { // which do not count
			caller.refused(t)
		}
		caller.pass(t, caller.refused(t))
		caller.served(t, 0)
		caller.pass(t, caller.refused(t)+5*time.Second)
		caller.served(t, 1) // the two of one moment have left together
		caller.pass(t, 5*time.Minute)
		caller.served(t, 2)
	})
}

func TestRetryAfterIsTrueToTheSecond(t *testing.T) {
	caller := newCaller(t, sqldb.SQLite, 1)
	for _, later := range []time.Duration{
		0, time.Microsecond, 499 * time.Millisecond, 500 * time.Millisecond, 17*time.Second + 1500*time.Microsecond, 59 * time.Second,
	} {
		caller.pass(t, time.Hour)
		caller.served(t, 0)
		caller.pass(t, later)
		caller.pass(t, caller.refused(t)-time.Second)
		caller.refused(t)
		caller.pass(t, time.Second)
		caller.served(t, 0)
	}
}

// A call counts from its arrival, however long its answer takes.
func TestCallsCountAsTheyArrive(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newCaller(t, engine, 1)
		caller.served(t, 0)
		caller.pass(t, 25*time.Second) // as long as a call may wait for events
		if wait := caller.refused(t); wait > 35*time.Second {
			t.Errorf("Retry-After %v, and the call arrived 25 s ago", wait)
		}
		caller.pass(t, 35*time.Second)
		caller.served(t, 0)
	})
}

// Whenever calls come: no span of a minute lets in more than the limit, and
// only a call that would be one too many is refused.
func TestNoMinuteLetsInMoreThanTheLimit(t *testing.T) {
	const limit = 4
	random := rand.New(rand.NewPCG(1, 2))
	caller := newCaller(t, sqldb.SQLite, limit)
	var letIn []time.Time
	refusals := 0
	for range 6000 {
		caller.clock.Advance([]time.Duration{time.Second / 2, 30 * time.Second}[random.IntN(2)] * time.Duration(random.IntN(1000)) / 1000)
		now := caller.clock.Now()
		if _, _, err := caller.Admit(t.Context(), caller.token); err == nil {
			letIn = append(letIn, now)
			continue
		}
		refusals++
		if len(letIn) < limit || now.Sub(letIn[len(letIn)-limit]) >= time.Minute {
			t.Fatalf("refused at %v with room in the last minute", now)
		}
	}
	for i := limit; i < len(letIn); i++ {
		if span := letIn[i].Sub(letIn[i-limit]); span < time.Minute {
			t.Fatalf("%d calls let in within %v", limit+1, span)
		}
	}
	if refusals < 500 || len(letIn) < 300 {
		t.Errorf("%d refusals and %d calls let in prove little", refusals, len(letIn))
	}
}

func TestParallelCallsPassExactlyTheLimit(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		here := account.New(sqldbtest.Open(t, url), account.Config{CallsPerMinute: 60})
		there := here // SQLite has one process
		if engine == sqldb.Postgres {
			there = account.New(sqldbtest.Open(t, url), account.Config{CallsPerMinute: 60})
		}
		actor := newCompany(t, here, "a@example.com")
		_, one := newToken(t, here, actor)
		_, two := newToken(t, here, actor)
		for _, plain := range []string{one, two} { // each has a limit of its own
			var passed, refused atomic.Int64
			var wg sync.WaitGroup
			for i := range 200 {
				wg.Go(func() {
					service := []*account.Service{here, there}[i%2]
					switch _, _, err := service.Admit(t.Context(), plain); {
					case err == nil:
						passed.Add(1)
					case fault.KindOf(err) == fault.KindRateLimited:
						refused.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if passed.Load() != 60 || refused.Load() != 140 {
				t.Errorf("%d passed and %d were refused, want 60 and 140", passed.Load(), refused.Load())
			}
		}
	})
}

func TestLimitCanBeSwitchedOff(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newCaller(t, engine, 0)
		for range 100 {
			if _, quota, err := caller.Admit(t.Context(), caller.token); err != nil || quota.Limit != 0 {
				t.Fatalf("quota %+v, %v; want none", quota, err)
			}
		}
	})
}
