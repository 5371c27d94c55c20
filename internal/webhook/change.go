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
func (s *Service) apply(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change change) error {
	if err := s.writeRow(ctx, tx, actor.Company.ID, change); err != nil {
		return err
	}
	if change.switches() {
		if err := s.switchLane(ctx, tx, actor.Company.ID, *change.after); err != nil {
			return err
		}
	}
	tx.OnCommit(s.sender.WebhooksChanged)
	return account.WriteAudit(ctx, tx, actor, change.auditEntry())
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

func (s *Service) writeRow(ctx context.Context, tx *sqldb.Tx, companyID int64, change change) (err error) {
	switch {
	case change.after == nil:
		return removeWebhook(ctx, tx, companyID, change.before.ID)
	case change.before != nil:
		return updateWebhook(ctx, tx, companyID, *change.after)
	}
	change.after.CreatedAt = tx.Now()
	if change.after.ID, err = insertWebhook(ctx, tx, companyID, *change.after); err != nil {
		return err
	}
	change.after.sealed = s.box.Seal([]byte(change.secret), secretContext(change.after.ID))
	if err := setSecret(ctx, tx, companyID, change.after.ID, change.after.sealed); err != nil {
		return err
	}
	return sender.OpenLane(ctx, tx, change.after.ID)
}

// switchLane parks the pending deliveries of a webhook that is off, and
// resumes those of one that is on.
func (s *Service) switchLane(ctx context.Context, tx *sqldb.Tx, companyID int64, webhook Webhook) error {
	if !webhook.Active {
		return sender.Park(ctx, tx, companyID, webhook.ID)
	}
	tx.OnCommit(func() { s.sender.Wake(webhook.ID) })
	return sender.Unpark(ctx, tx, companyID, webhook.ID)
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
func (s *Service) applyCallbackSecret(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	change secretChange,
) (string, error) {
	kept, err := saveCallback(ctx, tx, actor.Company.ID, change)
	if err != nil || !change.replace {
		return kept, err
	}
	return kept, account.WriteAudit(ctx, tx, actor, account.AuditEntry{
		Action: "callback_secret.replaced",
		Record: "company",
		ID:     actor.Company.ID,
	})
}
