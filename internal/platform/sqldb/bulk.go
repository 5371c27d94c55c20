package sqldb

import (
	"iter"
	"strings"
)

// pieceSizes are few, so that a list of any length needs few different
// statements, and none has as many placeholders as SQLite (32,766) or
// PostgreSQL (65,535) refuses.
var pieceSizes = []int{500, 100, 10, 1}

// Pieces cuts a list into the parts in which one statement after the other
// inserts it or looks it up.
func Pieces[T any](list []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for _, size := range pieceSizes {
			for len(list) >= size {
				if !yield(list[:size]) {
					return
				}
				list = list[size:]
			}
		}
	}
}

// Tuples returns the placeholders of rows × columns values, `(?,?),(?,?)`, for
// an INSERT of several rows.
func Tuples(rows, columns int) string {
	return strings.TrimSuffix(strings.Repeat("("+Marks(columns)+"),", rows), ",")
}
