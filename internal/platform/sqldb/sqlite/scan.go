package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"reflect"
	"strconv"

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
	case *string:
		if value == nil {
			return errNull(dest)
		}
		*dest = asText(value)
		return nil
	case *[]byte:
		*dest = asBytes(value)
		return nil
	case *bool:
		converted, err := driver.Bool.ConvertValue(value)
		if err == nil {
			*dest = converted.(bool) // what Bool converts to
		}
		return err
	case sql.Scanner:
		return dest.Scan(value)
	}
	pointer := reflect.ValueOf(dest)
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		return fmt.Errorf("a %T is no place to scan to", dest)
	}
	return assignTo(pointer.Elem(), value)
}

// assignTo is assign to a type that only reflection knows.
func assignTo(place reflect.Value, value any) error {
	if place.Kind() == reflect.Pointer {
		if value == nil {
			place.SetZero()
			return nil
		}
		place.Set(reflect.New(place.Type().Elem()))
		return assign(place.Interface(), value)
	}
	if value == nil {
		return errNull(place.Interface())
	}
	from := reflect.ValueOf(value)
	switch {
	case from.Type().AssignableTo(place.Type()):
		place.Set(from)
		return nil
	case from.Kind() == place.Kind() && from.Type().ConvertibleTo(place.Type()):
		place.Set(from.Convert(place.Type()))
		return nil
	}
	return parseTo(place, value)
}

// parseTo goes by way of the text, which loses nothing unseen.
func parseTo(place reflect.Value, value any) error {
	text := asText(value)
	switch {
	case place.CanInt():
		number, err := strconv.ParseInt(text, 10, place.Type().Bits())
		return set(place.SetInt, number, err)
	case place.CanUint():
		number, err := strconv.ParseUint(text, 10, place.Type().Bits())
		return set(place.SetUint, number, err)
	case place.CanFloat():
		number, err := strconv.ParseFloat(text, place.Type().Bits())
		return set(place.SetFloat, number, err)
	case place.Kind() == reflect.String && isBytes(value):
		place.SetString(text)
		return nil
	}
	return fmt.Errorf("a %T is no %s", value, place.Type())
}

func set[T any](setter func(T), value T, err error) error {
	if err == nil {
		setter(value)
	}
	return err
}

func isBytes(value any) bool {
	_, ok := value.([]byte)
	return ok
}

func errNull(dest any) error { return fmt.Errorf("NULL is no %T", dest) }

func asText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	}
	return ""
}

func asBytes(value any) []byte {
	switch value := value.(type) {
	case nil:
		return nil
	case []byte:
		return value
	}
	return []byte(asText(value))
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
