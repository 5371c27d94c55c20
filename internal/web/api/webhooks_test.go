package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/openapitest"
	"carteira/test/kit/sqldbtest"
)

type eventRecord struct {
	Event       event.Name      `json:"event"`
	Description string          `json:"description"`
	Sample      json.RawMessage `json:"sample"`
}

type testRecord struct {
	Delivered      bool    `json:"delivered"`
	ResponseStatus *int    `json:"response_status"`
	ResponseBody   *string `json:"response_body"`
	DurationMS     int64   `json:"duration_ms"`
	Error          *string `json:"error"`
}

// nameless is a resolver that knows no name, so that no test leaves this
// machine.
type nameless struct{}

func (nameless) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// delays are those of the contract.
var delays = []time.Duration{0, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// receiver is an integrator's server: it keeps what it gets, and gives the
// configured answer.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []received
}

type received struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{req.Header.Clone(), body})
		w.WriteHeader(r.status)
		_, _ = fmt.Fprintf(w, "answer %d", len(r.got))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) received() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

func signed(t *testing.T, key string, got received) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s.%s", got.header.Get("X-Service-Timestamp"), got.body)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); got.header.Get("X-Service-Signature") != want {
		t.Errorf("signed %s, want %s", got.header.Get("X-Service-Signature"), want)
	}
}

type hook struct {
	ID          int64    `json:"id"`
	URL         string   `json:"url"`
	Description *string  `json:"description"`
	Events      []string `json:"events"`
	Active      bool     `json:"active"`
	Failures    int      `json:"consecutive_failures"`
	DisabledAt  *string  `json:"disabled_at"`
	Secret      string   `json:"secret"`
}

// subscribe makes a webhook.
func (c *caller) subscribe(t *testing.T, url string, events ...event.Name) hook {
	t.Helper()
	body, err := json.Marshal(map[string]any{"url": url, "events": events})
	must(t, err)
	return data[hook](t, c.call(t, "POST", "/webhooks", string(body)))
}

type delivered struct {
	ID        int64   `json:"id"`
	EventID   string  `json:"event_id"`
	Event     string  `json:"event"`
	WebhookID *int64  `json:"webhook_id"`
	Status    string  `json:"status"`
	Next      *string `json:"next_attempt_at"`
	Attempts  []struct {
		Number int     `json:"number"`
		Status *int    `json:"response_status"`
		Body   *string `json:"response_body"`
		Error  *string `json:"error"`
	} `json:"attempts"`
	Payload     json.RawMessage `json:"payload"`
	DeliveredAt *string         `json:"delivered_at"`
}

func TestEverySampleIsAsDocumented(t *testing.T) {
	validator := openapitest.New(t)
	for _, entry := range event.Catalog {
		sample := webhook.Sample(entry.Name)
		var envelope struct{ Event event.Name }
		if err := json.Unmarshal(sample, &envelope); err != nil || envelope.Event != entry.Name {
			t.Errorf("%s has the sample %s", entry.Name, sample)
			continue
		}
		validator.Event(sample)
	}
}

func TestCatalogHasDescriptionAndSampleOfEveryEvent(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	list := data[[]eventRecord](t, caller.call(t, "GET", "/webhooks/events", ""))
	if len(list) != len(event.Catalog) {
		t.Fatalf("%d events, want %d", len(list), len(event.Catalog))
	}
	for i, record := range list {
		if record.Event != event.Catalog[i].Name || record.Description == "" || !strings.Contains(string(record.Sample), string(record.Event)) {
			t.Errorf("%+v", record)
		}
	}
}

func TestCompanyHasAtMostTwoWebhooks(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, other := service.newCaller(t), service.newCaller(t)
		const body = `{"url":"https://example.com/hook","events":["invoice.paid"]}`
		answers := make([]answer, 20)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = caller.call(t, "POST", "/webhooks", body) })
		}
		wg.Wait()
		made := 0
		for _, answer := range answers {
			if answer.status == 200 {
				made++
				continue
			}
			answer.want(t, 422, "url: the company has 2 webhooks, which is all it may have; delete one first")
		}
		list := data[[]hook](t, caller.call(t, "GET", "/webhooks", ""))
		if made != 2 || len(list) != 2 {
			t.Fatalf("%d were made and %d are there, want 2", made, len(list))
		}
		if answer := other.call(t, "POST", "/webhooks", body); answer.status != 200 {
			t.Errorf("another company: %d %s", answer.status, answer.body)
		}
		caller.call(t, "DELETE", fmt.Sprintf("/webhooks/%d", list[0].ID), "").want(t, 200, "webhook deleted")
		caller.call(t, "GET", fmt.Sprintf("/webhooks/%d", list[0].ID), "").want(t, 404, "webhook not found")
		if answer := caller.call(t, "POST", "/webhooks", body); answer.status != 200 {
			t.Errorf("after one was deleted: %d %s", answer.status, answer.body)
		}
	})
}

func TestWebhookAddressMustBePublic(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.subscribe(t, "https://example.com/hook", event.InvoicePaid)
	for url, reason := range map[string]string{
		"http://example.com":              "must use https",
		"ftp://example.com":               "must use https",
		"example.com":                     "must use https",
		"https://":                        "must have a valid host name",
		"https://user:pw@example.com":     "must not contain a user name or password",
		"https://localhost/hook":          "must not point to an internal address",
		"https://db.internal/hook":        "must not point to an internal address",
		"https://printer.local":           "must not point to an internal address",
		"https://intranet":                "must not point to an internal address",
		"https://10.0.0.1/hook":           "must not point to an internal address",
		"https://192.168.1.1":             "must not point to an internal address",
		"https://169.254.169.254/latest/": "must not point to an internal address",
		"https://[::1]:8443/":             "must not point to an internal address",
		"https://[::ffff:10.0.0.1]/":      "must not point to an internal address",
		"https://[64:ff9b::10.0.0.1]/":    "must not point to an internal address",
		"https://100.64.0.1":              "must not point to an internal address",
		"https://2130706433/":             "must have a valid host name",
		"https://example.com:0/":          "must have a valid port",
		"https://example.com:99999/":      "must have a valid port",
	} {
		body := fmt.Sprintf(`{"url":%q,"events":["invoice.paid"]}`, url)
		caller.call(t, "POST", "/webhooks", body).want(t, 422, "url: "+reason)
		caller.call(t, "PUT", "/webhooks/1", body).want(t, 422, "url: "+reason)
	}
	if got := data[hook](t, caller.call(t, "GET", "/webhooks/1", "")); got.URL != "https://example.com/hook" {
		t.Errorf("the address became %s", got.URL)
	}
	if n := caller.count(t, `SELECT count(*) FROM webhooks`); n != 1 {
		t.Errorf("%d webhooks, want one", n)
	}
}

func TestWebhookFieldsAreChecked(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.subscribe(t, "https://example.com/hook", event.InvoicePaid)
	const unknown = `is not an event; GET /webhooks/events lists them`
	for _, r := range []struct{ method, path, body, message string }{
		{"POST", "/webhooks", `{}`, "url: is required"},
		{"POST", "/webhooks", `{"url":"https://example.com"}`, "events: is required"},
		{"POST", "/webhooks", `{"events":["invoice.paid"]}`, "url: is required"},
		{"POST", "/webhooks", `{"url":"https://example.com","events":null}`, "events: is required"},
		{"POST", "/webhooks", `{"url":"https://example.com","events":[]}`, "events: must name at least one event"},
		{"POST", "/webhooks", `{"url":"https://example.com","events":["paid"]}`, `events: "paid" ` + unknown},
		{"POST", "/webhooks", `{"url":"https://example.com","events":["Invoice.Paid"]}`, `events: "Invoice.Paid" ` + unknown},
		{"POST", "/webhooks", `{"url":"https://example.com","events":[{}]}`, "events: must be a list of texts"},
		{"POST", "/webhooks", `{"url":"https://example.com","events":["ping"]}`, "events: ping cannot be subscribed to; the test of a webhook sends it"},
		{"POST", "/webhooks", `{"url":1,"events":["invoice.paid"]}`, "url: must use https"},
		{"POST", "/webhooks", `{"urls":"https://example.com","events":["invoice.paid"]}`, "url: is required"},
		{"PUT", "/webhooks/1", `{"url":null}`, "url: must not be empty"},
		{"PUT", "/webhooks/1", `{"events":""}`, "events: must not be empty"},
		{"PUT", "/webhooks/1", `{"events":[]}`, "events: must name at least one event"},
		{"PUT", "/webhooks/1", `{"active":"perhaps"}`, "active: must be true or false"},
		{"PUT", "/webhooks/1", `{"actve":true}`, "actve: unknown field; did you mean active?"},
		{"POST", "/webhooks/1/test", `{"url":"https://example.com"}`, "url: unknown field"},
		{"POST", "/webhooks/callback-secret/rotate", `{"secret":"mine"}`, "secret: unknown field"},
	} {
		caller.call(t, r.method, r.path, r.body).want(t, 422, r.message)
	}
	answer := caller.call(t, "POST", "/webhooks", `{"url":"http://localhost","events":["x","ping"],"description":"`+strings.Repeat("a", 256)+`"}`)
	var envelope struct{ Errors map[string][]string }
	must(t, json.Unmarshal([]byte(answer.body), &envelope))
	if len(envelope.Errors) != 3 || len(envelope.Errors["events"]) != 2 {
		t.Errorf("not all at once: %s", answer.body)
	}
}

func TestSecretIsInTheAnswerToTheCreationAlone(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		receiver := newReceiver(t)
		hook := caller.subscribe(t, receiver.URL, event.CustomerCreated)
		if !strings.HasPrefix(hook.Secret, "whsec_") || len(hook.Secret) != 46 {
			t.Fatalf("secret %q", hook.Secret)
		}
		for _, op := range [][3]string{
			{"GET", "/webhooks", ""},
			{"GET", "/webhooks/1", ""},
			{"PUT", "/webhooks/1", `{"description":"x","secret":"mine"}`},
			{"POST", "/webhooks/1/test", ""},
			{"GET", "/webhooks/1/deliveries", ""},
			{"DELETE", "/webhooks/1", ""},
		} {
			if answer := caller.call(t, op[0], op[1], op[2]); answer.status != 200 || strings.Contains(answer.body, "whsec_") || strings.Contains(answer.body, hook.Secret) {
				t.Errorf("%s %s: %d %s", op[0], op[1], answer.status, answer.body)
			}
		}
		for _, got := range receiver.received() {
			signed(t, hook.Secret, got)
		}
		if n := caller.count(t, `SELECT count(*) FROM webhooks WHERE secret LIKE '%whsec_%'`); n != 0 {
			t.Error("it is stored as it is")
		}
	})
}

func TestUpdateChangesWhatIsSent(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.subscribe(t, "https://example.com/hook", event.InvoicePaid)
		put := func(body string) hook {
			t.Helper()
			changed := data[hook](t, caller.call(t, "PUT", "/webhooks/1", body))
			if read := data[hook](t, caller.call(t, "GET", "/webhooks/1", "")); fmt.Sprint(read.URL, read.Events, read.Active) != fmt.Sprint(changed.URL, changed.Events, changed.Active) {
				t.Errorf("answered %+v and is %+v", changed, read)
			}
			return changed
		}
		if hook := put(`{"description":"CRM"}`); *hook.Description != "CRM" || hook.URL != "https://example.com/hook" || !hook.Active {
			t.Errorf("%+v", hook)
		}
		if hook := put(`{"description":null,"url":"https://example.com/2"}`); hook.Description != nil || hook.URL != "https://example.com/2" {
			t.Errorf("%+v", hook)
		}
		if hook := put(`{"events":["invoice.paid","customer.created","invoice.paid"]}`); fmt.Sprint(hook.Events) != "[invoice.paid customer.created]" {
			t.Errorf("%+v", hook)
		}
		if hook := put(`{"active":false}`); hook.Active || hook.DisabledAt == nil {
			t.Errorf("%+v", hook)
		}
		if hook := put(`{"active":"1"}`); !hook.Active || hook.DisabledAt != nil {
			t.Errorf("%+v", hook)
		}
	})
}

func TestTestTellsWhatTheReceiverAnswered(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		receiver := newReceiver(t)
		w := caller.subscribe(t, receiver.URL+"/hook", event.InvoicePaid)
		test := func() testRecord {
			t.Helper()
			return data[testRecord](t, caller.call(t, "POST", "/webhooks/1/test", ""))
		}
		if got := test(); !got.Delivered || *got.ResponseStatus != 200 || *got.ResponseBody != "answer 1" || got.Error != nil {
			t.Errorf("%+v", got)
		}
		receiver.answer(http.StatusTeapot)
		if got := test(); got.Delivered || *got.ResponseStatus != 418 || *got.Error != "the receiver answered 418" {
			t.Errorf("%+v", got)
		}
		caller.call(t, "PUT", "/webhooks/1", `{"active":false}`)
		receiver.answer(http.StatusNoContent)
		if got := test(); !got.Delivered || *got.ResponseStatus != 204 || got.ResponseBody != nil {
			t.Errorf("while switched off: %+v", got)
		}
		all := receiver.received()
		if len(all) != 3 {
			t.Fatalf("the receiver got %d", len(all))
		}
		for _, got := range all {
			signed(t, w.Secret, got)
			openapitest.New(t).Event(got.body)
			if got.header.Get("X-Service-Event") != "ping" || !strings.Contains(string(got.body), receiver.URL+"/hook") {
				t.Errorf("%v %s", got.header, got.body)
			}
		}
		if w := data[hook](t, caller.call(t, "GET", "/webhooks/1", "")); w.Failures != 0 {
			t.Errorf("a test was counted: %+v", w)
		}
		receiver.Close()
		if got := test(); got.Delivered || got.ResponseStatus != nil || *got.Error != "connection refused" {
			t.Errorf("with the receiver gone: %+v", got)
		}
		history := data[[]delivered](t, caller.call(t, "GET", "/webhooks/1/deliveries?event=ping", ""))
		if got := fmt.Sprint(statuses(history)); got != "[failed delivered refused delivered]" {
			t.Errorf("the history has %s", got)
		}
	})
}

func statuses(list []delivered) (all []string) {
	for _, delivered := range list {
		all = append(all, delivered.Status)
	}
	return all
}

func TestDeliveriesAreFilteredAndPaged(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		receiver := newReceiver(t)
		hook := caller.subscribe(t, receiver.URL, event.CustomerCreated, event.CustomerUpdated)
		for range 3 {
			caller.create(t, `{"name":"Ana"}`)
		}
		caller.clock.Advance(24 * time.Hour)
		caller.call(t, "PUT", "/customers/1", `{"name":"Eva"}`)
		data[delivered](t, caller.call(t, "POST", "/webhooks/deliveries/1/resend", ""))
		for query, want := range map[string]string{
			"":                                    "[4 3 2 1]",
			"?status=pending":                     "[4 3 2]",
			"?status=delivered":                   "[1]",
			"?status=parked":                      "[]",
			"?event=customer.updated":             "[4]",
			"?event=customer.updated&status=":     "[4]",
			"?from=2026-02-01":                    "[4]",
			"?to=2026-01-31":                      "[3 2 1]",
			"?from=2026-01-31&to=2026-01-31":      "[3 2 1]",
			"?from=2026-02-02":                    "[]",
			"?per_page=2":                         "[4 3]",
			"?per_page=2&page=2":                  "[2 1]",
			"?per_page=2&page=3":                  "[]",
			"?event=customer.created&per_page=1":  "[3]",
			"?event=ping":                         "[]",
			"?status=pending&to=2026-01-31&_x=y":  "[3 2]",
			"?event=invoice.paid&from=2026-01-01": "[]",
		} {
			var ids []int64
			for _, d := range data[[]delivered](t, caller.call(t, "GET", "/webhooks/1/deliveries"+query, "")) {
				ids = append(ids, d.ID)
				if d.WebhookID == nil || *d.WebhookID != hook.ID || !strings.Contains(string(d.Payload), d.EventID) {
					t.Errorf("%+v", d)
				}
			}
			if got := fmt.Sprint(ids); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		if answer := caller.call(t, "GET", "/webhooks/1/deliveries?per_page=3", ""); !strings.Contains(answer.body, `"meta":{"total":4,"per_page":3,"current_page":1,"last_page":2,`) {
			t.Error(answer.body)
		}
		for _, filter := range []string{"status=sent", "event=nothing", "from=31/12", "to=tomorrow"} {
			name, _, _ := strings.Cut(filter, "=")
			if answer := caller.call(t, "GET", "/webhooks/1/deliveries?"+filter, ""); answer.status != 422 || !strings.Contains(answer.body, `"message":"`+name+`: `) {
				t.Errorf("%s: %d %s", filter, answer.status, answer.body)
			}
		}
	})
}

func TestResendIsByDeliveryOrByEvent(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, stranger := service.newCaller(t), service.newCaller(t)
		receiver := newReceiver(t)
		hook := caller.subscribe(t, receiver.URL, event.CustomerCreated)
		caller.create(t, `{"name":"Ana"}`)
		receiver.answer(http.StatusServiceUnavailable)
		first := data[delivered](t, caller.call(t, "POST", "/webhooks/deliveries/1/resend", ""))
		if first.Status != "pending" || first.Next == nil || len(first.Attempts) != 1 || *first.Attempts[0].Status != 503 || first.DeliveredAt != nil {
			t.Errorf("after a 503: %+v", first)
		}
		receiver.answer(http.StatusOK)
		caller.clock.Advance(time.Second)
		second := data[delivered](t, caller.call(t, "POST", "/webhooks/deliveries/"+first.EventID+"/resend", ""))
		if second.ID != first.ID || second.Status != "delivered" || second.Next != nil || len(second.Attempts) != 2 || second.DeliveredAt == nil {
			t.Errorf("after a 200: %+v", second)
		}
		got := receiver.received()
		if len(got) != 2 || string(got[0].body) != string(got[1].body) {
			t.Fatalf("sent %d, and not the same", len(got))
		}
		for _, one := range got {
			signed(t, hook.Secret, one)
			if one.header.Get("X-Service-Delivery") != first.EventID {
				t.Errorf("named %s", one.header.Get("X-Service-Delivery"))
			}
		}
		for _, id := range []string{"9", "0", "x", "evt_", "evt_x", "evt_" + strings.Repeat("0", 26), "evt_" + strings.ToLower(first.EventID[4:])} {
			caller.call(t, "POST", "/webhooks/deliveries/"+id+"/resend", "").want(t, 404, "delivery not found")
		}
		for _, id := range []string{"1", first.EventID} {
			stranger.call(t, "POST", "/webhooks/deliveries/"+id+"/resend", "").want(t, 404, "delivery not found")
		}
		caller.exec(t, `UPDATE deliveries SET status = 'pending'`)
		caller.exec(t, `
			INSERT INTO delivery_queue (delivery_id, company_id, event_id, lane, url, test, line, step, attempts, run_at, claim)
			SELECT id, company_id, event_id, lane, url, test, 0, 0, attempts, CAST(? AS BIGINT), 'x' FROM deliveries WHERE id = 1`,
			caller.clock.Now().Add(time.Second).UnixMicro())
		caller.call(t, "POST", "/webhooks/deliveries/1/resend", "").want(t, 409, "this delivery is being sent at the moment")
		caller.exec(t, `UPDATE delivery_queue SET claim = ''`)
		caller.call(t, "PUT", "/webhooks/1", `{"active":false}`)
		caller.call(t, "POST", "/webhooks/deliveries/1/resend", "").want(t, 422, "active: the webhook is switched off; switch it on to send again")
		caller.call(t, "POST", "/webhooks/deliveries/1/resend", `{"x":1}`).want(t, 422, "x: unknown field")
		if n := len(receiver.received()); n != 2 {
			t.Errorf("refused resends sent %d", n-2)
		}
	})
}

func TestCallbackSecretStaysUntilItIsReplaced(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, other := service.newCaller(t), service.newCaller(t)
		secrets := make([]string, 10)
		var wg sync.WaitGroup
		for i := range secrets {
			wg.Go(func() {
				secrets[i] = data[secretRecord](t, caller.call(t, "GET", "/webhooks/callback-secret", "")).Secret
			})
		}
		wg.Wait()
		for _, got := range secrets {
			if got != secrets[0] || !strings.HasPrefix(got, "whsec_") {
				t.Errorf("%q and %q", got, secrets[0])
			}
		}
		if got := data[secretRecord](t, other.call(t, "GET", "/webhooks/callback-secret", "")).Secret; got == secrets[0] {
			t.Error("two companies have one secret")
		}
		rotated := data[secretRecord](t, caller.call(t, "POST", "/webhooks/callback-secret/rotate", "")).Secret
		if got := data[secretRecord](t, caller.call(t, "GET", "/webhooks/callback-secret", "")).Secret; got != rotated || got == secrets[0] {
			t.Errorf("before %s, new %s, and now %s", secrets[0], rotated, got)
		}
	})
}

func TestSecretOfAWebhookIsReplacedOnce(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, other := service.newCaller(t), service.newCaller(t)
		receiver := newReceiver(t)
		hook := caller.subscribe(t, receiver.URL, event.InvoicePaid)
		path := fmt.Sprintf("/webhooks/%d/secret/rotate", hook.ID)
		other.call(t, "POST", path, "").want(t, 404, "webhook not found")
		caller.call(t, "POST", path, `{"secret":"mine"}`).want(t, 422, "secret: unknown field")
		rotated := data[secretRecord](t, caller.call(t, "POST", path, "")).Secret
		caller.call(t, "POST", fmt.Sprintf("/webhooks/%d/test", hook.ID), "")
		signed(t, rotated, receiver.await(t, 1)[0])
		if rotated == hook.Secret {
			t.Error("the secret is the old one")
		}
	})
}

// running runs the delivery engine to the end of the test.
func (s *service) running(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var engine sync.WaitGroup
	engine.Go(func() { _ = s.Webhooks.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		engine.Wait()
	})
}

func (r *receiver) await(t *testing.T, n int) []received {
	t.Helper()
	for late := time.Now().Add(time.Minute); len(r.received()) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d of %d came", len(r.received()), n)
		}
	}
	return r.received()
}

func TestNotificationOfAnInvoiceIsSentOnceToEachAddress(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		receiver, hooked := newReceiver(t), newReceiver(t)
		hook := caller.subscribe(t, hooked.URL, event.InvoicePaid)
		caller.create(t, `{"name":"Ana","plan_id":1}`)
		caller.create(t, `{"name":"Bia","plan_id":1}`)
		notify := func(invoiceID int64, path string) {
			t.Helper()
			must(t, caller.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
				return caller.Webhooks.NotifyTx(t.Context(), caller.actor.In(tx), invoiceID, receiver.URL+path)
			}))
		}
		notify(1, "/a")
		notify(1, "/a")
		notify(1, "/b")
		notify(2, "/other")
		caller.running(t)
		if answer := caller.call(t, "POST", "/invoices/1/status", `{"status":"Pago"}`); answer.status != 200 {
			t.Fatal(answer.body)
		}
		secret := data[secretRecord](t, caller.call(t, "GET", "/webhooks/callback-secret", "")).Secret
		toHook := hooked.await(t, 1)[0]
		signed(t, hook.Secret, toHook)
		for _, got := range receiver.await(t, 2) {
			signed(t, secret, got)
			openapitest.New(t).Event(got.body)
			if string(got.body) != string(toHook.body) || got.header.Get("X-Service-Event") != "invoice.paid" {
				t.Errorf("notified with %s, want %s", got.body, toHook.body)
			}
		}
		caller.call(t, "POST", "/webhooks/callback-secret/rotate", "")
		caller.call(t, "POST", "/invoices/2/status", `{"status":"Pago"}`)
		all := receiver.await(t, 3)
		signed(t, data[secretRecord](t, caller.call(t, "GET", "/webhooks/callback-secret", "")).Secret, all[2])
		old := "sha256=" + webhook.Sign([]byte(secret), all[2].header.Get("X-Service-Timestamp"), all[2].body)
		if got := all[2].header.Get("X-Service-Signature-Old"); got != old {
			t.Errorf("the old secret signed %q, want %s", got, old)
		}
		if len(all) != 3 {
			t.Errorf("%d came, want 3", len(all))
		}
	})
}

// Every answer of the API is as the document describes it.
func TestEventsArriveAsDocumented(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		receiver := newReceiver(t)
		caller.subscribe(t, receiver.URL, webhook.Subscribable()...)
		caller.running(t)
		caller.create(t, `{"name":"Ana","plan_id":1}`)
		for _, op := range [][3]string{
			{"PUT", "/customers/1", `{"name":"Eva"}`},
			{"POST", "/invoices/1/status", `{"status":"Pago"}`},
			{"DELETE", "/customers/1", ""},
		} {
			if answer := caller.call(t, op[0], op[1], op[2]); answer.status != 200 {
				t.Errorf("%s %s: %s", op[0], op[1], answer.body)
			}
		}
		seen := map[string]int{}
		for _, got := range receiver.await(t, 7) {
			openapitest.New(t).Event(got.body)
			seen[got.header.Get("X-Service-Event")]++
		}
		want := "map[customer.created:1 customer.deleted:1 customer.renewed:1 customer.updated:1 invoice.created:1 invoice.paid:1 payment.received:1]"
		if fmt.Sprint(seen) != want {
			t.Errorf("came %v, want %s", seen, want)
		}
	})
}
