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
	used := 0
	for i, value := range values {
		code, length := s.bindValue(int32(i+1), value, used) //nolint:gosec // SQLite takes 32,766 at most
		if code != sqlite3.SQLITE_OK {
			return s.conn.failure(code)
		}
		used += length
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

// bindValue binds one value, whose text goes behind the memory that is used.
func (s *statement) bindValue(at int32, value any, used int) (code int32, length int) {
	tls := s.conn.tls
	switch value := value.(type) {
	case int64:
		return sqlite3.Xsqlite3_bind_int64(tls, s.handle, at, value), 0
	case int:
		return sqlite3.Xsqlite3_bind_int64(tls, s.handle, at, int64(value)), 0
	case string:
		place := s.memory + uintptr(used)
		length = copy(bytesAt(place, len(value)), value)
		return sqlite3.Xsqlite3_bind_text(tls, s.handle, at, place, int32(length), 0), length //nolint:gosec // see plain
	case []byte:
		if value == nil {
			return sqlite3.Xsqlite3_bind_null(tls, s.handle, at), 0
		}
		place := s.memory + uintptr(used)
		length = copy(bytesAt(place, len(value)), value)
		return sqlite3.Xsqlite3_bind_blob(tls, s.handle, at, place, int32(length), 0), length //nolint:gosec // see plain
	case bool:
		var number int64
		if value {
			number = 1
		}
		return sqlite3.Xsqlite3_bind_int64(tls, s.handle, at, number), 0
	case float64:
		return sqlite3.Xsqlite3_bind_double(tls, s.handle, at, value), 0
	}
	return sqlite3.Xsqlite3_bind_null(tls, s.handle, at), 0
}
