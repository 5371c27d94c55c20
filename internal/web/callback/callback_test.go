package callback_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/web"
	"carteira/internal/web/callback"
)

// ledger is a log that can be read while it is written.
type ledger struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *ledger) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// shop is a company with one open invoice and the sandbox for a gateway.
type shop struct {
	db       *sqldb.DB
	billing  *billing.Service
	payments *payment.Service
	sandbox  *sandbox.Sandbox
	actor    account.Actor
	url      string
	log      *ledger
}

func open(t *testing.T, engine sqldb.Engine) *shop {
	t.Helper()
	clock := sqldbtest.NewClock(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
	s := &shop{db: sqldbtest.New(t, engine, sqldbtest.WithClock(clock)), log: &ledger{}}
	events, accounts := &event.Log{}, account.New(s.db, account.Config{})
	customers := customer.New(s.db, events)
	s.billing, s.sandbox = billing.New(s.db, events, customers), sandbox.New(s.db)
	s.payments = payment.New(s.db, accounts, s.billing, secret.NewBox(secret.NewKey()), payment.Options{
		Providers: []payment.Provider{s.sandbox.Provider()}, PublicURL: "https://carteira.example.com",
	})
	mux := http.NewServeMux()
	callback.Register(mux, s.payments)
	served := httptest.NewServer(web.Observe(mux, slog.New(slog.NewTextHandler(s.log, nil)), web.NewMetrics(prometheus.NewRegistry())))
	t.Cleanup(served.Close)
	s.url = served.URL
	company, _, err := accounts.CreateCompany(t.Context(), account.ReadNewCompany(values("name", "Rede Clara", "email", "paula@example.com")))
	must(t, err)
	s.actor = account.System(company, "test")
	_, err = catalog.New(s.db).CreatePlan(t.Context(), s.actor, values("name", "Fibra 300", "value", "35.00", "period", "1month"))
	must(t, err)
	_, err = customers.Create(t.Context(), s.actor, customer.ReadNew(values("name", "Ana Lima", "plan_id", "1", "data_de_vencimento", "2026-02-05")))
	must(t, err)
	_, err = s.payments.ConfigureGateway(t.Context(), s.actor, values("provider", "sandbox"))
	must(t, err)
	return s
}

func values(pairs ...string) *input.Form {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return input.FromStrings(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCallbackOfTheSandboxSettles(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := open(t, engine)
		p, err := s.payments.Charge(t.Context(), s.actor, 1, "")
		must(t, err)
		reference, err := sqldb.Value[string](t.Context(), s.db, `SELECT reference FROM sandbox_charges WHERE pix_code = ?`, p.PixCode)
		must(t, err)
		_, err = s.sandbox.Pay(t.Context(), reference)
		must(t, err)
		call, err := s.sandbox.Callback(t.Context(), reference)
		must(t, err)
		u, err := s.payments.Gateway(t.Context(), s.actor)
		must(t, err)
		post := func(address string, body []byte, header http.Header) int {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(string(body)))
			must(t, err)
			req.Header = header
			resp, err := http.DefaultClient.Do(req)
			must(t, err)
			defer resp.Body.Close()
			return resp.StatusCode
		}
		address, err := url.Parse(u.CallbackURL)
		must(t, err)
		at := s.url + address.Path
		for name, c := range map[string]struct {
			address string
			body    []byte
			header  http.Header
			want    int
		}{
			"forged":        {at, call.Body, http.Header{"X-Sandbox-Signature": {"00"}}, 401},
			"another body":  {at, append([]byte(" "), call.Body...), call.Header, 401},
			"guessed key":   {s.url + "/gateways/sandbox/guess", call.Body, call.Header, 404},
			"other gateway": {strings.Replace(at, "/sandbox/", "/bank/", 1), call.Body, call.Header, 404},
			"too large":     {at, make([]byte, 257<<10), call.Header, 413},
		} {
			if got := post(c.address, c.body, c.header); got != c.want {
				t.Errorf("%s: %d, want %d", name, got, c.want)
			}
		}
		for range 3 {
			if got := post(at, call.Body, call.Header); got != 200 {
				t.Errorf("genuine: %d", got)
			}
		}
		if got := post(at+"/pix", call.Body, call.Header); got != 200 {
			t.Errorf("with what Efí appends: %d", got)
		}
		_, err = s.payments.Reconcile(t.Context())
		must(t, err)
		if i, err := s.billing.Find(t.Context(), s.actor, 1); err != nil || i.Status != billing.Paid {
			t.Errorf("%s, %v", i.Status, err)
		}
		if strings.Contains(s.log.String(), address.Path[strings.LastIndexByte(address.Path, '/')+1:]) {
			t.Errorf("the key of the callback is in the log:\n%s", s.log)
		}
	})
}
