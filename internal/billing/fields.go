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
		name: "status", column: "status", at: func(i *Invoice) any { return (*string)(&i.Status) },
		shown: func(i *Invoice) any { return i.Status },
	},
	{
		name: "total_amount", column: "amount_cents", at: func(i *Invoice) any { return (*int64)(&i.Amount) },
		shown: func(i *Invoice) any { return i.Amount },
	},
	{name: "description", column: "description", at: func(i *Invoice) any { return &i.Description }},
	{name: "due_date", column: "due_on", at: func(i *Invoice) any { return &i.DueOn }},
	{name: "issued_for", column: "issued_for", at: func(i *Invoice) any { return &i.IssuedFor }},
	{name: "paid_on", column: "paid_on", at: func(i *Invoice) any { return &i.PaidOn }},
	{name: "paid_via", column: "paid_via", at: func(i *Invoice) any { return &i.PaidVia }},
	{
		name: "amount_received", column: "received_cents", at: func(i *Invoice) any { return (*int64)(&i.Received) },
		shown: func(i *Invoice) any { return i.Received },
	},
	{
		name: "late_fee", column: "late_fee_cents", at: func(i *Invoice) any { return (*int64)(&i.LateFee) },
		shown: func(i *Invoice) any { return i.LateFee },
	},
	{
		name: "late_interest", column: "late_interest_cents", at: func(i *Invoice) any { return (*int64)(&i.LateInterest) },
		shown: func(i *Invoice) any { return i.LateInterest },
	},
	{
		name: "discount", column: "discount_cents", at: func(i *Invoice) any { return (*int64)(&i.Discount) },
		shown: func(i *Invoice) any { return i.Discount },
	},
	{
		name: "forgiven", column: "forgiven_cents", at: func(i *Invoice) any { return (*int64)(&i.Forgiven) },
		shown: func(i *Invoice) any { return i.Forgiven },
	},
	{name: "own_discount", column: "own_discount_cents", at: func(i *Invoice) any { return &i.OwnDiscount }},
	{name: "edited", column: "edited", at: func(i *Invoice) any { return &i.Edited }},
	{name: "superseded", column: "superseded", at: func(i *Invoice) any { return &i.Superseded }},
	{name: "withdrawn", column: "withdrawn", at: func(i *Invoice) any { return (*string)(&i.Withdrawn) }},
	{name: "plan", at: func(i *Invoice) any { return &i.Plan.Name }},
	{name: "product", at: func(i *Invoice) any { return &i.Product.Name }},
	{
		name: "period", at: func(i *Invoice) any { return &i.Period },
		shown: func(i *Invoice) any { return i.Period },
	},
	{name: "note", column: "note", at: func(i *Invoice) any { return &i.Note }},
}

// auditFields is the record as the audit log shows it.
func auditFields(i Invoice) account.AuditFields {
	audit := make(account.AuditFields, len(fields))
	for _, f := range fields {
		if f.shown != nil {
			audit[f.name] = fmt.Sprint(f.shown(&i))
			continue
		}
		audit[f.name] = fmt.Sprint(sqldb.ValueAt(f.at(&i)))
	}
	return audit
}

// stored are the columns of the table.
var stored = func() (list sqldb.Fields[Invoice]) {
	for _, f := range fields {
		if f.column != "" {
			list = append(list, sqldb.Field[Invoice]{Column: f.column, At: f.at})
		}
	}
	return list
}()
