// Package rows moves records to and from the rows of tables: what a record's columns
// are, and how rows are read into records, maps and answers. It does not run statements
// by itself: sqldb does.
package rows

import (
	"context"
	"reflect"
	"strings"

	"carteira/internal/platform/sqldb"
)

// Map returns rows of two columns, a key and its value.
func Map[K comparable, V any](ctx context.Context, querier sqldb.Querier, text string, args ...any) (map[K]V, error) {
	found := map[K]V{}
	err := sqldb.Each(ctx, querier, text, args, func(row sqldb.Row) error {
		var key K
		var value V
		err := row.Scan(&key, &value)
		found[key] = value
		return err
	})
	return found, err
}

// Into makes the scan of a record of the places that its columns go to.
func Into[T any](places func(*T) []any) func(sqldb.Row) (T, error) {
	return func(row sqldb.Row) (record T, err error) {
		err = row.Scan(places(&record)...)
		return record, err
	}
}

// Some reports whether what a statement counts is more than none.
func Some(ctx context.Context, querier sqldb.Querier, text string, args ...any) (bool, error) {
	count, err := sqldb.Value[int64](ctx, querier, text, args...)
	return count > 0, err
}

// Changed runs a statement and reports whether it changed a row.
func Changed(ctx context.Context, tx Writer, text string, args ...any) (bool, error) {
	n, err := tx.Exec(ctx, text, args...)
	return n > 0, err
}

// Writer is a transaction, whether it knows its actor or not.
type Writer interface {
	Exec(ctx context.Context, text string, args ...any) (int64, error)
}

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
