package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/openapi"
	"carteira/test/kit/sqldbtest"
)

func TestUnknownParameterIsRefusedByEveryOperation(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.create(t, `{"name":"Ana","plan_id":1}`)
	for _, op := range operations() {
		path, _, _ := strings.Cut(op.Path, "?")
		caller.call(t, op.Method, path+"?zzzz=1", string(op.Body)).want(t, 422, "zzzz: unknown parameter")
	}
	if customers := data[[]record](t, caller.call(t, http.MethodGet, "/customers", "")); len(customers) != 1 {
		t.Errorf("%d customers after calls that were all refused", len(customers))
	}
	caller.call(t, http.MethodGet, "/customers/999/invoices?zzzz=1", "").want(t, 422, "zzzz: unknown parameter")
}

func TestDocumentHasTheParametersThatOperationsTake(t *testing.T) {
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Parameters map[string]struct{ In string }
		}
	}
	must(t, json.Unmarshal(openapi.JSON(), &doc))
	for _, op := range new(Server).routes() {
		var operation struct {
			Parameters []struct {
				Ref string `json:"$ref"`
				In  string
			}
		}
		must(t, json.Unmarshal(doc.Paths[op.path][strings.ToLower(op.method)], &operation))
		documented := false
		for _, parameter := range operation.Parameters {
			named := doc.Components.Parameters[strings.TrimPrefix(parameter.Ref, "#/components/parameters/")]
			documented = documented || parameter.In == "query" || named.In == "query"
		}
		if documented != op.takesQuery() {
			t.Errorf("%s %s: documented with parameters %v, taken %v", op.method, op.path, documented, op.takesQuery())
		}
	}
}

func TestShortListsHavePages(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.subscribe(t, "https://example.com/a", "customer.created")
	caller.subscribe(t, "https://example.com/b", "customer.created")
	type list struct {
		Data []any
		Meta struct {
			Total, LastPage int64
			PerPage         int64 `json:"per_page"`
		}
	}
	read := func(path string) (got list, links string) {
		t.Helper()
		answer := caller.call(t, http.MethodGet, path, "")
		must(t, json.Unmarshal([]byte(answer.body), &got))
		return got, answer.header.Get("Link")
	}
	for _, path := range []string{"/webhooks", "/webhooks/events"} {
		whole, _ := read(path)
		if int64(len(whole.Data)) != whole.Meta.Total || whole.Meta.PerPage != 50 {
			t.Errorf("%s: %+v", path, whole)
		}
		second, links := read(path + "?per_page=1&page=2")
		if len(second.Data) != 1 || second.Meta.Total != whole.Meta.Total || !strings.Contains(links, `rel="prev"`) {
			t.Errorf("%s, page 2: %+v, links %s", path, second, links)
		}
		if past, _ := read(path + "?page=99"); len(past.Data) != 0 {
			t.Errorf("%s, past the last page: %+v", path, past)
		}
	}
}

func TestEventsAfterTheLatestAreThoseFromNowOn(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		if page := caller.events(t, "?after=latest"); page.names() != "" || page.Meta.LastID != nil {
			t.Errorf("before anything happened: %+v", page)
		}
		caller.create(t, `{"name":"Ana"}`)
		begin := caller.events(t, "?after=latest")
		if begin.names() != "" || begin.Meta.LastID == nil || begin.Meta.HasMore {
			t.Fatalf("latest: %+v", begin)
		}
		caller.create(t, `{"name":"Beto"}`)
		if next := caller.events(t, "?after="+*begin.Meta.LastID); next.names() != "customer.created" {
			t.Errorf("afterwards %+v", next)
		}
		caller.call(t, http.MethodGet, "/events?after=newest", "").want(t, 422, "after: must be the id of an event, as in meta.last_id, or latest")
	})
}

func TestListsAreCompressedForCallersThatTakeGzip(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	for range 20 {
		caller.create(t, `{"name":"Ana Maria dos Santos Oliveira"}`)
	}
	type packedAnswer struct {
		status int
		header http.Header
		body   []byte
	}
	get := func(path, accepted string, known ...string) packedAnswer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, caller.url+Prefix+path, nil)
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+caller.token)
		r.Header.Set("Accept-Encoding", accepted) // so the client hands the answer through as it is
		r.Header["If-None-Match"] = known
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		must(t, err)
		return packedAnswer{resp.StatusCode, resp.Header, body}
	}
	for _, path := range []string{"/customers", "/events"} {
		plain, packed := get(path, "identity"), get(path, "gzip")
		reader, err := gzip.NewReader(bytes.NewReader(packed.body))
		must(t, err)
		unpacked, err := io.ReadAll(reader)
		must(t, err)
		if plain.header.Get("Content-Encoding") != "" || packed.header.Get("Content-Encoding") != "gzip" || !bytes.Equal(unpacked, plain.body) {
			t.Errorf("%s: plain %v\npacked %v", path, plain.header, packed.header)
		}
		if len(packed.body)*3 > len(plain.body) || plain.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %d bytes of %d, Vary %q", path, len(packed.body), len(plain.body), plain.header.Get("Vary"))
		}
	}
	tag := get("/events", "gzip").header.Get("ETag")
	if again := get("/events", "gzip", tag); !strings.HasPrefix(tag, `W/"`) || again.status != http.StatusNotModified {
		t.Errorf("with the ETag %s of a packed answer: %d", tag, again.status)
	}
}

func TestInvoiceHasItsPaymentLinkWhileItCanBePaid(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.create(t, `{"name":"Ana","plan_id":1}`)
		type invoice struct {
			PaymentLink *string `json:"payment_link"`
		}
		type customer struct{ Invoices []invoice }
		link := data[struct{ Payment struct{ URL string } }](t, caller.call(t, http.MethodGet, "/invoices/1/payment-link", "")).Payment.URL
		caller.exec(t, `DELETE FROM pay_links`) // as of an invoice from before there were such pages
		everywhere := func() (got []*string) {
			t.Helper()
			return append(got,
				data[invoice](t, caller.call(t, http.MethodGet, "/invoices/1", "")).PaymentLink,
				data[[]invoice](t, caller.call(t, http.MethodGet, "/invoices", ""))[0].PaymentLink,
				data[[]invoice](t, caller.call(t, http.MethodGet, "/customers/1/invoices", ""))[0].PaymentLink,
				data[[]customer](t, caller.call(t, http.MethodGet, "/customers?invoices_limit=1", ""))[0].Invoices[0].PaymentLink,
				data[invoice](t, caller.call(t, http.MethodPut, "/invoices/1", `{"description":"Fibra"}`)).PaymentLink,
			)
		}
		first := ""
		for i, got := range everywhere() {
			if got == nil || !strings.HasPrefix(*got, "https://carteira.example.com/pay/") || *got == link || first != "" && *got != first {
				t.Fatalf("place %d has the link %v", i, got)
			}
			first = *got
		}
		paid := caller.call(t, http.MethodPost, "/invoices/1/status", `{"status":"Pago"}`)
		if got := data[invoice](t, paid).PaymentLink; got != nil {
			t.Errorf("a paid invoice has the link %s", *got)
		}
		data[any](t, caller.call(t, http.MethodPost, "/invoices/1/status", `{"status":"Em aberto","amount":"1.00","difference":"partial"}`))
		caller.exec(t, `DELETE FROM gateways`)
		for i, got := range everywhere() {
			if got != nil {
				t.Errorf("without a gateway place %d has the link %s", i, *got)
			}
		}
	})
}

func TestRecordsOfInvoicesAndUpsertsCanBeSentBack(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	made := caller.call(t, http.MethodPut, "/customers/external/crm-1", `{"name":"Ana","plan_id":1}`)
	if sent := caller.call(t, http.MethodPut, "/customers/external/crm-1", string(recordOf(t, made))); sent.status != 200 {
		t.Errorf("customer: %d %s", sent.status, sent.body)
	}
	var invoice map[string]any
	must(t, json.Unmarshal(recordOf(t, caller.call(t, http.MethodGet, "/invoices/1", "")), &invoice))
	invoice["customer_id"] = 1
	body, err := json.Marshal(invoice)
	must(t, err)
	paid := caller.call(t, http.MethodPost, "/invoices/1/status", `{"status":"Pago","paid_at":"2026-01-30"}`)
	data[any](t, paid)
	for _, sent := range []answer{
		caller.call(t, http.MethodPost, "/invoices/1/status", string(recordOf(t, paid))),
		caller.call(t, http.MethodPost, "/invoices/1/status", `{"status":"Em aberto"}`),
		caller.call(t, http.MethodPost, "/invoices", string(body)),
		caller.call(t, http.MethodPost, "/invoices/1/status", string(recordOf(t, caller.call(t, http.MethodGet, "/invoices/1", "")))),
	} {
		if sent.status != 200 {
			t.Errorf("invoice: %d %s", sent.status, sent.body)
		}
	}
}
