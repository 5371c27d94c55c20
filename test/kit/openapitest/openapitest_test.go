package openapitest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// spy replaces the test that uses the kit, and keeps what it reports.
type spy struct {
	testing.TB
	told []string
}

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) {
	s.told = append(s.told, fmt.Sprintf(format, args...))
}

// canned answers every request alike.
type canned struct {
	status int
	header http.Header
	body   string
}

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	header := http.Header{"Content-Type": {mediaJSON}, "X-Request-Id": {"r1"}}
	maps.Copy(header, c.header)
	return &http.Response{StatusCode: c.status, Header: header, Body: io.NopCloser(strings.NewReader(c.body)), Request: req}, nil
}

const (
	product     = `{"success":true,"data":{"id":1,"name":"Internet 300","description":null,"active":true,"customers_count":0,"created_at":"2026-01-31T10:00:00-03:00"}}`
	customer    = `{"success":true,"data":` + customerData + `}}`
	renewed     = `{"success":true,"data":` + customerData + `,"previous_due_date":null}}`
	customerIn  = `{"name":"Ana"}`
	failure     = `{"success":false,"message":"no"}`
	unfinished  = `{"id":1,"uuid":"0198c5d2-7a41-7c3e-9f10-5b2f6d8e4a01","name":"Ana","whatsapp":null,"email":null,"usuario":null`
	customerEnd = `,"data_de_vencimento":"2026-02-28","status":"Ativo","plan":null,"product":null,"notes":null,"external_id":null,"cpf_cnpj":null,"address":null,"price":null,"custom":null,"cancelled_at":null,"cancel_reason":null,"autopay":"none","credit":"0.00",` +
		`"created_at":"2026-01-31T10:00:00-03:00","updated_at":"2026-01-31T10:00:00-03:00"`
	customerData = unfinished + customerEnd
)

func TestEveryDisagreementIsTold(t *testing.T) {
	swap := func(body, old, new string) string {
		t.Helper()
		if !strings.Contains(body, old) {
			t.Fatalf("%s is not in %s", old, body)
		}
		return strings.Replace(body, old, new, 1)
	}
	for _, c := range []struct {
		name    string
		request string // "METHOD path", and a body after that
		answer  canned
		told    string // a part of what is reported; empty: nothing is
	}{
		{"agreement", "GET /api/v1/products/1", canned{200, nil, product}, ""},
		{"charset", "GET /api/v1/products/1", canned{200, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, product}, ""},
		{"extra field", "GET /api/v1/products/1", canned{200, nil, swap(product, `"id":1`, `"id":1,"secret":2`)}, "secret"},
		{"extra field of the envelope", "GET /api/v1/products/1", canned{200, nil, swap(product, `"success"`, `"links":{},"success"`)}, "links"},
		{"missing field", "GET /api/v1/products/1", canned{200, nil, swap(product, `"active":true,`, ``)}, "active"},
		{"wrong type", "GET /api/v1/products/1", canned{200, nil, swap(product, `"id":1`, `"id":"1"`)}, "/data/id"},
		{"null where none may be", "GET /api/v1/products/1", canned{200, nil, swap(product, `"Internet 300"`, `null`)}, "/data/name"},
		{"success false in a success", "GET /api/v1/products/1", canned{200, nil, swap(product, `true`, `false`)}, "/success"},
		{"date-time without an offset", "GET /api/v1/products/1", canned{200, nil, swap(product, `-03:00`, `Z`)}, "/data/created_at"},
		{"impossible date", "GET /api/v1/customers/1", canned{200, nil, swap(customer, `2026-02-28`, `2026-02-30`)}, "/data/data_de_vencimento"},
		{"composed agreement", "POST /api/v1/customers/1/renew-due-date", canned{200, nil, renewed}, ""},
		{"composed, extra field", "POST /api/v1/customers/1/renew-due-date", canned{200, nil, swap(renewed, `"id":1`, `"id":1,"secret":2`)}, "secret"},
		{"composed, missing field", "POST /api/v1/customers/1/renew-due-date", canned{200, nil, customer}, "previous_due_date"},
		{"a field of another operation", "GET /api/v1/customers/1", canned{200, nil, renewed}, "previous_due_date"},
		{"not JSON", "GET /api/v1/products/1", canned{200, nil, `oops`}, "not JSON"},
		{"two values", "GET /api/v1/products/1", canned{200, nil, product + product}, "not JSON"},
		{"content type", "GET /api/v1/products/1", canned{200, http.Header{"Content-Type": {"text/html"}}, product}, "text/html"},
		{"missing header", "GET /api/v1/products/1", canned{200, http.Header{"X-Request-Id": nil}, product}, "X-Request-Id"},
		{"wrong header", "GET /api/v1/products/1", canned{200, http.Header{"X-Ratelimit-Remaining": {"many"}}, product}, "X-RateLimit-Remaining"},

		{"undocumented status", "GET /api/v1/products/1", canned{201, nil, product}, "the status is not documented"},
		{"undocumented failure", "GET /api/v1/products/1", canned{502, nil, failure}, "the status is not documented"},
		{"undocumented operation", "GET /api/v1/secrets", canned{200, nil, product}, "the operation is not documented"},
		{"unknown path", "GET /api/v1/secrets", canned{404, nil, failure}, ""},
		{"unknown path, no token", "GET /api/v1/secrets", canned{401, nil, failure}, ""},
		{"unknown path, no envelope", "GET /api/v1/secrets", canned{404, nil, `{}`}, "success"},
		{"unknown path, page of text", "GET /api/v1/secrets", canned{404, http.Header{"Content-Type": {"text/plain"}}, "404 page not found"}, "text/plain"},
		{"wrong method", "PATCH /api/v1/products/1", canned{405, http.Header{"Allow": {"GET"}}, failure}, ""},
		{"wrong method, no Allow", "PATCH /api/v1/products/1", canned{405, nil, failure}, "Allow"},
		{"no token", "GET /api/v1/products/1", canned{401, http.Header{"Www-Authenticate": {"Bearer"}}, failure}, ""},
		{"no token, no scheme", "GET /api/v1/products/1", canned{401, nil, failure}, "WWW-Authenticate"},
		{"too many", "GET /api/v1/products/1", canned{429, http.Header{"Retry-After": {"3"}}, failure}, ""},
		{"too many, until when", "GET /api/v1/products/1", canned{429, nil, failure}, "Retry-After"},
		{"errors on another failure", "GET /api/v1/products/1", canned{404, nil, swap(failure, `}`, `,"errors":{"id":["no"]}}`)}, "errors"},
		{"errors on 422", "GET /api/v1/products", canned{422, nil, swap(failure, `}`, `,"errors":{"active":["no"]}}`)}, ""},
		{"errors as text", "GET /api/v1/products", canned{422, nil, swap(failure, `}`, `,"errors":{"active":"no"}}`)}, "/errors/active"},
		{"HEAD", "HEAD /api/v1/products/1", canned{200, nil, ""}, ""},
		{"HEAD of an unknown path", "HEAD /api/v1/secrets", canned{404, nil, ""}, ""},
		{"outside", "GET /healthz", canned{200, nil, "ok"}, ""},

		{"documented request", "POST /api/v1/customers " + customerIn, canned{200, nil, customer}, ""},
		{"undocumented field accepted", `POST /api/v1/customers {"name":"Ana","age":3}`, canned{200, nil, customer}, "age"},
		{"undocumented field refused", `POST /api/v1/customers {"name":"Ana","age":3}`, canned{422, nil, failure}, ""},
		{"incomplete request accepted", `POST /api/v1/customers {}`, canned{200, nil, customer}, "name"},
		{"read-only field accepted", `PUT /api/v1/customers/1 {"id":7,"status":"Vencido"}`, canned{200, nil, customer}, ""},
		{"odd id accepted", "GET /api/v1/products/one", canned{200, nil, product}, "id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &spy{TB: t}
			send(t, New(s).Transport(c.answer), c.request)
			switch told := strings.Join(s.told, "\n"); {
			case c.told == "" && told != "":
				t.Errorf("told without a reason: %s", told)
			case !strings.Contains(told, c.told) || c.told != "" && told == "":
				t.Errorf("told %q, want %q in it", told, c.told)
			}
		})
	}
}

func send(t *testing.T, tr http.RoundTripper, request string) {
	t.Helper()
	method, rest, _ := strings.Cut(request, " ")
	path, body, _ := strings.Cut(rest, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, "http://service"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Body = io.NopCloser(strings.NewReader(body))
		req.Header.Set("Content-Type", mediaJSON)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

func TestTransportHandsOnWhatItRead(t *testing.T) {
	var received string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		received = string(b)
		w.Header().Set("Content-Type", mediaJSON)
		w.Header().Set("X-Request-Id", "r1")
		_, _ = io.WriteString(w, customer)
	}))
	defer srv.Close()

	client := &http.Client{Transport: New(t).Transport(srv.Client().Transport)}
	resp, err := client.Post(srv.URL+"/api/v1/customers", mediaJSON, strings.NewReader(customerIn))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); string(got) != customer {
		t.Errorf("answer: got %s", got)
	}
	if received != customerIn {
		t.Errorf("request: got %s", received)
	}
}

func TestUnseenIsWhatNobodyAnswered(t *testing.T) {
	const pair = "getCustomerPlan 404"
	delete(document(t).seen, pair) // by an earlier round of -count
	if !slices.Contains(Unseen(), pair) {
		t.Fatalf("%s is not in %v", pair, Unseen())
	}
	if got := Unseen(pair); slices.Contains(got, pair) {
		t.Error("an allowed pair is told")
	}
	if got := Unseen("404"); slices.ContainsFunc(got, func(p string) bool { return strings.HasSuffix(p, " 404") }) {
		t.Error("an allowed status is told")
	}
	send(t, New(t).Transport(canned{404, nil, failure}), "GET /api/v1/customer-plans/9")
	if slices.Contains(Unseen(), pair) {
		t.Error("still told after it was seen")
	}
}

func TestEventsAreHeldAgainstTheDocument(t *testing.T) {
	const event = `{"event":"customer.updated","platform":"carteira","id":"evt_01K3V9B2E6Q8M4J7YTR5ZKX1AG","api_version":"v1",` +
		`"occurred_at":"2026-01-02T14:05:11-03:00","company_id":1,"data":{"customer":{"id":1,` +
		`"uuid":"0198c5d2-7a41-7c3e-9f10-5b2f6d8e4a01","name":"Ana","whatsapp":null},"changed":["plan_id"]}}`
	for _, c := range []struct{ name, old, new, told string }{
		{"agreement", "", "", ""},
		{"extra field", `"name"`, `"age":3,"name"`, "age"},
		{"a field that no request has", `plan_id`, `plan`, "/data/changed/0"},
		{"another id", `evt_`, `msg_`, "/id"},
		{"unknown event", `customer.updated`, `customer.married`, "customer.married"},
		{"not JSON", `{`, ``, "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &spy{TB: t}
			New(s).Event([]byte(strings.Replace(event, c.old, c.new, 1)))
			told := strings.Join(s.told, "\n")
			if (c.told == "") != (told == "") || !strings.Contains(told, c.told) {
				t.Errorf("told %q, want %q in it", told, c.told)
			}
		})
	}
}
