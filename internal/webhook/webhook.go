// Package webhook owns the addresses that integrators register, the deliveries
// to them, which are written in the transaction of the change, and their
// history. It does not decide what an event says: rooms record events, and this
// one subscribes to all of them. Nor does it send: its package sender does.
package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
	"carteira/internal/webhook/sender"
)

// Webhook is an integrator's address and the events it wants.
type Webhook struct {
	ID          int64
	URL         string
	Description string
	Events      []event.Name
	Active      bool
	Failures    int       // failed attempts in a row
	DisabledAt  time.Time // zero: it was not switched off
	Notice      string    // why it was switched off by itself
	CreatedAt   time.Time

	// RetryRefused retries what the receiver answered with 4xx, for receivers
	// that answer so while they start.
	RetryRefused bool

	sealed    string
	oldSealed string    // the secret before the last rotation; empty: there is none
	oldUntil  time.Time // it signs too until then
}

// Options are the operator's choices.
type Options struct {
	PerCompany int                        // how many webhooks a company may have
	Delays     []time.Duration            // before each attempt
	Keep       time.Duration              // how long history is kept; 0: 30 days
	KeepEvents int64                      // how many events are kept, whatever their time; 0: they go by Keep
	Log        *slog.Logger               // nil: nothing is logged
	Sent       watch.Watcher[sender.Sent] // sees each attempt that is recorded; may be nil

	Pruned watch.Watcher[account.Pruned] // sees the deliveries and events that are removed; may be nil
}

// Service has the use cases.
type Service struct {
	db      *sqldb.DB
	events  *event.Log
	box     *secret.Box
	gate    *outbound.Gate
	options Options
	sender  *sender.Sender
	walks   *walks
}

// New makes the service, which from then on writes a delivery for every event
// that a webhook wants.
func New(
	db *sqldb.DB,
	events *event.Log,
	box *secret.Box,
	gate *outbound.Gate,
	client *outbound.Client,
	options Options,
) *Service {
	if options.Keep == 0 {
		options.Keep = 30 * 24 * time.Hour
	}
	service := &Service{
		db:      db,
		events:  events,
		box:     box,
		gate:    gate,
		options: options,
		walks: &walks{
			deliveries: walk{read: oldDeliveries, remove: removeDeliveries, kind: "delivery.pruned"},
			events:     walk{read: oldEvents, remove: removeEvents, kind: "event.pruned"},
		},
		sender: sender.New(sender.Config{
			DB:     db,
			Box:    box,
			Client: client,
			Delays: options.Delays,
			Log:    options.Log,
			Sent:   options.Sent,
		}),
	}
	events.Watch(service.enqueue)
	return service
}

// Timeout bounds the whole exchange of one attempt, and BodyTime the body of its
// answer.
const (
	Timeout  = sender.Timeout
	BodyTime = sender.BodyTime
)

// Sign is the signature of a body at a time: see sender.Sign.
func Sign(key []byte, timestamp string, body []byte) string {
	return sender.Sign(key, timestamp, body)
}

// Sender sends the deliveries.
func (s *Service) Sender() *sender.Sender { return s.sender }

// Run sends deliveries until ctx ends. It may be called again after it ended.
func (s *Service) Run(ctx context.Context) error { return s.sender.Run(ctx) }

// Inherit ends the leases of a dead process. Only the single process of a
// database may call it.
func (s *Service) Inherit(ctx context.Context) error {
	return s.sender.Inherit(ctx)
}

// Metrics returns the sender's metrics for registration.
func (s *Service) Metrics() []prometheus.Collector { return s.sender.Metrics() }

// List returns the company's webhooks, oldest first.
func (s *Service) List(ctx context.Context, actor account.Actor) ([]Webhook, error) {
	return webhooks(ctx, s.db, actor.Company.ID)
}

// Find returns one of them.
func (s *Service) Find(ctx context.Context, actor account.Actor, webhookID int64) (Webhook, error) {
	return webhookByID(ctx, s.db, actor.Company.ID, webhookID)
}

// Create makes a webhook. The secret it returns is not shown again.
func (s *Service) Create(ctx context.Context, actor account.Actor, draft Draft) (Webhook, string, error) {
	if err := draft.Problems.With(s.check(ctx, draft)).Err(); err != nil {
		return Webhook{}, "", err
	}
	var webhook Webhook
	secret := newSecret()
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		if err := account.LockTx(ctx, tx); err != nil {
			return err
		}
		count, err := sqldb.Value[int](ctx, tx, `SELECT count(*) FROM webhooks WHERE company_id = ?`, actor.Company.ID)
		if err != nil {
			return err
		}
		if count >= s.options.PerCompany {
			return fault.Field("url", fmt.Sprintf("the company has %d webhooks, which is all it may have; delete one first", count))
		}
		webhook = Webhook{Active: true}
		draft.to(&webhook)
		return s.apply(ctx, tx, change{after: &webhook, secret: secret})
	})
	return webhook, secret, err
}

// Update changes what is given. Switching a webhook on clears the count of
// failures and resumes what was parked; switching it off parks what is pending.
func (s *Service) Update(ctx context.Context, actor account.Actor, webhookID int64, draft Draft) (Webhook, error) {
	if err := draft.Problems.With(s.check(ctx, draft)).Err(); err != nil {
		return Webhook{}, err
	}
	var webhook Webhook
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := lockWebhook(ctx, tx, webhookID)
		if err != nil {
			return err
		}
		webhook = before
		draft.to(&webhook)
		if draft.Active.HasValue() {
			webhook.turn(draft.Active.Value, tx.Now())
		}
		return s.apply(ctx, tx, change{before: &before, after: &webhook})
	})
	return webhook, err
}

// turn switches the webhook on or off.
func (w *Webhook) turn(active bool, now time.Time) {
	w.Active = active
	switch {
	case active:
		w.Failures, w.DisabledAt, w.Notice = 0, time.Time{}, ""
	case w.DisabledAt.IsZero():
		w.DisabledAt = now
	}
}

// Delete removes a webhook with its history.
func (s *Service) Delete(ctx context.Context, actor account.Actor, webhookID int64) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := lockWebhook(ctx, tx, webhookID)
		if err != nil {
			return err
		}
		return s.apply(ctx, tx, change{before: &before})
	})
}

// Created is a webhook with its secret again, for a caller who made or rotated it and got no
// answer.
func (s *Service) Created(ctx context.Context, actor account.Actor, id int64) (Webhook, string, error) {
	webhook, err := s.Find(ctx, actor, id)
	if err != nil {
		return Webhook{}, "", err
	}
	secret, err := s.open(webhook.sealed, sender.SecretContext(webhook.ID))
	return webhook, secret, err
}

// CallbackSecret returns the secret that signs the notifications of single
// invoices, making it at the first time.
func (s *Service) CallbackSecret(ctx context.Context, actor account.Actor) (string, error) {
	sealed, err := callbackSecret(ctx, s.db, actor.Company.ID)
	if err != nil {
		return "", err
	}
	if sealed == "" {
		return s.saveCallbackSecret(ctx, actor, false)
	}
	return s.open(sealed, sender.CallbackContext(actor.Company.ID))
}

func (s *Service) open(sealed, purpose string) (string, error) {
	plain, err := s.box.Open(sealed, purpose)
	return string(plain), err
}

func (s *Service) saveCallbackSecret(ctx context.Context, actor account.Actor, replace bool) (string, error) {
	change := secretChange{s.box.Seal([]byte(newSecret()), sender.CallbackContext(actor.Company.ID)), replace}
	sealed, err := account.Write(ctx, actor, s.db, func(tx account.Tx) (string, error) { return s.applyCallbackSecret(ctx, tx, change) })
	if err != nil {
		return "", err
	}
	return s.open(sealed, sender.CallbackContext(actor.Company.ID))
}

func newSecret() string { return "whsec_" + id.NewCode(40) }

// joinEvents and splitEvents turn names into the text that is stored and
// searched: ",customer.created,invoice.paid,".
func joinEvents(names []event.Name) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = string(name)
	}
	return "," + strings.Join(parts, ",") + ","
}

func splitEvents(text string) []event.Name {
	names := []event.Name{}
	for part := range strings.SplitSeq(strings.Trim(text, ","), ",") {
		if part != "" {
			names = append(names, event.Name(part))
		}
	}
	return names
}
