package api

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web"
	"carteira/internal/webhook"
)

func (s *Server) listEvents(_ context.Context, call *call) (web.Answer, error) {
	return short(call, event.Catalog, func(object *web.Object, entry *event.Entry) {
		object.String("event", string(entry.Name))
		object.String("description", entry.Description)
		object.Data("sample", web.JSON(webhook.Sample(entry.Name)))
	})
}

// short is the answer to a list that is read whole: the page asked for is cut
// from it.
func short[T any](call *call, list []T, write func(*web.Object, *T)) (web.Answer, error) {
	query := call.query()
	paging := query.Page()
	if err := query.Err(); err != nil {
		return web.Answer{}, err
	}
	total := int64(len(list))
	from := min(paging.Offset(), total)
	part := list[from:min(from+paging.Size, total)]
	return page(call, paging, total, web.List(part, write)), nil
}

func (c *call) writeWebhook(object *web.Object, hook *webhook.Webhook) {
	object.Int("id", hook.ID)
	object.String("url", hook.URL)
	object.Text("description", hook.Description)
	object.Data("events", web.JSON(hook.Events))
	object.Bool("active", hook.Active)
	object.Bool("retry_refused", hook.RetryRefused)
	object.Int("consecutive_failures", int64(hook.Failures))
	object.Time("disabled_at", hook.DisabledAt, c.actor.Company.Zone)
	object.Time("created_at", hook.CreatedAt, c.actor.Company.Zone)
}

func (c *call) webhook(hook webhook.Webhook) web.Answer {
	return web.Answer{Data: web.One(func(object *web.Object) { c.writeWebhook(object, &hook) })}
}

func (s *Server) listWebhooks(ctx context.Context, call *call) (web.Answer, error) {
	all, err := s.Webhooks.List(ctx, call.actor)
	if err != nil {
		return web.Answer{}, err
	}
	return short(call, all, call.writeWebhook)
}

func (s *Server) createWebhook(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	hook, secret, err := s.Webhooks.Create(ctx, call.actor, webhook.ReadNew(form))
	return call.createdWebhook(hook, secret), err
}

func (c *call) createdWebhook(hook webhook.Webhook, secret string) web.Answer {
	return web.Answer{
		Message: "keep the secret now: it signs every delivery and is not shown again",
		Data: web.One(func(object *web.Object) {
			c.writeWebhook(object, &hook)
			object.String("secret", secret)
		}),
	}
}

func (s *Server) testWebhook(ctx context.Context, call *call) (web.Answer, error) {
	attempt, delivered, err := s.Webhooks.Test(ctx, call.actor, call.id)
	return web.Answer{Data: web.One(func(object *web.Object) {
		object.Bool("delivered", delivered)
		writeResponse(object, &attempt)
		object.Int("duration_ms", attempt.Duration.Milliseconds())
		object.Text("error", attempt.Error)
	})}, err
}

func writeResponse(object *web.Object, attempt *webhook.Attempt) {
	if attempt.ResponseStatus == 0 {
		object.Null("response_status")
	} else {
		object.Int("response_status", int64(attempt.ResponseStatus))
	}
	object.Text("response_body", attempt.ResponseBody)
}

func (c *call) writeDelivery(object *web.Object, delivery *webhook.Delivery) {
	zone := c.actor.Company.Zone
	object.Int("id", delivery.ID)
	object.String("event_id", delivery.EventID)
	object.String("event", string(delivery.Event))
	if delivery.WebhookID == 0 {
		object.Null("webhook_id")
	} else {
		object.Int("webhook_id", delivery.WebhookID)
	}
	object.String("url", delivery.URL)
	object.String("status", string(delivery.Status))
	object.Data("attempts", web.List(delivery.Attempts, func(object *web.Object, attempt *webhook.Attempt) {
		object.Int("number", int64(attempt.Number))
		object.Time("at", attempt.At, zone)
		object.Int("duration_ms", attempt.Duration.Milliseconds())
		writeResponse(object, attempt)
		object.Text("error", attempt.Error)
	}))
	object.Time("next_attempt_at", delivery.NextAttempt, zone)
	object.Data("payload", web.JSON(delivery.Payload))
	object.Time("created_at", delivery.CreatedAt, zone)
	object.Time("delivered_at", delivery.DeliveredAt, zone)
}

func (c *call) delivery(delivery webhook.Delivery) web.Answer {
	return web.Answer{Data: web.One(func(object *web.Object) { c.writeDelivery(object, &delivery) })}
}

func (s *Server) listDeliveries(ctx context.Context, call *call) (web.Answer, error) {
	find := func(
		ctx context.Context, actor account.Actor, filter webhook.DeliveryFilter, paging input.Page,
	) ([]webhook.Delivery, int64, error) {
		return s.Webhooks.Deliveries(ctx, actor, call.id, filter, paging)
	}
	deliveries, err := listed(ctx, call, webhook.ReadDeliveryFilter, find)
	return deliveries.answer(call.writeDelivery), err
}

func (s *Server) resendDelivery(ctx context.Context, call *call) (web.Answer, error) {
	delivery, err := s.Webhooks.Resend(ctx, call.actor, call.event, call.id)
	return call.delivery(delivery), err
}

type secretRecord struct {
	Secret string `json:"secret"`
}

func (s *Server) readCallbackSecret(ctx context.Context, call *call) (web.Answer, error) {
	if call.actor.Scope == account.ScopeRead { // its holder can sign as we do
		return web.Answer{}, fault.Forbidden("scope: this token may only read; secrets need one with the scope full")
	}
	secret, err := s.Webhooks.CallbackSecret(ctx, call.actor)
	return web.Answer{Data: web.JSON(secretRecord{secret})}, err
}

func (s *Server) rotateCallbackSecret(ctx context.Context, call *call) (web.Answer, error) {
	secret, err := s.Webhooks.RotateCallbackSecret(ctx, call.actor)
	return call.rotated(secret), err
}

func (*call) rotated(secret string) web.Answer {
	return web.Answer{Message: "the old secret signs too for 24 hours", Data: web.JSON(secretRecord{secret})}
}
