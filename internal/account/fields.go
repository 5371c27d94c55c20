package account

import "strings"

// A field is a field of a record as the audit log shows it. The tables below
// are all that the audit log knows of the records; fields_test.go names what
// they forget.
type field[T any] struct {
	name string
	show func(*T) any
}

// audited is a record as the audit log shows it.
func audited[T any](fields []field[T], record *T) AuditFields {
	shown := make(AuditFields, len(fields))
	for _, f := range fields {
		shown[f.name] = f.show(record)
	}
	return shown
}

var companyFields = []field[Profile]{
	{"name", func(p *Profile) any { return p.Name }},
	{"email", func(p *Profile) any { return p.OwnerEmail }},
	{"whatsapp", func(p *Profile) any { return p.Whatsapp }},
	{"level", func(p *Profile) any { return p.Level }},
	{"timezone", func(p *Profile) any { return p.Zone.String() }},
	{"renew_from", func(p *Profile) any { return p.Settings.RenewFrom }},
	{"renew_on_payment", func(p *Profile) any { return p.Settings.RenewOnPayment }},
	{"lead_days", func(p *Profile) any { return p.Settings.LeadDays }},
	{"late_fee_percent", func(p *Profile) any { return p.Settings.LateFeePercent.String() }},
	{"late_interest_percent", func(p *Profile) any { return p.Settings.LateInterestPercent.String() }},
	{"discount_percent", func(p *Profile) any { return p.Settings.DiscountPercent.String() }},
	{"discount_amount", func(p *Profile) any { return p.Settings.DiscountAmount.String() }},
	{"type", func(p *Profile) any { return p.Subscription.Kind }},
	{"plan", func(p *Profile) any { return p.PlanName }},
	{"expires_at", func(p *Profile) any { return p.Subscription.ExpiresOn }},
	{"suspended", func(p *Profile) any { return !p.Subscription.SuspendedAt.IsZero() }},
	{"functions", func(p *Profile) any { return functionsAudit(p.Subscription.Functions) }},
}

// functionsAudit is a set of functions as the audit log shows it.
func functionsAudit(f Functions) string { return strings.Trim(f.String(), ",") }

func companyAudit(p *Profile) AuditFields { return audited(companyFields, p) }

var userFields = []field[User]{
	{"name", func(u *User) any { return u.Name }},
	{"email", func(u *User) any { return u.Email }},
	{"role", func(u *User) any { return u.Role }},
}

func userAudit(u *User) AuditFields { return audited(userFields, u) }

var tokenFields = []field[Token]{
	{"name", func(t *Token) any { return t.Name }},
}

func tokenAudit(t *Token) AuditFields { return audited(tokenFields, t) }
