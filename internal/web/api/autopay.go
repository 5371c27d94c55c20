package api

import (
	"context"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/input"
	"carteira/internal/web"
)

// simulateAutopay does what the payer of a simulated bank would do.
func (s *Server) simulateAutopay(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	form.Require("what")
	deed := form.Choice("what", "authorise", "refuse", "end", "fail")
	if err := form.Err(); err != nil {
		return web.Answer{}, err
	}
	known, err := s.Payments.SimulateAutopay(ctx, call.actor, call.id, deed.Value)
	return call.autopay(known), err
}

func (c *call) autopay(known payment.Autopay) web.Answer {
	zone := c.actor.Company.Zone
	return web.Answer{Data: web.One(func(object *web.Object) {
		object.String("autopay", string(known.State))
		object.Bool("available", len(known.Journeys) > 0)
		if known.Newest == nil {
			object.Null("authorisation")
		} else {
			object.Object("authorisation", func(object *web.Object) { writeAuthorisation(object, known.Newest, zone) })
		}
		writeDebit(object, "next_debit", known.NextDebit)
		writeDebit(object, "failed_debit", known.Failed)
		object.Data("history", web.List(known.History, func(object *web.Object, step *payment.AutopayStep) {
			object.String("autopay", string(step.State))
			object.Text("by", step.By)
			object.Text("reason", step.Reason)
			object.Time("at", step.At, zone)
		}))
	})}
}

func writeAuthorisation(object *web.Object, asked *payment.AutopayRequest, zone *time.Location) {
	object.String("provider", asked.Provider)
	object.String("journey", string(asked.Journey))
	object.String("every", string(asked.Every))
	object.Text("pix_copy_paste", asked.PixCode)
	object.Time("asked_at", asked.AskedAt, zone)
	object.Time("expires_at", asked.ExpiresAt, zone)
	object.Time("active_at", asked.ActiveAt, zone)
	object.Time("ended_at", asked.EndedAt, zone)
	object.Text("ended_by", string(asked.EndedBy))
	object.Text("reason", asked.Reason)
	object.Text("problem", asked.Problem)
}

func writeDebit(object *web.Object, name string, debit *payment.AutopayDebit) {
	if debit == nil {
		object.Null(name)
		return
	}
	object.Object(name, func(object *web.Object) {
		object.Int("invoice_id", debit.InvoiceID)
		object.Money("amount", debit.Amount)
		object.Date("on", debit.On)
		object.Int("retries", int64(debit.Retries))
		object.Text("failure", debit.Failure)
	})
}
