package checkout_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/web"
	"carteira/internal/web/checkout"
	"carteira/internal/web/page"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/worldtest"
)

// shop is a company with customers that pay on the page.
type shop struct {
	*worldtest.World
	billing   *billing.Service
	payments  *payment.Service
	reminders *reminder.Service
	sandbox   *sandbox.Sandbox
	bank      *bank
	invoice   billing.Invoice
	url       string
	log       *housetest.Log
}

// bank is a gateway that can be switched off.
type bank struct {
	payment.Gateway
	broken  bool
	refusal string
	asked   int
}

func (b *bank) Create(_ context.Context, order payment.Order) (payment.Charge, error) {
	if b.refusal != "" {
		return payment.Charge{}, &payment.Refusal{Reason: b.refusal}
	}
	if b.asked++; b.broken {
		return payment.Charge{}, errors.New("wires were cut")
	}
	return payment.Charge{ID: order.Reference, PixCode: "code<b>" + order.Reference, ExpiresAt: order.ExpiresAt}, nil
}

func open(t *testing.T, engine sqldb.Engine, gateway ...string) *shop {
	t.Helper()
	world := worldtest.New(t, engine, "name", "Rede <Clara> & Filhos")
	s := &shop{World: world, bank: &bank{}, log: &housetest.Log{}}
	s.billing, s.sandbox = billing.New(world.DB, world.Events, world.Customers), sandbox.New(world.DB)
	mux := http.NewServeMux()
	log := slog.New(slog.NewTextHandler(s.log, nil))
	served := httptest.NewServer(web.Observe(mux, log, web.NewMetrics(prometheus.NewRegistry())))
	t.Cleanup(served.Close)
	s.url = served.URL
	s.payments = payment.New(world.DB, s.billing, secret.NewBox(secret.NewKey()), payment.Options{
		Providers: []payment.Provider{s.sandbox.Provider(), {
			Name: "bank", Title: "Banco", Flow: payment.FlowPix,
			Open: func(map[string]string, payment.Env) (payment.Gateway, error) { return s.bank, nil },
		}, {
			Name: "hand", Title: "Chave", Flow: payment.FlowPix, Manual: true,
			Open: func(map[string]string, payment.Env) (payment.Gateway, error) { return s.bank, nil },
		}},
		PublicURL: s.url,
		Simulate: map[string]func(context.Context, string) error{sandbox.Name: func(ctx context.Context, id string) error {
			_, err := s.sandbox.Pay(ctx, id)
			return err
		}},
		SimulatePayer: map[string]func(context.Context, string, string) error{sandbox.Name: s.sandbox.ActNamed},
	})
	gate := outbound.NewGate(nil, nil)
	s.reminders = reminder.New(world.DB, secret.NewBox(secret.NewKey()), world.Accounts, world.Customers, reminder.Options{
		Env: reminder.Env{Gate: gate, WebhookGate: gate, Log: log}, PublicURL: s.url,
	})
	checkout.Register(mux, s.payments, s.DB.Now)
	checkout.RegisterOwn(mux, s.payments, s.reminders, s.DB.Now)
	checkout.RegisterOptOut(mux, s.reminders)
	checkout.RegisterBrand(mux, world.Accounts)
	page.Register(mux)
	world.Plan(t, "1month", "1234.56", "name", "Fibra 300")
	world.Customer(t, "plan_id", "1", "data_de_vencimento", "2026-02-05")
	var err error
	s.invoice, err = s.billing.Find(t.Context(), world.Actor, 1)
	housetest.Must(t, err)
	if len(gateway) > 0 {
		_, err := s.payments.ConfigureGateway(t.Context(), s.Actor, s.payments.ReadGateway(housetest.Form(gateway...)))
		housetest.Must(t, err)
	}
	return s
}

func (s *shop) link(t *testing.T) string {
	t.Helper()
	link, err := s.payments.PaymentLink(t.Context(), s.Actor, s.invoice.ID)
	housetest.Must(t, err)
	return link.URL
}

type answer struct {
	status int
	header http.Header
	body   string
	at     string
}

func (s *shop) get(t *testing.T, address string, header ...string) answer {
	t.Helper()
	return s.do(t, http.MethodGet, address, header...)
}

func (s *shop) do(t *testing.T, method, address string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(""))
	housetest.Must(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.send(t, req)
}

func (s *shop) send(t *testing.T, req *http.Request) answer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	housetest.Must(t, err)
	resp, err := (&http.Client{Jar: jar}).Do(req)
	housetest.Must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	housetest.Must(t, err)
	return answer{resp.StatusCode, resp.Header, string(body), resp.Request.URL.Path}
}

func (a answer) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func (a answer) want(t *testing.T, status int, texts ...string) answer {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d", a.status, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("the page lacks %q:\n%s", text, a.body)
		}
	}
	return a
}

func (s *shop) status(t *testing.T, status billing.Status) {
	t.Helper()
	_, err := s.billing.SetStatus(t.Context(), s.Actor, s.invoice.ID, billing.ReadStatusChange(housetest.Form("status", status.String())))
	housetest.Must(t, err)
}

func TestPageShowsWhatIsOwedAndTheCode(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		link := shop.link(t)
		answer := shop.get(t, link)
		answer.want(t, 200, "R$\u00a01.234,56", "Rede &lt;Clara&gt; &amp; Filhos", "Fibra 300", "Ana Lima", "05/02/2026", "code&lt;b&gt;", "Copiar código PIX",
			"Válido até 01/02/2026 09:00", `/qr.png?open-`, `lang="pt-BR"`, `<noscript><meta http-equiv="refresh" content="30"></noscript>`, "Este código expirou")
		if strings.Contains(answer.body, "simulate") || strings.Contains(answer.body, "<b>") {
			t.Error("a real gateway has a button that pretends, or text is not escaped")
		}
		shop.get(t, link, "Accept-Language", "en-GB,en;q=0.9,pt;q=0.1").want(t, 200, "Copy the PIX code", `lang="en"`)
		if shop.bank.asked != 1 {
			t.Errorf("two visits asked the gateway %d times", shop.bank.asked)
		}
		picture := shop.get(t, link+"/qr.png")
		if picture.status != 200 || picture.header.Get("Content-Type") != "image/png" || !strings.HasPrefix(picture.body, "\x89PNG") {
			t.Errorf("QR code: %d %v", picture.status, picture.header)
		}
	})
}

func TestPageSaysHowTheAmountComesAbout(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "sandbox")
		shop.get(t, shop.link(t)).want(t, 200, "R$\u00a01.234,56").lacks(t, "Multa", "Desconto", "Valor da fatura")
		_, err := shop.Accounts.SetCompany(t.Context(), shop.Actor, account.ReadCompanyDraft(housetest.Form(
			"late_fee_percent", "2", "late_interest_percent", "1", "discount_amount", "34.56")))
		housetest.Must(t, err)
		shop.get(t, shop.link(t)).want(t, 200, "<p class=\"amount\">R$\u00a01.200,00</p>", "Valor da fatura", "−R$\u00a034,56").lacks(t, "Multa")
		_, err = shop.billing.SetStatus(t.Context(), shop.Actor, shop.invoice.ID, billing.ReadStatusChange(housetest.Form(
			"status", "Pago", "amount", "1000.00", "difference", "partial")))
		housetest.Must(t, err)
		shop.get(t, shop.link(t)).want(t, 200, "<p class=\"amount\">R$\u00a0200,00</p>", "Já pago", "−R$\u00a01.000,00")
		shop.Clock.Set(time.Date(2026, 2, 15, 15, 0, 0, 0, time.UTC)) // ten days late: 24.69 and 4.12
		shop.get(t, shop.link(t)).want(t, 200, "<p class=\"amount\">R$\u00a0263,37</p>", "Multa por atraso", "R$\u00a024,69", "Juros de mora", "R$\u00a04,12").lacks(t, "Desconto")
		housetest.Must(t, shop.payments.Simulate(t.Context(), shop.link(t)[len(shop.url+"/pay/"):]))
		shop.get(t, shop.link(t)).want(t, 200, "Pagamento recebido", "<p class=\"amount\">R$\u00a01.263,37</p>", "R$\u00a024,69").lacks(t, "Já pago")
	})
}

// A page loads nothing from elsewhere, and has nothing in it that the policy
// would have to allow by name.
func TestPageAsksNobodyElse(t *testing.T) {
	shop := open(t, sqldb.SQLite, "provider", "sandbox")
	answer := shop.get(t, shop.link(t))
	policy := answer.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("policy %q", policy)
	}
	for _, found := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(answer.body, -1) {
		if !strings.HasPrefix(found[1], "/") || strings.HasPrefix(found[1], "//") {
			t.Errorf("the page leads to %s", found[1])
		}
	}
	if inline := regexp.MustCompile(`<script>|<style|style="|onclick`).FindString(answer.body); inline != "" {
		t.Errorf("the page has %s", inline)
	}
	for _, found := range regexp.MustCompile(`(?:src|href)="(/static/[^"]*)"`).FindAllStringSubmatch(answer.body, -1) {
		if got := shop.get(t, shop.url+found[1]); got.status != 200 {
			t.Errorf("%s: %d", found[1], got.status)
		}
	}
	if strings.Contains(shop.log.String(), shop.link(t)[len(shop.url)+len("/pay/"):]) {
		t.Errorf("the code of a page is in the log:\n%s", shop.log)
	}
}

func TestPageOfEveryOutcome(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine)
		link := shop.link(t)
		wantState := func(want string) {
			t.Helper()
			if answer := shop.get(t, link+"/state"); answer.status != 200 || !strings.HasPrefix(answer.body, `{"success":true,"data":{"state":"`+want) {
				t.Errorf("state %d %s, want %s", answer.status, answer.body, want)
			}
		}
		shop.get(t, link).want(t, 200, "O pagamento on-line não está disponível", "Pergunte a Rede &lt;Clara&gt;")
		wantState("none")
		shop.get(t, link+"/qr.png").want(t, 404)
		_, err := shop.payments.ConfigureGateway(t.Context(), shop.Actor, shop.payments.ReadGateway(housetest.Form("provider", "hand")))
		housetest.Must(t, err)
		shop.get(t, link).want(t, 200, "confirma o pagamento quando ele chegar")
		wantState("open-")
		shop.Clock.Advance(25 * time.Hour)
		wantState("expired")
		shop.status(t, billing.Cancelled)
		shop.get(t, link).want(t, 200, "Esta fatura foi cancelada")
		wantState("cancelled")
		shop.status(t, billing.Open)
		shop.status(t, billing.Paid)
		shop.get(t, link).want(t, 200, "Pagamento recebido", "Pago em 01/02/2026 10:00")
		wantState("paid")
		shop.get(t, shop.url+"/pay/guess").want(t, 404, "Esta página não existe")
		shop.get(t, shop.url+"/pay/guess/state").want(t, 404)
		shop.get(t, shop.url+"/pay/guess/qr.png").want(t, 404)
		shop.get(t, link+"/sandbox").want(t, 404)
	})
}

func TestGatewayThatFailsCanBeTriedAgainButNotHammered(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		shop.bank.broken = true
		link := shop.link(t)
		for range 5 {
			answer := shop.get(t, link)
			answer.want(t, 502, "O serviço de pagamento não respondeu", "Nada foi cobrado", "Tentar de novo")
			if strings.Contains(answer.body, "wires") {
				t.Error("the page tells the cause")
			}
		}
		if shop.bank.asked != 1 {
			t.Errorf("five visits asked the gateway %d times", shop.bank.asked)
		}
		shop.bank.broken = false
		shop.Clock.Advance(11 * time.Second)
		shop.get(t, link).want(t, 200, "Copiar código PIX")
	})
}

func TestRefusedInvoiceSaysWhomToAskAndDoesNotLoop(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		shop.bank.refusal = "the payer has no e-mail"
		link := shop.link(t)
		for range 2 {
			answer := shop.get(t, link)
			answer.want(t, 502, "Não foi possível gerar o PIX", "Nada foi cobrado")
			for _, text := range []string{"no e-mail", "não respondeu", `id="retry"`, `http-equiv="refresh"`} {
				if strings.Contains(answer.body, text) {
					t.Errorf("%q is on the page", text)
				}
			}
		}
	})
}

func TestSandboxIsPaidWithAPlainForm(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "sandbox")
		link := shop.link(t)
		shop.get(t, link).want(t, 200, "Simulação", "nenhum valor é cobrado", `method="post" action="`+strings.TrimPrefix(link, shop.url)+`/simulate"`)
		if answer := shop.do(t, http.MethodPost, link+"/simulate", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); answer.status != 403 {
			t.Errorf("another site pressed the button: %d", answer.status)
		}
		if invoice, err := shop.billing.Find(t.Context(), shop.Actor, 1); err != nil || invoice.Status != billing.Open {
			t.Fatalf("%s, %v", invoice.Status, err)
		}
		answer := shop.do(t, http.MethodPost, link+"/simulate", "Sec-Fetch-Site", "same-origin")
		answer.want(t, 200, "Pagamento recebido")
		shop.do(t, http.MethodPost, link+"/simulate", "Sec-Fetch-Site", "same-origin").want(t, 200, "Pagamento recebido")
		if invoice, err := shop.billing.Find(t.Context(), shop.Actor, 1); err != nil || invoice.Status != billing.Paid || invoice.PaidVia != "sandbox" {
			t.Errorf("%s via %s, %v", invoice.Status, invoice.PaidVia, err)
		}
	})
}

func TestSandboxThatRedirectsHasAPageOfItsOwn(t *testing.T) {
	shop := open(t, sqldb.SQLite, "provider", "sandbox", "flow", "redirect")
	link := shop.link(t)
	answer := shop.get(t, link)
	answer.want(t, 200, `id="go" href="`+link+`/sandbox"`, "Ir para a página de pagamento")
	if strings.Contains(answer.body, "/simulate") {
		t.Error("the page itself simulates")
	}
	shop.get(t, link+"/sandbox").want(t, 200, "Pagamento simulado", "/simulate")
	shop.do(t, http.MethodPost, link+"/simulate", "Sec-Fetch-Site", "same-origin").want(t, 200, "Pagamento recebido")
	if answer := shop.get(t, link+"/sandbox"); answer.at != strings.TrimPrefix(link, shop.url) {
		t.Errorf("the simulator of what is paid stays at %s", answer.at)
	}
}

func TestRealPaymentsCannotBeSimulated(t *testing.T) {
	shop := open(t, sqldb.SQLite, "provider", "bank")
	link := shop.link(t)
	shop.get(t, link).want(t, 200)
	shop.do(t, http.MethodPost, link+"/simulate", "Sec-Fetch-Site", "same-origin").want(t, 403)
	if invoice, err := shop.billing.Find(t.Context(), shop.Actor, 1); err != nil || invoice.Status != billing.Open {
		t.Errorf("%s, %v", invoice.Status, err)
	}
}

// A plan without payments makes no charge through the payer's page either; what
// was charged before it lost them can still be paid.
func TestPlanWithoutPaymentsMakesNoCharge(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		link := shop.link(t)
		shop.give(t, account.FunctionsOf(account.FunctionAPI))
		answer := shop.get(t, link)
		if answer.status != http.StatusOK || shop.bank.asked != 0 || strings.Contains(answer.body, "code&lt;b&gt;") {
			t.Errorf("answered %d after %d calls to the gateway", answer.status, shop.bank.asked)
		}
		if _, err := shop.payments.Charge(t.Context(), shop.Actor, shop.invoice.ID, ""); fault.KindOf(err) != fault.KindForbidden || shop.bank.asked != 0 {
			t.Errorf("charged all the same: %v", err)
		}
		shop.give(t, account.FunctionsOf(account.FunctionPayments))
		shop.get(t, link)
		shop.give(t, 0)
		if answer := shop.get(t, link); shop.bank.asked != 1 || !strings.Contains(answer.body, "code&lt;b&gt;") {
			t.Errorf("a live charge is not shown, after %d calls", shop.bank.asked)
		}
	})
}

// give sets the functions of the company.
func (s *shop) give(t *testing.T, functions account.Functions) {
	t.Helper()
	housetest.Must(t, s.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE companies SET functions = ? WHERE id = ?`, functions.String(), s.Actor.Company.ID)
		return err
	}))
	s.Actor.Company.Subscription.Functions = functions
}
