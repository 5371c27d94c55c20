package webhook

import (
	"context"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
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
func (s *Service) apply(ctx context.Context, tx *sqldb.Tx, a account.Actor, c change) error {
	if err := s.writeRow(ctx, tx, a.Company.ID, c); err != nil {
		return err
	}
	if c.switches() {
		if err := s.switchLane(ctx, tx, a.Company.ID, *c.after); err != nil {
			return err
		}
	}
	tx.OnCommit(s.sender.WebhooksChanged)
	return account.WriteAudit(ctx, tx, a, c.auditEntry())
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

func (s *Service) writeRow(ctx context.Context, tx *sqldb.Tx, companyID int64, c change) (err error) {
	switch {
	case c.after == nil:
		return removeWebhook(ctx, tx, companyID, c.before.ID)
	case c.before != nil:
		return updateWebhook(ctx, tx, companyID, *c.after)
	}
	c.after.CreatedAt = tx.Now()
	if c.after.ID, err = insertWebhook(ctx, tx, companyID, *c.after); err != nil {
		return err
	}
	c.after.sealed = s.box.Seal([]byte(c.secret), secretContext(c.after.ID))
	if err := setSecret(ctx, tx, companyID, c.after.ID, c.after.sealed); err != nil {
		return err
	}
	return sender.OpenLane(ctx, tx, c.after.ID)
}

// switchLane parks the pending deliveries of a webhook that is off, and
// resumes those of one that is on.
func (s *Service) switchLane(ctx context.Context, tx *sqldb.Tx, companyID int64, w Webhook) error {
	if !w.Active {
		return sender.Park(ctx, tx, companyID, w.ID)
	}
	tx.OnCommit(func() { s.sender.Wake(w.ID) })
	return sender.Unpark(ctx, tx, companyID, w.ID)
}

// auditEntry is what the audit log shows of a change; never the secret.
func (c change) auditEntry() account.AuditEntry {
	e := account.AuditEntry{Record: "webhook", Action: "webhook.updated"}
	if c.before != nil {
		e.ID, e.Name, e.Before = c.before.ID, c.before.URL, auditFields(*c.before)
	} else {
		e.Action = "webhook.created"
	}
	if c.after != nil {
		e.ID, e.Name, e.After = c.after.ID, c.after.URL, auditFields(*c.after)
	} else {
		e.Action = "webhook.deleted"
	}
	return e
}

func auditFields(w Webhook) account.AuditFields {
	return account.AuditFields{
		"url": w.URL, "description": w.Description, "events": strings.Trim(joinEvents(w.Events), ","), "active": w.Active,
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
func (s *Service) applyCallbackSecret(ctx context.Context, tx *sqldb.Tx, a account.Actor, c secretChange) (string, error) {
	kept, err := saveCallback(ctx, tx, a.Company.ID, c)
	if err != nil || !c.replace {
		return kept, err
	}
	return kept, account.WriteAudit(ctx, tx, a, account.AuditEntry{Action: "callback_secret.replaced", Record: "company", ID: a.Company.ID})
}
