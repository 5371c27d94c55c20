package input

import (
	"slices"

	"carteira/internal/platform/fault"
)

// Problems are what one reading of a form refused. They travel with the input
// that was read, as a value: a use case merges them with the refusals of its
// own rules, run by run of its transaction, and nothing of a run that was taken
// back stays behind. The zero value is the input of a Go caller: no problem.
type Problems struct {
	fields  fault.Fields
	unknown fault.Fields // reported last
	sentAs  map[string]string
}

// Problems returns everything that is wrong so far, unknown fields included.
// It is called when all fields have been read, such as by the last element of a
// literal: Go evaluates the calls of an expression from left to right.
func (f *Form) Problems() Problems {
	return Problems{f.faults.Clone(), f.unknown(), f.sentAs}
}

// Any reports whether the reading refused something.
func (p Problems) Any() bool { return !p.fields.Empty() || !p.unknown.Empty() }

// Has reports whether the reading refused a field.
func (p Problems) Has(field string) bool {
	if sent, ok := p.sentAs[field]; ok {
		field = sent
	}
	return len(p.fields.Get(field)) > 0
}

// With returns the problems and more of them, under the names that the form
// used. A reason that is already there is not repeated.
func (p Problems) With(more fault.Fields) Problems {
	p.fields = merged(p.fields, more, p.sentAs)
	return p
}

func merged(fields, more fault.Fields, sentAs map[string]string) fault.Fields {
	fields = fields.Clone()
	for field, reasons := range more.All() {
		if sent, ok := sentAs[field]; ok {
			field = sent
		}
		for _, reason := range reasons {
			if !slices.Contains(fields.Get(field), reason) {
				fields.Add(field, reason)
			}
		}
	}
	return fields
}

// Err is the Invalid fault of all problems, or nil.
func (p Problems) Err() error { return merged(p.fields, p.unknown, nil).Err() }
