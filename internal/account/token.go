package account

import (
	"context"
	"sync"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Quota is what is left of a token's rate limit after a call.
type Quota struct {
	Limit      int // calls a minute; 0: no limit
	Remaining  int
	RetryAfter time.Duration // set when the call is refused

	admittedAt int64     // microseconds by the limiter's clock
	begun      time.Time // by ours
}

// Admit turns the text of a token into the Actor that it names and counts the
// call. The token is looked up on every call, so that a deleted one fails on
// the next, from whichever process it was deleted.
func (s *Service) Admit(ctx context.Context, token string) (Actor, Quota, error) {
	if !id.ValidToken(token) {
		return Actor{}, Quota{Limit: s.limit}, unauthenticated()
	}
	hash := id.HashToken(token)
	a, quota, err := s.limiter.admit(ctx, hash[:])
	if err != nil {
		return Actor{}, Quota{Limit: s.limit}, err
	}
	quota.begun = s.db.Now()
	s.used.record(a, quota.begun)
	if quota.RetryAfter > 0 {
		return a, quota, fault.New(fault.KindRateLimited, "too many calls; wait for the seconds in Retry-After")
	}
	return a, quota, nil
}

// Answered is called just before an answer is sent. The limit counts answers, so
// a call that was long on its way counts from its answer.
func (s *Service) Answered(ctx context.Context, a Actor, q Quota) error {
	if q.Limit == 0 || q.RetryAfter > 0 || s.db.Now().Sub(q.begun) < quickAnswer {
		return nil
	}
	// The call's own time may be up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return s.limiter.answered(ctx, a.TokenID, q)
}

func unauthenticated() error { return fault.New(fault.KindUnauthenticated, "Unauthenticated") }

// NewToken is a token that is to be made.
type NewToken struct {
	Name string // what it is for

	Problems input.Problems // what the form had wrong
}

// ReadNewToken reads the field name.
func ReadNewToken(in *input.Form) NewToken {
	in.Require("name")
	n := NewToken{Name: in.Line("name", maxName).Value}
	n.Problems = in.Problems()
	return n
}

// CreateToken makes a token. The text it returns is not stored and cannot be
// had again.
func (s *Service) CreateToken(ctx context.Context, a Actor, n NewToken) (Token, string, error) {
	var refused fault.Fields
	if n.Name == "" && !n.Problems.Any() {
		refused.Add("name", "is required")
	}
	if err := n.Problems.With(refused).Err(); err != nil {
		return Token{}, "", err
	}
	plain := id.NewToken()
	hash := id.HashToken(plain)
	var made tokenChange
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if err := roomForToken(ctx, tx, a); err != nil {
			return err
		}
		made = tokenChange{action: TokenCreated, token: Token{CompanyID: a.Company.ID, Name: n.Name}, hash: hash[:]}
		return s.applyToken(ctx, tx, a, &made)
	})
	return made.token, plain, err
}

// Tokens lists the company's tokens, newest first.
func (s *Service) Tokens(ctx context.Context, a Actor) ([]Token, error) {
	return tokens(ctx, s.db, a.Company.ID)
}

// Token finds one of the company's tokens.
func (s *Service) Token(ctx context.Context, a Actor, tokenID int64) (Token, error) {
	t, err := tokenByID(ctx, s.db, a.Company.ID, tokenID)
	if used := s.used.at(tokenID); used.After(t.LastUsedAt) {
		t.LastUsedAt = used
	}
	return t, err
}

// DeleteToken ends a token at once.
func (s *Service) DeleteToken(ctx context.Context, a Actor, tokenID int64) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		t, err := tokenByID(ctx, tx, a.Company.ID, tokenID)
		if err != nil {
			return err
		}
		return s.applyToken(ctx, tx, a, &tokenChange{action: TokenDeleted, token: t})
	})
}

// lastUse remembers when tokens were used, so that a call costs no write.
type lastUse struct {
	mu    sync.Mutex
	times map[int64]use
}

type use struct {
	companyID int64
	at        time.Time
}

func (u *lastUse) record(a Actor, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.times == nil {
		u.times = map[int64]use{}
	}
	u.times[a.TokenID] = use{a.Company.ID, now}
}

func (u *lastUse) at(tokenID int64) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.times[tokenID].at
}

func (u *lastUse) drain() map[int64]use {
	u.mu.Lock()
	defer u.mu.Unlock()
	times := u.times
	u.times = nil
	return times
}

// SaveLastUse writes down when tokens were used since the last time. It runs
// every so often and before the program stops.
func (s *Service) SaveLastUse(ctx context.Context) error {
	times := s.used.drain()
	if len(times) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		for tokenID, u := range times {
			if err := touchToken(ctx, tx, u.companyID, tokenID, u.at); err != nil {
				return err
			}
		}
		return nil
	})
}
