package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/openapi"
)

// The operations of the seed in its order, with the lowest level that may call
// each.
const seed = `
GET /account user
GET /customers user
POST /customers user
GET /customers/{id} user
PUT /customers/{id} user
DELETE /customers/{id} user
GET /customers/{id}/invoices user
POST /customers/{id}/renew-due-date user
GET /invoices user
GET /invoices/{id} user
GET /invoices/{id}/payment-link user
POST /invoices/{id}/pix user
POST /invoices/{id}/status user
GET /customer-plans user
GET /customer-plans/{id} user
GET /products user
GET /products/{id} user
GET /resellers reseller
POST /resellers reseller
GET /resellers/{id} reseller
PUT /resellers/{id} reseller
PUT /resellers/{id}/level reseller
POST /resellers/{id}/renew reseller
GET /plans reseller
POST /plans reseller
GET /plans/{id} reseller
PUT /plans/{id} reseller
GET /webhooks/events user
GET /webhooks user
POST /webhooks user
GET /webhooks/{id} user
PUT /webhooks/{id} user
DELETE /webhooks/{id} user
POST /webhooks/{id}/test user
GET /webhooks/{id}/deliveries user
POST /webhooks/deliveries/{id}/resend user
GET /webhooks/callback-secret user
POST /webhooks/callback-secret/rotate user
GET /dashboard user
`

func TestRoutesAreThe39OfTheSeed(t *testing.T) {
	want := strings.Split(strings.TrimSpace(seed), "\n")
	var got []string
	for _, route := range new(Server).seed() {
		got = append(got, fmt.Sprintf("%s %s %s", route.method, route.path, route.level))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) != 39 {
		t.Errorf("the seed has 39 operations, not %d", len(want))
	}
}

// extensionList is every operation beyond the seed, in order.
const extensionList = `
POST /invoices user
PUT /invoices/{id} user
GET /payments user
GET /payments/{id} user
POST /payments/{id}/refund user
POST /payments/{id}/undo user
POST /payments/{id}/apply user
POST /payments/{id}/dismiss user
POST /customer-plans user
PUT /customer-plans/{id} user
POST /products user
PUT /products/{id} user
PUT /customers/external/{external_id} user
GET /events user
GET /customers/{id}/autopay user
POST /customers/{id}/autopay user
DELETE /customers/{id}/autopay user
POST /customers/{id}/autopay/simulate user
POST /webhooks/{id}/secret/rotate user
GET /sandbox/clock user
POST /sandbox/clock user
`

func TestExtensionsAreListedAndTagged(t *testing.T) {
	want := strings.Split(strings.TrimSpace(extensionList), "\n")
	var got []string
	for _, extension := range new(Server).extensions() {
		got = append(got, fmt.Sprintf("%s %s %s", extension.method, extension.path, extension.level))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	must(t, json.Unmarshal(openapi.JSON(), &doc))
	tagged := func(route route) bool {
		var operation struct{ Tags []string }
		must(t, json.Unmarshal(doc.Paths[route.path][strings.ToLower(route.method)], &operation))
		return slices.Equal(operation.Tags, []string{"Extensions"})
	}
	for _, extension := range new(Server).extensions() {
		if !tagged(extension) {
			t.Errorf("%s %s is not tagged Extensions", extension.method, extension.path)
		}
	}
	for _, route := range new(Server).seed() {
		if tagged(route) {
			t.Errorf("%s %s is of the seed, and tagged Extensions", route.method, route.path)
		}
	}
}

func TestRouteSaysWhatItsIDNames(t *testing.T) {
	for _, route := range new(Server).routes() {
		if strings.Contains(route.path, "{id}") != (route.record != "") {
			t.Errorf("%s %s: the id is of a %q", route.method, route.path, route.record)
		}
	}
}

func TestWhatIsServedIsWhatIsDocumented(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]any
	}
	must(t, json.Unmarshal(openapi.JSON(), &doc))
	var documented []string
	for path, operations := range doc.Paths {
		for method := range operations {
			if method != "parameters" {
				documented = append(documented, strings.ToUpper(method)+" "+path)
			}
		}
	}
	served := New(Deps{}).Operations()
	slices.Sort(served)
	slices.Sort(documented)
	if !slices.Equal(served, documented) {
		t.Errorf("served\n%s\ndocumented\n%s", strings.Join(served, "\n"), strings.Join(documented, "\n"))
	}
}

func TestLevelBelowTheOperationsIsForbidden(t *testing.T) {
	service := newService(t, sqldb.SQLite)
	raised := service.paths["/account"][http.MethodGet]
	raised.level = account.LevelMaster
	service.paths["/account"][http.MethodGet] = raised
	for level, want := range map[account.Level]int{
		account.LevelUser: 403, account.LevelReseller: 403, account.LevelMaster: 200, account.LevelUltraMaster: 200,
	} {
		caller := service.newCaller(t, "level", string(level))
		w := httptest.NewRecorder() // the document has no 403 for this operation
		r := httptest.NewRequest(http.MethodGet, Prefix+"/account", nil)
		r.Header.Set("Authorization", "Bearer "+caller.token)
		service.ServeHTTP(w, r)
		a := answer{w.Code, w.Header(), w.Body.String()}
		if a.wantEnvelope(t); a.status != want {
			t.Errorf("%s: %d %s, want %d", level, a.status, a.body, want)
		}
		if want == 403 && !strings.Contains(a.body, "level: ") {
			t.Errorf("%s does not name the level", a.body)
		}
	}
}
