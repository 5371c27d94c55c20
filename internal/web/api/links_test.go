package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

func TestListsLinkToTheirPages(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	for i := range 5 {
		caller.create(t, fmt.Sprintf(`{"name":"Ana & Cia %d"}`, i))
	}
	const base = "https://carteira.example.com/api/v1/customers?per_page=2&search=ana+%26"
	for page, want := range map[string]string{
		"":        `<` + base + `>; rel="first", <` + base + `>; rel="last"`,
		"&page=1": `next 2, first, last 3`, "&page=2": `next 3, prev 1, first, last 3`,
		"&page=3": `prev 2, first, last 3`, "&page=9": `prev 3, first, last 3`,
	} {
		got := caller.call(t, http.MethodGet, "/customers?search=ana+%26&per_page=2"+page, "").header.Get("Link")
		if page == "" {
			want = `next 2, first, last 3`
		}
		if got != spelled(want) {
			t.Errorf("%s: %s\nwant %s", page, got, spelled(want))
		}
	}
	const short = "<https://carteira.example.com/api/v1/webhooks>"
	if got := caller.call(t, http.MethodGet, "/webhooks", "").header.Get("Link"); got != short+`; rel="first", `+short+`; rel="last"` {
		t.Error(got)
	}
}

// spelled makes the header of its short form.
func spelled(short string) string {
	var parts []string
	for part := range strings.SplitSeq(short, ", ") {
		relation, number, _ := strings.Cut(part, " ")
		query := "per_page=2&search=ana+%26"
		if number != "" && number != "1" {
			query = "page=" + number + "&" + query
		}
		parts = append(parts, "<https://carteira.example.com/api/v1/customers?"+query+`>; rel="`+relation+`"`)
	}
	return strings.Join(parts, ", ")
}

// Every list of the table refuses a parameter that it does not know.
func TestMisspeltFilterIsRefusedByEveryList(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.create(t, `{"name":"Ana","plan_id":1}`)
	caller.subscribe(t, "https://example.com/hook", "customer.created")
	lists := []string{
		"/customers", "/customers/1/invoices", "/invoices", "/payments", "/customer-plans", "/products", "/resellers", "/plans",
		"/webhooks/events", "/webhooks", "/webhooks/1/deliveries", "/events", "/dashboard",
	}
	for _, path := range lists {
		caller.call(t, http.MethodGet, path+"?zzzz=1", "").want(t, 422, "zzzz: unknown parameter")
		data[any](t, caller.call(t, http.MethodGet, path+"?_=1767184200", ""))
	}
	caller.call(t, http.MethodGet, "/customers?staus=vencido", "").want(t, 422, "staus: unknown parameter; did you mean status?")
	caller.call(t, http.MethodGet, "/invoices?perpage=5", "").want(t, 422, "perpage: unknown parameter; did you mean per_page?")
}
