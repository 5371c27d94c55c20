package reminder

import (
	"strings"

	"carteira/internal/account"
)

// What the audit log says of records of this room. No secret is among it.

func (r Rule) fields() account.AuditFields {
	return account.AuditFields{
		"name": r.Name, "active": r.Active, "offset_days": r.OffsetDays, "hour": Clock(r.Minute), "plan_id": r.PlanID,
		"product_id": r.ProductID, "status": string(r.Status), "channels": strings.Trim(joinIDs(r.Channels), ","), "template_id": r.TemplateID,
	}
}

func (r Rule) deed(action string, before, after account.AuditFields) account.AuditEntry {
	return account.AuditEntry{Action: "rule." + action, Record: "rule", ID: r.ID, Name: r.Name, Before: before, After: after}
}

func (t Template) fields() account.AuditFields {
	return account.AuditFields{
		"name": t.Name, "subject": t.Subject, "text": t.Text, "whatsapp_name": t.Approved.Name,
		"whatsapp_language": t.Approved.Language, "whatsapp_params": strings.Join(t.Approved.Params, "\n"),
	}
}

func (t Template) deed(action string, before, after account.AuditFields) account.AuditEntry {
	return account.AuditEntry{Action: "template." + action, Record: "template", ID: t.ID, Name: t.Name, Before: before, After: after}
}

func (c Channel) fields() account.AuditFields {
	f := account.AuditFields{"name": c.Name, "kind": c.Kind, "active": c.Active, "per_minute": c.PerMinute}
	for name, value := range c.Options {
		f[name] = value
	}
	return f
}

func (c Channel) deed(action string, before, after account.AuditFields) account.AuditEntry {
	return account.AuditEntry{Action: "channel." + action, Record: "channel", ID: c.ID, Name: c.Name, Before: before, After: after}
}

func (q Quiet) fields() account.AuditFields {
	return account.AuditFields{"quiet_from": Clock(q.From), "quiet_to": Clock(q.To)}
}
