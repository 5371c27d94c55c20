package customer

import (
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
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

// changedFields names the fields that differ, as requests name them.
func changedFields(before, after Customer) []string {
	var names []string
	for _, f := range fields {
		if sqldb.ValueAt(f.at(&before)) != sqldb.ValueAt(f.at(&after)) {
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
		shown[name] = fmt.Sprint(sqldb.ValueAt(place(&c)))
	}
	return shown
}

// stored are the fields that a column holds as they are.
var stored = func() (list sqldb.Fields[Customer]) {
	for _, f := range fields {
		if f.column != "" {
			list = append(list, sqldb.Field[Customer]{Column: f.column, At: f.at})
		}
	}
	return list
}()
