package api

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/sandbox"
	"carteira/internal/web"
)

type accountRecord struct {
	User    *userRecord   `json:"user"`
	Company companyRecord `json:"company"`
	Token   tokenRecord   `json:"token"`
}

type userRecord struct {
	ID    int64        `json:"id"`
	Name  string       `json:"name"`
	Email string       `json:"email"`
	Role  account.Role `json:"role"`
}

type companyRecord struct {
	ID        int64         `json:"id"`
	Name      string        `json:"name"`
	Level     account.Level `json:"level"`
	Timezone  string        `json:"timezone"`
	CreatedAt string        `json:"created_at"`

	Status    account.Standing   `json:"status"`
	ExpiresAt *string            `json:"expires_at"`
	Functions []account.Function `json:"functions"`

	BooksClosedThrough *string `json:"books_closed_through"`
}

type tokenRecord struct {
	ID         int64   `json:"id"`
	Name       string  `json:"name"`
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`

	Scope     account.Scope `json:"scope"`
	ExpiresAt *string       `json:"expires_at"`
}

// account answers who owns the token, the company, and which token it is.
func (s *Server) account(ctx context.Context, call *call) (web.Answer, error) {
	company := call.actor.Company
	token, err := s.Accounts.Token(ctx, call.actor, call.actor.TokenID)
	if err != nil {
		return web.Answer{}, err
	}
	record := accountRecord{
		Company: companyRecord{
			ID:        company.ID,
			Name:      company.Name,
			Level:     company.Level,
			Timezone:  company.Zone.String(),
			CreatedAt: civil.Timestamp(company.CreatedAt, company.Zone),
			Status:    company.Subscription.Standing(call.today),
			ExpiresAt: textOrNull(company.Subscription.ExpiresOn.String()),
			Functions: company.Subscription.Functions.Names(),

			BooksClosedThrough: textOrNull(company.Settings.ClosedThrough.String()),
		},
		Token: tokenRecord{
			ID:        token.ID,
			Name:      token.Name,
			CreatedAt: civil.Timestamp(token.CreatedAt, company.Zone),
			Scope:     token.Scope,
			ExpiresAt: call.timeOrNull(token.ExpiresAt),
		},
	}
	if !token.LastUsedAt.IsZero() {
		used := civil.Timestamp(token.LastUsedAt, company.Zone)
		record.Token.LastUsedAt = &used
	}
	owner, err := s.Accounts.Owner(ctx, call.actor)
	switch {
	case err == nil:
		record.User = &userRecord{owner.ID, owner.Name, owner.Email, owner.Role}
	case fault.KindOf(err) != fault.KindNotFound:
		return web.Answer{}, err
	}
	return web.Answer{Data: web.JSON(record)}, nil
}

// advanceTime is how long a call waits for the clock to arrive; it is shorter
// than timeLimit. A longer way goes on after the answer.
const advanceTime = 25 * time.Second

// readClock answers what time it is in a sandbox.
func (s *Server) readClock(ctx context.Context, call *call) (web.Answer, error) {
	if s.Sandbox == nil {
		return web.Answer{}, fault.NotFound("path")
	}
	return s.clockAnswer(ctx, call)
}

// moveClock moves it, and answers when it has arrived or the call has waited long
// enough.
func (s *Server) moveClock(ctx context.Context, call *call) (web.Answer, error) {
	if s.Sandbox == nil {
		return web.Answer{}, fault.NotFound("path")
	}
	form, err := call.form()
	if err != nil {
		return web.Answer{}, err
	}
	target := sandbox.ReadTarget(form, call.actor.Company.Zone)
	if err := s.Sandbox.Begin(ctx, call.actor, target); err != nil {
		return web.Answer{}, err
	}
	if err := s.Sandbox.Wait(ctx, advanceTime, nil); err != nil {
		return web.Answer{}, err
	}
	return s.clockAnswer(ctx, call)
}

func (s *Server) clockAnswer(ctx context.Context, call *call) (web.Answer, error) {
	state, err := s.Sandbox.State(ctx, call.actor.Company.ID)
	if err != nil {
		return web.Answer{}, err
	}
	zone := call.actor.Company.Zone
	return web.Answer{Data: web.One(func(object *web.Object) {
		object.Time("now", state.Now, zone)
		object.Bool("advancing", state.Running)
		if state.To.IsZero() {
			object.Null("from")
			object.Null("to")
		} else {
			object.Time("from", state.From, zone)
			object.Time("to", state.To, zone)
		}
		object.Data("happened", web.List(state.Happened, func(object *web.Object, kind *sandbox.Kind) {
			writeKind(object, kind, zone)
		}))
	})}, nil
}

func writeKind(object *web.Object, kind *sandbox.Kind, zone *time.Location) {
	object.String("kind", kind.Name)
	object.Int("count", kind.Amount)
	object.Data("first", web.List(kind.First, func(object *web.Object, one *sandbox.Happening) {
		object.Time("at", one.At, zone)
		object.String("id", one.ID)
	}))
}
