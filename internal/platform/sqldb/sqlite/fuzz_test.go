package sqlite_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver of database/sql that this package is held against

	"carteira/internal/platform/sqldb/sqlite"
)

// Types as the rooms have them: numbers, texts and bytes with names of their
// own, and types that store themselves.
type (
	status string
	cents  int64
	small  int8
	hash   []byte
	words  []string
	date   struct{ days int64 }
)

func (w words) Value() (driver.Value, error) { return strings.Join(w, ","), nil }

func (w *words) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*w = nil
	case string:
		*w = strings.Split(src, ",")
	case []byte:
		*w = strings.Split(string(src), ",")
	default:
		return fmt.Errorf("words from %T", src)
	}
	return nil
}

func (d date) Value() (driver.Value, error) {
	if d.days == 0 {
		return nil, nil
	}
	if d.days < 0 {
		return nil, errors.New("before the first day")
	}
	return d.days, nil
}

func (d *date) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*d = date{}
	case int64:
		d.days = src
	default:
		return fmt.Errorf("a date from %T", src)
	}
	return nil
}

// shapes are the forms in which an argument may come.
var shapes = []func(number int64, real float64, text string, blob []byte) any{
	func(int64, float64, string, []byte) any { return nil },
	func(number int64, _ float64, _ string, _ []byte) any { return number },
	func(number int64, _ float64, _ string, _ []byte) any { return int(number) },
	func(number int64, _ float64, _ string, _ []byte) any { return int16(number) },
	func(number int64, _ float64, _ string, _ []byte) any { return uint8(number) },
	func(number int64, _ float64, _ string, _ []byte) any { return uint64(number) },
	func(number int64, _ float64, _ string, _ []byte) any { return number%2 == 0 },
	func(number int64, _ float64, _ string, _ []byte) any { return &number },
	func(int64, float64, string, []byte) any { return (*int64)(nil) },
	func(number int64, _ float64, _ string, _ []byte) any { return cents(number) },
	func(number int64, _ float64, _ string, _ []byte) any { return date{number} },
	func(number int64, _ float64, _ string, _ []byte) any { return &date{number} },
	func(int64, float64, string, []byte) any { return (*date)(nil) },
	func(number int64, _ float64, _ string, _ []byte) any {
		return sql.Null[int64]{V: number, Valid: number%3 != 0}
	},
	func(_ int64, real float64, _ string, _ []byte) any { return real },
	func(_ int64, real float64, _ string, _ []byte) any { return float32(real) },
	func(_ int64, _ float64, text string, _ []byte) any { return text },
	func(_ int64, _ float64, text string, _ []byte) any { return &text },
	func(int64, float64, string, []byte) any { return (*string)(nil) },
	func(_ int64, _ float64, text string, _ []byte) any { return status(text) },
	func(_ int64, _ float64, text string, _ []byte) any { return words(strings.Fields(text)) },
	func(number int64, _ float64, text string, _ []byte) any {
		return sql.NullString{String: text, Valid: number%3 != 0}
	},
	func(_ int64, _ float64, _ string, blob []byte) any { return blob },
	func(int64, float64, string, []byte) any { return []byte(nil) },
	func(_ int64, _ float64, _ string, blob []byte) any { return hash(blob) },
	func(_ int64, _ float64, _ string, blob []byte) any { return json.RawMessage(blob) },
	func(int64, float64, string, []byte) any { return struct{ unknown int }{} },
}

// places are the types that a column may be scanned to.
var places = []reflect.Type{
	reflect.TypeFor[any](),
	reflect.TypeFor[string](), reflect.TypeFor[*string](), reflect.TypeFor[**string](), reflect.TypeFor[status](),
	reflect.TypeFor[[]byte](), reflect.TypeFor[hash](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[*[]byte](),
	reflect.TypeFor[bool](), reflect.TypeFor[*bool](),
	reflect.TypeFor[int64](), reflect.TypeFor[int](), reflect.TypeFor[int32](), reflect.TypeFor[small](), reflect.TypeFor[cents](),
	reflect.TypeFor[*int64](), reflect.TypeFor[*int](), reflect.TypeFor[*cents](),
	reflect.TypeFor[uint8](), reflect.TypeFor[uint64](),
	reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[*float64](),
	reflect.TypeFor[sql.Null[int64]](), reflect.TypeFor[sql.Null[string]](), reflect.TypeFor[sql.Null[bool]](),
	reflect.TypeFor[sql.NullString](), reflect.TypeFor[sql.NullInt64](), reflect.TypeFor[sql.NullFloat64](),
	reflect.TypeFor[words](), reflect.TypeFor[date](), reflect.TypeFor[*date](), reflect.TypeFor[words](),
	reflect.TypeFor[time.Time](), reflect.TypeFor[struct{ unknown int }](),
}

// pair is one file opened by this package and through database/sql.
type pair struct {
	ours   *sqlite.Conn
	theirs *sql.DB
}

func newPair(tb testing.TB) pair {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "both.db")
	ours, err := sqlite.Open(file, sqlite.Options{
		Pragmas: []string{"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(OFF)"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	theirs, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(theirs.Close(), ours.Close()); err != nil {
			tb.Error(err)
		}
	})
	const table = `CREATE TABLE stored (
		writer INTEGER PRIMARY KEY, bare, text TEXT, number BIGINT, real REAL, blob BLOB)`
	if err := ours.Script(tb.Context(), table); err != nil {
		tb.Fatal(err)
	}
	return pair{ours, theirs}
}

const columns = "bare, text, number, real, blob"

// store has both write a row of their own with the same arguments.
func (p pair) store(t *testing.T, args []any) (stored bool) {
	t.Helper()
	text := "INSERT OR REPLACE INTO stored (writer, " + columns + ") VALUES (?, ?, ?, ?, ?, ?)"
	changed, ours := p.ours.Exec(t.Context(), text, append([]any{1}, args...))
	result, theirs := p.theirs.ExecContext(t.Context(), text, append([]any{2}, args...)...)
	if (ours == nil) != (theirs == nil) {
		t.Fatalf("storing %#v: %v, database/sql: %v", args, ours, theirs)
	}
	if ours != nil {
		return false
	}
	if want, err := result.RowsAffected(); err != nil || changed != want {
		t.Errorf("%d rows changed, database/sql: %d, %v", changed, want, err)
	}
	return true
}

// FuzzBindAndScan holds what is stored, and what is read from it into every type,
// against database/sql: each reads what the other has written.
func FuzzBindAndScan(f *testing.F) {
	for i := range shapes {
		f.Add(uint8(i), uint8(i+5), int64(i), float64(i)/2, "text "+fmt.Sprint(i), []byte{byte(i)})
	}
	f.Add(uint8(1), uint8(16), int64(math.MaxInt64), math.MaxFloat64, "", []byte{})
	f.Add(uint8(1), uint8(16), int64(math.MinInt64), math.Inf(-1), "a\x00b", []byte("\x00"))
	f.Add(uint8(5), uint8(22), int64(-1), math.NaN(), "1", []byte("1"))
	f.Add(uint8(16), uint8(25), int64(1), 1e21, "true", []byte("null"))
	f.Add(uint8(16), uint8(20), int64(2), 0.5, "NaN", []byte("Inf"))
	f.Add(uint8(16), uint8(24), int64(300), 3.0, "12.0", []byte("9223372036854775808"))
	f.Add(uint8(19), uint8(20), int64(1), 0.1, "\xff\xfe é 🙂", []byte("2026-03-01"))
	f.Add(uint8(21), uint8(17), int64(1), 0.0, strings.Repeat("long ", 5000), bytes.Repeat([]byte{7}, 9000))
	both := newPair(f)
	f.Fuzz(func(t *testing.T, one, other uint8, number int64, real float64, text string, blob []byte) {
		make := func(shape uint8) any { return shapes[int(shape)%len(shapes)](number, real, text, blob) }
		args := []any{make(one), make(other), make(one), make(other), make(one + other)}
		if !both.store(t, args) {
			return
		}
		both.compare(t, 1)
		both.compare(t, 2)
	})
}

// compare reads the row of a writer both ways, every column to every place.
func (p pair) compare(t *testing.T, writer int) {
	t.Helper()
	var ours, theirs []scanned
	text := "SELECT " + columns + " FROM stored WHERE writer = ?"
	err := p.ours.Each(t.Context(), text, []any{writer}, func(row *sqlite.Row) error {
		ours = scanAll(row.Scan)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.theirs.QueryContext(t.Context(), text, writer)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		theirs = scanAll(rows.Scan)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(ours) == 0 || len(ours) != len(theirs) {
		t.Fatalf("%d columns, database/sql: %d", len(ours), len(theirs))
	}
	for i, got := range ours {
		want := theirs[i]
		if (got.err == nil) != (want.err == nil) || got.err == nil && !same(got.value, want.value) {
			t.Errorf("%s of row %d: %#v, %v; database/sql: %#v, %v", got.what, writer, got.value, got.err, want.value, want.err)
		}
	}
}

// same compares two values of one type, in which NaN is NaN.
func same(one, other any) bool {
	text := fmt.Sprint(reflect.Indirect(reflect.ValueOf(one)))
	return reflect.DeepEqual(one, other) ||
		strings.Contains(text, "NaN") && text == fmt.Sprint(reflect.Indirect(reflect.ValueOf(other)))
}

// scanned is a column as it came to one place.
type scanned struct {
	what  string
	value any
	err   error
}

// scanAll scans each column by itself to each place, and the others to anything:
// one that cannot be scanned says nothing about the next.
func scanAll(scan func(...any) error) (all []scanned) {
	names := strings.Split(columns, ", ")
	for _, place := range places {
		for i, name := range names {
			dest := make([]any, len(names))
			for j := range dest {
				dest[j] = new(any)
			}
			target := reflect.New(place)
			dest[i] = target.Interface()
			err := scan(dest...)
			all = append(all, scanned{name + " as " + place.String(), target.Elem().Interface(), err})
		}
	}
	return all
}
