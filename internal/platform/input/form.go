// Package input reads what people and programs send: JSON bodies, query
// strings, form posts and CSV rows all become a Form, and one set of checks
// serves the API, the panel and the import. A Form collects every failing
// field before it answers. It owns the shape of values ("must be a date"), not
// the rules of the business ("the plan is not yours"), which stand in the
// capabilities and are added with Refuse.
package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/text"
)

// Form is a set of named values on its way to a use case.
type Form struct {
	values  map[string]any // nil, string, json.Number, bool, []any or map[string]any
	sentAs  map[string]string
	known   []string
	faults  fault.Fields
	lenient bool // unknown names are passed over
	query   bool // its names are those of parameters
}

// whitespace is what JSON takes for it, which is less than Unicode does.
const whitespace = " \t\r\n"

// usualFields is how many names the checks of a record ask for.
const usualFields = 24

// FromJSON reads a JSON object. An empty body is an empty object.
func FromJSON(body []byte) (*Form, error) {
	form := &Form{values: map[string]any{}, known: make([]string, 0, usualFields)}
	if len(bytes.Trim(body, whitespace)) == 0 {
		return form, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, malformed(body, err)
	}
	if rest := bytes.TrimLeft(body[decoder.InputOffset():], whitespace); len(rest) > 0 {
		return nil, syntax(body, int64(len(body)-len(rest)+1), "text after the end of the object")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fault.New(fault.KindInvalid, "the body must be a JSON object")
	}
	form.values = object
	return form, nil
}

// FromStrings takes values as a query string, a form or a CSV row has them.
// Names that no check asks for are passed over.
func FromStrings(values map[string]string) *Form {
	form := &Form{values: make(map[string]any, len(values)), lenient: true}
	for k, value := range values {
		form.values[k] = value
	}
	return form
}

// FromQuery takes the first value of each parameter.
func FromQuery(q map[string][]string) *Form {
	form := &Form{values: make(map[string]any, len(q)), lenient: true}
	for k, v := range q {
		if len(v) > 0 {
			form.values[k] = v[0]
		}
	}
	return form
}

// FromParameters is FromQuery for a caller that must not be misunderstood: a name
// that no check asks for is refused, since a misspelt filter would choose
// everything. Names that begin with _ are passed over; they break caches.
func FromParameters(query map[string][]string) *Form {
	form := FromQuery(query)
	form.lenient, form.query = false, true
	for name := range form.values {
		if strings.HasPrefix(name, "_") {
			delete(form.values, name)
		}
	}
	return form
}

// FromForm takes values as a page's form sends them: of each name the last,
// since a box that is ticked is sent after the hidden field that says it is
// not; of lists all that are not empty.
func FromForm(values map[string][]string, lists ...string) *Form {
	form := &Form{values: make(map[string]any, len(values)), lenient: true}
	for k, value := range values {
		if len(value) > 0 {
			form.values[k] = value[len(value)-1]
		}
	}
	for _, name := range lists {
		items := []any{}
		for _, v := range values[name] {
			if v != "" {
				items = append(items, v)
			}
		}
		form.values[name] = items
	}
	return form
}

// Alias accepts name as another spelling of field. Errors are reported under
// the name that was sent; field wins where both were.
func (f *Form) Alias(name, field string) {
	f.known = append(f.known, name)
	value, ok := f.values[name]
	if !ok {
		return
	}
	delete(f.values, name)
	if _, both := f.values[field]; both {
		return
	}
	f.values[field] = value
	if f.sentAs == nil {
		f.sentAs = map[string]string{}
	}
	f.sentAs[field] = name
}

// Ignore accepts names and takes no notice of their values: the read-only
// fields of a record, so that what was read can be sent back.
func (f *Form) Ignore(names ...string) { f.known = append(f.known, names...) }

// Split makes a list of a text with commas in it, for a source that has no
// lists, such as a flag.
func (f *Form) Split(name string) {
	text, ok := f.values[name].(string)
	if !ok {
		return
	}
	list := []any{}
	for part := range strings.SplitSeq(text, ",") {
		if part = clean(part); part != "" {
			list = append(list, part)
		}
	}
	f.values[name] = list
}

// Set puts a value into the form that came by another way, such as the path.
func (f *Form) Set(name, value string) { f.values[name] = value }

// Given reports whether name was sent, null included.
func (f *Form) Given(name string) bool { _, ok := f.values[name]; return ok }

// Sent reports whether name was sent with a value.
func (f *Form) Sent(name string) bool { v, _ := f.take(name); return v != nil }

// Refuse adds a reason against a field.
func (f *Form) Refuse(name, reason string) {
	if sent, ok := f.sentAs[name]; ok {
		name = sent
	}
	if !slices.Contains(f.faults.Get(name), reason) {
		f.faults.Add(name, reason)
	}
}

// Failed reports whether a check has refused a value so far.
func (f *Form) Failed() bool { return !f.faults.Empty() }

// Require refuses the form when name is absent, null or empty.
func (f *Form) Require(name string) {
	if v, ok := f.take(name); !ok || v == nil {
		f.Refuse(name, "is required")
	}
}

// MustNotClear refuses a form that empties name; one that leaves it out is
// fine. It is Require for updates.
func (f *Form) MustNotClear(name string) {
	if v, ok := f.take(name); ok && v == nil {
		f.Refuse(name, "must not be empty")
	}
}

// Err is the verdict: every failing field, then every unknown one.
func (f *Form) Err() error { return f.Problems().Err() }

// maxUnknown bounds the work that a hostile body of many names can cause.
const maxUnknown = 20

// unknown refuses the fields that no check has asked for.
func (f *Form) unknown() (refused fault.Fields) {
	if f.lenient {
		return refused
	}
	var names []string
	for name := range f.values {
		if !slices.Contains(f.known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxUnknown)] {
		reason := "unknown field"
		if f.query {
			reason = "unknown parameter"
		}
		if near := text.Near(name, f.known); near != "" {
			reason += fmt.Sprintf("; did you mean %s?", near)
		}
		refused.Add(name, reason)
	}
	return refused
}

// take returns a value with "" and null as nil, and notes that the operation
// knows the field.
func (f *Form) take(name string) (value any, given bool) {
	f.known = append(f.known, name)
	value, given = f.values[name]
	if s, ok := value.(string); ok {
		if s = clean(s); s == "" {
			return nil, given
		}
		return s, given
	}
	return value, given
}

func malformed(body []byte, err error) error {
	var bad *json.SyntaxError
	if errors.As(err, &bad) {
		return syntax(body, bad.Offset, bad.Error())
	}
	return syntax(body, int64(len(body)), "unexpected end of JSON input")
}

// syntax says where the body stops being JSON. offset counts the bytes read,
// the offending one included.
func syntax(body []byte, offset int64, what string) error {
	before := body[:max(0, min(int(offset), len(body))-1)]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fault.New(fault.KindInvalid, fmt.Sprintf("malformed JSON at line %d, column %d: %s", line, column, what))
}

// Opt is a field of an input: not given, given as null, or given with a value.
// A change leaves alone what was not given, and clears what is null.
type Opt[T any] struct {
	Value T // the zero value unless HasValue
	state optState
}

type optState uint8

const (
	notGiven optState = iota
	givenNull
	givenValue
)

// Some is a field with a value.
func Some[T any](value T) Opt[T] { return Opt[T]{value, givenValue} }

// Null is a field that is given as null.
func Null[T any]() Opt[T] { return Opt[T]{state: givenNull} }

// Given reports whether the field is there, as null or with a value.
func (o Opt[T]) Given() bool { return o.state != notGiven }

// HasValue reports whether the field is there with a value.
func (o Opt[T]) HasValue() bool { return o.state == givenValue }

// IsNull reports whether the field is there as null.
func (o Opt[T]) IsNull() bool { return o.state == givenNull }

// To sets target if the field is given: to its value, or to the zero value.
func (o Opt[T]) To(target *T) {
	if o.Given() {
		*target = o.Value
	}
}

// Or is the value, or fallback if there is none.
func (o Opt[T]) Or(fallback T) T {
	if o.HasValue() {
		return o.Value
	}
	return fallback
}

// Get returns the value and whether the field is given.
func (o Opt[T]) Get() (T, bool) { return o.Value, o.Given() }

// Page is which part of a list was asked for.
type Page struct {
	Number int64
	Size   int64
	Sort   Sort // of a list that knows it; "": Newest
}

// Bounds of a page, from the API's contract.
const (
	DefaultPageSize = 50
	MaxPageSize     = 200
	maxPageNumber   = 1 << 40 // keeps Number × Size far from overflow
)

// Page reads page and per_page. What is out of range or no number is adjusted
// to the nearest that is allowed, never refused.
func (f *Form) Page() Page {
	return Page{
		Number: f.adjusted("page", 1, 1, maxPageNumber),
		Size:   f.adjusted("per_page", DefaultPageSize, 1, MaxPageSize),
	}
}

// Adjusted reads a whole number. What is out of range or no number is adjusted
// to the nearest that is allowed, never refused.
func (f *Form) Adjusted(name string, bounds Bounds) int64 {
	return f.adjusted(name, bounds.Default, bounds.Low, bounds.High)
}

// Bounds are those of a number that is adjusted.
type Bounds struct{ Default, Low, High int64 }

func (f *Form) adjusted(name string, fallback, low, high int64) int64 {
	v, _ := f.take(name)
	text, ok := plain(v)
	if !ok {
		return fallback
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil && number == 0 { // ParseInt saturates n when s is a number too large
		return fallback
	}
	return min(max(number, low), high)
}

// Offset is how many records stand before the page.
func (p Page) Offset() int64 { return (p.Number - 1) * p.Size }

// Last is the number of the last page of total records, at least 1.
func (p Page) Last(total int64) int64 { return max(1, (total+p.Size-1)/p.Size) }
