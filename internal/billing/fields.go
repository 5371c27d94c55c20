package billing

import (
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// field is a field of the record that a change can set. The table below is
// what the columns and the audit log are made of.
type field struct {
	name   string             // as the audit log has it
	column string             // that stores it as it is; "": sql.go writes it
	at     func(*Invoice) any // where the record has it
	shown  func(*Invoice) any // what the audit log shows, if not the value
}

var fields = []field{
	{
		name:   "status",
		column: "status",
		at:     func(invoice *Invoice) any { return (*string)(&invoice.Status) },
		shown:  func(invoice *Invoice) any { return invoice.Status },
	},
	{
		name:   "total_amount",
		column: "amount_cents",
		at:     func(invoice *Invoice) any { return (*int64)(&invoice.Amount) },
		shown:  func(invoice *Invoice) any { return invoice.Amount },
	},
	{name: "description", column: "description", at: func(invoice *Invoice) any { return &invoice.Description }},
	{name: "due_date", column: "due_on", at: func(invoice *Invoice) any { return &invoice.DueOn }},
	{name: "issued_for", column: "issued_for", at: func(invoice *Invoice) any { return &invoice.IssuedFor }},
	{name: "paid_on", column: "paid_on", at: func(invoice *Invoice) any { return &invoice.PaidOn }},
	{name: "paid_via", column: "paid_via", at: func(invoice *Invoice) any { return &invoice.PaidVia }},
	{
		name:   "amount_received",
		column: "received_cents",
		at:     func(invoice *Invoice) any { return (*int64)(&invoice.Received) },
		shown:  func(invoice *Invoice) any { return invoice.Received },
	},
	{
		name:   "late_fee",
		column: "late_fee_cents",
		at:     func(invoice *Invoice) any { return (*int64)(&invoice.LateFee) },
		shown:  func(invoice *Invoice) any { return invoice.LateFee },
	},
	{
		name:   "late_interest",
		column: "late_interest_cents",
		at:     func(invoice *Invoice) any { return (*int64)(&invoice.LateInterest) },
		shown:  func(invoice *Invoice) any { return invoice.LateInterest },
	},
	{
		name:   "discount",
		column: "discount_cents",
		at:     func(invoice *Invoice) any { return (*int64)(&invoice.Discount) },
		shown:  func(invoice *Invoice) any { return invoice.Discount },
	},
	{
		name:   "forgiven",
		column: "forgiven_cents",
		at:     func(invoice *Invoice) any { return (*int64)(&invoice.Forgiven) },
		shown:  func(invoice *Invoice) any { return invoice.Forgiven },
	},
	{name: "own_discount", column: "own_discount_cents", at: func(invoice *Invoice) any { return &invoice.OwnDiscount }},
	{name: "edited", column: "edited", at: func(invoice *Invoice) any { return &invoice.Edited }},
	{name: "superseded", column: "superseded", at: func(invoice *Invoice) any { return &invoice.Superseded }},
	{name: "withdrawn", column: "withdrawn", at: func(invoice *Invoice) any { return (*string)(&invoice.Withdrawn) }},
	{name: "plan", at: func(invoice *Invoice) any { return &invoice.Plan.Name }},
	{name: "product", at: func(invoice *Invoice) any { return &invoice.Product.Name }},
	{
		name: "period", at: func(invoice *Invoice) any { return &invoice.Period },
		shown: func(invoice *Invoice) any { return invoice.Period },
	},
	{name: "note", column: "note", at: func(invoice *Invoice) any { return &invoice.Note }},
}

// auditFields is the record as the audit log shows it.
func auditFields(invoice Invoice) account.AuditFields {
	audit := make(account.AuditFields, len(fields))
	for _, field := range fields {
		if field.shown != nil {
			audit[field.name] = fmt.Sprint(field.shown(&invoice))
			continue
		}
		audit[field.name] = fmt.Sprint(sqldb.ValueAt(field.at(&invoice)))
	}
	return audit
}

// stored are the columns of the table.
var stored = func() (list sqldb.Fields[Invoice]) {
	for _, field := range fields {
		if field.column != "" {
			list = append(list, sqldb.Field[Invoice]{Column: field.column, At: field.at})
		}
	}
	return list
}()
