package sqldb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// maxPiece keeps a statement from having as many placeholders as SQLite
// (32,766) or PostgreSQL (65,535) refuses.
const maxPiece = 512

// smallPiece is up to how many rows have a statement of their own length.
const smallPiece = 6

// pieceOf is how many of n rows one statement takes: all of a few, or a power of
// two, so that a list of any length needs few statements, of few different texts.
func pieceOf(n int) int {
	if n <= smallPiece {
		return n
	}
	size := maxPiece
	for size > n {
		size /= 2
	}
	return size
}

// Pieces cuts a list into the parts in which one statement after the other
// inserts it or looks it up.
func Pieces[T any](list []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			size := pieceOf(len(list))
			if !yield(list[:size]) {
				return
			}
			list = list[size:]
		}
	}
}

// Tuples returns the placeholders of rows × columns values, `(?,?),(?,?)`, for
// an INSERT of several rows.
func Tuples(rows, columns int) string {
	row := "(?" + strings.Repeat(",?", columns-1) + ")"
	return row + strings.Repeat(","+row, rows-1)
}

// withLists returns args with every list as an engine takes it, PostgreSQL as an
// array, SQLite as JSON. A statement with {in ?} is the same for a list of any
// length, so it is compiled and planned once.
func withLists(engine Engine, args []any) []any {
	cloned := false
	for i, arg := range args {
		var list any
		switch arg := arg.(type) {
		case []int64:
			list = listFor(engine, arg)
		case []string:
			list = listFor(engine, arg)
		default:
			continue
		}
		if !cloned { // the caller's stay as they are
			args, cloned = slices.Clone(args), true
		}
		args[i] = list
	}
	return args
}

func listFor[T int64 | string](engine Engine, list []T) any {
	if list == nil {
		list = []T{} // pgx takes nil for NULL, which is among nothing and not among nothing
	}
	if engine == Postgres {
		return list
	}
	text, _ := json.Marshal(list) // numbers and texts always have a form
	return string(text)
}

// Ref is an optional reference to another row: 0 is stored as NULL.
type Ref = sql.Null[int64]

// OrZero takes a number that may be NULL, which it takes for 0. COALESCE in the
// statement costs SQLite three steps more for each row.
type OrZero int64

// Scan takes a number of SQLite.
func (o *OrZero) Scan(src any) error {
	number, ok := src.(int64)
	if !ok && src != nil {
		return fmt.Errorf("a %T is no number", src)
	}
	*o = OrZero(number)
	return nil
}

// ScanInt64 takes a number of PostgreSQL.
func (o *OrZero) ScanInt64(number pgtype.Int8) error {
	*o = OrZero(number.Int64)
	return nil
}

// RefTo makes a Ref; 0 refers to nothing.
func RefTo(id int64) Ref { return Ref{V: id, Valid: id != 0} }
