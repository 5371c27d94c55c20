// Package fault owns errors that cross the edge: their kind, the text that callers may read, the fields that failed, and
// the private cause that only logs see.
//
// It does not own HTTP statuses (the edge has one table for them), translation or logging.
package fault

import (
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// Kind is what went wrong, in the terms of the caller.
type Kind string

// The kinds of faults.
const (
	KindInvalid          Kind = "validation"
	KindNotFound         Kind = "not_found"
	KindUnauthenticated  Kind = "unauthenticated"
	KindForbidden        Kind = "forbidden"
	KindConflict         Kind = "conflict"
	KindGone             Kind = "gone" // it was there, and is kept no longer
	KindTooLarge         Kind = "too_large"
	KindUnsupportedMedia Kind = "unsupported_media"
	KindMethodNotAllowed Kind = "method_not_allowed"
	KindRateLimited      Kind = "rate_limited"
	KindUpstream         Kind = "upstream"    // a system that we called failed us
	KindUnavailable      Kind = "unavailable" // we cannot serve now; later may do
	KindInternal         Kind = "internal"
)

const internalMessage = "internal error"

// Error is a fault. Message and Fields are public; the cause is reached by Unwrap and stays inside.
type Error struct {
	Kind    Kind
	Message string
	Fields  Fields
	// RetryAfter is when trying again may help; 0 when that is not known.
	RetryAfter time.Duration
	cause      error
}

// New makes a fault that has a message and nothing more.
func New(kind Kind, message string) error {
	return &Error{Kind: kind, Message: message}
}

// NotFound says that what (a customer, a page) does not exist, or not for this caller.
func NotFound(what string) error { return New(KindNotFound, what+" not found") }

// Forbidden says that the caller may not do it.
func Forbidden(message string) error { return New(KindForbidden, message) }

// Conflict says that the present state of things does not allow it.
func Conflict(message string) error { return New(KindConflict, message) }

// Later is a fault that passes: after wait, trying again may help.
func Later(err error, wait time.Duration) error {
	later := *outermost(err)
	later.RetryAfter = wait
	return &later
}

// RetryAfterOf is how long to wait before trying again; 0 when that is not known.
func RetryAfterOf(err error) time.Duration { return outermost(err).RetryAfter }

// Invalid refuses input; its message is the first field and its first reason.
func Invalid(fields Fields) error {
	message := "invalid input"
	if !fields.Empty() {
		field, reason := fields.First()
		message = field + ": " + reason
	}
	return &Error{Kind: KindInvalid, Message: message, Fields: fields}
}

// Field refuses one field of the input.
func Field(name, reason string) error {
	var fields Fields
	fields.Add(name, reason)
	return Invalid(fields)
}

// Upstream says that a system we depend on failed.
func Upstream(message string, cause error) error {
	return &Error{Kind: KindUpstream, Message: message, cause: cause}
}

// Unavailable says that we cannot serve at the moment.
func Unavailable(message string, cause error) error {
	return &Error{Kind: KindUnavailable, Message: message, cause: cause}
}

// Internal hides a cause that callers can do nothing about.
func Internal(cause error) error {
	return &Error{Kind: KindInternal, Message: internalMessage, cause: cause}
}

// Error has the whole cause, for logs; callers are shown Public.
func (e *Error) Error() string {
	text := string(e.Kind) + ": " + e.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.cause }

// KindOf is the kind of the outermost fault in err; KindInternal when there is none.
func KindOf(err error) Kind { return outermost(err).Kind }

// Public is what callers may read of err: never a cause, and nothing at all of an internal fault.
func Public(err error) string {
	failure := outermost(err)
	if failure.Kind == KindInternal {
		return internalMessage
	}
	return failure.Message
}

// FieldsOf returns the fields that err says failed.
func FieldsOf(err error) Fields { return outermost(err).Fields }

func outermost(err error) *Error {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure
	}
	return &Error{Kind: KindInternal}
}

// Fields maps fields to the reasons for which they failed, in the order in which they did. The zero value is
// empty and ready.
type Fields struct {
	entries []entry
	index   map[string]int // position in entries: a hostile body can have very many unknown fields
}

type entry struct {
	field   string
	reasons []string
}

// Add records one more reason for field.
func (f *Fields) Add(field, reason string) {
	i, known := f.index[field]
	if !known {
		if f.index == nil {
			f.index = map[string]int{}
		}
		i = len(f.entries)
		f.index[field] = i
		f.entries = append(f.entries, entry{field: field})
	}
	f.entries[i].reasons = append(f.entries[i].reasons, reason)
}

// Empty reports whether nothing failed.
func (f Fields) Empty() bool { return len(f.entries) == 0 }

// First is the field that failed first, and its first reason; both are empty when nothing failed.
func (f Fields) First() (field, reason string) {
	if f.Empty() {
		return "", ""
	}
	return f.entries[0].field, f.entries[0].reasons[0]
}

// Get returns the reasons for which field failed.
func (f Fields) Get(field string) []string {
	if i, ok := f.index[field]; ok {
		return f.entries[i].reasons
	}
	return nil
}

// All walks the fields in order with their reasons.
func (f Fields) All() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, entry := range f.entries {
			if !yield(entry.field, entry.reasons) {
				return
			}
		}
	}
}

// Err is the Invalid fault of these fields, or nil when nothing failed.
func (f Fields) Err() error {
	if f.Empty() {
		return nil
	}
	return Invalid(f)
}

// MarshalJSON writes an object of arrays with its keys in order.
func (f Fields) MarshalJSON() ([]byte, error) {
	data := []byte{'{'}
	for i, entry := range f.entries {
		if i > 0 {
			data = append(data, ',')
		}
		field, err := json.Marshal(entry.field)
		if err != nil {
			return nil, err
		}
		reasons, err := json.Marshal(entry.reasons)
		if err != nil {
			return nil, err
		}
		data = append(append(append(data, field...), ':'), reasons...)
	}
	return append(data, '}'), nil
}

// Clone returns a copy that can be added to without changing f.
func (f Fields) Clone() Fields {
	var fields Fields
	for field, reasons := range f.All() {
		for _, reason := range reasons {
			fields.Add(field, reason)
		}
	}
	return fields
}
