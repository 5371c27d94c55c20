package account

import (
	"cmp"
	"context"
	"sync"
	"time"

	"carteira/internal/platform/civil"
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
}

// Admit turns the text of a token into the Actor that it names and counts the
// call. The token is looked up on every call, so that a deleted one fails on
// the next, whichever process deleted it.
func (s *Service) Admit(ctx context.Context, token string) (Actor, Quota, error) {
	if !id.ValidToken(token) {
		return Actor{}, Quota{Limit: s.limit}, unauthenticated()
	}
	actor, quota, err := s.limiter.admit(ctx, id.HashToken(token))
	if err != nil {
		return Actor{}, Quota{Limit: s.limit}, err
	}
	s.used.record(actor, s.db.Real())
	if quota.RetryAfter > 0 {
		return actor, quota, fault.New(fault.KindRateLimited, "too many calls; wait for the seconds in Retry-After")
	}
	return actor, quota, nil
}

// MayWrite reports whether a token may change something, and fails for one that does
// not work. It counts no call: what is done with the token is counted by itself.
func (s *Service) MayWrite(ctx context.Context, token string) (bool, error) {
	if !id.ValidToken(token) {
		return false, unauthenticated()
	}
	actor, err := actorNamedBy(ctx, s.db, id.HashToken(token), s.db.Real())
	return actor.Scope != ScopeRead, err
}

func unauthenticated() error {
	return fault.New(fault.KindUnauthenticated, "Unauthenticated")
}

// NewToken is a token that is to be made.
type NewToken struct {
	Name    string     // what it is for
	Scope   Scope      // "": full
	Expires civil.Date // the last day on which it works; zero: it does not expire

	Problems input.Problems // what the form had wrong
}

// ReadNewToken reads the fields name, scope and expires.
func ReadNewToken(in *input.Form) NewToken {
	in.Require("name")
	return NewToken{
		Name:     in.Line("name", maxName).Value,
		Scope:    Scope(in.Choice("scope", string(ScopeFull), string(ScopeRead)).Value),
		Expires:  in.Date("expires").Value,
		Problems: in.Problems(),
	}
}

// CreateToken makes a token. The text it returns is not stored and cannot be
// had again.
func (s *Service) CreateToken(ctx context.Context, actor Actor, token NewToken) (Token, string, error) {
	var refused fault.Fields
	if token.Name == "" && !token.Problems.Any() {
		refused.Add("name", "is required")
	}
	if !token.Expires.IsZero() && token.Expires.Before(actor.Today(s.db.Real())) {
		refused.Add("expires", "must be today or later")
	}
	if err := token.Problems.With(refused).Err(); err != nil {
		return Token{}, "", err
	}
	plain := id.NewToken()
	hash := id.HashToken(plain)
	var made tokenChange
	err := actor.Write(ctx, s.db, func(tx Tx) error {
		if err := roomForToken(ctx, tx); err != nil {
			return err
		}
		made = tokenChange{action: TokenCreated, token: token.record(actor), hash: hash[:]}
		return s.applyToken(ctx, tx, &made)
	})
	return made.token, plain, err
}

// record is the token of the draft. It works to the end of its last day, by the
// company's calendar.
func (n NewToken) record(actor Actor) Token {
	token := Token{CompanyID: actor.Company.ID, Name: n.Name, Scope: cmp.Or(n.Scope, ScopeFull), MadeBy: actor.UserID, Maker: actor.Name}
	if !n.Expires.IsZero() {
		token.ExpiresAt = n.Expires.AddDays(1).Start(actor.Company.Zone)
	}
	return token
}

// Tokens lists the company's tokens, newest first.
func (s *Service) Tokens(ctx context.Context, actor Actor) ([]Token, error) {
	return sqldb.All(ctx, s.db, scanToken, `
		SELECT `+accessColumns+` FROM api_tokens WHERE company_id = ? ORDER BY id DESC`, actor.Company.ID)
}

// TokensMadeBy lists the company's tokens that a user made, oldest first.
func (s *Service) TokensMadeBy(ctx context.Context, actor Actor, userID int64) ([]Token, error) {
	return tokensMadeBy(ctx, s.db, actor.Company.ID, userID)
}

// Token finds one of the company's tokens.
func (s *Service) Token(ctx context.Context, actor Actor, tokenID int64) (Token, error) {
	token, err := tokenByID(ctx, s.db, actor.Company.ID, tokenID)
	if used := s.used.at(tokenID); used.After(token.LastUsedAt) {
		token.LastUsedAt = used
	}
	return token, err
}

// DeleteToken ends a token at once.
func (s *Service) DeleteToken(ctx context.Context, actor Actor, tokenID int64) error {
	return actor.Write(ctx, s.db, func(tx Tx) error {
		token, err := tokenByID(ctx, tx, actor.Company.ID, tokenID)
		if err != nil {
			return err
		}
		return s.applyToken(ctx, tx, &tokenChange{action: TokenDeleted, token: token})
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

func (u *lastUse) record(actor Actor, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.times == nil {
		u.times = map[int64]use{}
	}
	u.times[actor.TokenID] = use{actor.Company.ID, now}
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
		for tokenID, use := range times {
			if err := touchToken(ctx, tx, use.companyID, tokenID, use.at); err != nil {
				return err
			}
		}
		return nil
	})
}
