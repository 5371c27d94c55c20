package web

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// kinds reads the kinds of faults from their declaration, so that a new one
// cannot be forgotten here.
func kinds(t *testing.T) (all []fault.Kind) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../platform/fault/fault.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		c, ok := node.(*ast.ValueSpec)
		if ok && strings.HasPrefix(c.Names[0].Name, "Kind") {
			kind, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fault.Kind(kind))
		}
		return true
	})
	if len(all) == 0 {
		t.Fatal("no kinds found")
	}
	return all
}

func TestEveryKindOfFaultHasItsStatus(t *testing.T) {
	met := map[int]fault.Kind{}
	for _, kind := range kinds(t) {
		status := Status(fmt.Errorf("pay invoice 7: %w", fault.New(kind, "no")))
		if status < 400 || http.StatusText(status) == "" || met[status] != "" {
			t.Errorf("%s is %d, like %q", kind, status, met[status])
		}
		met[status] = kind
	}
	if len(statuses) != len(met) {
		t.Errorf("the table has %d lines for %d kinds", len(statuses), len(met))
	}
}

func TestStatusOfOutcomes(t *testing.T) {
	tests := []struct {
		err  error
		want int
	}{
		{nil, 200},
		{fault.Field("email", "is taken"), 422},
		{fault.NotFound("customer"), 404},
		{errors.New("nobody knows"), 500},
		{fault.Upstream("the gateway failed", nil), 502},
	}
	for _, tt := range tests {
		if got := Status(tt.err); got != tt.want {
			t.Errorf("%v is %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestPassingFailuresOfTheDatabaseAreExplained(t *testing.T) {
	const (
		later    = "temporarily unavailable; try again in a moment"
		operator = "out of service until the operator has seen to the database"
	)
	tests := []struct {
		err    error
		kind   fault.Kind
		public string
	}{
		{sqldb.ErrBusy, fault.KindUnavailable, later},
		{sqldb.ErrUnavailable, fault.KindUnavailable, later},
		{sqldb.Trouble("full"), fault.KindUnavailable, later},
		{fmt.Errorf("list customers: %w", sqldb.ErrBusy), fault.KindUnavailable, later},
		{context.DeadlineExceeded, fault.KindUnavailable, later},
		{sqldb.Trouble("damaged"), fault.KindUnavailable, operator},
		{sqldb.Trouble("moved"), fault.KindUnavailable, operator},
		{fmt.Errorf("list customers: %w", sqldb.ErrNewer), fault.KindUnavailable, operator},
		{sqldb.ErrUnique, fault.KindInternal, "internal error"},
		{context.Canceled, fault.KindInternal, "internal error"},
		{fault.Upstream("the gateway failed", context.DeadlineExceeded), fault.KindUpstream, "the gateway failed"},
		{fault.NotFound("customer"), fault.KindNotFound, "customer not found"},
	}
	for _, tt := range tests {
		got := Explain(tt.err)
		if fault.KindOf(got) != tt.kind || fault.Public(got) != tt.public || !errors.Is(got, tt.err) {
			t.Errorf("%v became %v, want %s %q", tt.err, got, tt.kind, tt.public)
		}
	}
	if err := Explain(nil); err != nil {
		t.Errorf("success became %v", err)
	}
}

func TestEnvelope(t *testing.T) {
	var fields fault.Fields
	fields.Add("email", `must not be "<b>"`)
	fields.Add("name", "is required")
	fields.Add("email", "is taken")
	list := []int{1, 2}
	tests := map[string]struct{ got, want string }{
		"nothing": {answer(Answer{}), `{"success":true,"data":null}`},
		"message": {answer(Answer{Message: `saved "it"`, Data: JSON(1)}), `{"success":true,"message":"saved \"it\"","data":1}`},
		"list": {
			answer(Answer{Data: List(list, writeInt), Meta: &Meta{Total: 7, PerPage: 2, CurrentPage: 3, LastPage: 4, CompanyID: 5}}),
			`{"success":true,"data":[{"n":1},{"n":2}],"meta":{"total":7,"per_page":2,"current_page":3,"last_page":4,"company_id":5}}`,
		},
		"empty list": {answer(Answer{Data: List(nil, writeInt)}), `{"success":true,"data":[]}`},
		"fault":      {failure(fault.NotFound("customer")), `{"success":false,"message":"customer not found"}`},
		"fields": {
			failure(fields.Err()),
			`{"success":false,"message":"email: must not be \"\u003cb\u003e\"",` +
				`"errors":{"email":["must not be \"\u003cb\u003e\"","is taken"],"name":["is required"]}}`,
		},
		"cause": {failure(fault.Unavailable("later", errors.New("password=hunter2"))), `{"success":false,"message":"later"}`},
		"bug":   {failure(errors.New("password=hunter2")), `{"success":false,"message":"internal error"}`},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, tt.got, tt.want)
		}
	}
}

func answer(a Answer) string { return string(AppendAnswer(nil, a)) }

func failure(err error) string { return string(AppendFault(nil, err)) }

func writeInt(object *Object, n *int) { object.Int("n", int64(*n)) }
