package api

import (
	"bytes"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/goldentest"
	"carteira/test/kit/openapitest"
	"carteira/test/kit/sqldbtest"
)

// chances are what answers have besides ids that no two runs have alike. The last line
// is the jitter of a minute.
var chances = append(goldentest.Chances{
	{`whsec_[0-9A-Za-z]{40}`, "whsec_0000000000000000000000000000000000000000"},
	{`/signup/[0-9A-Za-z]{20}"`, `/signup/00000000000000000000"`},
	{`/password/[0-9A-Za-z_-]{43}"`, `/password/0000000000000000000000000000000000000000000"`},
	{`"duration_ms":[0-9]+`, `"duration_ms":0`},
	{`/pay/[0-9A-Za-z]{24}"`, `/pay/000000000000000000000000"`},
	{`pix\.example\.com/qr/v2/[0-9A-Za-z]{26}(.*6304)[0-9A-F]{4}"`, `pix.example.com/qr/v2/00000000000000000000000000${1}0000"`},
	{`pix\.example\.com/rec/[0-9A-Za-z]{26}(.*6304)[0-9A-F]{4}"`, `pix.example.com/rec/00000000000000000000000000${1}0000"`},
	{`iVBORw0KGgo[^"]+"`, `iVBORw0KGgo="`},
	{`("next_attempt_at":"2026-01-31T09:01:0)[0-9]`, "${1}0"},
}, goldentest.IDs...)

// Both databases must give the same bytes, which the golden files hold.
func TestEveryExampleOfTheDocumentIsTaken(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		for _, example := range openapitest.Examples() {
			name := strings.TrimSuffix(example.OperationID+"-"+example.Name, "-")
			if example.OperationID == "listPayments" { // so that payment 2 counts
				data[any](t, caller.call(t, http.MethodPost, "/invoices/2/status", `{"status":"Pago","paid_via":"pix"}`))
			}
			if example.OperationID == "undoPayment" { // which needs one of which nothing went back
				example.Path = Prefix + caller.paidAnew(t, 2, 2)
			}
			if example.OperationID == "applyPayment" || example.OperationID == "dismissPayment" { // which need money in review
				example.Path = Prefix + caller.reviewed(t, path.Base(example.Path))
			}
			if example.OperationID == "simulateAutopay" { // the customer has to be asked first
				data[any](t, caller.call(t, http.MethodPost, "/customers/1/autopay", ""))
			}
			answer := caller.call(t, example.Method, strings.TrimPrefix(example.Path, Prefix), string(example.Body))
			if answer.status != http.StatusOK {
				t.Errorf("%s: %d %s", name, answer.status, answer.body)
			}
			goldentest.Want(t, name, answer.body, chances)
		}
	})
}

// operations is one request for each operation of the document, as its examples
// have it.
func operations() []openapitest.Example {
	var list []openapitest.Example
	seen := map[string]bool{}
	for _, example := range openapitest.Examples() {
		if !seen[example.OperationID] {
			seen[example.OperationID] = true
			example.Path = strings.TrimPrefix(example.Path, Prefix)
			list = append(list, example)
		}
	}
	return list
}

func TestNoOperationIsServedWithoutAToken(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		service.newCaller(t)
		for _, op := range operations() {
			answer := service.send(t, op.Method, op.Path, bytes.NewReader(op.Body)).want(t, 401, "Unauthenticated")
			if answer.header.Get("Www-Authenticate") != "Bearer" {
				t.Errorf("%s: WWW-Authenticate %q", op.OperationID, answer.header.Get("Www-Authenticate"))
			}
		}
	})
}

func TestNoOperationIsServedOverTheLimit(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := limitedService(t, sqldbtest.URL(t, engine), 2).newCaller(t)
		for _, remaining := range []string{"1", "0"} {
			if answer := caller.call(t, http.MethodGet, "/account", ""); answer.status != 200 || answer.header.Get("X-Ratelimit-Remaining") != remaining {
				t.Errorf("%d, %s left; want %s", answer.status, answer.header.Get("X-Ratelimit-Remaining"), remaining)
			}
		}
		for _, op := range operations() {
			answer := caller.call(t, op.Method, op.Path, string(op.Body)).want(t, 429, "too many calls; wait for the seconds in Retry-After")
			if answer.header.Get("Retry-After") == "" || answer.header.Get("X-Ratelimit-Remaining") != "0" {
				t.Errorf("%s: header %v", op.OperationID, answer.header)
			}
		}
		if n := caller.count(t, `SELECT count(*) FROM customers`); n != 0 {
			t.Errorf("%d customers were made by refused calls", n)
		}
		if answer := caller.send(t, http.MethodGet, "/account", nil); answer.status != 401 || answer.header.Get("X-Ratelimit-Limit") != "2" {
			t.Errorf("without a token %d, header %v", answer.status, answer.header)
		}
	})
}

// An unexpected failure is described in the log only.
func TestInternalFailureTellsNothing(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.exec(t, `ALTER TABLE api_tokens RENAME TO mislaid`)
		for _, op := range operations() {
			caller.call(t, op.Method, op.Path, string(op.Body)).want(t, 500, "internal error")
		}
	})
}

func TestServiceIsUnavailableWhileTheDatabaseIsAway(t *testing.T) {
	wire := sqldbtest.NewWire(t, sqldbtest.URL(t, sqldb.Postgres))
	caller := limitedService(t, wire.URL, plenty+1).newCaller(t) // nothing but the test asks the database
	for _, op := range operations() {
		wire.Cut()
		answer := caller.call(t, op.Method, op.Path, string(op.Body)).want(t, 503, "temporarily unavailable; try again in a moment")
		if answer.header.Get("Retry-After") != "1" {
			t.Errorf("%s: Retry-After %q", op.OperationID, answer.header.Get("Retry-After"))
		}
		wire.Mend(t)
		if answer := caller.call(t, http.MethodGet, "/account", ""); answer.status != 200 {
			t.Fatalf("after %s, with the database back: %d %s", op.OperationID, answer.status, answer.body)
		}
	}
}

var firstID = regexp.MustCompile(`/[0-9]+`)

// A company that sends another's id gets, byte for byte, what it gets for one
// that does not exist.
func TestAnotherCompanysRecordIsAsIfItWereNot(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		owner, stranger := service.newCaller(t), service.newCaller(t)
		owner.subscribe(t, "https://example.com/hook", event.CustomerCreated)
		owner.create(t, `{"name":"Ana","plan_id":1}`)
		data[any](t, owner.call(t, http.MethodPost, "/plans", `{"name":"Revenda","value":"49.90","credits":1}`))
		data[any](t, owner.call(t, http.MethodPost, "/resellers", `{"name":"Beto","email":"beto@example.com"}`))
		before := owner.everything(t)
		tried := 0
		for _, op := range operations() {
			id := firstID.FindString(op.Path)
			if id == "" {
				continue
			}
			tried++
			for _, body := range []string{string(op.Body), `{"nmae":1}`} {
				missing := strings.Replace(op.Path, id, "/999999", 1)
				foreign, none := stranger.call(t, op.Method, op.Path, body), stranger.call(t, op.Method, missing, body)
				if foreign.status != none.status || foreign.body != none.body || body == string(op.Body) && foreign.status != 404 {
					t.Errorf("%s %s: %d %s\nmissing: %d %s", op.OperationID, body, foreign.status, foreign.body, none.status, none.body)
				}
				for _, name := range []string{"Content-Length", "Content-Type", "Allow", "Cache-Control", "Retry-After"} {
					if foreign.header.Get(name) != none.header.Get(name) {
						t.Errorf("%s: %s %q and %q", op.OperationID, name, foreign.header.Get(name), none.header.Get(name))
					}
				}
			}
		}
		withID := 0
		for _, route := range service.routes() {
			if strings.Contains(route.path, "{id}") {
				withID++
			}
		}
		if tried != withID {
			t.Errorf("%d operations were tried, and %d have an id", tried, withID)
		}
		if after := owner.everything(t); after != before {
			t.Errorf("the owner has\n%s\nand had\n%s", after, before)
		}
	})
}

// everything is what a company can read of its own.
func (c *caller) everything(t *testing.T) (all string) {
	t.Helper()
	for _, path := range []string{"/customers", "/invoices", "/plans", "/resellers", "/webhooks", "/webhooks/1/deliveries", "/webhooks/callback-secret"} {
		all += c.call(t, http.MethodGet, path, "").body + "\n"
	}
	return all
}

// Every operation with a body: too large, not JSON, not even an object.
func TestBodiesAreRefusedBeforeTheyAreUsed(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.create(t, `{"name":"Ana","plan_id":1}`)
		before := caller.call(t, http.MethodGet, "/customers", "").body
		for _, op := range operations() {
			if op.Method != http.MethodPost && op.Method != http.MethodPut {
				continue
			}
			caller.call(t, op.Method, op.Path, strings.Repeat(" ", maxBody+1)).want(t, 413, "the body must not be larger than 1 MiB")
			caller.call(t, op.Method, op.Path, `{}`, "Content-Type", "text/plain").want(t, 415, "send the body as JSON, with Content-Type: application/json")
			caller.call(t, op.Method, op.Path, `{"a":}`).want(t, 422, "malformed JSON at line 1, column 6: invalid character '}' looking for beginning of value")
			caller.call(t, op.Method, op.Path, `[1]`).want(t, 422, "the body must be a JSON object")
		}
		if after := caller.call(t, http.MethodGet, "/customers", "").body; after != before {
			t.Errorf("customers were\n%s\nand are\n%s", before, after)
		}
	})
}
