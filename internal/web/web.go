// Package web is the edge kit: what every inward HTTP request passes through,
// and how answers are written. It owns request ids, the access log, metrics,
// the envelope of the API and the one table that turns faults into statuses. It
// holds no rule of the business and no page: those stand in web/api, web/docs
// and their neighbours.
package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Data appends the JSON of an answer's data to a buffer. Rows are written
// straight into the answer, with nothing allocated in between.
type Data func(b []byte) []byte

// Answer is a successful outcome.
type Answer struct {
	Data    Data
	Meta    *Meta
	Message string
}

// SizeHint is about how many bytes the answer takes, so that a list is written
// into one piece of memory.
func (a Answer) SizeHint() int {
	const record = 640
	if a.Meta == nil {
		return 2 * record
	}
	return int(min(a.Meta.PerPage, a.Meta.Total)+1) * record
}

// Meta is the paging of a list.
type Meta struct {
	Total, PerPage, CurrentPage, LastPage, CompanyID int64
}

// statuses is the one table from kinds of faults to statuses.
var statuses = map[fault.Kind]int{
	fault.KindInvalid:          http.StatusUnprocessableEntity,
	fault.KindNotFound:         http.StatusNotFound,
	fault.KindUnauthenticated:  http.StatusUnauthorized,
	fault.KindForbidden:        http.StatusForbidden,
	fault.KindConflict:         http.StatusConflict,
	fault.KindTooLarge:         http.StatusRequestEntityTooLarge,
	fault.KindUnsupportedMedia: http.StatusUnsupportedMediaType,
	fault.KindMethodNotAllowed: http.StatusMethodNotAllowed,
	fault.KindRateLimited:      http.StatusTooManyRequests,
	fault.KindUpstream:         http.StatusBadGateway,
	fault.KindUnavailable:      http.StatusServiceUnavailable,
	fault.KindInternal:         http.StatusInternalServerError,
}

// Status is the HTTP status of an outcome.
func Status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return statuses[fault.KindOf(err)]
}

// Explain gives the errors of the platform a public face: a database that is
// away or overrun is no bug, and the caller may try again. One that an operator
// has to see to is not said to be back in a moment.
func Explain(err error) error {
	if fault.KindOf(err) != fault.KindInternal {
		return err
	}
	passing := errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrBusy) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case sqldb.NeedsOperator(err):
		return fault.Later(fault.Unavailable("out of service until the operator has seen to the database", err), time.Minute)
	case passing:
		return fault.Later(fault.Unavailable("temporarily unavailable; try again in a moment", err), time.Second)
	}
	return err
}

// RetryAfter sets the header that says when trying again may help.
func RetryAfter(h http.Header, err error) {
	if wait := fault.RetryAfterOf(err); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
}

// AppendAnswer writes the envelope of a success.
func AppendAnswer(b []byte, a Answer) []byte {
	b = append(b, `{"success":true`...)
	if a.Message != "" {
		b = AppendString(append(b, `,"message":`...), a.Message)
	}
	b = append(b, `,"data":`...)
	if a.Data == nil {
		b = append(b, "null"...)
	} else {
		b = a.Data(b)
	}
	if m := a.Meta; m != nil {
		b = strconv.AppendInt(append(b, `,"meta":{"total":`...), m.Total, 10)
		b = strconv.AppendInt(append(b, `,"per_page":`...), m.PerPage, 10)
		b = strconv.AppendInt(append(b, `,"current_page":`...), m.CurrentPage, 10)
		b = strconv.AppendInt(append(b, `,"last_page":`...), m.LastPage, 10)
		b = strconv.AppendInt(append(b, `,"company_id":`...), m.CompanyID, 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// AppendFault writes the envelope of a failure.
func AppendFault(b []byte, err error) []byte {
	b = AppendString(append(b, `{"success":false,"message":`...), fault.Public(err))
	if fields := fault.FieldsOf(err); !fields.Empty() {
		b = append(b, `,"errors":`...)
		encoded, _ := fields.MarshalJSON() // strings always encode
		b = append(b, encoded...)
	}
	return append(b, '}')
}
