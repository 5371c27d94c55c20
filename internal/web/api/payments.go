package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	"carteira/internal/billing"
	"carteira/internal/event"
	"carteira/internal/payment"
	"carteira/internal/platform/input"
	"carteira/internal/web"
)

// createPix has an invoice charged. The address of a notification is checked
// before anything else: a refused one leaves no charge behind.
func (s *Server) createPix(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	address, _ := s.Webhooks.CheckNotification(ctx, form)
	if err := form.Err(); err != nil {
		return web.Answer{}, err
	}
	payable, err := s.Payments.Charge(ctx, call.actor, call.id, address)
	if err != nil {
		return web.Answer{}, err
	}
	picture, err := payable.QR()
	if err != nil {
		return web.Answer{}, err
	}
	code := base64.StdEncoding.EncodeToString(picture)
	url, found, err := s.Webhooks.Notification(ctx, call.actor, call.id)
	return web.Answer{Data: web.One(func(object *web.Object) {
		writePayer(object, payable.Invoice)
		object.Object("payment", func(object *web.Object) {
			object.String("provider", payable.Provider)
			object.String("flow", string(payable.Flow))
			object.Data("amount", web.JSON(json.Number(payable.Amount.String())))
			object.Text("pix_copy_paste", payable.PixCode)
			if payable.Flow == payment.FlowPix {
				object.String("qr_code_base64", code)
			} else {
				object.Null("qr_code_base64")
			}
			object.String("qr_code_data_uri", "data:image/png;base64,"+code)
			object.Text("checkout_url", payable.CheckoutURL)
			object.Time("expires_at", payable.ExpiresAt, call.actor.Company.Zone)
		})
		if !found {
			object.Null("notification")
			return
		}
		object.Object("notification", func(object *web.Object) {
			object.String("url", url)
			object.String("event", string(event.InvoicePaid))
		})
	})}, err
}

// writePayer writes what is paid, and by which customer.
func writePayer(object *web.Object, invoice billing.Invoice) {
	object.Object("invoice", func(object *web.Object) {
		object.Int("id", invoice.ID)
		object.String("status", invoice.Status.String())
		object.Money("total_amount", invoice.Amount)
	})
	object.Object("customer", func(object *web.Object) {
		object.Int("id", invoice.Customer.ID)
		object.String("name", invoice.Customer.Name)
	})
}

func (s *Server) readPaymentLink(ctx context.Context, call *call) (web.Answer, error) {
	link, err := s.Payments.PaymentLink(ctx, call.actor, call.id)
	return web.Answer{Data: web.One(func(object *web.Object) {
		writePayer(object, link.Invoice)
		object.Object("payment", func(object *web.Object) {
			object.String("url", link.URL)
			object.Data("amount", web.JSON(json.Number(link.Amount.String())))
			object.Bool("payable", link.Payable)
			object.Data("methods", web.JSON(link.Methods))
			object.Text("provider", link.Provider)
			object.Time("expires_at", link.ExpiresAt, call.actor.Company.Zone)
		})
	})}, err
}

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
