// Package webhook owns the addresses that integrators want to be told at, the
// deliveries that tell them, written in the transaction of the change, and their
// history. It does not decide what an event says: rooms record events, and this
// one subscribes to all of them. Nor does it send: its package sender does.
package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"

	"github.com/prometheus/client_golang/prometheus"
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

	sealed string
}

// Options are the operator's choices.
type Options struct {
	PerCompany int             // how many webhooks a company may have
	Delays     []time.Duration // before each attempt
	Keep       time.Duration   // how long history is kept; 0: 30 days
	Log        *slog.Logger    // nil: nothing is logged
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
func New(db *sqldb.DB, events *event.Log, box *secret.Box, gate *outbound.Gate, client *outbound.Client, o Options) *Service {
	if o.Keep == 0 {
		o.Keep = 30 * 24 * time.Hour
	}
	s := &Service{
		db: db, events: events, box: box, gate: gate, options: o, walks: newWalks(),
		sender: sender.New(sender.Config{DB: db, Box: box, Client: client, Delays: o.Delays, Log: o.Log}),
	}
	events.Watch(s.enqueue)
	return s
}

// Timeout bounds the whole exchange of one attempt, and BodyTime the body of its
// answer.
const (
	Timeout  = sender.Timeout
	BodyTime = sender.BodyTime
)

// Sign is the signature of a body at a time: see sender.Sign.
func Sign(key []byte, timestamp string, body []byte) string { return sender.Sign(key, timestamp, body) }

// Sender sends the deliveries.
func (s *Service) Sender() *sender.Sender { return s.sender }

// Run sends deliveries until ctx ends. It may be called again after it ended.
func (s *Service) Run(ctx context.Context) error { return s.sender.Run(ctx) }

// Inherit ends the leases of a process that is no more. It is for a process that
// knows itself to be the only one.
func (s *Service) Inherit(ctx context.Context) error { return s.sender.Inherit(ctx) }

// Metrics returns the sender's metrics for registration.
func (s *Service) Metrics() []prometheus.Collector { return s.sender.Metrics() }

// List returns the company's webhooks, oldest first.
func (s *Service) List(ctx context.Context, a account.Actor) ([]Webhook, error) {
	return webhooks(ctx, s.db, a.Company.ID)
}

// Find returns one of them.
func (s *Service) Find(ctx context.Context, a account.Actor, webhookID int64) (Webhook, error) {
	return webhookByID(ctx, s.db, a.Company.ID, webhookID)
}

// Create makes a webhook from the fields url, description and events. The
// secret it returns is not shown again.
func (s *Service) Create(ctx context.Context, a account.Actor, in *input.Form) (Webhook, string, error) {
	in.Require("url")
	in.Require("events")
	in.Ignore("secret", "active")
	change := s.read(ctx, in)
	if err := in.Err(); err != nil {
		return Webhook{}, "", err
	}
	w := Webhook{Active: true}
	change(&w)
	plain := newSecret()
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if err := account.LockTx(ctx, tx, a); err != nil {
			return err
		}
		n, err := countWebhooks(ctx, tx, a.Company.ID)
		if err != nil {
			return err
		}
		if n >= s.options.PerCompany {
			return fault.Field("url", fmt.Sprintf("the company has %d webhooks, which is all it may have; delete one first", n))
		}
		w.CreatedAt = tx.Now()
		if w.ID, err = insertWebhook(ctx, tx, a.Company.ID, w); err != nil {
			return err
		}
		w.sealed = s.box.Seal([]byte(plain), secretContext(w.ID))
		if err := setSecret(ctx, tx, a.Company.ID, w.ID, w.sealed); err != nil {
			return err
		}
		if err := sender.OpenLane(ctx, tx, w.ID); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, deed("webhook.created", Webhook{}, w))
	})
	return w, plain, err
}

// deed is what the audit log says of a webhook; never its secret.
func deed(action string, before, after Webhook) account.AuditEntry {
	d := account.AuditEntry{Action: action, Record: "webhook", ID: after.ID, Name: after.URL, Before: fields(before), After: fields(after)}
	switch action {
	case "webhook.created":
		d.Before = nil
	case "webhook.deleted":
		d.After = nil
	}
	return d
}

func fields(w Webhook) account.AuditFields {
	return account.AuditFields{"url": w.URL, "description": w.Description, "events": strings.Trim(joinEvents(w.Events), ","), "active": w.Active}
}

// Update changes url, description, events and active; what is not given
// stays. Switching it on clears the count of failures and resumes what was
// parked; switching it off parks what is pending.
func (s *Service) Update(ctx context.Context, a account.Actor, webhookID int64, in *input.Form) (Webhook, error) {
	in.MustNotClear("url")
	in.MustNotClear("events")
	in.Ignore("secret")
	change := s.read(ctx, in)
	active, hasActive := in.Bool("active").Get()
	if err := in.Err(); err != nil {
		return Webhook{}, err
	}
	var w Webhook
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if w, err = lockWebhook(ctx, tx, a.Company.ID, webhookID); err != nil {
			return err
		}
		before := w
		change(&w)
		tx.OnCommit(s.sender.WebhooksChanged)
		if hasActive && in.Sent("active") {
			if err := s.setActive(ctx, tx, a.Company.ID, &w, active); err != nil {
				return err
			}
		}
		if err := updateWebhook(ctx, tx, a.Company.ID, w); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, deed("webhook.updated", before, w))
	})
	return w, err
}

func (s *Service) setActive(ctx context.Context, tx *sqldb.Tx, companyID int64, w *Webhook, active bool) error {
	w.Active = active
	if !active {
		if w.DisabledAt.IsZero() {
			w.DisabledAt = tx.Now()
		}
		return sender.Park(ctx, tx, companyID, w.ID)
	}
	w.Failures, w.DisabledAt, w.Notice = 0, time.Time{}, ""
	tx.OnCommit(func() { s.sender.Wake(w.ID) })
	return sender.Unpark(ctx, tx, companyID, w.ID)
}

// Delete removes a webhook with its history.
func (s *Service) Delete(ctx context.Context, a account.Actor, webhookID int64) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		w, err := lockWebhook(ctx, tx, a.Company.ID, webhookID)
		if err != nil {
			return err
		}
		if err := removeWebhook(ctx, tx, a.Company.ID, webhookID); err != nil {
			return err
		}
		tx.OnCommit(s.sender.WebhooksChanged)
		return account.WriteAudit(ctx, tx, a, deed("webhook.deleted", w, w))
	})
}

// read reads what a form says of a webhook and returns how it changes one. The
// address is looked up here, before any transaction.
func (s *Service) read(ctx context.Context, in *input.Form) func(*Webhook) {
	in.Ignore("id", "consecutive_failures", "disabled_at", "created_at", "notice")
	address, hasURL := in.Line("url", 2000).Get()
	description, hasDescription := in.Line("description", 255).Get()
	names, hasEvents := in.List("events").Get()
	if hasURL && address != "" {
		if err := s.gate.CheckURL(ctx, address); err != nil {
			in.Refuse("url", outbound.Public(err))
		}
	}
	wanted := readEvents(in, names)
	if hasEvents && in.Sent("events") && len(names) == 0 {
		in.Refuse("events", "must name at least one event")
	}
	return func(w *Webhook) {
		if hasURL {
			w.URL = address
		}
		if hasDescription {
			w.Description = description
		}
		if hasEvents {
			w.Events = wanted
		}
	}
}

// Subscribable are the events that a webhook may want: all but ping.
func Subscribable() []event.Name {
	var names []event.Name
	for _, e := range event.Catalog {
		if e.Name != event.Ping {
			names = append(names, e.Name)
		}
	}
	return names
}

func readEvents(in *input.Form, names []string) []event.Name {
	known := Subscribable()
	var wanted []event.Name
	for _, n := range names {
		switch name := event.Name(n); {
		case name == event.Ping:
			in.Refuse("events", "ping cannot be subscribed to; the test of a webhook sends it")
		case !slices.Contains(known, name):
			in.Refuse("events", fmt.Sprintf("%q is not an event; GET /webhooks/events lists them", n))
		case !slices.Contains(wanted, name):
			wanted = append(wanted, name)
		}
	}
	return wanted
}

// CallbackSecret returns the secret that signs the notifications of single
// invoices, making it at the first time.
func (s *Service) CallbackSecret(ctx context.Context, a account.Actor) (string, error) {
	sealed, err := callbackSecret(ctx, s.db, a.Company.ID)
	if err != nil {
		return "", err
	}
	if sealed == "" {
		return s.saveCallbackSecret(ctx, a, false)
	}
	plain, err := s.box.Open(sealed, callbackContext(a.Company.ID))
	return string(plain), err
}

// RotateCallbackSecret replaces it.
func (s *Service) RotateCallbackSecret(ctx context.Context, a account.Actor) (string, error) {
	return s.saveCallbackSecret(ctx, a, true)
}

func (s *Service) saveCallbackSecret(ctx context.Context, a account.Actor, replace bool) (string, error) {
	sealed := s.box.Seal([]byte(newSecret()), callbackContext(a.Company.ID))
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if sealed, err = saveCallback(ctx, tx, a.Company.ID, sealed, replace); err != nil || !replace {
			return err
		}
		return account.WriteAudit(ctx, tx, a, account.AuditEntry{Action: "callback_secret.replaced", Record: "company", ID: a.Company.ID})
	})
	if err != nil {
		return "", err
	}
	plain, err := s.box.Open(sealed, callbackContext(a.Company.ID))
	return string(plain), err
}

func newSecret() string { return "whsec_" + id.NewCode(40) }

func secretContext(webhookID int64) string { return sender.SecretContext(webhookID) }

func callbackContext(companyID int64) string { return sender.CallbackContext(companyID) }

// joinEvents and splitEvents turn names into the text that is stored and
// searched: ",customer.created,invoice.paid,".
func joinEvents(names []event.Name) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = string(n)
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
