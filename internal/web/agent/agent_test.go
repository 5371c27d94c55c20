package agent

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func find(t *testing.T, name string) *operation {
	t.Helper()
	for _, op := range operations() {
		if op.name == name {
			return op
		}
	}
	t.Fatalf("no operation %s", name)
	return nil
}

func TestArgumentsBecomeOneCall(t *testing.T) {
	for _, tt := range []struct{ tool, arguments, call, body string }{
		{"getAccount", ``, "GET /api/v1/account", ""},
		{"getAccount", `null`, "GET /api/v1/account", ""},
		{"getAccount", `{}`, "GET /api/v1/account", ""},
		{"listInvoices", `{"overdue":true,"per_page":200,"status":"em aberto"}`, "GET /api/v1/invoices?overdue=true&per_page=200&status=em+aberto", ""},
		{"readEvents", `{"types":["invoice.paid","customer.created"]}`, "GET /api/v1/events?types=invoice.paid%2Ccustomer.created", ""},
		{"getCustomer", `{"id":9007199254740993}`, "GET /api/v1/customers/9007199254740993", ""},
		{"createCustomer", `{"name":"Ana","email":null}`, "POST /api/v1/customers", `{"email":null,"name":"Ana"}`},
		{"updateCustomer", `{"id":1}`, "PUT /api/v1/customers/1", `{}`},
		{"upsertCustomer", `{"external_id":"a/b","name":"Ana"}`, "PUT /api/v1/customers/external/a%2Fb", `{"name":"Ana"}`},
		{"renewCustomer", `{"id":"1","invoice":"paid"}`, "POST /api/v1/customers/1/renew-due-date?invoice=paid", ""},
		{"createPix", `{"id":1}`, "POST /api/v1/invoices/1/pix", ""},
		{"rotateCallbackSecret", `{"idempotency_key":"a"}`, "POST /api/v1/webhooks/callback-secret/rotate", ""},
		{"deleteCustomer", `{"id":1}`, "DELETE /api/v1/customers/1", ""},
	} {
		r, err := find(t, tt.tool).request(t.Context(), []byte(tt.arguments))
		if err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.arguments, err)
			continue
		}
		body, _ := io.ReadAll(r.Body)
		if got := r.Method + " " + r.URL.RequestURI(); got != tt.call || string(body) != tt.body || (r.ContentLength > 0) != (tt.body != "") {
			t.Errorf("%s %s: %s %q of %d bytes", tt.tool, tt.arguments, got, body, r.ContentLength)
		}
		if (r.Header.Get("Content-Type") != "") != (tt.body != "") || r.Header.Get("Idempotency-Key") != "" != strings.Contains(tt.arguments, "idempotency") {
			t.Errorf("%s %s: header %v", tt.tool, tt.arguments, r.Header)
		}
	}
	for _, tt := range []struct{ tool, arguments, want string }{
		{"getCustomer", `{}`, "id: is required"},
		{"getCustomer", `{"id":1,"name":"Ana"}`, "name: unknown argument"},
		{"updateCustomer", `{"id":1,"idempotency_key":"a"}`, "idempotency_key: unknown argument"},
		{"getAccount", `[1]`, "the arguments must be a JSON object"},
	} {
		if _, err := find(t, tt.tool).request(t.Context(), []byte(tt.arguments)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %s", tt.tool, tt.arguments, err, tt.want)
		}
	}
}

// The API refuses the callback secret to a token for reading: its holder could sign.
func TestTokenForReadingHasNoToolForASecret(t *testing.T) {
	for name, want := range map[string]bool{"getCallbackSecret": false, "createCustomer": false, "getCustomer": true} {
		if got := find(t, name).forReading(); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A client resolves no reference into a document that it does not have.
func TestToolsAreWholeAndSayWhetherTheyWrite(t *testing.T) {
	for _, op := range operations() {
		tool := op.tool()
		if tool.Annotations.ReadOnlyHint != (op.method == http.MethodGet) || strings.HasPrefix(tool.Description, "Changes data (") != op.writes() {
			t.Errorf("%s: %+v %s", op.name, tool.Annotations, tool.Description)
		}
		if op.keyed != (op.method == http.MethodPost) {
			t.Errorf("%s %s takes an idempotency key: %v", op.method, op.path, op.keyed)
		}
		var look func(path string, node any)
		look = func(path string, node any) {
			switch node := node.(type) {
			case map[string]any:
				if node["$ref"] != nil || node["readOnly"] != nil {
					t.Errorf("%s: %s has %v", op.name, path, node)
				}
				for key, value := range node {
					look(path+"/"+key, value)
				}
			case []any:
				for _, value := range node {
					look(path, value)
				}
			}
		}
		look("", op.schema)
	}
}
