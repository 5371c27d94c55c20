package account

import (
	"slices"
	"strings"
)

// AuditField is a field of the record T in the audit log.
type AuditField[T any] struct {
	Name string
	Show func(*T) any
	Key  func(*T) any // tells two values apart; nil: Show does
}

// AuditTable is all that the audit log knows of a record. Tests name the fields
// that a table forgets.
type AuditTable[T any] []AuditField[T]

// Of is a record as the audit log shows it.
func (t AuditTable[T]) Of(record *T) AuditFields {
	shown := make(AuditFields, len(t))
	for _, field := range t {
		shown[field.Name] = field.Show(record)
	}
	return shown
}

// Differ reports whether two states of a record differ in a field of the table.
func (t AuditTable[T]) Differ(before, after *T) bool {
	return slices.ContainsFunc(t, func(field AuditField[T]) bool {
		value := field.Show
		if field.Key != nil {
			value = field.Key
		}
		return value(before) != value(after)
	})
}

var companyFields = AuditTable[Profile]{
	{Name: "name", Show: func(p *Profile) any { return p.Name }},
	{Name: "email", Show: func(p *Profile) any { return p.OwnerEmail }},
	{Name: "whatsapp", Show: func(p *Profile) any { return p.Whatsapp }},
	{Name: "level", Show: func(p *Profile) any { return p.Level }},
	{Name: "timezone", Show: func(p *Profile) any { return p.Zone.String() }},
	{Name: "renew_from", Show: func(p *Profile) any { return p.Settings.RenewFrom }},
	{Name: "renew_on_payment", Show: func(p *Profile) any { return p.Settings.RenewOnPayment }},
	{Name: "lead_days", Show: func(p *Profile) any { return p.Settings.LeadDays }},
	{Name: "late_fee_percent", Show: func(p *Profile) any { return p.Settings.LateFeePercent.String() }},
	{Name: "late_interest_percent", Show: func(p *Profile) any { return p.Settings.LateInterestPercent.String() }},
	{Name: "discount_percent", Show: func(p *Profile) any { return p.Settings.DiscountPercent.String() }},
	{Name: "discount_amount", Show: func(p *Profile) any { return p.Settings.DiscountAmount.String() }},
	{Name: "renew_invoice", Show: func(p *Profile) any { return p.Settings.RenewInvoice }},
	{Name: "type", Show: func(p *Profile) any { return p.Subscription.Kind }},
	{Name: "plan", Show: func(p *Profile) any { return p.PlanName }},
	{Name: "expires_at", Show: func(p *Profile) any { return p.Subscription.ExpiresOn }},
	{Name: "suspended", Show: func(p *Profile) any { return !p.Subscription.SuspendedAt.IsZero() }},
	{Name: "functions", Show: func(p *Profile) any { return functionsAudit(p.Subscription.Functions) }},
}

// functionsAudit is a set of functions as the audit log shows it.
func functionsAudit(f Functions) string { return strings.Trim(f.String(), ",") }

func companyAudit(p *Profile) AuditFields { return companyFields.Of(p) }

var userFields = AuditTable[User]{
	{Name: "name", Show: func(u *User) any { return u.Name }},
	{Name: "email", Show: func(u *User) any { return u.Email }},
	{Name: "role", Show: func(u *User) any { return u.Role }},
}

func userAudit(u *User) AuditFields { return userFields.Of(u) }

var tokenFields = AuditTable[Token]{
	{Name: "name", Show: func(t *Token) any { return t.Name }},
}

func tokenAudit(t *Token) AuditFields { return tokenFields.Of(t) }
