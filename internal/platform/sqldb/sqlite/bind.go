package sqlite

import (
	"database/sql/driver"
	"fmt"
	"math"

	"zombiezen.com/go/sqlite"
)

// bind gives the statement its arguments, of the types that database/sql takes:
// also a Valuer, a pointer, which is NULL when it is nil, and types of their own
// that are a number, a text or bytes underneath. A time is none of them: times are
// stored in microseconds.
func bind(statement *sqlite.Stmt, args []any) error {
	if params := statement.BindParamCount(); len(args) != params {
		return wrongCount(params, len(args))
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
