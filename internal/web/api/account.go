package api

import (
	"context"
	"iter"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/sandbox"
	"carteira/internal/web"
)

// account answers who owns the token, the company, and which token it is.
func (s *Server) account(ctx context.Context, call *call) (web.Answer, error) {
	company := call.actor.Company
	token, err := s.Accounts.Token(ctx, call.actor, call.actor.TokenID)
	if err != nil {
		return web.Answer{}, err
	}
	owner, err := s.Accounts.Owner(ctx, call.actor)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return web.Answer{}, err
	}
	return web.Answer{Data: web.One(func(object *web.Object) {
		if owner.ID == 0 {
			object.Null("user")
		} else {
			object.Object("user", fields(account.UserFields.In(account.InRecord, &owner), company.Zone))
		}
		object.Object("company", func(object *web.Object) { writeCompany(object, company, call.today) })
		object.Object("token", fields(account.TokenFields.In(account.InRecord, &token), company.Zone))
	})}, nil
}

// fields writes what the table of a record shows.
func fields(shown iter.Seq2[string, any], zone *time.Location) func(*web.Object) {
	return func(object *web.Object) {
		for name, value := range shown {
			if at, ok := value.(time.Time); ok {
				object.Time(name, at, zone)
			} else {
				object.Data(name, web.JSON(value))
			}
		}
	}
}

func writeCompany(object *web.Object, company account.Company, today civil.Date) {
	object.Int("id", company.ID)
	object.String("name", company.Name)
	object.String("level", string(company.Level))
	object.String("timezone", company.Zone.String())
	object.Time("created_at", company.CreatedAt, company.Zone)
	object.String("status", string(company.Subscription.Standing(today)))
	object.Date("expires_at", company.Subscription.ExpiresOn)
	object.Data("functions", web.JSON(company.Subscription.Functions.Names()))
	object.Date("books_closed_through", company.Settings.ClosedThrough)
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
