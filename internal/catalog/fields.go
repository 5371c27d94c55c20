package catalog

import "carteira/internal/account"

// field is a field of a record that requests can set. The tables below are
// what the audit log and the detection of changes are made of.
type field[T any] struct {
	name  string      // as the audit log has it
	value func(T) any // that is compared
	shown func(T) any // what the audit log shows
}

var planFields = []field[Plan]{
	{"name", func(p Plan) any { return p.Name }, func(p Plan) any { return p.Name }},
	{"value", func(p Plan) any { return p.Value }, func(p Plan) any { return p.Value.String() }},
	{"period", func(p Plan) any { return p.Period }, func(p Plan) any { return p.Period.String() }},
	{"product", func(p Plan) any { return p.Product.ID }, func(p Plan) any { return p.Product.Name }},
	{"active", func(p Plan) any { return p.Active }, func(p Plan) any { return p.Active }},
}

var productFields = []field[Product]{
	{"name", func(p Product) any { return p.Name }, func(p Product) any { return p.Name }},
	{"description", func(p Product) any { return p.Description }, func(p Product) any { return p.Description }},
	{"active", func(p Product) any { return p.Active }, func(p Product) any { return p.Active }},
}

// differ reports whether a field of the table differs.
func differ[T any](fields []field[T], before, after T) bool {
	for _, f := range fields {
		if f.value(before) != f.value(after) {
			return true
		}
	}
	return false
}

// auditFields is a record as the audit log shows it.
func auditFields[T any](fields []field[T], record T) account.AuditFields {
	shown := make(account.AuditFields, len(fields))
	for _, f := range fields {
		shown[f.name] = f.shown(record)
	}
	return shown
}
