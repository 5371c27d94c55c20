package account

import (
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Field is a field of the record T, which a draft D may set. Its line in the Table of
// the record is the only place that names it, but for the two structs.
type Field[T, D any] struct {
	Name   string       // as forms, records and the audit log name it; "": they do not have it
	Column string       // stores it as it is; "": the statements name the column
	At     func(*T) any // a pointer to it
	Show   func(*T) any // what people see of it; nil: the value
	Label  string       // on pages
	Flag   string       // what the command line says of its flag; "": it has none

	read func(*input.Form, *D)
	to   func(*D, *T)
}

// Table is the fields of a record: columns, audit log, the reading of drafts and
// what they change are made of it. Tests name the fields that it lacks.
type Table[T, D any] []Field[T, D]

// Drafted is a field that a draft may set. places points to it in both; read takes
// it from a form by its name; nil: no form has it.
func Drafted[T, D, V any](
	name, column string, places func(*T, *D) (*V, *input.Opt[V]), read func(*input.Form, string) input.Opt[V],
) Field[T, D] {
	record, draft := new(T), new(D) // only their addresses are used
	field := Field[T, D]{
		Name:   name,
		Column: column,
		At: func(from *T) any {
			place, _ := places(from, draft)
			return place
		},
		to: func(from *D, into *T) {
			place, given := places(into, from)
			given.To(place)
		},
	}
	if read != nil {
		field.read = func(in *input.Form, into *D) {
			_, place := places(record, into)
			*place = read(in, name)
		}
	}
	return field
}

// Called gives the field its label on pages and the text of its flag.
func (f Field[T, D]) Called(label, flag string) Field[T, D] {
	f.Label, f.Flag = label, flag
	return f
}

// Shown gives the field another form for people.
func (f Field[T, D]) Shown(show func(*T) any) Field[T, D] {
	f.Show = show
	return f
}

// Of is the field of a record as people see it.
func (f Field[T, D]) Of(record *T) any {
	if f.Show != nil {
		return f.Show(record)
	}
	switch value := sqldb.ValueAt(f.At(record)).(type) {
	case money.Percent:
		return value.String()
	case money.Cents:
		return value.String()
	default:
		return value
	}
}

// Read reads the fields of a draft from a form.
func (t Table[T, D]) Read(in *input.Form, draft *D) {
	for _, field := range t {
		if field.read != nil {
			field.read(in, draft)
		}
	}
}

// To sets what a draft gives.
func (t Table[T, D]) To(draft *D, record *T) {
	for _, field := range t {
		if field.to != nil {
			field.to(draft, record)
		}
	}
}

// Stored are the fields that have a column.
func (t Table[T, D]) Stored() (list sqldb.Fields[T]) {
	for _, field := range t {
		if field.Column != "" {
			list = append(list, sqldb.Field[T]{Column: field.Column, At: field.At})
		}
	}
	return list
}

// Audit is a record as the audit log shows it.
func (t Table[T, D]) Audit(record *T) AuditFields {
	shown := make(AuditFields, len(t))
	for _, field := range t {
		if field.Name != "" {
			shown[field.Name] = field.Of(record)
		}
	}
	return shown
}

// Line reads a text of one line and at most limit characters.
func Line(limit int) func(*input.Form, string) input.Opt[string] {
	return func(in *input.Form, name string) input.Opt[string] { return in.Line(name, limit) }
}

// Number reads a number from low to high.
func Number(low, high int64) func(*input.Form, string) input.Opt[int] {
	return func(in *input.Form, name string) input.Opt[int] {
		number := in.Int(name, low, high)
		switch {
		case number.HasValue():
			return input.Some(int(number.Value))
		case number.IsNull():
			return input.Null[int]()
		}
		return input.Opt[int]{}
	}
}

// OneOf reads one of the allowed words. Null changes nothing, since no choice can be
// empty.
func OneOf[T ~string](allowed ...T) func(*input.Form, string) input.Opt[T] {
	words := make([]string, len(allowed))
	for i, word := range allowed {
		words[i] = string(word)
	}
	return func(in *input.Form, name string) input.Opt[T] {
		chosen := in.Choice(name, words...)
		if !chosen.HasValue() {
			return input.Opt[T]{}
		}
		return input.Some(T(chosen.Value))
	}
}
