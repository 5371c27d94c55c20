package reminder

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// A change of this room's records is one value, and one function for each kind
// of record writes it: applyRule, applyTemplate, applyChannel, applyQuiet,
// applyDecision and applyOptOut. Each writes the row and its audit line. No
// secret is in the audit log. Nothing here is counted, and no event or watcher
// hears of it.

// change is a record before and after: nil before is a creation, nil after a
// deletion.
type change[T any] struct{ before, after *T }

// audit writes the line of a change. record names the kind of record.
func (c change[T]) audit(ctx context.Context, tx *sqldb.Tx, a account.Actor, record string, of func(T) audited) error {
	entry := account.AuditEntry{Action: record + "." + c.verb(), Record: record}
	if c.before != nil {
		known := of(*c.before)
		entry.ID, entry.Name, entry.Before = known.id, known.name, known.fields
	}
	if c.after != nil {
		known := of(*c.after)
		entry.ID, entry.Name, entry.After = known.id, known.name, known.fields
	}
	return account.WriteAudit(ctx, tx, a, entry)
}

func (c change[T]) verb() string {
	switch {
	case c.before == nil:
		return "created"
	case c.after == nil:
		return "deleted"
	}
	return "updated"
}

// audited is what the audit log shows of a record.
type audited struct {
	id     int64
	name   string
	fields account.AuditFields
}

// applyRule writes a rule.
func (s *Service) applyRule(ctx context.Context, tx *sqldb.Tx, a account.Actor, c change[Rule]) (err error) {
	switch {
	case c.before == nil:
		c.after.CreatedAt, c.after.UpdatedAt = tx.Now(), tx.Now()
		c.after.ID, err = insertRule(ctx, tx, a.Company.ID, *c.after)
	case c.after == nil:
		err = removeRule(ctx, tx, a.Company.ID, c.before.ID)
	default:
		c.after.UpdatedAt = tx.Now()
		err = updateRule(ctx, tx, a.Company.ID, *c.after)
	}
	if err != nil {
		return err
	}
	return c.audit(ctx, tx, a, "rule", auditedRule)
}

func auditedRule(r Rule) audited {
	ids := make([]string, len(r.Channels))
	for i, id := range r.Channels {
		ids[i] = fmt.Sprint(id)
	}
	return audited{r.ID, r.Name, account.AuditFields{
		"name": r.Name, "active": r.Active, "offset_days": r.OffsetDays, "hour": Clock(r.Minute), "plan_id": r.PlanID,
		"product_id": r.ProductID, "status": string(r.Status), "channels": strings.Join(ids, ","), "template_id": r.TemplateID,
	}}
}

// applyTemplate writes a template.
func (s *Service) applyTemplate(ctx context.Context, tx *sqldb.Tx, a account.Actor, c change[Template]) (err error) {
	switch {
	case c.before == nil:
		c.after.CreatedAt, c.after.UpdatedAt = tx.Now(), tx.Now()
		c.after.ID, err = insertTemplate(ctx, tx, a.Company.ID, *c.after)
	case c.after == nil:
		err = removeTemplate(ctx, tx, a.Company.ID, c.before.ID)
	default:
		c.after.UpdatedAt = tx.Now()
		err = updateTemplate(ctx, tx, a.Company.ID, *c.after)
	}
	if err != nil {
		return err
	}
	return c.audit(ctx, tx, a, "template", auditedTemplate)
}

func auditedTemplate(t Template) audited {
	return audited{t.ID, t.Name, account.AuditFields{
		"name": t.Name, "subject": t.Subject, "text": t.Text, "whatsapp_name": t.Approved.Name,
		"whatsapp_language": t.Approved.Language, "whatsapp_params": strings.Join(t.Approved.Params, "\n"),
	}}
}

// applyChannel writes a channel with its secrets, which are sealed under its
// id and so only once it has one.
func (s *Service) applyChannel(ctx context.Context, tx *sqldb.Tx, a account.Actor, c change[Channel], secrets map[string]string) (err error) {
	switch {
	case c.before == nil:
		c.after.CreatedAt, c.after.UpdatedAt = tx.Now(), tx.Now()
		if c.after.ID, err = insertChannel(ctx, tx, a.Company.ID, *c.after); err != nil {
			return err
		}
		c.after.sealed = s.seal(c.after.ID, secrets)
		err = setSecrets(ctx, tx, a.Company.ID, c.after.ID, c.after.sealed)
	case c.after == nil:
		err = removeChannel(ctx, tx, a.Company.ID, c.before.ID)
	default:
		c.after.UpdatedAt, c.after.sealed = tx.Now(), s.seal(c.after.ID, secrets)
		err = updateChannelRow(ctx, tx, a.Company.ID, *c.after)
	}
	if err != nil {
		return err
	}
	return c.audit(ctx, tx, a, "channel", auditedChannel)
}

func auditedChannel(c Channel) audited {
	fields := account.AuditFields{"name": c.Name, "kind": c.Kind, "active": c.Active, "per_minute": c.PerMinute}
	for name, value := range maps.All(c.Options) {
		fields[name] = value
	}
	return audited{c.ID, c.Name, fields}
}

// applyQuiet writes the company's quiet hours and plans anew what they move.
func (s *Service) applyQuiet(ctx context.Context, tx *sqldb.Tx, a account.Actor, c change[Quiet]) error {
	if err := saveQuiet(ctx, tx, a.Company.ID, *c.after); err != nil {
		return err
	}
	if err := s.replanAll(ctx, tx, a, *c.after); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: "quiet_hours.updated", Record: "company", ID: a.Company.ID, Before: c.before.auditFields(), After: c.after.auditFields(),
	})
}

func (q Quiet) auditFields() account.AuditFields {
	return account.AuditFields{"quiet_from": Clock(q.From), "quiet_to": Clock(q.To)}
}

// applyDecision writes what a person decided about a message. A message that
// is sent again goes out whatever the hour.
func (s *Service) applyDecision(ctx context.Context, tx *sqldb.Tx, a account.Actor, c change[Message]) error {
	if err := saveDecision(ctx, tx, a.Company.ID, *c.after, c.after.Status == Scheduled); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: "message.decided", Record: "message", ID: c.after.ID, Name: c.after.Customer,
		Before: account.AuditFields{"status": string(c.before.Status)}, After: account.AuditFields{"status": string(c.after.Status)},
	})
}

// applyOptOut writes whether a customer wants no messages.
func (s *Service) applyOptOut(ctx context.Context, tx *sqldb.Tx, a account.Actor, c change[about]) error {
	customer := c.after.customer
	if err := saveOptOut(ctx, tx, a.Company.ID, customer.ID, c.after.optedOut); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: "customer.opted_out", Record: "customer", ID: customer.ID, Name: customer.Name,
		Before: account.AuditFields{"opted_out": c.before.optedOut}, After: account.AuditFields{"opted_out": c.after.optedOut},
	})
}
