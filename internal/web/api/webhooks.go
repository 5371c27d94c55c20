package api

import (
	"context"
	"encoding/json"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/web"
	"carteira/internal/webhook"
)

type eventRecord struct {
	Event       event.Name      `json:"event"`
	Description string          `json:"description"`
	Sample      json.RawMessage `json:"sample"`
}

func (s *Server) listEvents(_ context.Context, c *call) (web.Answer, error) {
	list := make([]eventRecord, len(event.Catalog))
	for i, e := range event.Catalog {
		list[i] = eventRecord{e.Name, e.Description, webhook.Sample(e.Name)}
	}
	return short(c, len(list), list), nil
}

// short is the answer to a list that is always whole.
func short(c *call, n int, list any) web.Answer {
	return web.Answer{Data: web.JSON(list), Meta: &web.Meta{
		Total: int64(n), PerPage: int64(max(n, 1)), CurrentPage: 1, LastPage: 1, CompanyID: c.actor.Company.ID,
	}}
}

type webhookRecord struct {
	ID                  int64        `json:"id"`
	URL                 string       `json:"url"`
	Description         *string      `json:"description"`
	Events              []event.Name `json:"events"`
	Active              bool         `json:"active"`
	ConsecutiveFailures int          `json:"consecutive_failures"`
	DisabledAt          *string      `json:"disabled_at"`
	CreatedAt           string       `json:"created_at"`
	Secret              string       `json:"secret,omitempty"`
}

func (c *call) webhook(w webhook.Webhook) webhookRecord {
	return webhookRecord{
		ID: w.ID, URL: w.URL, Description: textOrNull(w.Description), Events: w.Events, Active: w.Active,
		ConsecutiveFailures: w.Failures, DisabledAt: c.timeOrNull(w.DisabledAt), CreatedAt: civil.Timestamp(w.CreatedAt, c.actor.Company.Zone),
	}
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (c *call) timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := civil.Timestamp(t, c.actor.Company.Zone)
	return &text
}

func (s *Server) listWebhooks(ctx context.Context, c *call) (web.Answer, error) {
	all, err := s.Webhooks.List(ctx, c.actor)
	if err != nil {
		return web.Answer{}, err
	}
	list := make([]webhookRecord, len(all))
	for i, w := range all {
		list[i] = c.webhook(w)
	}
	return short(c, len(list), list), nil
}

func (s *Server) createWebhook(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	w, secret, err := s.Webhooks.Create(ctx, c.actor, webhook.ReadNew(form))
	record := c.webhook(w)
	record.Secret = secret
	return web.Answer{Message: "keep the secret now: it signs every delivery and is not shown again", Data: web.JSON(record)}, err
}

func (s *Server) readWebhook(ctx context.Context, c *call) (web.Answer, error) {
	w, err := s.Webhooks.Find(ctx, c.actor, c.id)
	return web.Answer{Data: web.JSON(c.webhook(w))}, err
}

func (s *Server) updateWebhook(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	w, err := s.Webhooks.Update(ctx, c.actor, c.id, webhook.ReadChanges(form))
	return web.Answer{Data: web.JSON(c.webhook(w))}, err
}

func (s *Server) deleteWebhook(ctx context.Context, c *call) (web.Answer, error) {
	err := s.Webhooks.Delete(ctx, c.actor, c.id)
	return deleted(c.id, "webhook"), err
}

type testRecord struct {
	Delivered      bool    `json:"delivered"`
	ResponseStatus *int    `json:"response_status"`
	ResponseBody   *string `json:"response_body"`
	DurationMS     int64   `json:"duration_ms"`
	Error          *string `json:"error"`
}

func (s *Server) testWebhook(ctx context.Context, c *call) (web.Answer, error) {
	if err := c.noBody(); err != nil {
		return web.Answer{}, err
	}
	t, delivered, err := s.Webhooks.Test(ctx, c.actor, c.id)
	return web.Answer{Data: web.JSON(testRecord{
		delivered, statusOrNull(t.ResponseStatus), textOrNull(t.ResponseBody), t.Duration.Milliseconds(), textOrNull(t.Error),
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

func (c *call) delivery(d webhook.Delivery) deliveryRecord {
	zone := c.actor.Company.Zone
	r := deliveryRecord{
		ID: d.ID, EventID: d.EventID, Event: d.Event, URL: d.URL, Status: d.Status, Attempts: make([]attemptRecord, len(d.Attempts)),
		NextAttemptAt: c.timeOrNull(d.NextAttempt), Payload: d.Payload, CreatedAt: civil.Timestamp(d.CreatedAt, zone),
		DeliveredAt: c.timeOrNull(d.DeliveredAt),
	}
	if d.WebhookID != 0 {
		r.WebhookID = &d.WebhookID
	}
	for i, t := range d.Attempts {
		r.Attempts[i] = attemptRecord{
			t.Number, civil.Timestamp(t.At, zone), t.Duration.Milliseconds(), statusOrNull(t.ResponseStatus),
			textOrNull(t.ResponseBody), textOrNull(t.Error),
		}
	}
	return r
}

func (s *Server) listDeliveries(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	p, f := q.Page(), webhook.ReadDeliveryFilter(q)
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	all, total, err := s.Webhooks.Deliveries(ctx, c.actor, c.id, f, p)
	if err != nil {
		return web.Answer{}, err
	}
	list := make([]deliveryRecord, len(all))
	for i, d := range all {
		list[i] = c.delivery(d)
	}
	return page(c, p, total, web.JSON(list)), nil
}

func (s *Server) resendDelivery(ctx context.Context, c *call) (web.Answer, error) {
	if err := c.noBody(); err != nil {
		return web.Answer{}, err
	}
	d, err := s.Webhooks.Resend(ctx, c.actor, c.event, c.id)
	return web.Answer{Data: web.JSON(c.delivery(d))}, err
}

type secretRecord struct {
	Secret string `json:"secret"`
}

func (s *Server) readCallbackSecret(ctx context.Context, c *call) (web.Answer, error) {
	secret, err := s.Webhooks.CallbackSecret(ctx, c.actor)
	return web.Answer{Data: web.JSON(secretRecord{secret})}, err
}

func (s *Server) rotateCallbackSecret(ctx context.Context, c *call) (web.Answer, error) {
	if err := c.noBody(); err != nil {
		return web.Answer{}, err
	}
	secret, err := s.Webhooks.RotateCallbackSecret(ctx, c.actor)
	return web.Answer{Message: "the old secret is no longer used", Data: web.JSON(secretRecord{secret})}, err
}
