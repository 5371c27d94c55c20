package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/webhook/sender"
)

// change is one change of a webhook: nil before is a creation, nil after a
// deletion.
type change struct {
	before, after *Webhook
	secret        string // of a new webhook
}

// apply writes a change and draws its consequences: the row and its lane, the
// deliveries that a switch parks or resumes, the audit line, and a word to the
// sender after the commit. Webhooks are not counted, and no event or watcher
// hears of them. The sender itself counts failures and switches a webhook off
// at the twentieth.
func (s *Service) apply(ctx context.Context, tx account.Tx, change change) error {
	if err := s.writeRow(ctx, tx, change); err != nil {
		return err
	}
	if change.switches() {
		if err := s.switchLane(ctx, tx, *change.after); err != nil {
			return err
		}
	}
	tx.OnCommit(s.sender.WebhooksChanged)
	return account.WriteAudit(ctx, tx, change.auditEntry())
}

// switches reports whether the change turns the webhook on or off. Clearing the
// failures of one that is on turns it on again: what they parked goes on.
func (c change) switches() bool {
	if c.before == nil || c.after == nil {
		return false
	}
	cleared := c.before.Failures > 0 && c.after.Failures == 0
	return c.before.Active != c.after.Active || cleared
}

func (s *Service) writeRow(ctx context.Context, tx account.Tx, change change) (err error) {
	switch {
	case change.after == nil:
		return removeWebhook(ctx, tx, change.before.ID)
	case change.before != nil:
		return updateWebhook(ctx, tx, *change.after)
	}
	change.after.CreatedAt = tx.Now()
	if change.after.ID, err = insertWebhook(ctx, tx, *change.after); err != nil {
		return err
	}
	change.after.sealed = s.box.Seal([]byte(change.secret), sender.SecretContext(change.after.ID))
	if err := setSecret(ctx, tx, change.after.ID, change.after.sealed); err != nil {
		return err
	}
	return sender.OpenLane(ctx, tx.Tx, change.after.ID)
}

// switchLane parks the pending deliveries of a webhook that is off, and
// resumes those of one that is on.
func (s *Service) switchLane(ctx context.Context, tx account.Tx, webhook Webhook) error {
	if !webhook.Active {
		return sender.Park(ctx, tx.Tx, tx.Company.ID, webhook.ID)
	}
	tx.OnCommit(func() { s.sender.Wake(webhook.ID) })
	return sender.Unpark(ctx, tx.Tx, tx.Company.ID, webhook.ID)
}

// auditEntry is what the audit log shows of a change; never the secret.
func (c change) auditEntry() account.AuditEntry {
	entry := account.AuditEntry{Record: "webhook", Action: "webhook.updated"}
	if c.before != nil {
		entry.ID, entry.Name, entry.Before = c.before.ID, c.before.URL, auditFields(*c.before)
	} else {
		entry.Action = "webhook.created"
	}
	if c.after != nil {
		entry.ID, entry.Name, entry.After = c.after.ID, c.after.URL, auditFields(*c.after)
	} else {
		entry.Action = "webhook.deleted"
	}
	if c.before != nil && c.after != nil && c.before.sealed != c.after.sealed {
		entry.Action = "webhook.secret_replaced"
	}
	return entry
}

func auditFields(webhook Webhook) account.AuditFields {
	return account.AuditFields{
		"url": webhook.URL, "description": webhook.Description,
		"events": strings.Trim(joinEvents(webhook.Events), ","), "active": webhook.Active,
		"retry_refused": webhook.RetryRefused,
	}
}

// secretChange puts a secret in the place of the one that signs single-invoice
// notifications, or only where there is none yet.
type secretChange struct {
	sealed  string
	replace bool
}

// applyCallbackSecret writes the change and returns the secret that is in
// force. Only a replacement is audited: the first is made by reading.
func (s *Service) applyCallbackSecret(ctx context.Context, tx account.Tx, change secretChange) (string, error) {
	kept, err := saveCallback(ctx, tx, change)
	if err != nil || !change.replace {
		return kept, err
	}
	return kept, account.WriteAudit(ctx, tx, account.AuditEntry{
		Action: "callback_secret.replaced",
		Record: "company",
		ID:     tx.Company.ID,
	})
}

// Draft is what a caller wants a webhook to be; a change leaves alone what is
// not given.
type Draft struct {
	URL         input.Opt[string]
	Description input.Opt[string]
	Events      input.Opt[[]string]
	Active      input.Opt[bool] // of a change: switches the webhook on or off

	RetryRefused input.Opt[bool]

	Problems input.Problems
}

// ReadNew reads a new webhook from the fields url, description,
// events and retry_refused.
func ReadNew(in *input.Form) Draft {
	in.Require("url")
	in.Require("events")
	in.Ignore("active")
	return readDraft(in)
}

// ReadChanges reads changes of a webhook from the fields url, description,
// events, retry_refused and active.
func ReadChanges(in *input.Form) Draft {
	in.MustNotClear("url")
	in.MustNotClear("events")
	active := in.Bool("active")
	draft := readDraft(in)
	draft.Active = active
	return draft
}

func readDraft(in *input.Form) Draft {
	in.Ignore("id", "secret", "consecutive_failures", "disabled_at", "created_at", "notice")
	draft := Draft{
		URL:         in.Line("url", 2000),
		Description: in.Line("description", 255),
		Events:      in.List("events"),

		RetryRefused: in.Bool("retry_refused"),
	}
	draft.Problems = in.Problems()
	return draft
}

// check refuses an address that must not be called, and events that do not
// exist. The address is looked up, so it is not called in a transaction.
func (s *Service) check(ctx context.Context, draft Draft) (refused fault.Fields) {
	if draft.URL.Value != "" {
		if err := s.gate.CheckURL(ctx, draft.URL.Value); err != nil {
			refused.Add("url", outbound.Public(err))
		}
	}
	if draft.Events.HasValue() && len(draft.Events.Value) == 0 {
		refused.Add("events", "must name at least one event")
	}
	known := Subscribable()
	for _, name := range draft.Events.Value {
		switch {
		case event.Name(name) == event.Ping:
			refused.Add("events", "ping cannot be subscribed to; the test of a webhook sends it")
		case !slices.Contains(known, event.Name(name)):
			refused.Add("events", fmt.Sprintf("%q is not an event; GET /webhooks/events lists them", name))
		}
	}
	return refused
}

// to sets what is given, except whether the webhook is active.
func (d Draft) to(webhook *Webhook) {
	d.URL.To(&webhook.URL)
	d.Description.To(&webhook.Description)
	d.RetryRefused.To(&webhook.RetryRefused)
	if !d.Events.HasValue() {
		return
	}
	webhook.Events = nil
	for _, name := range d.Events.Value {
		if !slices.Contains(webhook.Events, event.Name(name)) {
			webhook.Events = append(webhook.Events, event.Name(name))
		}
	}
}

// Subscribable are the events that a webhook may want: all but ping.
func Subscribable() []event.Name {
	var names []event.Name
	for _, entry := range event.Catalog {
		if entry.Name != event.Ping {
			names = append(names, entry.Name)
		}
	}
	return names
}
