package sqldb

import (
	"reflect"
	"strings"
)

// Field is a column that stores a field of the record T as it is.
type Field[T any] struct {
	Column string
	At     func(*T) any // a pointer to the field
}

// Fields are the plain columns of a record. Reading, inserting and updating
// name them in one order.
type Fields[T any] []Field[T]

// Columns lists the columns, each with a prefix and a suffix.
func (f Fields[T]) Columns(prefix, suffix string) string {
	names := make([]string, len(f))
	for i, field := range f {
		names[i] = prefix + field.Column + suffix
	}
	return strings.Join(names, ", ")
}

// Values are the arguments of a statement that writes the record.
func (f Fields[T]) Values(record *T) []any {
	values := make([]any, len(f))
	for i, field := range f {
		values[i] = ValueAt(field.At(record))
	}
	return values
}

// Places are where a row is scanned to.
func (f Fields[T]) Places(record *T) []any {
	places := make([]any, len(f))
	for i, field := range f {
		places[i] = field.At(record)
	}
	return places
}

// ValueAt is what a pointer to a field points to.
func ValueAt(place any) any {
	switch place := place.(type) {
	case *string: // most are
		return *place
	case *int64:
		return *place
	}
	return reflect.ValueOf(place).Elem().Interface()
}
