package callback_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web"
	"carteira/internal/web/callback"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/worldtest"
)

// shop is a company with one open invoice and the sandbox for a gateway.
type shop struct {
	*worldtest.World
	billing  *billing.Service
	payments *payment.Service
	sandbox  *sandbox.Sandbox
	url      string
	log      *housetest.Log
}

func open(t *testing.T, engine sqldb.Engine) *shop {
	t.Helper()
	world := worldtest.New(t, engine)
	s := &shop{World: world, billing: billing.New(world.DB, world.Events, world.Customers), sandbox: sandbox.New(world.DB), log: &housetest.Log{}}
	s.payments = payment.New(world.DB, s.billing, secret.NewBox(secret.NewKey()), payment.Options{
		Providers: []payment.Provider{s.sandbox.Provider()}, PublicURL: "https://carteira.example.com",
	})
	mux := http.NewServeMux()
	callback.Register(mux, s.payments)
	log := slog.New(slog.NewTextHandler(s.log, nil))
	served := httptest.NewServer(web.Observe(mux, log, web.NewMetrics(prometheus.NewRegistry())))
	t.Cleanup(served.Close)
	s.url = served.URL
	world.Plan(t, "1month", "35.00")
	world.Customer(t, "plan_id", "1", "data_de_vencimento", "2026-02-05")
	_, err := s.payments.ConfigureGateway(t.Context(), s.Actor, s.payments.ReadGateway(housetest.Form("provider", "sandbox")))
	housetest.Must(t, err)
	return s
}

func TestCallbackOfTheSandboxSettles(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine)
		payable, err := shop.payments.Charge(t.Context(), shop.Actor, 1, "")
		housetest.Must(t, err)
		reference, err := sqldb.Value[string](t.Context(), shop.DB, `SELECT reference FROM sandbox_charges WHERE pix_code = ?`, payable.PixCode)
		housetest.Must(t, err)
		_, err = shop.sandbox.Pay(t.Context(), reference)
		housetest.Must(t, err)
		call, err := shop.sandbox.Callback(t.Context(), reference)
		housetest.Must(t, err)
		setup, err := shop.payments.Gateway(t.Context(), shop.Actor)
		housetest.Must(t, err)
		post := func(address string, body []byte, header http.Header) int {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(string(body)))
			housetest.Must(t, err)
			req.Header = header
			resp, err := http.DefaultClient.Do(req)
			housetest.Must(t, err)
			defer resp.Body.Close()
			return resp.StatusCode
		}
		address, err := url.Parse(setup.CallbackURL)
		housetest.Must(t, err)
		at := shop.url + address.Path
		for name, c := range map[string]struct {
			address string
			body    []byte
			header  http.Header
			want    int
		}{
			"forged":        {at, call.Body, http.Header{"X-Sandbox-Signature": {"00"}}, 401},
			"another body":  {at, append([]byte(" "), call.Body...), call.Header, 401},
			"guessed key":   {shop.url + "/gateways/sandbox/guess", call.Body, call.Header, 404},
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
		_, err = shop.payments.Reconcile(t.Context())
		housetest.Must(t, err)
		if invoice, err := shop.billing.Find(t.Context(), shop.Actor, 1); err != nil || invoice.Status != billing.Paid {
			t.Errorf("%s, %v", invoice.Status, err)
		}
		if strings.Contains(shop.log.String(), address.Path[strings.LastIndexByte(address.Path, '/')+1:]) {
			t.Errorf("the key of the callback is in the log:\n%s", shop.log)
		}
	})
}
