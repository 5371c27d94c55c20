package api

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/dashboard"
	"carteira/internal/event"
	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/internal/web"
	"carteira/internal/web/idempotency"
	"carteira/internal/webhook"
	"carteira/test/kit/housetest"
	"carteira/test/kit/openapitest"
	"carteira/test/kit/secrettest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var values, must = housetest.Form, housetest.Must

// TestMain wants every answer that the document describes to have been seen,
// when all tests have run and passed.
func TestMain(m *testing.M) {
	flag.Parse()
	secrettest.QuickHashes()
	code := m.Run()
	if code == 0 && flag.Lookup("test.run").Value.String() == "" {
		var allowed []string
		if os.Getenv("CARTEIRA_TEST_POSTGRES_URL") == "" {
			allowed = append(allowed, "503") // it is PostgreSQL that goes away
		}
		for _, pair := range openapitest.Unseen(allowed...) {
			fmt.Fprintln(os.Stderr, "documented, and answered in no test:", pair)
			code = 1
		}
	}
	os.Exit(code)
}

// noon is the morning of 31 January 2026 in São Paulo.
var noon = housetest.Morning

// plenty is a rate limit that no test comes near to by itself.
const plenty = 5000

// service is the API, served.
type service struct {
	*Server
	clock *sqldbtest.Clock
	url   string
	http  *http.Client // holds every exchange against the document
}

func newService(t *testing.T, engine sqldb.Engine) *service {
	t.Helper()
	return limitedService(t, sqldbtest.URL(t, engine), plenty)
}

func limitedService(t *testing.T, databaseURL string, limit int) *service {
	t.Helper()
	clock := sqldbtest.NewClock(noon)
	db := sqldbtest.Open(t, databaseURL, sqldbtest.WithClock(clock))
	events, box := &event.Log{}, secret.NewBox(secret.NewKey())
	customers := customer.New(db, events)
	gate := outbound.NewGate([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nameless{})
	caller := outbound.NewClient(gate, outbound.Options{RootCAs: testCAs(), UserAgent: "Carteira/1.0"})
	accounts, invoices := account.New(db, account.Config{CallsPerMinute: limit}), billing.New(db, events, customers)
	webhooks := webhook.New(db, events, box, gate, caller, webhook.Options{PerCompany: 2, Delays: delays})
	simulator := sandbox.New(db)
	server := New(Deps{
		DB: db, Accounts: accounts, Catalog: catalog.New(db), Customers: customers,
		Billing: invoices, Dashboard: dashboard.New(db), Webhooks: webhooks, Events: event.NewFeed(db, events),
		Resellers: reseller.New(db, accounts, "https://clientes.example.com"),
		Payments: payment.New(db, invoices, box, payment.Options{
			Providers: []payment.Provider{simulator.Provider(), outOfOrder}, PublicURL: "https://carteira.example.com", Notify: webhooks.NotifyTx, Timeout: 25 * time.Second,
			SimulatePayer: map[string]func(context.Context, string, string) error{sandbox.Name: simulator.ActNamed},
		}),
		Idempotency: idempotency.New(db, box),
		PublicURL:   "https://carteira.example.com",
	})
	if limit == plenty {
		server.Sandbox = drivenSandbox(t, db)
	}
	served := httptest.NewServer(web.Observe(server, slog.New(slog.DiscardHandler), web.NewMetrics(prometheus.NewRegistry())))
	t.Cleanup(served.Close)
	client := served.Client()
	client.Transport = openapitest.New(t).Transport(client.Transport)
	return &service{server, clock, served.URL, client}
}

// testCAs trusts the certificate of every httptest server.
var testCAs = sync.OnceValue(func() *x509.CertPool {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
})

// caller is a company that calls.
type caller struct {
	*service
	actor account.Actor
	token string
}

// newCaller makes a company with a token, a product, a monthly plan and 100
// credits.
func (s *service) newCaller(t *testing.T, more ...string) *caller {
	t.Helper()
	all, err := s.Accounts.Companies(t.Context())
	must(t, err)
	company, _, err := s.Accounts.CreateCompany(t.Context(), account.ReadNewCompany(values(append([]string{
		"name", "Rede Clara", "email", fmt.Sprintf("paula%d@example.com", len(all)+1), "user_name", "Paula Ramos",
	}, more...)...)))
	must(t, err)
	c := &caller{s, account.System(company, "test"), ""}
	token, plain, err := s.Accounts.CreateToken(t.Context(), c.actor, account.ReadNewToken(values("name", "CRM")))
	must(t, err)
	c.actor.TokenID, c.token = token.ID, plain
	product, err := s.Catalog.CreateProduct(t.Context(), c.actor, catalog.ReadNewProduct(values("name", "Internet 300", "description", "Fibre, 300 Mbit/s.")))
	must(t, err)
	_, err = s.Catalog.CreatePlan(t.Context(), c.actor, catalog.ReadNewPlan(values(
		"name", "Mensal", "value", "35.00", "period", "1month", "product_id", fmt.Sprint(product.ID))))
	must(t, err)
	_, err = s.Payments.ConfigureGateway(t.Context(), c.actor, s.Payments.ReadGateway(values("provider", "sandbox")))
	must(t, err)
	_, err = s.Resellers.Grant(t.Context(), c.actor, reseller.ReadCreditRequest(values("amount", "100")))
	must(t, err)
	return c
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// call sends a request with the caller's token. Header names and values stand
// in turn after the body.
func (c *caller) call(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()
	return c.send(t, method, path, strings.NewReader(body), append([]string{"Authorization", "Bearer " + c.token}, header...)...)
}

// send sends a request, by itself without a token, and holds the answer to
// what every answer has.
func (s *service) send(t *testing.T, method, path string, body io.Reader, header ...string) answer {
	t.Helper()
	return s.exchange(t, s.http, method, path, body, header...)
}

func (s *service) exchange(t *testing.T, client *http.Client, method, path string, body io.Reader, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+Prefix+path, body)
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	for pair := range slices.Chunk(header, 2) {
		req.Header[http.CanonicalHeaderKey(pair[0])] = []string{pair[1]}
	}
	resp, err := client.Do(req)
	must(t, err)
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	must(t, err)
	a := answer{resp.StatusCode, resp.Header, string(content)}
	if method != http.MethodHead {
		a.wantEnvelope(t)
	}
	for _, name := range []string{"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining"} {
		if a.header.Get(name) == "" {
			t.Errorf("%s %s: %d without %s", method, path, a.status, name)
		}
	}
	return a
}

// wantEnvelope holds for every answer: JSON, success as the status has it, and
// no key that the contract does not know.
func (a answer) wantEnvelope(t *testing.T) {
	t.Helper()
	var envelope struct {
		Success *bool
		Message *string
		Data    json.RawMessage
		Meta    json.RawMessage
		Errors  map[string][]string
	}
	decoder := json.NewDecoder(strings.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&envelope); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	ok := a.status == http.StatusOK
	switch {
	case envelope.Success == nil || *envelope.Success != ok,
		!ok && (envelope.Message == nil || *envelope.Message == "" || envelope.Data != nil || envelope.Meta != nil),
		ok && (envelope.Data == nil || envelope.Errors != nil),
		strings.HasPrefix(string(envelope.Data), "[") != (envelope.Meta != nil),
		envelope.Errors != nil && a.status != http.StatusUnprocessableEntity:
		t.Errorf("%d %s: not the envelope", a.status, a.body)
	}
}

// want compares status and message, and returns the answer for more.
func (a answer) want(t *testing.T, status int, message string) answer {
	t.Helper()
	var envelope struct{ Message string }
	must(t, json.Unmarshal([]byte(a.body), &envelope))
	if a.status != status || envelope.Message != message {
		t.Errorf("%d %s\nwant %d with the message %q", a.status, a.body, status, message)
	}
	return a
}

// data reads what came back, which must be a success.
func data[T any](t *testing.T, answer answer) T {
	t.Helper()
	if answer.status != http.StatusOK {
		t.Fatalf("%d %s", answer.status, answer.body)
	}
	var envelope struct{ Data T }
	must(t, json.Unmarshal([]byte(answer.body), &envelope))
	return envelope.Data
}

// record is what tests look at of a customer.
type record struct {
	ID       int64   `json:"id"`
	Name     string  `json:"name"`
	Whatsapp *string `json:"whatsapp"`
	Email    *string `json:"email"`
	Usuario  *string `json:"usuario"`
	DueDate  *string `json:"data_de_vencimento"`
	Status   string  `json:"status"`
	Plan     *struct {
		ID int64 `json:"id"`
	} `json:"plan"`
	Previous *string `json:"previous_due_date"`
}

func (c *caller) create(t *testing.T, body string) record {
	t.Helper()
	return data[record](t, c.call(t, http.MethodPost, "/customers", body))
}

// count runs a SELECT count(*).
func (s *service) count(t *testing.T, text string, args ...any) int64 {
	t.Helper()
	n, err := sqldb.Value[int64](t.Context(), s.DB, text, args...)
	must(t, err)
	return n
}

func (s *service) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	must(t, s.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text, args...)
		return err
	}))
}
