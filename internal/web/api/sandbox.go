package api

import (
	"context"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/sandbox"
	"carteira/internal/web"
)

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
