package panel

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/panel/kit"
	"carteira/test/kit/sqldbtest"
)

// inOffice runs a test on one engine: the panel has no statement of its own, and the rooms are tested on both.
func inOffice(t *testing.T, test func(t *testing.T, o *office)) {
	t.Helper()
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) { test(t, newOffice(t, engine)) })
}

// path fills the id of a route in, by the first word of the path.
func filled(op kit.Route, ids map[string]int64) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
	if second, _, _ := strings.Cut(rest, "/"); first == "messages" {
		first += "/" + second
	}
	p := strings.ReplaceAll(op.Path, "{id}", fmt.Sprint(ids[first]))
	return strings.NewReplacer("{$}", "", "{link}", "x", "{provider}", "bank").Replace(p)
}

// forms are what a form must hold to be taken, where an empty one is not.
var forms = map[string][]string{
	"POST /invoices/{id}/status":   {"status", "Cancelado"},
	"POST /customers/{id}/edit":    {"name", "Stolen"},
	"POST /customers/{id}/invoice": {"amount", "10,00"},
	"POST /plans/{id}":             {"name", "Stolen"},
	"POST /products/{id}":          {"name", "Stolen"},
	"POST /webhooks/{id}/edit":     {"events", "invoice.paid"},
	"POST /webhooks/{id}/active":   {"active", "false"},
	"POST /webhooks/{id}/replay":   {"since", "2026-01-01"},
	"POST /imports/{id}":           {"column", "name", "column", ""},
	"POST /settings/users/{id}":    {"role", "readonly"},
	"POST /payments/reviews/{id}":  {"resolution", "dismissed"},
	"POST /invoices/{id}/pay":      {"amount", "35,00"},

	"POST /resellers/{id}/edit":            {"name", "Stolen"},
	"POST /resellers/{id}/level":           {"level", "reseller"},
	"POST /resellers/{id}/renew":           {"agreed", "3"},
	"POST /resellers/{id}/send":            {"amount", "1"},
	"POST /resellers/{id}/take-back":       {"amount", "1"},
	"POST /subscription-plans/{id}":        {"name", "Stolen"},
	"POST /subscription-plans/{id}/active": {"active", "false"},

	"POST /messages/rules/{id}":           {"name", "Stolen", "channel_1", "1"},
	"POST /messages/rules/{id}/active":    {"active", "false"},
	"POST /messages/templates/{id}":       {"name", "Stolen"},
	"POST /messages/channels/{id}/edit":   {"name", "Stolen"},
	"POST /messages/channels/{id}/active": {"active", "false"},
	"POST /messages/channels/{id}/test":   {"to", "x"},
	"POST /messages/channels/{id}/phone":  {"do", "disconnect"},
	"POST /messages/log/{id}/decide":      {"as", "resend"},
	"POST /customers/{id}/messages":       {"opted_out", "true"},
}

// sendsFile reports whether the route answers with a file and no page.
func sendsFile(op kit.Route) bool {
	return strings.HasSuffix(op.Path, "/export") || slices.Contains([]string{"/customers/{id}/file", "/imports/{id}/rejected", "/notices/{id}"}, op.Path)
}

func TestEveryPageRendersInBothLanguages(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		for _, lang := range []string{"pt-BR", "en"} {
			person.post("/preferences", "lang", lang, "back", "/")
			for _, route := range office.table() {
				if route.Method != http.MethodGet || sendsFile(route) || strings.Contains(route.Path, "{link}") || route.Path == "/login" {
					continue
				}
				answer := person.get(filled(route, ids)).want(t, http.StatusOK, `<html lang="`+lang+`"`, "</html>")
				answer.lacks(t, "%!", "<no value>", "<Silva>", "ZgotmplZ", " style=")
				if len(answer.body) > 100_000 {
					t.Errorf("%s weighs %d bytes", route.Path, len(answer.body))
				}
				if csp := answer.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
					t.Errorf("%s has the policy %q", route.Path, csp)
				}
			}
		}
		signedOut := office.visitor(t)
		for path, status := range map[string]int{"/login": 200, "/login/code": 200, "/setup/x": 404, "/password/x": 404, "/nowhere": 404} {
			signedOut.get(path).want(t, status, `<html lang="pt-BR"`, "</html>")
		}
	})
}

func TestCompanyReachesNothingOfAnother(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		owner, stranger := office.owner(t, "ana@example.com"), office.owner(t, "stranger@example.com")
		ids := owner.fill()
		stranger.fill()
		for _, route := range office.table() {
			if !strings.Contains(route.Path, "{id}") {
				continue
			}
			path := filled(route, ids)
			answer := stranger.get(path)
			if route.Method == http.MethodPost {
				answer = stranger.post(path, forms[route.Pattern()]...)
			}
			answer.want(t, http.StatusNotFound).lacks(t, "João")
			if strings.HasPrefix(path, "/profile") {
				continue
			}
			answer = stranger.get(strings.Replace(path, fmt.Sprint(ids["customers"]), "999999", 1))
			if route.Method == http.MethodGet {
				answer.want(t, http.StatusNotFound)
			}
		}
		for _, path := range []string{"/customers", "/invoices", "/", "/settings/audit", "/webhooks", "/api", "/customers/export", "/payments", "/payments/reviews"} {
			stranger.get(path).lacks(t, "ana@example.com")
		}
		stranger.post("/customers/bulk", "id", fmt.Sprint(ids["customers"]), "action", "delete", "sure", "yes")
		owner.get("/customers/"+fmt.Sprint(ids["customers"])).want(t, http.StatusOK, "João")
		stranger.get(fmt.Sprintf("/invoices?customer_id=%d", ids["customers"])).want(t, http.StatusNotFound)
		for _, bad := range []string{"/customers/0", "/customers/-1", "/customers/+1", "/customers/x", "/customers/99999999999999999999"} {
			owner.get(bad).want(t, http.StatusNotFound)
		}
	})
}

func TestRolesAreHeld(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		owner := office.owner(t, "ana@example.com")
		ids := owner.fill()
		people := map[account.Role]*person{}
		for _, role := range account.Roles[1:] {
			people[role] = owner.colleague(role)
		}
		for _, route := range office.table() {
			if route.Method == http.MethodPost && (route.Role == reader || route.Role == viewer) {
				t.Errorf("%s changes something, and those who only read may send it", route.Pattern())
			}
			for who, person := range people {
				if kit.Allows(who, route.Role) {
					continue
				}
				answer := person.get(filled(route, ids))
				if route.Method == http.MethodPost {
					answer = person.post(filled(route, ids), forms[route.Pattern()]...)
				}
				if answer.status != http.StatusForbidden {
					t.Errorf("%s answered %s with %d", route.Pattern(), who, answer.status)
				}
			}
		}
		for _, path := range []string{"/", "/customers", fmt.Sprintf("/customers/%d", ids["customers"]), fmt.Sprintf("/invoices/%d", ids["invoices"]), "/plans"} {
			answer := people[account.RoleReadOnly].get(path).want(t, http.StatusOK)
			if rest := regexp.MustCompile(`(?s)<main.*</main>`).FindString(answer.body); strings.Contains(rest, `method="post"`) && !strings.Contains(rest, `action="/customers/bulk"`) {
				t.Errorf("%s offers forms to those who only read", path)
			}
		}
		people[account.RoleStaff].get("/customers").want(t, http.StatusOK, "/customers/new").lacks(t, `href="/api"`, `href="/settings"`)
	})
}

func TestSignedOutIsLedToTheSignIn(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.visitor(t)
	for _, route := range office.table() {
		if route.Role == public {
			continue
		}
		path := filled(route, map[string]int64{})
		answer := person.get(path)
		if route.Method == http.MethodPost {
			answer = person.post(path)
		}
		if answer.status != http.StatusSeeOther || !strings.HasPrefix(answer.location, "/login") {
			t.Errorf("%s answered %d to %q", route.Pattern(), answer.status, answer.location)
		}
	}
	if answer := person.get("/customers?page=2"); answer.location != "/login?next=%2Fcustomers%3Fpage%3D2" {
		t.Errorf("led to %q", answer.location)
	}
	r := person.request(http.MethodGet, "/customers", nil)
	r.Header.Set("Hx-Request", "true")
	if answer := person.do(r); answer.header.Get("Hx-Redirect") == "" || answer.body != "" {
		t.Errorf("a part of a page got %+v", answer)
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	for _, route := range office.table() {
		if route.Method != http.MethodPost {
			continue
		}
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			request := person.request(http.MethodPost, filled(route, map[string]int64{}), strings.NewReader(""))
			request.Header.Set(name, value)
			if answer := person.do(request); answer.status != http.StatusForbidden {
				t.Errorf("%s with %s: %s answered %d", route.Pattern(), name, value, answer.status)
			}
		}
	}
	person.get("/").want(t, http.StatusOK) // still signed in
}

func TestCookieIsBoundToTheHostUnderHTTPS(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	office.owner(t, "ana@example.com")
	person := office.visitor(t)
	answer := person.post("/login", "email", "ana@example.com", "password", password)
	cookie := answer.header.Get("Set-Cookie")
	for _, want := range []string{"carteira_session=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie lacks %s: %s", want, cookie)
		}
	}
	r := person.request(http.MethodGet, "/", nil)
	r.URL.Scheme = "https"
	if got := kit.CookieName(r, kit.SessionCookie); got != "__Host-carteira_session" {
		t.Errorf("under https the cookie is %s", got)
	}
}
