package input

import (
	"slices"
	"strings"
	"time"
)

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

// ByPaidDay is a field of payments, ByExpiry one of subscriptions.
const (
	ByPaidDay = "paid_on"
	ByExpiry  = "expires_on"
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

// KnownSort is an order by one of some fields; Newest where the text asks for none
// of them.
func KnownSort(text string, fields ...string) Sort {
	sort := Sort(text)
	if !slices.Contains(fields, sort.Field()) {
		return Newest
	}
	return sort
}

// IsNewest reports whether no other order was requested.
func (s Sort) IsNewest() bool { return s == "" || s == Newest }

// UpdatedSince reads the parameter updated_since, in microseconds of Unix time; 0
// when it was not sent. A date is the beginning of that day in the zone.
func (f *Form) UpdatedSince(zone *time.Location) int64 {
	since := f.Moment("updated_since", zone)
	if !since.HasValue() {
		return 0
	}
	return since.Value.UnixMicro()
}

// Field is the field without the direction.
func (s Sort) Field() string { return strings.TrimPrefix(string(s), "-") }

// Descending reports whether the last comes first.
func (s Sort) Descending() bool { return strings.HasPrefix(string(s), "-") }

// Direction is the order in SQL for a list ordered by time; descending by
// default.
func (s Sort) Direction() string {
	if s == "" || s.Descending() {
		return " DESC"
	}
	return " ASC"
}

// Turned is the order from the other end.
func (s Sort) Turned() Sort {
	if s.Descending() {
		return Sort(s.Field())
	}
	return "-" + s
}

// Never is after every day on which a subscription may end.
const Never = "9999-12-31"
