package fault

import (
	"encoding/json"
	"iter"
)

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

// Empty tells that nothing failed.
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
