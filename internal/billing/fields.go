package billing

import (
	"fmt"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
)

// field is a field of the record that a change can set. The table below is
// what the columns and the audit log are made of.
type field struct {
	name   string             // as the audit log has it
	column string             // that holds it as it is
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
	{name: "note", column: "note", at: func(i *Invoice) any { return &i.Note }},
}

// value is what a field's place holds.
func value(place any) any {
	switch place := place.(type) {
	case *string:
		return *place
	case *int64:
		return *place
	case *civil.Date:
		return *place
	}
	panic(fmt.Sprintf("billing: no field is a %T", place)) // a new kind of field needs its case; every test finds it
}

// auditFields is the record as the audit log shows it.
func auditFields(i Invoice) account.AuditFields {
	audit := make(account.AuditFields, len(fields))
	for _, f := range fields {
		if f.shown != nil {
			audit[f.name] = fmt.Sprint(f.shown(&i))
			continue
		}
		audit[f.name] = fmt.Sprint(value(f.at(&i)))
	}
	return audit
}

// fieldColumns lists the columns of the table, each with a prefix and a suffix.
func fieldColumns(prefix, suffix string) string {
	names := make([]string, len(fields))
	for n, f := range fields {
		names[n] = prefix + f.column + suffix
	}
	return strings.Join(names, ", ")
}

// fieldValues are the values of an invoice, in the same order.
func fieldValues(i *Invoice) []any {
	values := make([]any, len(fields))
	for n, f := range fields {
		values[n] = value(f.at(i))
	}
	return values
}

// fieldPlaces are where a row of them is scanned to.
func fieldPlaces(i *Invoice) []any {
	places := make([]any, len(fields))
	for n, f := range fields {
		places[n] = f.at(i)
	}
	return places
}
