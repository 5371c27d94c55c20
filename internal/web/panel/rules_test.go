package panel

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// eachOffice runs a test on either engine.
func eachOffice(t *testing.T, test func(t *testing.T, o *office)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) { test(t, newOffice(t, engine)) })
}

// path fills the id of a route in, by the first word of the path.
func (op route) filled(ids map[string]int64) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(op.path, "/"), "/")
	if second, _, _ := strings.Cut(rest, "/"); first == "messages" {
		first += "/" + second
	}
	p := strings.ReplaceAll(op.path, "{id}", fmt.Sprint(ids[first]))
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
	"POST /invoices/{id}/confirm":  {"amount", "35,00"},

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
	"POST /messages/log/{id}/decide":      {"as", "resend"},
	"POST /customers/{id}/messages":       {"opted_out", "true"},
}

func TestEveryPageRendersInBothLanguages(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		p := o.owner(t, "ana@example.com")
		ids := p.fill()
		for _, lang := range []string{"pt-BR", "en"} {
			p.post("/preferences", "lang", lang, "back", "/")
			for _, r := range o.table() {
				if r.method != http.MethodGet || r.path == "/customers/export" || r.path == "/customers/{id}/file" || strings.Contains(r.path, "{link}") || r.path == "/login" {
					continue
				}
				a := p.get(r.filled(ids)).want(t, http.StatusOK, `<html lang="`+lang+`"`, "</html>")
				a.lacks(t, "%!", "<no value>", "<Silva>", "ZgotmplZ", " style=")
				if len(a.body) > 100_000 {
					t.Errorf("%s weighs %d bytes", r.path, len(a.body))
				}
				if csp := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
					t.Errorf("%s has the policy %q", r.path, csp)
				}
			}
		}
		signedOut := o.visitor(t)
		for path, status := range map[string]int{"/login": 200, "/login/code": 200, "/setup/x": 404, "/password/x": 404, "/nowhere": 404} {
			signedOut.get(path).want(t, status, `<html lang="pt-BR"`, "</html>")
		}
	})
}

func TestCompanyReachesNothingOfAnother(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		owner, stranger := o.owner(t, "ana@example.com"), o.owner(t, "stranger@example.com")
		ids := owner.fill()
		stranger.fill()
		for _, r := range o.table() {
			if !strings.Contains(r.path, "{id}") {
				continue
			}
			path := r.filled(ids)
			a := stranger.get(path)
			if r.method == http.MethodPost {
				a = stranger.post(path, forms[r.pattern()]...)
			}
			a.want(t, http.StatusNotFound).lacks(t, "João")
			if strings.HasPrefix(path, "/profile") {
				continue
			}
			a = stranger.get(strings.Replace(path, fmt.Sprint(ids["customers"]), "999999", 1))
			if r.method == http.MethodGet {
				a.want(t, http.StatusNotFound)
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
	eachOffice(t, func(t *testing.T, o *office) {
		owner := o.owner(t, "ana@example.com")
		ids := owner.fill()
		people := map[role]*person{reader: owner.colleague(account.RoleReadOnly), staff: owner.colleague(account.RoleStaff)}
		for _, r := range o.table() {
			if r.method == http.MethodPost && r.role == reader {
				t.Errorf("%s changes something, and those who only read may send it", r.pattern())
			}
			for who, p := range people {
				refused := r.role == "owner" || r.role == staff && who == reader
				if !refused {
					continue
				}
				a := p.get(r.filled(ids))
				if r.method == http.MethodPost {
					a = p.post(r.filled(ids), forms[r.pattern()]...)
				}
				if a.status != http.StatusForbidden {
					t.Errorf("%s answered %s with %d", r.pattern(), who, a.status)
				}
			}
		}
		for _, path := range []string{"/", "/customers", fmt.Sprintf("/customers/%d", ids["customers"]), fmt.Sprintf("/invoices/%d", ids["invoices"]), "/plans"} {
			a := people[reader].get(path).want(t, http.StatusOK)
			if rest := regexp.MustCompile(`(?s)<main.*</main>`).FindString(a.body); strings.Contains(rest, `method="post"`) && !strings.Contains(rest, `action="/customers/bulk"`) {
				t.Errorf("%s offers forms to those who only read", path)
			}
		}
		people[staff].get("/customers").want(t, http.StatusOK, "/customers/new").lacks(t, `href="/api"`, `href="/settings"`)
	})
}

func TestSignedOutIsLedToTheSignIn(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	p := o.visitor(t)
	for _, r := range o.table() {
		if r.role == public {
			continue
		}
		path := r.filled(map[string]int64{})
		a := p.get(path)
		if r.method == http.MethodPost {
			a = p.post(path)
		}
		if a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/login") {
			t.Errorf("%s answered %d to %q", r.pattern(), a.status, a.location)
		}
	}
	if a := p.get("/customers?page=2"); a.location != "/login?next=%2Fcustomers%3Fpage%3D2" {
		t.Errorf("led to %q", a.location)
	}
	r := p.request(http.MethodGet, "/customers", nil)
	r.Header.Set("Hx-Request", "true")
	if a := p.do(r); a.header.Get("Hx-Redirect") == "" || a.body != "" {
		t.Errorf("a part of a page got %+v", a)
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	p := o.owner(t, "ana@example.com")
	for _, r := range o.table() {
		if r.method != http.MethodPost {
			continue
		}
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			h := p.request(http.MethodPost, r.filled(map[string]int64{}), strings.NewReader(""))
			h.Header.Set(name, value)
			if a := p.do(h); a.status != http.StatusForbidden {
				t.Errorf("%s with %s: %s answered %d", r.pattern(), name, value, a.status)
			}
		}
	}
	p.get("/").want(t, http.StatusOK) // still signed in
}

func TestCookieIsBoundToTheHostUnderHTTPS(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	o.owner(t, "ana@example.com")
	p := o.visitor(t)
	a := p.post("/login", "email", "ana@example.com", "password", password)
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"carteira_session=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie lacks %s: %s", want, cookie)
		}
	}
	r := p.request(http.MethodGet, "/", nil)
	r.URL.Scheme = "https"
	if got := cookieName(r, sessionCookie); got != "__Host-carteira_session" {
		t.Errorf("under https the cookie is %s", got)
	}
}
