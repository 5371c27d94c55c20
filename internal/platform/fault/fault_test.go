package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestConstructors(t *testing.T) {
	tests := []struct {
		err    error
		kind   Kind
		public string
		logged string
	}{
		{NotFound("customer"), KindNotFound, "customer not found", "not_found: customer not found"},
		{Forbidden("your level may not"), KindForbidden, "your level may not", "forbidden: your level may not"},
		{Conflict("already paid"), KindConflict, "already paid", "conflict: already paid"},
		{Field("email", "is taken"), KindInvalid, "email: is taken", "validation: email: is taken"},
		{Invalid(Fields{}), KindInvalid, "invalid input", "validation: invalid input"},
		{Upstream("the gateway did not answer", io.EOF), KindUpstream, "the gateway did not answer", "upstream: the gateway did not answer: EOF"},
		{Unavailable("try later", io.EOF), KindUnavailable, "try later", "unavailable: try later: EOF"},
		{Unavailable("try later", nil), KindUnavailable, "try later", "unavailable: try later"},
		{New(KindRateLimited, "slow down"), KindRateLimited, "slow down", "rate_limited: slow down"},
		{Internal(io.EOF), KindInternal, "internal error", "internal: internal error: EOF"},
		{New(KindInternal, "table users is missing"), KindInternal, "internal error", "internal: table users is missing"},
		{io.EOF, KindInternal, "internal error", "EOF"},
		{nil, KindInternal, "internal error", ""},
		{fmt.Errorf("settle charge 7: %w", NotFound("charge")), KindNotFound, "charge not found", "settle charge 7: not_found: charge not found"},
		{errors.Join(io.EOF, Conflict("busy")), KindConflict, "busy", "EOF\nconflict: busy"},
		{Internal(NotFound("row")), KindInternal, "internal error", "internal: internal error: not_found: row not found"},
	}
	for _, tt := range tests {
		if KindOf(tt.err) != tt.kind || Public(tt.err) != tt.public {
			t.Errorf("%v: %s, %q; want %s, %q", tt.err, KindOf(tt.err), Public(tt.err), tt.kind, tt.public)
		}
		if tt.err != nil && tt.err.Error() != tt.logged {
			t.Errorf("logged %q, want %q", tt.err, tt.logged)
		}
	}
}

func TestTheCauseIsReachableButNeverPublic(t *testing.T) {
	cause := errors.New("password=hunter2")
	for _, err := range []error{Upstream("gateway failed", cause), Unavailable("later", cause), Internal(cause)} {
		err = fmt.Errorf("pay: %w", err)
		if !errors.Is(err, cause) || strings.Contains(Public(err), "hunter2") {
			t.Errorf("%v: public text %q", err, Public(err))
		}
		failure, _ := errors.AsType[*Error](err)
		if out, _ := json.Marshal(failure); strings.Contains(string(out), "hunter2") {
			t.Errorf("JSON leaks the cause: %s", out)
		}
	}
}

func TestFieldsKeepTheOrderOfFirstFailure(t *testing.T) {
	var fields Fields
	if field, reason := fields.First(); !fields.Empty() || field != "" || reason != "" || fields.Err() != nil || fields.Get("name") != nil {
		t.Error("the zero Fields is not empty")
	}
	fields.Add("whatsapp", "must have 10 to 15 digits")
	fields.Add("email", "must be a valid e-mail address")
	fields.Add("whatsapp", "is taken")
	fields.Add("a\"<b", "unknown field")

	out, err := json.Marshal(struct{ Errors Fields }{fields})
	want := `{"Errors":{"whatsapp":["must have 10 to 15 digits","is taken"],"email":["must be a valid e-mail address"],"a\"\u003cb":["unknown field"]}}`
	if err != nil || string(out) != want {
		t.Errorf("JSON = %s, %v", out, err)
	}
	if got := Public(fields.Err()); got != "whatsapp: must have 10 to 15 digits" {
		t.Errorf("message %q", got)
	}
	if got := fields.Get("whatsapp"); !slices.Equal(got, []string{"must have 10 to 15 digits", "is taken"}) {
		t.Errorf("Get = %q", got)
	}
	var order []string
	for field := range FieldsOf(fmt.Errorf("create: %w", fields.Err())).All() {
		order = append(order, field)
	}
	if !slices.Equal(order, []string{"whatsapp", "email", "a\"<b"}) {
		t.Errorf("order %q", order)
	}
	for range fields.All() {
		break
	}
	if out, err := json.Marshal(Fields{}); err != nil || string(out) != "{}" {
		t.Errorf("empty JSON = %s, %v", out, err)
	}
	if !FieldsOf(io.EOF).Empty() {
		t.Error("a foreign error has fields")
	}
}
