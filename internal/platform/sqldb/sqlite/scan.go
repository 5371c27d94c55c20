package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Row is the row that a statement has come to.
type Row struct{ statement *statement }

// Scan copies the columns to where dest points, with the conversions of
// database/sql.
func (r *Row) Scan(dest ...any) error {
	s := r.statement
	if n := int(sqlite3.Xsqlite3_column_count(s.conn.tls, s.handle)); n != len(dest) {
		return fmt.Errorf("scan: the row has %d columns, and there are %d destinations", n, len(dest))
	}
	value := sqlite3.Xsqlite3_column_value(s.conn.tls, s.handle, 0)
	for i := range dest {
		if err := s.scan(value, dest[i]); err != nil {
			name := libc.GoString(sqlite3.Xsqlite3_column_name(s.conn.tls, s.handle, int32(i)))
			return fmt.Errorf("scan column %d, %q: %w", i, name, err)
		}
		value += valueSize
	}
	return nil
}

// valueSize is how far the values of a row are from each other. SQLite has them
// one after the other, and its functions of a column find the row anew for each;
// those of a value do not. TestValuesOfRowAreNeighbours holds the library to it.
const valueSize = unsafe.Sizeof(sqlite3.TMem{})

// scan reads a value without a detour where it has the type of its destination,
// which is nearly always so.
func (s *statement) scan(value uintptr, dest any) error {
	kind := sqlite3.Xsqlite3_value_type(s.conn.tls, value)
	switch kind {
	case sqlite3.SQLITE_INTEGER:
		if assignInt(dest, s.integer(value)) {
			return nil
		}
	case sqlite3.SQLITE_TEXT:
		switch dest := dest.(type) {
		case *string:
			s.textTo(value, dest)
			return nil
		case rawScanner:
			return dest.ScanRaw(s.bytes(value))
		}
	case sqlite3.SQLITE_NULL:
		switch dest := dest.(type) {
		case *sql.Null[int64]:
			*dest = sql.Null[int64]{}
			return nil
		case orZero:
			dest.ScanOrZero(0)
			return nil
		}
	}
	return assign(dest, s.value(value, kind))
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
	case orZero:
		dest.ScanOrZero(value)
		return true
	}
	return false
}

// value is a value as a driver of database/sql gives it.
func (s *statement) value(value uintptr, kind int32) any {
	switch kind {
	case sqlite3.SQLITE_INTEGER:
		return s.integer(value)
	case sqlite3.SQLITE_FLOAT:
		return sqlite3.Xsqlite3_value_double(s.conn.tls, value)
	case sqlite3.SQLITE_TEXT:
		return string(s.bytes(value))
	case sqlite3.SQLITE_BLOB:
		return s.blob(value)
	}
	return nil
}

func (s *statement) integer(value uintptr) int64 {
	return sqlite3.Xsqlite3_value_int64(s.conn.tls, value)
}

// rawScanner is a destination that reads a text where SQLite has it.
type rawScanner interface{ ScanRaw(text []byte) error }

// orZero is a destination for a number that takes NULL for 0.
type orZero interface{ ScanOrZero(number int64) }

// textTo leaves a destination alone that has the text already: one row after the
// other is scanned to the same places, and many have texts in common.
func (s *statement) textTo(value uintptr, dest *string) {
	if text := s.bytes(value); *dest != string(text) {
		*dest = s.copied(text)
	}
}

// The sizes of the memory that texts of a result share: a page of a list would
// otherwise ask for a piece for each of hundreds. Longer texts, and those of the
// first row, which is often the only one, have their own.
const (
	firstShare  = 1 << 10
	nextShares  = 4 << 10
	maxSharable = 128
)

// copied is a text that is good after the next step. Who keeps one of a long result
// keeps up to nextShares bytes of its neighbours.
func (s *statement) copied(text []byte) string {
	if len(text) > maxSharable || len(text) == 0 || s.rows < 2 {
		return string(text)
	}
	if len(text) > cap(s.share)-len(s.share) {
		size := nextShares
		if s.share == nil {
			size = firstShare
		}
		s.share = make([]byte, 0, size)
	}
	start := len(s.share)
	s.share = append(s.share, text...)
	return unsafe.String(&s.share[start], len(text)) //nolint:gosec // nobody writes there again
}

// bytes is a text in SQLite's memory, which is valid until the next step.
func (s *statement) bytes(value uintptr) []byte {
	address := sqlite3.Xsqlite3_value_text(s.conn.tls, value)
	length := sqlite3.Xsqlite3_value_bytes(s.conn.tls, value)
	if address == 0 || length == 0 {
		return nil
	}
	return bytesAt(address, int(length))
}

// blob is nil when it is empty.
func (s *statement) blob(value uintptr) []byte {
	address := sqlite3.Xsqlite3_value_blob(s.conn.tls, value)
	length := sqlite3.Xsqlite3_value_bytes(s.conn.tls, value)
	if address == 0 || length == 0 {
		return nil
	}
	return append([]byte(nil), bytesAt(address, int(length))...)
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
			*dest = converted.(bool) //nolint:forcetypeassert // what Bool converts to
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
