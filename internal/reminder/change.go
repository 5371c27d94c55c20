package reminder

import (
	"context"

	"carteira/internal/account"
)

// A change of this room's records is one value, and one function for each kind
// of record writes it: applyRule, applyTemplate, applyChannel, applyQuiet,
// applyDecision and applyOptOut. Each writes the row and its audit line. No
// secret is in the audit log. Nothing here is counted, and no event or watcher
// hears of it.

// change is a record before and after: nil before is a creation, nil after a
// deletion.
type change[T any] struct{ before, after *T }

// applyRule writes a rule.
func (s *Service) applyRule(ctx context.Context, tx account.Tx, change change[Rule]) (err error) {
	switch {
	case change.before == nil:
		change.after.CreatedAt, change.after.UpdatedAt = tx.Now(), tx.Now()
		change.after.ID, err = insertRule(ctx, tx, *change.after)
	case change.after == nil:
		err = tx.Do(ctx, `DELETE FROM reminder_rules WHERE company_id = ? AND id = ?`, tx.Company.ID, change.before.ID)
	default:
		change.after.UpdatedAt = tx.Now()
		err = updateRule(ctx, tx, *change.after)
	}
	if err != nil {
		return err
	}
	record := "rule"
	if change.after != nil && change.after.round {
		record = "round"
	}
	return account.AuditChange(ctx, tx, record, change.before, change.after, auditedRule)
}

func auditedRule(rule *Rule) account.Audited {
	return account.Audited{ID: rule.ID, Name: rule.Name, Fields: RuleFields.Audit(rule)}
}

// applyTemplate writes a template.
func (s *Service) applyTemplate(ctx context.Context, tx account.Tx, change change[Template]) (err error) {
	switch {
	case change.before == nil:
		change.after.CreatedAt, change.after.UpdatedAt = tx.Now(), tx.Now()
		change.after.ID, err = insertTemplate(ctx, tx, *change.after)
	case change.after == nil:
		if err = removeRounds(ctx, tx, change.before.ID); err != nil {
			return err
		}
		err = tx.Do(ctx, `DELETE FROM reminder_templates WHERE company_id = ? AND id = ?`, tx.Company.ID, change.before.ID)
	default:
		change.after.UpdatedAt = tx.Now()
		err = updateTemplate(ctx, tx, *change.after)
	}
	if err != nil {
		return err
	}
	return account.AuditChange(ctx, tx, "template", change.before, change.after, auditedTemplate)
}

func auditedTemplate(template *Template) account.Audited {
	return account.Audited{ID: template.ID, Name: template.Name, Fields: TemplateFields.Audit(template)}
}

// applyChannel writes a channel with its secrets, which are sealed under its
// id and so only once it has one.
func (s *Service) applyChannel(
	ctx context.Context, tx account.Tx, change change[Channel], secrets map[string]string,
) (err error) {
	switch {
	case change.before == nil:
		change.after.CreatedAt, change.after.UpdatedAt = tx.Now(), tx.Now()
		change.after.ID, err = insertChannel(ctx, tx, *change.after)
		if err != nil {
			return err
		}
		change.after.sealed = s.seal(change.after.ID, secrets)
		err = setSecrets(ctx, tx.Tx, tx.Company.ID, change.after.ID, change.after.sealed)
	case change.after == nil:
		err = tx.Do(ctx, `DELETE FROM reminder_channels WHERE company_id = ? AND id = ?`, tx.Company.ID, change.before.ID)
	default:
		change.after.UpdatedAt, change.after.sealed = tx.Now(), s.seal(change.after.ID, secrets)
		err = updateChannelRow(ctx, tx, *change.after)
	}
	if err != nil {
		return err
	}
	return account.AuditChange(ctx, tx, "channel", change.before, change.after, auditedChannel)
}

func auditedChannel(channel *Channel) account.Audited {
	fields := ChannelFields.Audit(channel)
	for name, value := range channel.Options {
		fields[name] = value
	}
	return account.Audited{ID: channel.ID, Name: channel.Name, Fields: fields}
}

// applyQuiet writes the company's quiet hours and plans again what they move.
func (s *Service) applyQuiet(ctx context.Context, tx account.Tx, change change[Quiet]) error {
	if err := saveQuiet(ctx, tx, *change.after); err != nil {
		return err
	}
	if err := s.replanAll(ctx, tx, *change.after); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, account.AuditEntry{
		Action: "quiet_hours.updated",
		Record: "company",
		ID:     tx.Company.ID,
		Before: change.before.auditFields(),
		After:  change.after.auditFields(),
	})
}

func (q Quiet) auditFields() account.AuditFields {
	return account.AuditFields{"quiet_from": Clock(q.From), "quiet_to": Clock(q.To)}
}

// applyDecision writes what a person decided about a message. A message that
// is sent again goes out whatever the hour.
func (s *Service) applyDecision(ctx context.Context, tx account.Tx, change change[Message]) error {
	if err := saveDecision(ctx, tx, *change.after, change.after.Status == Scheduled); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, account.AuditEntry{
		Action: "message.decided",
		Record: "message",
		ID:     change.after.ID,
		Name:   change.after.Customer,
		Before: account.AuditFields{"status": string(change.before.Status)},
		After:  account.AuditFields{"status": string(change.after.Status)},
	})
}

// applyOptOut writes whether a customer wants no messages.
func (s *Service) applyOptOut(ctx context.Context, tx account.Tx, change change[about]) error {
	customer := change.after.customer
	if err := saveOptOut(ctx, tx, customer.ID, change.after.optedOut); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, account.AuditEntry{
		Action: "customer.opted_out",
		Record: "customer",
		ID:     customer.ID,
		Name:   customer.Name,
		Before: account.AuditFields{"opted_out": change.before.optedOut},
		After:  account.AuditFields{"opted_out": change.after.optedOut},
	})
}
