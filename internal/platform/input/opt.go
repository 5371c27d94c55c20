package input

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
