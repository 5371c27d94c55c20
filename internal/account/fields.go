package account

import (
	"slices"
	"strings"
	"time"
)

// AuditField is a field of the record T in the audit log.
type AuditField[T any] struct {
	Name string
	Show func(*T) any
	Key  func(*T) any // compares two values; nil: Show does
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
	{Name: "name", Show: func(profile *Profile) any { return profile.Name }},
	{Name: "email", Show: func(profile *Profile) any { return profile.OwnerEmail }},
	{Name: "whatsapp", Show: func(profile *Profile) any { return profile.Whatsapp }},
	{Name: "cpf_cnpj", Show: func(profile *Profile) any { return profile.CpfCnpj }},
	{Name: "address", Show: func(profile *Profile) any { return profile.Address }},
	{Name: "contact_email", Show: func(profile *Profile) any { return profile.Email }},
	{Name: "level", Show: func(profile *Profile) any { return profile.Level }},
	{Name: "timezone", Show: func(profile *Profile) any { return profile.Zone.String() }},
	{Name: "renew_from", Show: func(profile *Profile) any { return profile.Settings.RenewFrom }},
	{Name: "renew_on_payment", Show: func(profile *Profile) any { return profile.Settings.RenewOnPayment }},
	{Name: "lead_days", Show: func(profile *Profile) any { return profile.Settings.LeadDays }},
	{Name: "late_fee_percent", Show: func(profile *Profile) any { return profile.Settings.LateFeePercent.String() }},
	{Name: "late_interest_percent", Show: func(profile *Profile) any { return profile.Settings.LateInterestPercent.String() }},
	{Name: "discount_percent", Show: func(profile *Profile) any { return profile.Settings.DiscountPercent.String() }},
	{Name: "discount_amount", Show: func(profile *Profile) any { return profile.Settings.DiscountAmount.String() }},
	{Name: "renew_invoice", Show: func(profile *Profile) any { return profile.Settings.RenewInvoice }},
	{Name: "books_closed_through", Show: func(profile *Profile) any { return profile.Settings.ClosedThrough }},
	{Name: "color", Show: func(profile *Profile) any { return profile.Brand.Color }},
	{Name: "logo", Show: func(profile *Profile) any { return profile.Brand.Logo }},
	{Name: "hidden_steps", Show: func(profile *Profile) any { return profile.HiddenSteps }},
	{Name: "type", Show: func(profile *Profile) any { return profile.Subscription.Kind }},
	{Name: "plan", Show: func(profile *Profile) any { return profile.PlanName }},
	{Name: "expires_at", Show: func(profile *Profile) any { return profile.Subscription.ExpiresOn }},
	{Name: "suspended", Show: func(profile *Profile) any { return !profile.Subscription.SuspendedAt.IsZero() }},
	{Name: "functions", Show: func(profile *Profile) any { return functionsAudit(profile.Subscription.Functions) }},
}

// functionsAudit is a set of functions as the audit log shows it.
func functionsAudit(functions Functions) string {
	return strings.Trim(functions.String(), ",")
}

func companyAudit(profile *Profile) AuditFields {
	return companyFields.Of(profile)
}

var userFields = AuditTable[User]{
	{Name: "name", Show: func(user *User) any { return user.Name }},
	{Name: "email", Show: func(user *User) any { return user.Email }},
	{Name: "role", Show: func(user *User) any { return user.Role }},
}

func userAudit(user *User) AuditFields { return userFields.Of(user) }

var tokenFields = AuditTable[Token]{
	{Name: "name", Show: func(token *Token) any { return token.Name }},
	{Name: "scope", Show: func(token *Token) any { return string(token.Scope) }},
	{Name: "expires_at", Show: func(token *Token) any {
		if token.ExpiresAt.IsZero() {
			return nil
		}
		return token.ExpiresAt.UTC().Format(time.RFC3339)
	}},
}

func tokenAudit(token *Token) AuditFields { return tokenFields.Of(token) }
