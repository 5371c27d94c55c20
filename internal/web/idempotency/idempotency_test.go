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
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/web/idempotency"
	"carteira/internal/worldtest"
)

// shop is a company whose requests make tokens, which are the simplest thing
// that the package may know of.
type shop struct {
	*worldtest.World
	*idempotency.Service
	answered atomic.Int64
}

func newShop(t *testing.T, engine sqldb.Engine) *shop {
	t.Helper()
	w := worldtest.New(t, engine)
	s := &shop{World: w, Service: idempotency.New(w.DB, secret.NewBox(secret.NewKey()))}
	s.Actor = s.newToken(t, w.Actor)
	return s
}

func (s *shop) newToken(t *testing.T, a account.Actor) account.Actor {
	t.Helper()
	token, _, err := s.Accounts.CreateToken(t.Context(), a, account.ReadNewToken(housetest.Form("name", "CRM")))
	housetest.Must(t, err)
	a.TokenID = token.ID
	return a
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

func (s *shop) answers(t *testing.T, a account.Actor, r idempotency.Request, want string, repeat bool) {
	t.Helper()
	got, repeated, err := s.Run(t.Context(), a, r, s.work)
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

// crash runs a request whose process ends in the middle of work.
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
		s := newShop(t, engine)
		other := s.newToken(t, s.Actor)
		s.ran(t, request("k", "a"), "answer 1")
		s.repeated(t, request("k", "a"), "answer 1")
		s.Clock.Advance(23 * time.Hour)
		s.repeated(t, request("k", "a"), "answer 1")
		s.wantMade(t, 1)
		s.ran(t, request("K", "a"), "answer 2")                      // another key
		s.answers(t, other, request("k", "a"), "answer 3", false)    // another token's
		s.ran(t, request(strings.Repeat("ü", 255), "a"), "answer 4") // the longest
		s.repeated(t, request(strings.Repeat("ü", 255), "a"), "answer 4")
		s.wantMade(t, 4)
	})
}

func TestKeyOfAnotherRequestIsRefused(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		s.ran(t, request("k", "a"), "answer 1")
		_, _, err := s.Run(t.Context(), s.Actor, request("k", "b"), s.work)
		if fault.KindOf(err) != fault.KindInvalid || fault.FieldsOf(err).Get("Idempotency-Key") == nil {
			t.Errorf("got %v, want Idempotency-Key refused", err)
		}
		s.repeated(t, request("k", "a"), "answer 1")
		s.wantMade(t, 1)
	})
}

func TestOfTwoAtOnceOneRuns(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		began, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			_, _, err := s.Run(t.Context(), s.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
				close(began)
				<-goOn
				return s.work(marked)
			})
			if err != nil {
				t.Error(err)
			}
		}()
		<-began
		s.conflicts(t, request("k", "a"), "still running")
		s.ran(t, request("other", "a"), "answer 1")
		close(goOn)
		<-done
		s.repeated(t, request("k", "a"), "answer 2")
		s.wantMade(t, 2)
	})
}

func TestManyAtOnceRunOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		var ran atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				answer, repeated, err := s.Run(t.Context(), s.Actor, request("k", "a"), s.work)
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
		s.wantMade(t, 1)
	})
}

func TestCrashAfterTheCommitRepeatsNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		s.crash(t, request("k", "a"), func(marked account.Actor) { s.work(marked) })
		s.conflicts(t, request("k", "a"), "still running") // for all that anybody knows
		for _, later := range []time.Duration{3 * time.Minute, 20 * time.Hour} {
			s.Clock.Advance(later)
			s.conflicts(t, request("k", "a"), "was carried out")
		}
		s.wantMade(t, 1)
	})
}

// The only process of an embedded database knows that nobody else is running
// what the one before it left.
func TestNextProcessOfAnEmbeddedDatabaseAnswersARepeatAtOnce(t *testing.T) {
	s := newShop(t, sqldb.SQLite)
	s.crash(t, request("before", "a"), func(account.Actor) {})
	s.crash(t, request("after", "a"), func(marked account.Actor) { s.work(marked) })
	if err := s.Inherit(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.ran(t, request("before", "a"), "answer 2")
	s.conflicts(t, request("after", "a"), "its answer was lost")
	s.wantMade(t, 2)
}

func TestRepeatThatMustWaitIsToldHowLong(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		s.crash(t, request("k", "a"), func(account.Actor) {})
		_, _, err := s.Run(t.Context(), s.Actor, request("k", "a"), s.work)
		wait := fault.RetryAfterOf(err)
		if wait <= 0 || wait > 10*time.Second {
			t.Errorf("wait %v: %v", wait, err)
		}
		s.Clock.Advance(wait)
		s.ran(t, request("k", "a"), "answer 1")
	})
}

// A process whose clock is wrong neither takes over what another runs nor has
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
		s := newShop(t, sqldb.SQLite)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, err := s.Run(t.Context(), s.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
				for range 25 {
					time.Sleep(time.Second)
					s.Clock.Advance(time.Second)
				}
				return s.work(marked)
			})
			if err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(24 * time.Second)
		s.conflicts(t, request("k", "a"), "still running")
		<-done
		s.repeated(t, request("k", "a"), "answer 1")
	})
}

func TestCrashBeforeTheCommitIsRepeatedAfterTheLease(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		s.crash(t, request("k", "a"), func(account.Actor) {})
		s.conflicts(t, request("k", "a"), "still running")
		s.Clock.Advance(3 * time.Minute)
		s.ran(t, request("k", "a"), "answer 1")
		s.repeated(t, request("k", "a"), "answer 1")
	})
}

// A request that was given up and comes back finds that it may not do its work.
func TestRequestThatOutlivesItsLeaseDoesNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		answer, _, err := s.Run(t.Context(), s.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
			s.Clock.Advance(3 * time.Minute)
			s.ran(t, request("k", "a"), "answer 1")
			return s.work(marked)
		})
		housetest.Must(t, err)
		if answer.Status != 500 || !strings.Contains(string(answer.Body), "taken over") {
			t.Errorf("%d %q, want its transaction refused", answer.Status, answer.Body)
		}
		s.repeated(t, request("k", "a"), "answer 1")
		s.wantMade(t, 1)
	})
}

func TestKeyIsForgottenAfterADay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		s.ran(t, request("old", "a"), "answer 1")
		s.ran(t, request("older", "a"), "answer 2")
		s.Clock.Advance(24 * time.Hour)
		s.ran(t, request("young", "a"), "answer 3")
		housetest.Must(t, s.Prune(t.Context()))
		s.repeated(t, request("old", "a"), "answer 1")
		s.Clock.Advance(time.Microsecond)
		s.ran(t, request("old", "b"), "answer 4") // whether it was pruned or not
		housetest.Must(t, s.Prune(t.Context()))
		if keys, err := sqldb.Value[int64](t.Context(), s.DB, `SELECT count(*) FROM idempotency_keys`); err != nil || keys != 2 {
			t.Errorf("%d keys, %v; want young and old, which is new", keys, err)
		}
		s.repeated(t, request("young", "a"), "answer 3")
		s.repeated(t, request("old", "b"), "answer 4")
		s.ran(t, request("older", "a"), "answer 5")
	})
}

func TestAnswerIsKeptEncrypted(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		s.ran(t, request("k", "a"), "answer 1")
		stored, err := sqldb.Value[string](t.Context(), s.DB, `SELECT answer FROM idempotency_keys`)
		if err != nil || !strings.HasPrefix(stored, "v1.") || strings.Contains(stored, "product") {
			t.Errorf("stored %q, %v", stored, err)
		}
		s.ran(t, request("l", "a"), "answer 2")
		s.exec(t, `UPDATE idempotency_keys SET answer = ?`, stored)
		s.repeated(t, request("k", "a"), "answer 1")
		if answer, _, err := s.Run(t.Context(), s.Actor, request("l", "a"), s.work); err == nil {
			t.Errorf("another key's answer was opened: %q", answer.Body)
		}
	})
}

func TestOnlyAnAnswerWorthRepeatingIsKept(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		for status, kept := range map[int]bool{200: true, 404: true, 422: true, 409: false, 500: false, 502: false, 503: false} {
			r := request(fmt.Sprint(status), "a")
			first := idempotency.Stored{Status: status, Body: []byte("first")}
			_, _, err := s.Run(t.Context(), s.Actor, r, func(account.Actor) idempotency.Stored { return first })
			housetest.Must(t, err)
			answer, repeated, err := s.Run(t.Context(), s.Actor, r, s.work)
			if err != nil || repeated != kept || kept != (string(answer.Body) == "first") {
				t.Errorf("after %d: %d %q, repeated %v, %v", status, answer.Status, answer.Body, repeated, err)
			}
		}
		// A failure after the work was carried out does not make it free again.
		_, _, err := s.Run(t.Context(), s.Actor, request("late", "a"), func(marked account.Actor) idempotency.Stored {
			s.work(marked)
			return idempotency.Stored{Status: 500}
		})
		housetest.Must(t, err)
		s.Clock.Advance(3 * time.Minute)
		s.conflicts(t, request("late", "a"), "was carried out")
	})
}

func TestAnswerIsKeptForACallerWhoHasGone(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		ctx, leave := context.WithCancel(t.Context())
		_, _, err := s.Run(ctx, s.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
			defer leave()
			return s.work(marked)
		})
		housetest.Must(t, err)
		s.repeated(t, request("k", "a"), "answer 1")
	})
}

func TestAnswerThatCannotBeKeptIsGivenAllTheSame(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		answer, _, err := s.Run(t.Context(), s.Actor, request("k", "a"), func(marked account.Actor) idempotency.Stored {
			defer s.exec(t, `ALTER TABLE idempotency_keys RENAME TO mislaid`)
			return s.work(marked)
		})
		if err == nil || answer.Status != 200 || string(answer.Body) != "answer 1" {
			t.Errorf("%d %q, %v; want the answer and the error", answer.Status, answer.Body, err)
		}
		s.exec(t, `ALTER TABLE mislaid RENAME TO idempotency_keys`)
		s.Clock.Advance(3 * time.Minute)
		s.conflicts(t, request("k", "a"), "was carried out")
		s.wantMade(t, 1)
	})
}

func TestKeysGoWithTheirToken(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShop(t, engine)
		s.ran(t, request("k", "a"), "answer 1")
		housetest.Must(t, s.Accounts.DeleteToken(t.Context(), s.Actor, s.Actor.TokenID))
		if keys, err := sqldb.Value[int64](t.Context(), s.DB, `SELECT count(*) FROM idempotency_keys`); err != nil || keys != 0 {
			t.Errorf("%d keys, %v; want none", keys, err)
		}
	})
}
