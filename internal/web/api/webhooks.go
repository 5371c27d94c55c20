package api

import (
	"context"
	"encoding/json"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/web"
	"carteira/internal/webhook"
)

type eventRecord struct {
	Event       event.Name      `json:"event"`
	Description string          `json:"description"`
	Sample      json.RawMessage `json:"sample"`
}

func (s *Server) listEvents(_ context.Context, call *call) (web.Answer, error) {
	list := make([]eventRecord, len(event.Catalog))
	for i, entry := range event.Catalog {
		list[i] = eventRecord{entry.Name, entry.Description, webhook.Sample(entry.Name)}
	}
	return short(call, list)
}

// short is the answer to a list that is read whole: the page asked for is cut
// from it.
func short[T any](call *call, list []T) (web.Answer, error) {
	query := call.query()
	paging := query.Page()
	if err := query.Err(); err != nil {
		return web.Answer{}, err
	}
	total := int64(len(list))
	from := min(paging.Offset(), total)
	part := list[from:min(from+paging.Size, total)]
	return page(call, paging, total, web.JSON(part)), nil
}

type webhookRecord struct {
	ID                  int64        `json:"id"`
	URL                 string       `json:"url"`
	Description         *string      `json:"description"`
	Events              []event.Name `json:"events"`
	Active              bool         `json:"active"`
	RetryRefused        bool         `json:"retry_refused"`
	ConsecutiveFailures int          `json:"consecutive_failures"`
	DisabledAt          *string      `json:"disabled_at"`
	CreatedAt           string       `json:"created_at"`
	Secret              string       `json:"secret,omitempty"`
}

func (c *call) webhook(hook webhook.Webhook) webhookRecord {
	return webhookRecord{
		ID:                  hook.ID,
		URL:                 hook.URL,
		Description:         textOrNull(hook.Description),
		Events:              hook.Events,
		Active:              hook.Active,
		RetryRefused:        hook.RetryRefused,
		ConsecutiveFailures: hook.Failures,
		DisabledAt:          c.timeOrNull(hook.DisabledAt),
		CreatedAt:           civil.Timestamp(hook.CreatedAt, c.actor.Company.Zone),
	}
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (c *call) timeOrNull(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	text := civil.Timestamp(at, c.actor.Company.Zone)
	return &text
}

func (s *Server) listWebhooks(ctx context.Context, call *call) (web.Answer, error) {
	all, err := s.Webhooks.List(ctx, call.actor)
	if err != nil {
		return web.Answer{}, err
	}
	list := make([]webhookRecord, len(all))
	for i, hook := range all {
		list[i] = call.webhook(hook)
	}
	return short(call, list)
}

func (s *Server) createWebhook(ctx context.Context, call *call) (web.Answer, error) {
	form, err := call.form()
	if err != nil {
		return web.Answer{}, err
	}
	hook, secret, err := s.Webhooks.Create(ctx, call.actor, webhook.ReadNew(form))
	return call.createdWebhook(hook, secret), err
}

func (c *call) createdWebhook(hook webhook.Webhook, secret string) web.Answer {
	record := c.webhook(hook)
	record.Secret = secret
	return web.Answer{
		Message: "keep the secret now: it signs every delivery and is not shown again",
		Data:    web.JSON(record),
	}
}

func (s *Server) readWebhook(ctx context.Context, call *call) (web.Answer, error) {
	hook, err := s.Webhooks.Find(ctx, call.actor, call.id)
	return web.Answer{Data: web.JSON(call.webhook(hook))}, err
}

func (s *Server) updateWebhook(ctx context.Context, call *call) (web.Answer, error) {
	form, err := call.form()
	if err != nil {
		return web.Answer{}, err
	}
	hook, err := s.Webhooks.Update(ctx, call.actor, call.id, webhook.ReadChanges(form))
	return web.Answer{Data: web.JSON(call.webhook(hook))}, err
}

func (s *Server) deleteWebhook(ctx context.Context, call *call) (web.Answer, error) {
	err := s.Webhooks.Delete(ctx, call.actor, call.id)
	return deleted(call.id, "webhook"), err
}

type testRecord struct {
	Delivered      bool    `json:"delivered"`
	ResponseStatus *int    `json:"response_status"`
	ResponseBody   *string `json:"response_body"`
	DurationMS     int64   `json:"duration_ms"`
	Error          *string `json:"error"`
}

func (s *Server) testWebhook(ctx context.Context, call *call) (web.Answer, error) {
	if err := call.noBody(); err != nil {
		return web.Answer{}, err
	}
	attempt, delivered, err := s.Webhooks.Test(ctx, call.actor, call.id)
	return web.Answer{Data: web.JSON(testRecord{
		delivered, statusOrNull(attempt.ResponseStatus), textOrNull(attempt.ResponseBody),
		attempt.Duration.Milliseconds(), textOrNull(attempt.Error),
	})}, err
}

func statusOrNull(status int) *int {
	if status == 0 {
		return nil
	}
	return &status
}

type deliveryRecord struct {
	ID            int64           `json:"id"`
	EventID       string          `json:"event_id"`
	Event         event.Name      `json:"event"`
	WebhookID     *int64          `json:"webhook_id"`
	URL           string          `json:"url"`
	Status        webhook.Status  `json:"status"`
	Attempts      []attemptRecord `json:"attempts"`
	NextAttemptAt *string         `json:"next_attempt_at"`
	Payload       json.RawMessage `json:"payload"`
	CreatedAt     string          `json:"created_at"`
	DeliveredAt   *string         `json:"delivered_at"`
}

type attemptRecord struct {
	Number         int     `json:"number"`
	At             string  `json:"at"`
	DurationMS     int64   `json:"duration_ms"`
	ResponseStatus *int    `json:"response_status"`
	ResponseBody   *string `json:"response_body"`
	Error          *string `json:"error"`
}

func (c *call) delivery(delivery webhook.Delivery) deliveryRecord {
	zone := c.actor.Company.Zone
	record := deliveryRecord{
		ID:            delivery.ID,
		EventID:       delivery.EventID,
		Event:         delivery.Event,
		URL:           delivery.URL,
		Status:        delivery.Status,
		Attempts:      make([]attemptRecord, len(delivery.Attempts)),
		NextAttemptAt: c.timeOrNull(delivery.NextAttempt),
		Payload:       delivery.Payload,
		CreatedAt:     civil.Timestamp(delivery.CreatedAt, zone),
		DeliveredAt:   c.timeOrNull(delivery.DeliveredAt),
	}
	if delivery.WebhookID != 0 {
		record.WebhookID = &delivery.WebhookID
	}
	for i, attempt := range delivery.Attempts {
		record.Attempts[i] = attemptRecord{
			attempt.Number, civil.Timestamp(attempt.At, zone), attempt.Duration.Milliseconds(),
			statusOrNull(attempt.ResponseStatus),
			textOrNull(attempt.ResponseBody), textOrNull(attempt.Error),
		}
	}
	return record
}

func (s *Server) listDeliveries(ctx context.Context, call *call) (web.Answer, error) {
	query := call.query()
	paging, filter := query.Page(), webhook.ReadDeliveryFilter(query)
	if err := query.Err(); err != nil {
		return web.Answer{}, err
	}
	all, total, err := s.Webhooks.Deliveries(ctx, call.actor, call.id, filter, paging)
	if err != nil {
		return web.Answer{}, err
	}
	list := make([]deliveryRecord, len(all))
	for i, delivery := range all {
		list[i] = call.delivery(delivery)
	}
	return page(call, paging, total, web.JSON(list)), nil
}

func (s *Server) resendDelivery(ctx context.Context, call *call) (web.Answer, error) {
	if err := call.noBody(); err != nil {
		return web.Answer{}, err
	}
	delivery, err := s.Webhooks.Resend(ctx, call.actor, call.event, call.id)
	return web.Answer{Data: web.JSON(call.delivery(delivery))}, err
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
	if err := call.noBody(); err != nil {
		return web.Answer{}, err
	}
	secret, err := s.Webhooks.RotateCallbackSecret(ctx, call.actor)
	return rotated(secret), err
}

func (s *Server) rotateWebhookSecret(ctx context.Context, call *call) (web.Answer, error) {
	if err := call.noBody(); err != nil {
		return web.Answer{}, err
	}
	secret, err := s.Webhooks.RotateSecret(ctx, call.actor, call.id)
	return rotated(secret), err
}

func rotated(secret string) web.Answer {
	return web.Answer{Message: "the old secret signs too for 24 hours", Data: web.JSON(secretRecord{secret})}
}
