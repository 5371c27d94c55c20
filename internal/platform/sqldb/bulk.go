package sqldb

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
)

// maxPiece keeps a statement from having as many placeholders as SQLite
// (32,766) or PostgreSQL (65,535) refuses.
const maxPiece = 512

// smallPiece is up to how many rows have a statement of their own length.
const smallPiece = 6

// PieceOf is how many of n rows one statement takes: all of a few, or a power of
// two, so that a list of any length needs few statements, of few different texts.
func PieceOf(n int) int {
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
			size := PieceOf(len(list))
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
	return strings.TrimSuffix(strings.Repeat("("+Marks(columns)+"),", rows), ",")
}

// Few writes the first {in ?} of a text out for each list that has a few values,
// in their order, and returns the arguments of all. PostgreSQL expects ten in a
// list that is one argument. It thinks a plan for a shorter one better, and so
// plans anew at every use, which takes it longer than to find the rows.
func Few[T int64 | string](text string, lists ...[]T) (string, []any) {
	var args []any
	key := fewKey{text: text}
	for i, list := range lists {
		if len(list) == 0 || len(list) > smallPiece {
			args = append(args, list)
			continue
		}
		key.sizes[i] = len(list)
		for _, value := range list {
			args = append(args, value)
		}
	}
	if known, ok := fewTexts.Load(key); ok {
		return known.(string), args //nolint:forcetypeassert // only strings are stored
	}
	written := key.write()
	fewTexts.Store(key, written)
	return written, args
}

// maxFew is how many lists Few takes.
const maxFew = 2

// fewKey is a text, and how many values its lists have; 0: the list is one
// argument.
type fewKey struct {
	text  string
	sizes [maxFew]int
}

func (k fewKey) write() string {
	parts := strings.SplitN(k.text, "{in ?}", maxFew+1)
	var text strings.Builder
	text.WriteString(parts[0])
	for i, part := range parts[1:] {
		in := "{in ?}"
		if k.sizes[i] > 0 {
			in = "IN (" + Marks(k.sizes[i]) + ")"
		}
		text.WriteString(in + part)
	}
	return text.String()
}

// fewTexts are the texts that Few has made.
var fewTexts sync.Map

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
	text, _ := json.Marshal(list) //nolint:errchkjson // numbers and texts always have a form
	return string(text)
}
