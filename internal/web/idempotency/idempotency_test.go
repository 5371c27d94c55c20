package idempotency_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/idempotency"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/worldtest"
)

// shop is a company with requests that make tokens, the simplest thing that
// the package may know of.
type shop struct {
	*worldtest.World
	*idempotency.Service
	answered atomic.Int64
}

func newShop(t *testing.T, engine sqldb.Engine) *shop {
	t.Helper()
	world := worldtest.New(t, engine)
	s := &shop{World: world, Service: idempotency.New(world.DB, secret.NewBox(secret.NewKey()))}
	s.Actor = s.newToken(t, world.Actor)
	return s
}

func (s *shop) newToken(t *testing.T, actor account.Actor) account.Actor {
	t.Helper()
	token, _, err := s.Accounts.CreateToken(t.Context(), actor, account.ReadNewToken(housetest.Form("name", "CRM")))
	housetest.Must(t, err)
	actor.TokenID = token.ID
	return actor
}

func request(key, body string) idempotency.Request {
	return idempotency.Request{Key: key, Fingerprint: sha256.Sum256([]byte(body))}
}

// work makes a token and answers with how many have been made.
func (s *shop) work(marked account.Actor) idempotency.Stored {
	_, _, err := s.Accounts.CreateToken(context.Background(), marked, account.ReadNewToken(housetest.Form("name", "made")))
	if err != nil {
		return idempotency.Stored{Status: 500, Body: []byte(err.Error())}
	}
	return idempotency.Stored{Status: 200, Body: fmt.Appendf(nil, "answer %d", s.answered.Add(1))}
}

// Run answers for what was lost with the id of the record.
func (s *shop) Run(
	ctx context.Context, actor account.Actor, r idempotency.Request, do func(account.Actor) idempotency.Stored,
) (idempotency.Stored, bool, error) {
	return s.Service.Run(ctx, actor, r, idempotency.Work{Do: do, Reread: func(recordID int64) idempotency.Stored {
		return idempotency.Stored{Status: 200, Body: fmt.Appendf(nil, "record %d", recordID)}
	}})
}

// newest is how the token that was made last is answered for.
func (s *shop) newest(t *testing.T) string {
	t.Helper()
	id, err := sqldb.Value[int64](t.Context(), s.DB, `SELECT max(id) FROM api_tokens`)
	housetest.Must(t, err)
	return fmt.Sprintf("record %d", id)
}

func (s *shop) wantMade(t *testing.T, want int) {
	t.Helper()
	tokens, err := s.Accounts.Tokens(t.Context(), s.Actor)
	housetest.Must(t, err)
	got := 0
	for _, token := range tokens {
		if token.Name == "made" {
			got++
		}
	}
	if got != want {
		t.Errorf("%d tokens were made, want %d", got, want)
	}
}

func (s *shop) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	housetest.Must(t, s.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text, args...)
		return err
	}))
}

// ran wants work to have been done, repeated wants its answer without.
func (s *shop) ran(t *testing.T, r idempotency.Request, want string) {
	t.Helper()
	s.answers(t, s.Actor, r, want, false)
}

func (s *shop) repeated(t *testing.T, r idempotency.Request, want string) {
	t.Helper()
	s.answers(t, s.Actor, r, want, true)
}

func (s *shop) answers(t *testing.T, actor account.Actor, r idempotency.Request, want string, repeat bool) {
	t.Helper()
	got, repeated, err := s.Run(t.Context(), actor, r, s.work)
	if err != nil || got.Status != 200 || string(got.Body) != want || repeated != repeat {
		t.Errorf("%d %q, repeated %v, %v; want %q, repeated %v", got.Status, got.Body, repeated, err, want, repeat)
	}
}

func (s *shop) conflicts(t *testing.T, r idempotency.Request, message string) {
	t.Helper()
	_, _, err := s.Run(t.Context(), s.Actor, r, s.work)
	if fault.KindOf(err) != fault.KindConflict || !strings.Contains(fault.Public(err), message) {
		t.Errorf("got %v, want a conflict: %s", err, message)
	}
}

// crash runs a request in a process that ends in the middle of work.
func (s *shop) crash(t *testing.T, r idempotency.Request, work func(account.Actor)) {
	t.Helper()
	defer func() { _ = recover() }()
	_, _, err := s.Run(t.Context(), s.Actor, r, func(marked account.Actor) idempotency.Stored {
		work(marked)
		panic("crash")
	})
	t.Errorf("came back from a crash: %v", err)
}

func TestRepeatGetsTheFirstAnswerAndDoesNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		other := shop.newToken(t, shop.Actor)
		shop.ran(t, request("k", "a"), "answer 1")
		shop.repeated(t, request("k", "a"), "answer 1")
		shop.Clock.Advance(23 * time.Hour)
		shop.repeated(t, request("k", "a"), "answer 1")
		shop.wantMade(t, 1)
		shop.ran(t, request("K", "a"), "answer 2")                      // another key
		shop.answers(t, other, request("k", "a"), "answer 3", false)    // another token's
		shop.ran(t, request(strings.Repeat("ü", 255), "a"), "answer 4") // the longest
		shop.repeated(t, request(strings.Repeat("ü", 255), "a"), "answer 4")
		shop.wantMade(t, 4)
	})
}

func TestKeyOfAnotherRequestIsRefused(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		shop.ran(t, request("k", "a"), "answer 1")
		_, _, err := shop.Run(t.Context(), shop.Actor, request("k", "b"), shop.work)
		if fault.KindOf(err) != fault.KindInvalid || fault.FieldsOf(err).Get("Idempotency-Key") == nil {
			t.Errorf("got %v, want Idempotency-Key refused", err)
		}
		shop.repeated(t, request("k", "a"), "answer 1")
		shop.wantMade(t, 1)
	})
}

func TestOfTwoAtOnceOneRuns(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		began, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			_, _, err := shop.Run(t.Context(), shop.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
				close(began)
				<-goOn
				return shop.work(marked)
			})
			if err != nil {
				t.Error(err)
			}
		}()
		<-began
		shop.conflicts(t, request("k", "a"), "still running")
		shop.ran(t, request("other", "a"), "answer 1")
		close(goOn)
		<-done
		shop.repeated(t, request("k", "a"), "answer 2")
		shop.wantMade(t, 2)
	})
}

func TestManyAtOnceRunOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		var ran atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				answer, repeated, err := shop.Run(t.Context(), shop.Actor, request("k", "a"), shop.work)
				switch {
				case err == nil && !repeated:
					ran.Add(1)
				case err == nil && string(answer.Body) != "answer 1", err != nil && fault.KindOf(err) != fault.KindConflict:
					t.Errorf("%q, %v", answer.Body, err)
				}
			})
		}
		wg.Wait()
		if ran.Load() != 1 {
			t.Errorf("%d ran", ran.Load())
		}
		shop.wantMade(t, 1)
	})
}

func TestCrashAfterTheCommitRepeatsNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		shop.crash(t, request("k", "a"), func(marked account.Actor) { shop.work(marked) })
		shop.conflicts(t, request("k", "a"), "still running") // for all that anybody knows
		for _, later := range []time.Duration{3 * time.Minute, 20 * time.Hour} {
			shop.Clock.Advance(later)
			shop.repeated(t, request("k", "a"), shop.newest(t))
		}
		shop.wantMade(t, 1)
	})
}

// The only process of an embedded database knows that no other is running
// what the one before it left.
func TestNextProcessOfAnEmbeddedDatabaseAnswersARepeatAtOnce(t *testing.T) {
	shop := newShop(t, sqldb.SQLite)
	shop.crash(t, request("before", "a"), func(account.Actor) {})
	shop.crash(t, request("after", "a"), func(marked account.Actor) { shop.work(marked) })
	if err := shop.Inherit(t.Context()); err != nil {
		t.Fatal(err)
	}
	shop.repeated(t, request("after", "a"), shop.newest(t))
	shop.ran(t, request("before", "a"), "answer 2")
	shop.wantMade(t, 2)
}

func TestRepeatThatMustWaitIsToldHowLong(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		shop.crash(t, request("k", "a"), func(account.Actor) {})
		_, _, err := shop.Run(t.Context(), shop.Actor, request("k", "a"), shop.work)
		wait := fault.RetryAfterOf(err)
		if wait <= 0 || wait > 10*time.Second {
			t.Errorf("wait %v: %v", wait, err)
		}
		shop.Clock.Advance(wait)
		shop.ran(t, request("k", "a"), "answer 1")
	})
}

// A process with a wrong clock neither takes over what another runs nor has
// its own taken over.
func TestLeaseGoesByTheClockOfTheDatabase(t *testing.T) {
	for _, wrongBy := range []time.Duration{time.Minute, -time.Minute} {
		t.Run(wrongBy.String(), func(t *testing.T) {
			right := newShop(t, sqldb.Postgres)
			right.DB = sqldbtest.Open(t, right.URL)
			right.Service = idempotency.New(right.DB, secret.NewBox(secret.NewKey()))
			wrong := &shop{World: right.World, Service: idempotency.New(
				sqldbtest.Open(t, right.URL, sqldbtest.WithWrongClock(wrongBy)), secret.NewBox(secret.NewKey()))}
			right.crash(t, request("k", "a"), func(account.Actor) {})
			wrong.conflicts(t, request("k", "a"), "still running")
			wrong.crash(t, request("l", "a"), func(account.Actor) {})
			right.conflicts(t, request("l", "a"), "still running")
		})
	}
}

func TestRequestThatRunsOnIsNotTakenForDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t, sqldb.SQLite)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, err := shop.Run(t.Context(), shop.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
				for range 25 {
					time.Sleep(time.Second)
					shop.Clock.Advance(time.Second)
				}
				return shop.work(marked)
			})
			if err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(24 * time.Second)
		shop.conflicts(t, request("k", "a"), "still running")
		<-done
		shop.repeated(t, request("k", "a"), "answer 1")
	})
}

func TestCrashBeforeTheCommitIsRepeatedAfterTheLease(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		shop.crash(t, request("k", "a"), func(account.Actor) {})
		shop.conflicts(t, request("k", "a"), "still running")
		shop.Clock.Advance(3 * time.Minute)
		shop.ran(t, request("k", "a"), "answer 1")
		shop.repeated(t, request("k", "a"), "answer 1")
	})
}

// A request that was given up and comes back finds that it may not do its work.
func TestRequestThatOutlivesItsLeaseDoesNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		answer, _, err := shop.Run(t.Context(), shop.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
			shop.Clock.Advance(3 * time.Minute)
			shop.ran(t, request("k", "a"), "answer 1")
			return shop.work(marked)
		})
		housetest.Must(t, err)
		if answer.Status != 500 || !strings.Contains(string(answer.Body), "taken over") {
			t.Errorf("%d %q, want its transaction refused", answer.Status, answer.Body)
		}
		shop.repeated(t, request("k", "a"), "answer 1")
		shop.wantMade(t, 1)
	})
}

func TestKeyIsForgottenAfterADay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		shop.ran(t, request("old", "a"), "answer 1")
		shop.ran(t, request("older", "a"), "answer 2")
		shop.Clock.Advance(24 * time.Hour)
		shop.ran(t, request("young", "a"), "answer 3")
		housetest.Must(t, shop.Prune(t.Context()))
		shop.repeated(t, request("old", "a"), "answer 1")
		shop.Clock.Advance(time.Microsecond)
		shop.ran(t, request("old", "b"), "answer 4") // whether it was pruned or not
		housetest.Must(t, shop.Prune(t.Context()))
		if keys, err := sqldb.Value[int64](t.Context(), shop.DB, `SELECT count(*) FROM idempotency_keys`); err != nil || keys != 2 {
			t.Errorf("%d keys, %v; want young and old, which is new", keys, err)
		}
		shop.repeated(t, request("young", "a"), "answer 3")
		shop.repeated(t, request("old", "b"), "answer 4")
		shop.ran(t, request("older", "a"), "answer 5")
	})
}

func TestAnswerIsKeptEncrypted(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		shop.ran(t, request("k", "a"), "answer 1")
		stored, err := sqldb.Value[string](t.Context(), shop.DB, `SELECT answer FROM idempotency_keys`)
		if err != nil || !strings.HasPrefix(stored, "v1.") || strings.Contains(stored, "product") {
			t.Errorf("stored %q, %v", stored, err)
		}
		shop.ran(t, request("l", "a"), "answer 2")
		shop.exec(t, `UPDATE idempotency_keys SET answer = ?`, stored)
		shop.repeated(t, request("k", "a"), "answer 1")
		if answer, _, err := shop.Run(t.Context(), shop.Actor, request("l", "a"), shop.work); err == nil {
			t.Errorf("another key's answer was opened: %q", answer.Body)
		}
	})
}

func TestOnlyAnAnswerWorthRepeatingIsKept(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		for status, kept := range map[int]bool{200: true, 404: true, 422: true, 409: false, 500: false, 502: false, 503: false} {
			r := request(fmt.Sprint(status), "a")
			first := idempotency.Stored{Status: status, Body: []byte("first")}
			_, _, err := shop.Run(t.Context(), shop.Actor, r, func(account.Actor) idempotency.Stored { return first })
			housetest.Must(t, err)
			answer, repeated, err := shop.Run(t.Context(), shop.Actor, r, shop.work)
			if err != nil || repeated != kept || kept != (string(answer.Body) == "first") {
				t.Errorf("after %d: %d %q, repeated %v, %v", status, answer.Status, answer.Body, repeated, err)
			}
		}
		// A failure after the work was carried out does not make it free again.
		_, _, err := shop.Run(t.Context(), shop.Actor, request("late", "a"), func(marked account.Actor) idempotency.Stored {
			shop.work(marked)
			return idempotency.Stored{Status: 500}
		})
		housetest.Must(t, err)
		shop.Clock.Advance(3 * time.Minute)
		shop.repeated(t, request("late", "a"), shop.newest(t))
	})
}

func TestAnswerIsKeptForACallerWhoHasGone(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		ctx, leave := context.WithCancel(t.Context())
		_, _, err := shop.Run(ctx, shop.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
			defer leave()
			return shop.work(marked)
		})
		housetest.Must(t, err)
		shop.repeated(t, request("k", "a"), "answer 1")
	})
}

func TestAnswerThatCannotBeKeptIsGivenAllTheSame(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		answer, _, err := shop.Run(t.Context(), shop.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
			defer shop.exec(t, `ALTER TABLE idempotency_keys RENAME TO mislaid`)
			return shop.work(marked)
		})
		if err == nil || answer.Status != 200 || string(answer.Body) != "answer 1" {
			t.Errorf("%d %q, %v; want the answer and the error", answer.Status, answer.Body, err)
		}
		shop.exec(t, `ALTER TABLE mislaid RENAME TO idempotency_keys`)
		shop.Clock.Advance(3 * time.Minute)
		shop.repeated(t, request("k", "a"), shop.newest(t))
		shop.wantMade(t, 1)
	})
}

func TestKeysGoWithTheirToken(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		shop.ran(t, request("k", "a"), "answer 1")
		housetest.Must(t, shop.Accounts.DeleteToken(t.Context(), shop.Actor, shop.Actor.TokenID))
		if keys, err := sqldb.Value[int64](t.Context(), shop.DB, `SELECT count(*) FROM idempotency_keys`); err != nil || keys != 0 {
			t.Errorf("%d keys, %v; want none", keys, err)
		}
	})
}
