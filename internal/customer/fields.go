package customer

import (
	"fmt"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
)

// field is a field of the record that requests can set. The table below is
// what the columns, the audit log and the list of changed fields are made of.
type field struct {
	name   string              // as requests name it
	column string              // that holds it as it is; "": sql.go writes it
	at     func(*Customer) any // where the record has it
	audit  string              // what the audit log calls it, if not by name
	shown  func(*Customer) any // what the audit log shows, if not the value
}

var fields = []field{
	{name: "name", column: "name", at: func(c *Customer) any { return &c.Name }},
	{name: "whatsapp", column: "whatsapp", at: func(c *Customer) any { return &c.Whatsapp }},
	{name: "email", column: "email", at: func(c *Customer) any { return &c.Email }},
	{name: "usuario", column: "usuario", at: func(c *Customer) any { return &c.Usuario }},
	{name: "data_de_vencimento", column: "due_on", at: func(c *Customer) any { return &c.DueOn }},
	{
		name: "plan_id", at: func(c *Customer) any { return &c.Plan.ID },
		audit: "plan", shown: func(c *Customer) any { return &c.Plan.Name },
	},
	{
		name: "product_id", at: func(c *Customer) any { return &c.Product.ID },
		audit: "product", shown: func(c *Customer) any { return &c.Product.Name },
	},
	{name: "notes", column: "notes", at: func(c *Customer) any { return &c.Notes }},
	{name: "external_id", column: "external_id", at: func(c *Customer) any { return &c.ExternalID }},
	{name: "cpf_cnpj", column: "cpf_cnpj", at: func(c *Customer) any { return &c.CpfCnpj }},
	{name: "address", column: "address", at: func(c *Customer) any { return &c.Address }},
	{name: "price", column: "price_cents", at: func(c *Customer) any { return &c.OwnPrice }},
	{name: "custom", column: "custom", at: func(c *Customer) any { return (*string)(&c.Custom) }},
	{name: "cancelled", at: func(c *Customer) any { cancelled := c.IsCancelled(); return &cancelled }},
	{name: "cancel_reason", column: "cancel_reason", at: func(c *Customer) any { return &c.CancelReason }},
}

// value is what a field's place holds.
func value(place any) any {
	switch place := place.(type) {
	case *string:
		return *place
	case *int64:
		return *place
	case *bool:
		return *place
	case *civil.Date:
		return *place
	case *address.Address:
		return *place
	case *Price:
		return *place
	}
	panic(fmt.Sprintf("customer: no field is a %T", place)) // a new kind of field needs its case; every test finds it
}

// changedFields names the fields that differ, as requests name them.
func changedFields(before, after Customer) []string {
	var names []string
	for _, f := range fields {
		if value(f.at(&before)) != value(f.at(&after)) {
			names = append(names, f.name)
		}
	}
	return names
}

// auditFields is the record as the audit log shows it.
func auditFields(c Customer) account.AuditFields {
	shown := make(account.AuditFields, len(fields))
	for _, f := range fields {
		name, place := f.name, f.at
		if f.audit != "" {
			name, place = f.audit, f.shown
		}
		shown[name] = fmt.Sprint(value(place(&c)))
	}
	return shown
}

// plain are the fields that a column holds as they are.
var plain = func() (list []field) {
	for _, f := range fields {
		if f.column != "" {
			list = append(list, f)
		}
	}
	return list
}()

// plainColumns lists their columns, each with a prefix and a suffix.
func plainColumns(prefix, suffix string) string {
	names := make([]string, len(plain))
	for i, f := range plain {
		names[i] = prefix + f.column + suffix
	}
	return strings.Join(names, ", ")
}

// plainValues are their values, in the same order.
func plainValues(c *Customer) []any {
	values := make([]any, len(plain))
	for i, f := range plain {
		values[i] = value(f.at(c))
	}
	return values
}

// plainPlaces are where a row of them is scanned to.
func plainPlaces(c *Customer) []any {
	places := make([]any, len(plain))
	for i, f := range plain {
		places[i] = f.at(c)
	}
	return places
}
