package account_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
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

func (c caller) served(t *testing.T, remaining int) (account.Actor, account.Quota) {
	t.Helper()
	actor, quota, err := c.Admit(t.Context(), c.token)
	if err != nil || quota.Remaining != remaining || quota.RetryAfter != 0 {
		t.Fatalf("quota %+v, %v; want a call that is served and leaves %d", quota, err, remaining)
	}
	return actor, quota
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
		0, time.Microsecond, 499 * time.Millisecond, 500 * time.Millisecond, 17*time.Second + 1500*time.Microsecond, 60 * time.Second,
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

func TestSlowAnswerCountsFromItsEnd(t *testing.T) {
	caller := newCaller(t, sqldb.SQLite, 2)
	actor, slow := caller.served(t, 1)
	caller.pass(t, 20*time.Second)
	caller.served(t, 0)
	if err := caller.Answered(t.Context(), actor, slow); err != nil {
		t.Fatal(err)
	}
	caller.pass(t, 50*time.Second) // a minute after the slow call came, not after its answer
	caller.refused(t)
	caller.pass(t, 11*time.Second)
	caller.served(t, 1)
}

// On PostgreSQL the same is seen in the table.
func TestOnlySlowAnswersAreStampedAnew(t *testing.T) {
	caller := newCaller(t, sqldb.Postgres, 3)
	actor, slow := caller.served(t, 2)
	caller.clock.Advance(400 * time.Millisecond)
	_, quick := caller.served(t, 1)
	before := caller.calls(t)
	caller.clock.Advance(200 * time.Millisecond)
	if err := caller.Answered(t.Context(), actor, quick); err != nil {
		t.Fatal(err)
	}
	if got := caller.calls(t); !slices.Equal(got, before) {
		t.Errorf("a quick answer made of %v %v", before, got)
	}
	if err := caller.Answered(t.Context(), actor, slow); err != nil {
		t.Fatal(err)
	}
	after := caller.calls(t)
	if len(after) != 2 || after[0] != before[1] || after[1] <= before[1] {
		t.Errorf("a slow answer made of %v %v, want the first one last and later", before, after)
	}
	caller.served(t, 0)
	caller.refused(t)
}

func (c caller) calls(t *testing.T) []int64 {
	t.Helper()
	list, err := sqldb.Values[int64](t.Context(), c.db, `SELECT unnest(calls) FROM token_calls`)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Whatever comes and however long it takes: no more than the limit of answers
// in a minute, and nobody is refused who would not be one too many.
func TestNoMinuteHasMoreAnswersThanTheLimit(t *testing.T) {
	const limit = 4
	type running struct {
		actor account.Actor
		quota account.Quota
		came  time.Time
	}
	random := rand.New(rand.NewPCG(1, 2))
	caller := newCaller(t, sqldb.SQLite, limit)
	var inFlight []running
	var answers []time.Time
	answer := func(i int) {
		if err := caller.Answered(t.Context(), inFlight[i].actor, inFlight[i].quota); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, caller.clock.Now())
		inFlight = slices.Delete(inFlight, i, i+1)
	}
	refusals := 0
	for range 6000 {
		// Now at length, now within what a quick answer may take.
		caller.clock.Advance([]time.Duration{time.Second / 2, 5 * time.Second}[random.IntN(2)] * time.Duration(random.IntN(1000)) / 1000)
		now := caller.clock.Now()
		for len(inFlight) > 0 && now.Sub(inFlight[0].came) > 25*time.Second {
			answer(0)
		}
		if len(inFlight) > 0 && random.IntN(2) == 0 {
			answer(random.IntN(len(inFlight)))
			continue
		}
		actor, quota, err := caller.Admit(t.Context(), caller.token)
		if err == nil {
			inFlight = append(inFlight, running{actor, quota, now})
			continue
		}
		refusals++
		recent := len(inFlight)
		for i := len(answers) - 1; i >= 0 && now.Sub(answers[i]) < 61*time.Second; i-- {
			recent++
		}
		if recent < limit {
			t.Fatalf("refused at %v with %d calls in the last minute", now, recent)
		}
	}
	for i := limit; i < len(answers); i++ {
		if span := answers[i].Sub(answers[i-limit]); span < time.Minute {
			t.Fatalf("%d answers in %v", limit+1, span)
		}
	}
	if refusals < 500 || len(answers) < 300 {
		t.Errorf("%d refusals and %d answers prove little", refusals, len(answers))
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
