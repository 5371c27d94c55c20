package reminder

import (
	"strings"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
)

// RuleFields are the fields of a rule.
var RuleFields = account.Table[Rule, RuleDraft]{
	{Name: "id", At: func(rule *Rule) any { return &rule.ID }, Except: account.InAudit},
	account.Drafted("name", "name", func(r *Rule, d *RuleDraft) (*string, *input.Opt[string]) {
		return &r.Name, &d.Name
	}, account.Line(100)),
	account.Drafted("active", "active", func(r *Rule, d *RuleDraft) (*bool, *input.Opt[bool]) {
		return &r.Active, &d.Active
	}, account.NotNull((*input.Form).Bool)),
	account.Drafted("on", "occasion", func(r *Rule, d *RuleDraft) (*Occasion, *input.Opt[Occasion]) {
		return &r.On, &d.On
	}, account.OneOf(OnDue, OnPaid)).Not(account.InLists),
	account.Drafted("offset_days", "offset_days", func(r *Rule, d *RuleDraft) (*int, *input.Opt[int]) {
		return &r.OffsetDays, &d.OffsetDays
	}, account.NotNull(account.Number(-maxOffset, maxOffset))).Not(account.InLists),
	account.Drafted("hour", "minute", func(r *Rule, d *RuleDraft) (*int, *input.Opt[int]) {
		return &r.Minute, &d.Minute
	}, readClock).Shown(func(rule *Rule) any { return Clock(rule.Minute) }).Not(account.InLists),
	{Name: "when", Show: func(rule *Rule) any { return rule.When() }, Except: account.InAudit | account.InRecord},
	account.Drafted("plan_id", "", func(r *Rule, d *RuleDraft) (*int64, *input.Opt[int64]) {
		return &r.PlanID, &d.PlanID
	}, (*input.Form).ID),
	account.Drafted("product_id", "", func(r *Rule, d *RuleDraft) (*int64, *input.Opt[int64]) {
		return &r.ProductID, &d.ProductID
	}, (*input.Form).ID),
	account.Drafted("status", "status", func(r *Rule, d *RuleDraft) (*customer.Status, *input.Opt[customer.Status]) {
		return &r.Status, &d.Status
	}, readStatus),
	account.Drafted("channels", "", func(r *Rule, d *RuleDraft) (*[]int64, *input.Opt[[]int64]) {
		return &r.Channels, &d.Channels
	}, readIDs).Shown(func(rule *Rule) any { return strings.Trim(joinIDs(rule.Channels), ",") }),
	account.Drafted("template_id", "template_id", func(r *Rule, d *RuleDraft) (*int64, *input.Opt[int64]) {
		return &r.TemplateID, &d.TemplateID
	}, (*input.Form).ID),
}

// TemplateFields are the fields of a template.
var TemplateFields = account.Table[Template, TemplateDraft]{
	{Name: "id", At: func(template *Template) any { return &template.ID }, Except: account.InAudit},
	account.Drafted("name", "name", func(t *Template, d *TemplateDraft) (*string, *input.Opt[string]) {
		return &t.Name, &d.Name
	}, account.NotNull(account.Line(100))),
	account.Drafted("subject", "subject", func(t *Template, d *TemplateDraft) (*string, *input.Opt[string]) {
		return &t.Subject, &d.Subject
	}, account.Line(maxSubject)),
	account.Drafted("text", "body", func(t *Template, d *TemplateDraft) (*string, *input.Opt[string]) {
		return &t.Text, &d.Text
	}, account.NotNull(readWords)),
	account.Drafted("whatsapp_name", "whatsapp_name", func(t *Template, d *TemplateDraft) (*string, *input.Opt[string]) {
		return &t.Approved.Name, &d.WhatsappName
	}, readApprovedName),
	account.Drafted("whatsapp_language", "whatsapp_language", func(t *Template, d *TemplateDraft) (*string, *input.Opt[string]) {
		return &t.Approved.Language, &d.WhatsappLanguage
	}, account.NotNull(account.Line(10))),
	account.Drafted("whatsapp_params", "", func(t *Template, d *TemplateDraft) (*[]string, *input.Opt[[]string]) {
		return &t.Approved.Params, &d.WhatsappParams
	}, readParams).Shown(func(template *Template) any { return strings.Join(template.Approved.Params, "\n") }),
	account.Drafted("whatsapp_header", "", func(t *Template, d *TemplateDraft) (*string, *input.Opt[string]) {
		return &t.Approved.Header, &d.WhatsappHeader
	}, account.Line(maxParam)),
	account.Drafted("whatsapp_button", "", func(t *Template, d *TemplateDraft) (*string, *input.Opt[string]) {
		return &t.Approved.Button, &d.WhatsappButton
	}, account.Line(maxParam)),
}

// ChannelFields are those that all kinds of channels have. The options of a kind are
// in its description.
var ChannelFields = account.Table[Channel, ChannelDraft]{
	{Name: "id", At: func(channel *Channel) any { return &channel.ID }, Except: account.InAudit},
	{Name: "kind", Column: "kind", At: func(channel *Channel) any { return &channel.Kind }},
	account.Drafted("name", "name", func(c *Channel, d *ChannelDraft) (*string, *input.Opt[string]) {
		return &c.Name, &d.Name
	}, account.NotNull(account.Line(100))),
	account.Drafted("active", "active", func(c *Channel, d *ChannelDraft) (*bool, *input.Opt[bool]) {
		return &c.Active, &d.Active
	}, account.NotNull((*input.Form).Bool)),
	account.Drafted("per_minute", "per_minute", func(c *Channel, d *ChannelDraft) (*int, *input.Opt[int]) {
		return &c.PerMinute, &d.PerMinute
	}, account.NotNull(account.Number(0, maxPerMinute))),
}
