package sqlite

import (
	"database/sql/driver"
	"fmt"
	"math"

	sqlite3 "modernc.org/sqlite/lib"
)

// bind gives the statement its arguments, of the types that database/sql takes:
// also a Valuer, a pointer, which is NULL when it is nil, and types of their own
// that are a number, a text or bytes underneath. A time is none of them: times are
// stored in microseconds.
func (s *statement) bind(args []any) error {
	if len(args) != s.params {
		return s.wrongCount(len(args))
	}
	if len(args) == 0 {
		return nil
	}
	values, size, err := s.plain(args)
	if err != nil {
		return err
	}
	defer clear(s.values) // it keeps nothing alive
	if err := s.reserve(size); err != nil {
		return err
	}
	place := s.memory
	for i, value := range values {
		length, code := s.bindValue(int32(i+1), value, place)
		if code != sqlite3.SQLITE_OK {
			return s.conn.failure(code)
		}
		place += uintptr(length) //nolint:gosec // a length is not negative
	}
	return nil
}

// plain are the arguments as values that bindValue knows, and the length of their
// texts. The caller's slice stays as it is.
func (s *statement) plain(args []any) (values []any, size int, err error) {
	values, own := args, false
	for i, arg := range args {
		length, ok := lengthOf(arg)
		if !ok {
			converted, err := driver.DefaultParameterConverter.ConvertValue(arg)
			if err != nil {
				return nil, 0, fmt.Errorf("argument %d: %w", i+1, err)
			}
			if length, ok = lengthOf(converted); !ok {
				return nil, 0, fmt.Errorf("argument %d: a %T cannot be stored", i+1, converted)
			}
			if !own {
				s.values = append(s.values[:0], args...)
				values, own = s.values, true
			}
			values[i] = converted
		}
		if size += length; length > math.MaxInt32 {
			return nil, 0, &Error{sqlite3.SQLITE_TOOBIG, "string or blob too big"}
		}
	}
	return values, size, nil
}

// lengthOf is how much memory a value needs; ok is false for one that bindValue
// does not know.
func lengthOf(value any) (length int, ok bool) {
	switch value := value.(type) {
	case nil, int64, int, bool, float64:
		return 0, true
	case string:
		return len(value), true
	case []byte:
		return len(value), true
	}
	return 0, false
}

// reserve has memory for the texts of one use, one byte at least: to SQLite a
// text at no address is NULL.
func (s *statement) reserve(size int) error {
	size = max(size, 1)
	if size <= s.size {
		return nil
	}
	s.release()
	memory, err := s.conn.alloc(size)
	if err != nil {
		return err
	}
	s.memory, s.size = memory, size
	return nil
}

// bindValue binds one value. Its text goes to place, and takes up length there.
func (s *statement) bindValue(at int32, value any, place uintptr) (length int, code int32) {
	tls := s.conn.tls
	switch value := value.(type) {
	case int64:
		return 0, sqlite3.Xsqlite3_bind_int64(tls, s.handle, at, value)
	case int:
		return 0, sqlite3.Xsqlite3_bind_int64(tls, s.handle, at, int64(value))
	case string:
		length = copy(bytesAt(place, len(value)), value)
		return length, sqlite3.Xsqlite3_bind_text(tls, s.handle, at, place, int32(length), 0) //nolint:gosec // see plain
	case []byte:
		if value == nil {
			break
		}
		length = copy(bytesAt(place, len(value)), value)
		return length, sqlite3.Xsqlite3_bind_blob(tls, s.handle, at, place, int32(length), 0) //nolint:gosec // see plain
	case bool:
		if value {
			return 0, sqlite3.Xsqlite3_bind_int64(tls, s.handle, at, 1)
		}
		return 0, sqlite3.Xsqlite3_bind_int64(tls, s.handle, at, 0)
	case float64:
		return 0, sqlite3.Xsqlite3_bind_double(tls, s.handle, at, value)
	}
	return 0, sqlite3.Xsqlite3_bind_null(tls, s.handle, at)
}
