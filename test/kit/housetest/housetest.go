// Package housetest is what tests of every package need: Must, the morning on
// which most of them begin, forms from pairs and a log that can be read. It
// knows no room; a company with customers is worldtest's.
package housetest

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/input"
)

// Morning is nine o'clock on 31 January 2026 in São Paulo: the last day of a
// long month, so that renewals meet a shorter one.
var Morning = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// Must ends the test on an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Form is a form of names and values, one after the other.
func Form(namesAndValues ...string) *input.Form {
	values := map[string]string{}
	for pair := range slices.Chunk(namesAndValues, 2) {
		values[pair[0]] = pair[1]
	}
	return input.FromStrings(values)
}

// Log is a writer that can be read while others write to it.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *Log) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

// String is all that was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// EachField calls found with records of T that have one exported field of full
// filled and the rest zero, and complains where found does not see the field.
// A field among the exceptions, each with its reason, must not be seen: an
// exception that is none is an error too. A field that full leaves zero is one,
// so that a new field cannot be passed over.
func EachField[T any](tb testing.TB, full T, exceptions map[string]string, found func(T) bool, complaint string) {
	tb.Helper()
	source := reflect.ValueOf(full)
	kind := source.Type()
	known := map[string]bool{}
	for i := range kind.NumField() {
		name := kind.Field(i).Name
		known[name] = true
		switch {
		case !kind.Field(i).IsExported():
			continue
		case source.Field(i).IsZero():
			tb.Errorf("%s.%s: the full record of the test leaves it empty", kind.Name(), name)
			continue
		}
		var one T
		reflect.ValueOf(&one).Elem().Field(i).Set(source.Field(i))
		_, excepted := exceptions[name]
		if seen := found(one); seen == excepted {
			tb.Errorf("%s.%s: %s (seen %t, excepted %t)", kind.Name(), name, complaint, seen, excepted)
		}
	}
	for name := range exceptions {
		if !known[name] {
			tb.Errorf("%s is an exception and no field of %s", name, kind.Name())
		}
	}
}

// Fill sets each exported field of a record to something that is not its zero
// value, a text to one that begins with the field's name. Fields of other types
// than texts, numbers, truths and instants get the sample of their type.
func Fill[T any](tb testing.TB, record *T, samples ...any) {
	tb.Helper()
	target := reflect.ValueOf(record).Elem()
	for i := range target.NumField() {
		field := target.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		if !fillWith(target.Field(i), samples) && !fillPlain(target.Field(i), field.Name, i+1) {
			tb.Fatalf("%s.%s: no sample of a %s", target.Type(), field.Name, field.Type)
		}
	}
}

func fillWith(target reflect.Value, samples []any) bool {
	for _, sample := range samples {
		if reflect.TypeOf(sample) == target.Type() {
			target.Set(reflect.ValueOf(sample))
			return true
		}
	}
	return false
}

func fillPlain(target reflect.Value, name string, n int) bool {
	switch {
	case target.Type() == reflect.TypeFor[time.Time]():
		target.Set(reflect.ValueOf(Morning.Add(time.Duration(n) * time.Hour).Local())) // as databases return them
	case target.Kind() == reflect.String:
		target.SetString(name + " text")
	case target.CanInt():
		target.SetInt(int64(n))
	case target.Kind() == reflect.Bool:
		target.SetBool(true)
	default:
		return false
	}
	return true
}

// EveryFieldShows fails for every exported field of a record that changes nothing in
// what its table shows in the places of the test, but for the exceptions. Fill makes
// the record, with the samples.
func EveryFieldShows[T any](tb testing.TB, shown func(*T) iter.Seq2[string, any], exceptions map[string]string, samples ...any) {
	tb.Helper()
	var full, blank T
	Fill(tb, &full, samples...)
	EachField(tb, full, exceptions, func(record T) bool {
		return !reflect.DeepEqual(maps.Collect(shown(&blank)), maps.Collect(shown(&record)))
	}, "is its line missing in fields.go?")
}

// EveryDraftFieldSets fails for every field of a draft that changes nothing in the
// record. full gives those that are more than a text, a number or a truth; table is the
// record's.
func EveryDraftFieldSets[T, D any](t *testing.T, table interface{ To(draft *D, record *T) }, full D) {
	t.Helper()
	given := reflect.ValueOf(full)
	for i := range given.NumField() {
		field := given.Type().Field(i)
		if field.Type == reflect.TypeFor[input.Problems]() {
			continue
		}
		var draft D
		place := reflect.ValueOf(&draft).Elem().Field(i)
		place.Set(given.Field(i))
		if place.IsZero() {
			fillWith(place, []any{input.Some("text"), input.Some(7), input.Some(int64(7)), input.Some(true)})
		}
		var blank, changed T
		table.To(&draft, &changed)
		if reflect.DeepEqual(blank, changed) {
			t.Errorf("%s.%s sets nothing; is it missing in fields.go, or in this test?", given.Type().Name(), field.Name)
		}
	}
}
