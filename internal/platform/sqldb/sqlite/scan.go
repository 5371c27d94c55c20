package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"reflect"

	"zombiezen.com/go/sqlite"
)

// Row is the row that a statement has come to.
type Row struct{ statement *sqlite.Stmt }

// Scan copies the columns to where dest points, with the conversions of
// database/sql.
func (r *Row) Scan(dest ...any) error {
	if n := r.statement.ColumnCount(); n != len(dest) {
		return fmt.Errorf("scan: the row has %d columns, and there are %d destinations", n, len(dest))
	}
	for i := range dest {
		if err := r.scan(i, dest[i]); err != nil {
			return fmt.Errorf("scan column %d, %q: %w", i, r.statement.ColumnName(i), err)
		}
	}
	return nil
}

// scan reads a value without a detour where it has the type of its destination,
// which is nearly always so.
func (r *Row) scan(at int, dest any) error {
	kind := r.statement.ColumnType(at)
	if kind == sqlite.TypeInteger && assignInt(dest, r.statement.ColumnInt64(at)) {
		return nil
	}
	if text, ok := dest.(*string); ok && kind == sqlite.TypeText {
		*text = r.statement.ColumnText(at)
		return nil
	}
	return assign(dest, r.value(at, kind))
}

// assignInt reports whether the destination has taken the number.
func assignInt(dest any, value int64) bool {
	switch dest := dest.(type) {
	case *int64:
		*dest = value
		return true
	case *int:
		if int64(int(value)) == value {
			*dest = int(value)
			return true
		}
	case *bool:
		if value == 0 || value == 1 {
			*dest = value == 1
			return true
		}
	case *sql.Null[int64]:
		*dest = sql.Null[int64]{V: value, Valid: true}
		return true
	}
	return false
}

// value is a value as a driver of database/sql gives it. An empty blob is nil.
func (r *Row) value(at int, kind sqlite.ColumnType) any {
	switch kind {
	case sqlite.TypeInteger:
		return r.statement.ColumnInt64(at)
	case sqlite.TypeFloat:
		return r.statement.ColumnFloat(at)
	case sqlite.TypeText:
		return r.statement.ColumnText(at)
	case sqlite.TypeBlob:
		var blob []byte
		if length := r.statement.ColumnLen(at); length > 0 {
			blob = make([]byte, length)
			r.statement.ColumnBytes(at, blob)
		}
		return blob
	case sqlite.TypeNull:
	}
	return nil
}

// assign converts a value of value to the type of its destination. It owns value.
func assign(dest, value any) error {
	switch dest := dest.(type) {
	case *any:
		*dest = value
		return nil
	case sql.Scanner:
		return dest.Scan(value)
	}
	pointer := reflect.ValueOf(dest)
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		return fmt.Errorf("a %T is no place to scan to", dest)
	}
	place, from := pointer.Elem(), reflect.ValueOf(value)
	switch {
	case value == nil && (place.Kind() == reflect.Pointer || place.Type() == bytesType):
		place.SetZero()
		return nil
	case value == nil:
		return fmt.Errorf("NULL is no %s", place.Type())
	case place.Kind() == reflect.Pointer:
		place.Set(reflect.New(place.Type().Elem()))
		return assign(place.Interface(), value)
	case from.Type().AssignableTo(place.Type()), from.Kind() == place.Kind() && from.CanConvert(place.Type()):
		place.Set(from.Convert(place.Type()))
		return nil
	}
	return convertTo(place, value)
}

var bytesType, textType = reflect.TypeFor[[]byte](), reflect.TypeFor[string]()

// convertTo assigns a value of another kind. A text of a type of its own does not
// take a number.
func convertTo(place reflect.Value, value any) error {
	_, isBytes := value.([]byte)
	switch {
	case place.Type() == textType, place.Kind() == reflect.String && isBytes:
		return convert(value, nil, place.SetString)
	case place.Type() == bytesType:
		return convert(value, nil, place.SetBytes)
	case place.Kind() == reflect.Bool:
		return convert(value, nil, place.SetBool)
	case place.CanInt():
		return convert(value, place.OverflowInt, place.SetInt)
	case place.CanUint():
		return convert(value, place.OverflowUint, place.SetUint)
	case place.Kind() == reflect.Float32:
		return convert(value, nil, func(number float32) { place.SetFloat(float64(number)) })
	case place.Kind() == reflect.Float64:
		return convert(value, nil, place.SetFloat)
	}
	return fmt.Errorf("a %T is no %s", value, place.Type())
}

// convert has database/sql convert a value that is not NULL.
func convert[T any](value any, overflows func(T) bool, set func(T)) error {
	var converted sql.Null[T]
	if err := converted.Scan(value); err != nil {
		return err
	}
	if overflows != nil && overflows(converted.V) {
		return fmt.Errorf("%v is too large", value)
	}
	set(converted.V)
	return nil
}

// bind gives the statement its arguments, of the types that database/sql takes:
// also a Valuer, a pointer, which is NULL when it is nil, and types of their own
// that are a number, a text or bytes underneath. A time is none of them: times are
// stored in microseconds.
func bind(statement *sqlite.Stmt, args []any) error {
	if params := statement.BindParamCount(); len(args) != params {
		return fmt.Errorf("sqlite: the statement has %d placeholders, and there are %d arguments", params, len(args))
	}
	for i, arg := range args {
		known, err := bindValue(statement, i+1, arg)
		if !known && err == nil {
			if arg, err = driver.DefaultParameterConverter.ConvertValue(arg); err == nil {
				known, err = bindValue(statement, i+1, arg)
			}
			if !known && err == nil {
				err = fmt.Errorf("a %T cannot be stored", arg)
			}
		}
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return nil
}

// bindValue binds one value; known is false for a type that SQLite does not have.
func bindValue(statement *sqlite.Stmt, at int, value any) (known bool, err error) {
	switch value := value.(type) {
	case nil:
		statement.BindNull(at)
	case int64:
		statement.BindInt64(at, value)
	case int:
		statement.BindInt64(at, int64(value))
	case bool:
		statement.BindBool(at, value)
	case float64:
		statement.BindFloat(at, value)
	case string:
		if len(value) > math.MaxInt32 {
			return true, sqlite.ResultTooBig.ToError()
		}
		statement.BindText(at, value)
	case []byte:
		if len(value) > math.MaxInt32 {
			return true, sqlite.ResultTooBig.ToError()
		}
		if value == nil {
			statement.BindNull(at)
		} else {
			statement.BindBytes(at, value)
		}
	default:
		return false, nil
	}
	return true, nil
}
