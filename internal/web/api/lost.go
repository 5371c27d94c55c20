package api

import (
	"context"
	"net/http"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/reseller"
	"carteira/internal/web"
)

// lost are the handlers that answer a repeated POST when a crash lost the first
// answer, by path: with the record as it is. What only the first call knew is
// null, false or 0 then.
func (s *Server) lost() map[string]handler {
	return map[string]handler{
		"/customers":                       found(s.Customers.Find, (*call).customer),
		"/customers/{id}/renew-due-date":   s.readRenewed,
		"/customers/{id}/autopay":          found(s.Payments.Autopay, (*call).autopay),
		"/customers/{id}/autopay/simulate": found(s.Payments.Autopay, (*call).autopay),
		"/invoices":                        s.readInvoice,
		"/invoices/{id}/pix":               reading(s.createPix), // which answers with the charge that can be paid
		"/invoices/{id}/status":            s.readSettled,
		"/payments/{id}/refund":            s.readPayment,
		"/payments/{id}/undo":              s.readPayment,
		"/payments/{id}/apply":             s.readPayment,
		"/payments/{id}/dismiss":           s.readPayment,
		"/customer-plans":                  s.readPlan,
		"/products":                        s.readProduct,
		"/resellers":                       found(s.resellerAsPaid, s.madeReseller),
		"/resellers/{id}/renew":            found(s.resellerAsPaid, s.paidReseller),
		"/plans":                           found(s.Resellers.FindPlan, s.subscriptionPlan),
		"/webhooks":                        s.readCreatedWebhook,
		"/webhooks/{id}/test":              s.testWebhook, // a test may be sent twice
		"/webhooks/deliveries/{id}/resend": found(s.Webhooks.Delivery, (*call).delivery),
		"/webhooks/callback-secret/rotate": s.readRotated,
		"/webhooks/{id}/secret/rotate":     s.readRotatedWebhook,
		"/sandbox/clock":                   s.readClock,
	}
}

// reread answers for a POST with a lost answer. The path names the record, or
// the mark of the request does.
func (s *Server) reread(ctx context.Context, w http.ResponseWriter, op route, call *call, recordID int64) (int, []byte) {
	if call.id == 0 {
		call.id = recordID
	}
	op.handler = s.lost()[op.path]
	return run(ctx, w, op, call)
}

func (s *Server) readRenewed(ctx context.Context, call *call) (web.Answer, error) {
	found, err := s.Customers.Find(ctx, call.actor, call.id)
	return web.Answer{Data: web.One(func(object *web.Object) {
		call.writeCustomer(object, &found)
		object.Date("previous_due_date", civil.Date{})
	})}, err
}

func (s *Server) readSettled(ctx context.Context, call *call) (web.Answer, error) {
	invoice, err := s.Billing.Find(ctx, call.actor, call.id)
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, call, invoice, func(object *web.Object) {
		object.Bool("renewed", false)
		object.Text("renewal_problem", "")
		object.Bool("due_date_moved_back", false)
	})
}

// resellerAsPaid is a reseller as the lost answer had it, but for what it cost and
// its invitation.
func (s *Server) resellerAsPaid(ctx context.Context, actor account.Actor, id int64) (reseller.Paid, error) {
	found, err := s.Resellers.Find(ctx, actor, id)
	if err != nil {
		return reseller.Paid{}, err
	}
	balance, err := s.Resellers.Balance(ctx, actor)
	return reseller.Paid{Reseller: found, CreditsBalance: balance}, err
}

func (s *Server) readCreatedWebhook(ctx context.Context, call *call) (web.Answer, error) {
	hook, secret, err := s.Webhooks.Created(ctx, call.actor, call.id)
	return call.createdWebhook(hook, secret), err
}

func (s *Server) readRotated(ctx context.Context, call *call) (web.Answer, error) {
	secret, err := s.Webhooks.CallbackSecret(ctx, call.actor)
	return call.rotated(secret), err
}

func (s *Server) readRotatedWebhook(ctx context.Context, call *call) (web.Answer, error) {
	_, secret, err := s.Webhooks.Created(ctx, call.actor, call.id)
	return call.rotated(secret), err
}
