package input

import "strings"

// Sort is the field that a list is ordered by; a "-" before it makes the order
// descending. The id breaks ties, in the same direction.
type Sort string

// The fields by which lists of customers and invoices can be sorted.
const (
	ByID      = "id"
	ByName    = "name"
	ByDueDate = "due_date"
	ByUpdated = "updated_at"
)

// Newest is the order of a list that was not asked for another.
const Newest Sort = "-" + ByID

// sorts are the values that Sort reads.
var sorts = []string{
	ByID, "-" + ByID, ByName, "-" + ByName, ByDueDate, "-" + ByDueDate, ByUpdated, "-" + ByUpdated,
}

// Sort reads the parameter sort; Newest when it was not sent.
func (f *Form) Sort() Sort {
	chosen := f.Choice("sort", sorts...)
	if !chosen.HasValue() {
		return Newest
	}
	return Sort(chosen.Value)
}

// Field is the field without the direction.
func (s Sort) Field() string { return strings.TrimPrefix(string(s), "-") }

// Descending reports whether the last comes first.
func (s Sort) Descending() bool { return strings.HasPrefix(string(s), "-") }

// Turned is the order from the other end.
func (s Sort) Turned() Sort {
	if s.Descending() {
		return Sort(s.Field())
	}
	return "-" + s
}

// Directed turns a comparison of ascending values into one of this direction.
func (s Sort) Directed(comparison int) int {
	if s.Descending() {
		return -comparison
	}
	return comparison
}
