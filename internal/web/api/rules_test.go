package api

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestAuthenticationComesBeforeEverything(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller := service.newCaller(t)
		for _, request := range [][3]string{
			{"GET", "/nowhere", ""},
			{"GET", "", ""},
			{"GET", "//customers", ""},
			{"PATCH", "/customers", ""},
			{"GET", "/customers/abc", ""},
			{"POST", "/customers", "{"},
			{"POST", "/customers", strings.Repeat(" ", maxBody+1)},
			{"GET", "/customers?status=xyz", ""},
		} {
			answer := service.send(t, request[0], request[1], strings.NewReader(request[2]))
			if answer.status != 401 || answer.body != `{"success":false,"message":"Unauthenticated"}` || answer.header.Get("Www-Authenticate") != "Bearer" {
				t.Errorf("%s %s: %d %s", request[0], request[1], answer.status, answer.body)
			}
		}
		for _, header := range []string{
			"", "Bearer", "Bearer ", caller.token, "Basic " + caller.token, "Bearer  " + caller.token, "Bearer\t" + caller.token, "Bearer " + caller.token + " x",
			"Bearer " + caller.token[:44], "Bearer cart_" + strings.Repeat("0", 40), "Token " + caller.token,
		} {
			service.send(t, "GET", "/account", nil, "Authorization", header).want(t, 401, "Unauthenticated")
		}
		if answer := service.send(t, "GET", "/account", nil, "Authorization", "bearer "+caller.token); answer.status != 200 {
			t.Errorf("the scheme in lower case: %d %s", answer.status, answer.body)
		}
		must(t, service.Accounts.DeleteToken(t.Context(), caller.actor, caller.actor.TokenID))
		caller.call(t, "GET", "/account", "").want(t, 401, "Unauthenticated")
	})
}

func TestUnknownPathIsNotFound(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.create(t, `{"name":"Ana","plan_id":1}`)
	for _, path := range []string{
		"", "/", "/nowhere", "/Customers", "/customers/", "//customers", "/customers//", "/customers//1", "/customers/1/", "/customers/1/nowhere",
		"/customers%2F1", "/./customers", "/../v1/customers", "/customers/../account", "/customers/%2e%2e/account", "/customers/1/renew-due-date/",
	} {
		caller.call(t, "GET", path, "").want(t, 404, "path not found")
	}
}

// An id that is no positive whole number is answered like one that does not
// exist, whatever it looks like.
func TestOddIDIsNotFound(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.create(t, `{"name":"Ana","plan_id":1}`)
		caller.create(t, `{"name":"Bia","plan_id":1}`)
		for _, id := range []string{
			"0", "-1", "+1", "%2B1", "abc", "1.5", "1.0", "1e0", "0x1", "1_", "%201", "1%20", "1%2F2", "1%2Finvoices", "%EF%BC%91", "1;a=b",
			"9223372036854775807", "9223372036854775808", "18446744073709551617", strings.Repeat("9", 300),
		} {
			for method, body := range map[string]string{"GET": "", "PUT": `{"name":"Eva"}`, "DELETE": ""} {
				caller.call(t, method, "/customers/"+id, body).want(t, 404, "customer not found")
			}
			caller.call(t, "POST", "/customers/"+id+"/renew-due-date", "").want(t, 404, "customer not found")
		}
		caller.call(t, "GET", "/customers/1%00", "").want(t, 404, "customer not found") // no database could store it
		for id, name := range map[string]string{"1": "Ana", "%31": "Ana", "2": "Bia"} {
			if got := data[record](t, caller.call(t, "GET", "/customers/"+id, "")); got.Name != name || *got.DueDate != "2026-02-28" {
				t.Errorf("customer %s is %+v", id, got)
			}
		}
	})
}

func TestWrongMethodTellsTheRightOnes(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	for _, r := range []struct{ method, path, allow string }{
		{"PATCH", "/customers", "GET, HEAD, POST"},
		{"DELETE", "/customers", "GET, HEAD, POST"},
		{"OPTIONS", "/customers", "GET, HEAD, POST"},
		{"POST", "/customers/1", "GET, HEAD, PUT, DELETE"},
		{"GET", "/customers/1/renew-due-date", "POST"},
		{"HEAD", "/customers/1/renew-due-date", "POST"},
		{"PUT", "/account", "GET, HEAD"},
		{"PUT", "/customer-plans", "GET, HEAD, POST"},
		{"BREW", "/products/1", "GET, HEAD, PUT"},
		{"POST", "/events", "GET, HEAD"},
	} {
		answer := caller.call(t, r.method, r.path, "")
		if r.method != "HEAD" {
			answer.want(t, 405, "method not allowed; allowed: "+r.allow)
		}
		if answer.status != 405 || answer.header.Get("Allow") != r.allow {
			t.Errorf("%s %s: %d, Allow %q; want %q", r.method, r.path, answer.status, answer.header.Get("Allow"), r.allow)
		}
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.create(t, `{"name":"Ana"}`)
	for _, path := range []string{"/account", "/customers", "/customers/1", "/customers/9", "/nowhere"} {
		get, head := caller.call(t, "GET", path, ""), caller.call(t, "HEAD", path, "")
		if head.status != get.status || head.body != "" || head.header.Get("Content-Length") != fmt.Sprint(len(get.body)) {
			t.Errorf("%s: HEAD %d of %s bytes %q, GET %d of %d", path, head.status, head.header.Get("Content-Length"), head.body, get.status, len(get.body))
		}
	}
}

func TestBodyMayHaveOneMiB(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	full := `{"name":"Ana"` + strings.Repeat(" ", maxBody-len(`{"name":"Ana"}`)) + `}`
	caller.create(t, full)
	caller.call(t, "POST", "/customers", full+" ").want(t, 413, "the body must not be larger than 1 MiB")
	unknown := struct{ *strings.Reader }{strings.NewReader(full + " ")} // the client sends it in chunks
	caller.send(t, "POST", "/customers", unknown, "Authorization", "Bearer "+caller.token).want(t, 413, "the body must not be larger than 1 MiB")
	if n := caller.count(t, `SELECT count(*) FROM customers`); n != 1 {
		t.Errorf("%d customers, want one", n)
	}
}

func TestContentTypeMustBeJSON(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	for _, refused := range []string{"text/plain", "application/x-www-form-urlencoded", "", "json", "application/jsonx", "text/json; charset"} {
		caller.call(t, "POST", "/customers", `{"name":"Ana"}`, "Content-Type", refused).want(t, 415, "send the body as JSON, with Content-Type: application/json")
	}
	for _, taken := range []string{"application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"} {
		if answer := caller.call(t, "POST", "/customers", `{"name":"Ana"}`, "Content-Type", taken); answer.status != 200 {
			t.Errorf("%s: %d %s", taken, answer.status, answer.body)
		}
	}
	// No body has no type.
	caller.call(t, "POST", "/customers", "", "Content-Type", "text/plain").want(t, 422, "name: is required")
}

func TestMalformedJSONIsToldByLineAndColumn(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	for body, want := range map[string]string{
		"{":                            "malformed JSON at line 1, column 1: unexpected end of JSON input",
		"{\n  \"name\": \"Ana\",\n}":   "malformed JSON at line 3, column 1: invalid character '}' looking for beginning of object key string",
		"{\"name\": \"Ana\" \"a\": 1}": "malformed JSON at line 1, column 16: invalid character '\"' after object key:value pair",
		"{\n\n\"name\": nul}":          "malformed JSON at line 3, column 12: invalid character '}' in literal null (expecting 'l')",
		"Ana":                          "malformed JSON at line 1, column 1: invalid character 'A' looking for beginning of value",
		"{} {}":                        "malformed JSON at line 1, column 4: text after the end of the object",
		"{}\n]":                        "malformed JSON at line 2, column 1: text after the end of the object",
		"null":                         "the body must be a JSON object",
		"\"Ana\"":                      "the body must be a JSON object",
		"[]":                           "the body must be a JSON object",
	} {
		caller.call(t, "POST", "/customers", body).want(t, 422, want)
	}
}

func TestInvalidFieldsAreToldAllAtOnce(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		for body, want := range map[string]string{
			`{"email":"ana@"}`: `{"success":false,"message":"name: is required","errors":{"name":["is required"],"email":["must be a valid e-mail address"]}}`,
			`{"name":"Ana","plan_id":99,"emial":"a"}`: `{"success":false,"message":"plan_id: does not exist",` +
				`"errors":{"plan_id":["does not exist"],"emial":["unknown field; did you mean email?"]}}`,
			`{"name":"Ana","due_date":"31/12/2026"}`: `{"success":false,"message":"due_date: must be a date in the form YYYY-MM-DD",` +
				`"errors":{"due_date":["must be a date in the form YYYY-MM-DD"]}}`,
			`{"name":"Ana","<b>\u2028":1}`: `{"success":false,"message":"\u003cb\u003e\u2028: unknown field","errors":{"\u003cb\u003e\u2028":["unknown field"]}}`,
		} {
			if answer := caller.call(t, "POST", "/customers", body); answer.status != 422 || answer.body != want {
				t.Errorf("%s: %d %s\nwant %s", body, answer.status, answer.body, want)
			}
		}
		if n := caller.count(t, `SELECT count(*) FROM customers`); n != 0 {
			t.Errorf("%d customers were made", n)
		}
	})
}

func TestWhatWasReadCanBeSentBack(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.create(t, `{"name":"Ana","whatsapp":"11987654321","usuario":"ana","plan_id":1,"notes":"a\nb","external_id":"7"}`)
		renewed := caller.call(t, "POST", "/customers/1/renew-due-date", "")
		events := caller.count(t, `SELECT count(*) FROM events`)
		caller.clock.Advance(time.Hour)
		listed := caller.call(t, "GET", "/customers?invoices_limit=0", "")
		for _, read := range []answer{renewed, caller.call(t, "GET", "/customers/1", ""), listed} {
			body := strings.TrimSuffix(strings.TrimPrefix(read.body, `{"success":true,"data":`), `}`)
			if read.body == listed.body {
				body = regexp.MustCompile(`^\[(.*)\],"meta":.*$`).FindStringSubmatch(body)[1]
			}
			if answer := caller.call(t, "PUT", "/customers/1", body); answer.status != 200 {
				t.Errorf("%s sent back: %d %s", body, answer.status, answer.body)
			}
		}
		if n := caller.count(t, `SELECT count(*) FROM events`); n != events {
			t.Errorf("%d events, want the %d from before", n, events)
		}
		if again := caller.call(t, "GET", "/customers/1", ""); !strings.Contains(renewed.body, strings.TrimSuffix(again.body, "}}")) {
			t.Errorf("the record is %s\nand was %s", again.body, renewed.body)
		}
	})
}

func TestInputIsLenientWhereItIsHarmless(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		got := caller.create(t, `{"name":"Ana","plan_id":"1","product_id":"","email":"","usuario":null,"whatsapp":11987654321,"data_de_vencimento":"","external_id":7}`)
		if got.Plan == nil || got.Plan.ID != 1 || got.Email != nil || got.Usuario != nil || *got.Whatsapp != "5511987654321" || *got.DueDate != "2026-02-28" {
			t.Errorf("made %+v", got)
		}
		caller.call(t, "PUT", "/customers/1", `{"plan_id":"","whatsapp":null,"data_de_vencimento":""}`)
		if got := data[record](t, caller.call(t, "GET", "/customers/1", "")); got.Plan != nil || got.Whatsapp != nil || got.DueDate != nil {
			t.Errorf("cleared %+v", got)
		}
		if list := data[[]record](t, caller.call(t, "GET", "/customers?status=&plan_id=&due_from=&search=&external_id=7", "")); len(list) != 1 {
			t.Errorf("empty filters leave %v", list)
		}
	})
}

func TestPagingIsAdjustedAndNeverRefused(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, empty := service.newCaller(t), service.newCaller(t)
		for range 3 {
			caller.create(t, `{"name":"Ana"}`)
		}
		for query, want := range map[string]struct {
			perPage, page, last int64
			ids                 string
		}{
			"":                               {50, 1, 1, "[3 2 1]"},
			"per_page=2":                     {2, 1, 2, "[3 2]"},
			"per_page=2&page=2":              {2, 2, 2, "[1]"},
			"per_page=2&page=3":              {2, 3, 2, "[]"},
			"per_page=1&page=3":              {1, 3, 3, "[1]"},
			"per_page=0":                     {1, 1, 3, "[3]"},
			"per_page=-7":                    {1, 1, 3, "[3]"},
			"per_page=201":                   {200, 1, 1, "[3 2 1]"},
			"per_page=99999999999999999999":  {200, 1, 1, "[3 2 1]"},
			"per_page=-99999999999999999999": {1, 1, 3, "[3]"},
			"per_page=abc&page=xyz":          {50, 1, 1, "[3 2 1]"},
			"per_page=1.5":                   {50, 1, 1, "[3 2 1]"},
			"per_page=&page=":                {50, 1, 1, "[3 2 1]"},
			"page=0":                         {50, 1, 1, "[3 2 1]"},
			"page=-1":                        {50, 1, 1, "[3 2 1]"},
			"page=1000000":                   {50, 1000000, 1, "[]"},
			"per_page=2&per_page=1":          {2, 1, 2, "[3 2]"},
			"page=99999999999999999999":      {50, 1 << 40, 1, "[]"},
			"search=ana&per_page=2&page=2":   {2, 2, 2, "[1]"},
			"status=ativo&per_page=2&page=9": {2, 9, 2, "[]"},
			"external_id=nobody&page=2":      {50, 2, 1, "[]"},
		} {
			answer := caller.call(t, "GET", "/customers?"+query, "")
			ids := []int64{}
			for _, r := range data[[]record](t, answer) {
				ids = append(ids, r.ID)
			}
			total := 3
			if strings.HasPrefix(query, "external_id") {
				total = 0
			}
			meta := fmt.Sprintf(`"meta":{"total":%d,"per_page":%d,"current_page":%d,"last_page":%d,"company_id":1}}`, total, want.perPage, want.page, want.last)
			if !strings.HasSuffix(answer.body, meta) || fmt.Sprint(ids) != want.ids {
				t.Errorf("%s: %v of %s\nwant %s of %s", query, ids, answer.body[strings.LastIndex(answer.body, `"meta"`):], want.ids, meta)
			}
		}
		for _, path := range []string{"/customers", "/invoices"} {
			if answer := empty.call(t, "GET", path, ""); !strings.HasSuffix(answer.body, `"data":[],"meta":{"total":0,"per_page":50,"current_page":1,"last_page":1,"company_id":2}}`) {
				t.Errorf("%s of a new company: %s", path, answer.body)
			}
		}
	})
}

func TestUnknownFilterValueIsRefused(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.create(t, `{"name":"Ana"}`)
	for path, want := range map[string]string{
		"/customers?status=xyz":                         "status: must be one of: Ativo, Vence hoje, Vencido, Cancelado",
		"/customers?due_from=31/12":                     "due_from: must be a date in the form YYYY-MM-DD",
		"/customers?due_to=2026-13-01":                  "due_to: must be a date in the form YYYY-MM-DD",
		"/customers?plan_id=one":                        "plan_id: must be the id of a record, a positive whole number",
		"/customers?product_id=0":                       "product_id: must be the id of a record, a positive whole number",
		"/customers?search=%FF":                         "search: must be valid UTF-8",
		"/customers?search=" + strings.Repeat("a", 256): "search: must have at most 255 characters",
		"/customers?external_id=a%0Ab":                  "external_id: must be on one line",
		"/customers?invoices_limit=-1":                  "invoices_limit: must be between 0 and 2147483647",
		"/customers?invoices_limit=all":                 "invoices_limit: must be a whole number",
		"/customer-plans?active=perhaps":                "active: must be one of: true, false, 1, 0",
		"/products?active=2":                            "active: must be one of: true, false, 1, 0",
		"/invoices?status=xyz":                          "status: must be one of: Em aberto, Pago, Cancelado",
		"/customers/1/invoices?due_from=x":              "due_from: must be a date in the form YYYY-MM-DD",
		"/dashboard?month=2026":                         "month: must be a month in the form YYYY-MM",
	} {
		caller.call(t, "GET", path, "").want(t, 422, want)
	}
}

func TestStatusFilterIsReadLeniently(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		for i, due := range []string{"2026-02-01", "2026-01-31", "2026-01-30"} {
			caller.create(t, fmt.Sprintf(`{"name":"%d","data_de_vencimento":%q}`, i, due))
		}
		for filter, want := range map[string]string{
			"ativo": "Ativo", "ATIVO": "Ativo", "vence hoje": "Vence hoje", "vence_hoje": "Vence hoje", "Vence_Hoje": "Vence hoje", "Vencido": "Vencido",
		} {
			list := data[[]record](t, caller.call(t, "GET", "/customers?status="+url.QueryEscape(filter), ""))
			if len(list) != 1 || list[0].Status != want {
				t.Errorf("%s: %+v", filter, list)
			}
		}
	})
}

func TestDateTimesBearTheCompanysOffset(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		for zone, want := range map[string]string{
			"UTC": "2026-01-31T12:00:00+00:00", "America/Noronha": "2026-01-31T10:00:00-02:00", "Asia/Kathmandu": "2026-01-31T17:45:00+05:45",
		} {
			caller := service.newCaller(t, "timezone", zone)
			plan, product := caller.call(t, "GET", "/customer-plans", "").body, caller.call(t, "GET", "/products", "").body
			for _, body := range []string{caller.call(t, "POST", "/customers", `{"name":"Ana"}`).body, plan, product, caller.call(t, "GET", "/account", "").body} {
				if !strings.Contains(body, `"created_at":"`+want+`"`) {
					t.Errorf("%s: %s", zone, body)
				}
			}
		}
	})
}

func TestRequestIDIsTheCallersIfItIsSane(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	sane := "01K3V8-QZ_5N.7W:4T"
	for _, path := range []string{"/account", "/nowhere"} {
		if got := caller.call(t, "GET", path, "", "X-Request-Id", sane).header.Get("X-Request-Id"); got != sane {
			t.Errorf("%s became %s", sane, got)
		}
	}
	if got := caller.send(t, "GET", "/account", nil, "X-Request-Id", sane).header.Get("X-Request-Id"); got != sane {
		t.Errorf("without a token %s became %s", sane, got)
	}
	seen := map[string]bool{}
	for _, odd := range []string{"", "a b", "é", "a\tb", strings.Repeat("a", 129), `"`} {
		got := caller.call(t, "GET", "/account", "", "X-Request-Id", odd).header.Get("X-Request-Id")
		if got == odd || seen[got] {
			t.Errorf("%q became %q", odd, got)
		}
		seen[got] = true
	}
}

func TestCustomerGoesFromEndToEnd(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		made := caller.create(t, `{"name":"Ana","plan_id":1}`)
		renewed := data[record](t, caller.call(t, "POST", "/customers/1/renew-due-date", ""))
		if *made.DueDate != "2026-02-28" || *renewed.Previous != "2026-02-28" || *renewed.DueDate != "2026-03-31" {
			t.Errorf("made %+v, renewed %+v", made, renewed)
		}
		caller.call(t, "POST", "/customers/1/renew-due-date", `{"months":2}`).want(t, 422, "months: unknown field")
		caller.call(t, "DELETE", "/customers/1", "").want(t, 200, "customer deleted")
		caller.call(t, "GET", "/customers/1", "").want(t, 404, "customer not found")
		caller.call(t, "DELETE", "/customers/1", "").want(t, 404, "customer not found")
		if list := data[[]record](t, caller.call(t, "GET", "/customers", "")); len(list) != 0 {
			t.Errorf("customers %+v, want none", list)
		}
	})
}
