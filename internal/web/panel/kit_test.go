package panel

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
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
	"carteira/internal/customer/intake"
	"carteira/internal/dashboard"
	"carteira/internal/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/privacy"
	"carteira/internal/reseller"
	"carteira/internal/web"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
	"carteira/internal/webhook"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var values = housetest.Form

// noon is the morning of 31 January 2026 in São Paulo.
var noon = housetest.Morning

const password = "correct horse"

// office is the panel, served.
type office struct {
	*Server
	clock *sqldbtest.Clock
	url   string
	bank  *testBank
	mails *[]account.Mail // that were sent
}

func newOffice(t *testing.T, engine sqldb.Engine) *office {
	t.Helper()
	clock := sqldbtest.NewClock(noon)
	db := sqldbtest.New(t, engine, sqldbtest.WithClock(clock))
	events, box, mails := &event.Log{}, secret.NewBox(secret.NewKey()), &[]account.Mail{}
	accounts, customers := account.New(db, account.Config{
		Box: box, PublicURL: "https://carteira.example", Mailer: func(_ context.Context, mail account.Mail) error {
			*mails = append(*mails, mail)
			return nil
		},
	}), customer.New(db, events)
	gate := outbound.NewGate([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nil)
	caller := outbound.NewClient(gate, outbound.Options{RootCAs: testCAs(), UserAgent: "Carteira/1.0"})
	invoices, bank := billing.New(db, events, customers), &testBank{}
	payments, reminders := bank.payments(db, invoices, box), newReminders(db, box, accounts, customers)
	webhooks := webhook.New(db, events, box, gate, caller, webhook.Options{PerCompany: 2, Delays: []time.Duration{0}})
	server := New(kit.Deps{
		Privacy: privacy.New(db, accounts, customers, invoices, payments, reminders, webhooks),
		DB:      db, Accounts: accounts, Catalog: catalog.New(db), Customers: customers, Intake: intake.New(db, customers), Billing: invoices,
		Payments:  payments,
		Reminders: reminders,
		Dashboard: dashboard.New(db), Resellers: reseller.New(db, accounts, "https://carteira.example"), PublicURL: "https://carteira.example",
		Webhooks: webhooks,
		Sandbox:  sandboxOf(t, db),
	})
	server.Pages = pages()
	mux := http.NewServeMux()
	page.Register(mux)
	mux.HandleFunc("POST /preferences", page.Prefer)
	mux.Handle("/", server)
	served := httptest.NewServer(web.Observe(mux, slog.New(slog.DiscardHandler), web.NewMetrics(prometheus.NewRegistry())))
	t.Cleanup(served.Close)
	return &office{server, clock, served.URL, bank, mails}
}

// pages are parsed once for all offices: each office has a test of its own, which is short.
var pages = sync.OnceValue(func() *page.Set { return New(kit.Deps{}).Pages })

var testCAs = sync.OnceValue(func() *x509.CertPool {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
})

// person is a browser, signed in or not.
type person struct {
	*office
	t     *testing.T
	http  *http.Client
	actor account.Actor
}

func (o *office) visitor(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{o, t, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, account.Actor{}}
}

// owner makes a company and signs its owner in.
func (o *office) owner(t *testing.T, email string) *person {
	t.Helper()
	company, user, err := o.Accounts.CreateCompany(t.Context(), account.ReadNewCompany(values("name", "Rede "+email, "email", email, "password", password, "user_name", "Ana")))
	if err != nil {
		t.Fatal(err)
	}
	person := o.visitor(t)
	person.actor = account.Actor{Company: company, UserID: user.ID, Role: user.Role, Name: user.Name, From: "127.0.0.1"}
	person.signIn(email, password)
	return person
}

// colleague adds a user of a role and signs it in.
func (p *person) colleague(role account.Role) *person {
	p.t.Helper()
	email := fmt.Sprintf("%s%d@example.com", role, p.actor.Company.ID)
	user, link, err := p.Accounts.CreateUser(p.t.Context(), p.actor, account.ReadNewUser(values("name", string(role), "email", email, "role", string(role))))
	if err == nil {
		_, err = p.Accounts.UsePasswordLink(p.t.Context(), link, account.ReadNewPassword(values("password", password)), account.Visitor{})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	other := p.visitor(p.t)
	other.actor = account.Actor{Company: p.actor.Company, UserID: user.ID, Role: role}
	other.signIn(email, password)
	return other
}

func (p *person) signIn(email, password string) {
	p.t.Helper()
	if answer := p.post("/login", "email", email, "password", password); answer.status != http.StatusSeeOther {
		p.t.Fatalf("signed in with %d: %s", answer.status, answer.body)
	}
}

// answer is what a browser got.
type answer struct {
	status   int
	body     string
	location string
	header   http.Header
}

func (p *person) do(r *http.Request) answer {
	p.t.Helper()
	got, err := p.http.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer{got.StatusCode, string(body), got.Header.Get("Location"), got.Header}
}

func (p *person) get(path string) answer {
	p.t.Helper()
	return p.do(p.request(http.MethodGet, path, nil))
}

func (p *person) request(method, path string, body io.Reader) *http.Request {
	p.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, p.url+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// post sends a form of names and values in turn.
func (p *person) post(path string, pairs ...string) answer {
	p.t.Helper()
	form := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		form.Add(pair[0], pair[1])
	}
	r := p.request(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return p.do(r)
}

// follow posts and goes where it leads, with the message that is shown there.
func (p *person) follow(path string, pairs ...string) answer {
	p.t.Helper()
	answer := p.post(path, pairs...)
	if answer.status != http.StatusSeeOther {
		p.t.Fatalf("%s answered %d: %s", path, answer.status, answer.body)
	}
	return p.get(answer.location)
}

func (a answer) want(t *testing.T, status int, texts ...string) answer {
	t.Helper()
	if a.status != status {
		t.Errorf("answered %d, want %d: %.2000s", a.status, status, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%q is not on the page: %s", text, mainOf(a.body))
		}
	}
	return a
}

func (a answer) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Errorf("%q is on the page", text)
		}
	}
}

var mainPart = regexp.MustCompile(`(?s)<main.*</main>`)

func mainOf(body string) string { return mainPart.FindString(body) }

// fill gives a company one of everything, and returns the ids.
func (p *person) fill() map[string]int64 {
	p.t.Helper()
	ctx, actor := p.t.Context(), p.actor
	must := func(err error) {
		p.t.Helper()
		if err != nil {
			p.t.Fatal(err)
		}
	}
	product, err := p.Catalog.CreateProduct(ctx, actor, catalog.ReadNewProduct(values("name", "Fibra")))
	must(err)
	plan, err := p.Catalog.CreatePlan(ctx, actor, catalog.ReadNewPlan(values("name", "Mensal", "value", "35.00", "period", "1month", "product_id", fmt.Sprint(product.ID))))
	must(err)
	record, err := p.Customers.Create(ctx, actor, customer.ReadNew(values("name", "João <Silva>", "plan_id", fmt.Sprint(plan.ID), "data_de_vencimento", "2026-01-31", "whatsapp", "11987654321")))
	must(err)
	invoices, _, err := p.Billing.List(ctx, actor, billing.Filter{}, input.Page{Number: 1, Size: 10})
	must(err)
	token, _, err := p.Accounts.CreateToken(ctx, actor, account.ReadNewToken(values("name", "CRM")))
	must(err)
	hook, _, err := p.Webhooks.Create(ctx, actor, webhook.ReadNew(input.FromForm(map[string][]string{"url": {"https://127.0.0.1:9/x"}, "events": {"invoice.paid"}}, "events")))
	must(err)
	_, _, err = p.Webhooks.Test(ctx, actor, hook.ID)
	must(err)
	deliveries, _, err := p.Webhooks.Deliveries(ctx, actor, hook.ID, webhook.DeliveryFilter{}, input.Page{Number: 1, Size: 10})
	must(err)
	upload, err := p.Intake.SaveUpload(ctx, actor, "clientes.csv", []byte("nome;vencimento\nAna;31/12/2026\n"))
	must(err)
	user, _, err := p.Accounts.CreateUser(ctx, actor, account.ReadNewUser(values("name", "Rui", "email", fmt.Sprintf("rui%d@example.com", actor.Company.ID), "role", "staff")))
	must(err)
	sessions, err := p.Accounts.Sessions(ctx, actor)
	must(err)
	if actor.Company.ParentID == 0 { // others get theirs from above
		_, err = p.Resellers.Grant(ctx, actor, reseller.ReadCreditRequest(values("amount", "100", "note", "<Silva>")))
		must(err)
	}
	subscription, err := p.Resellers.CreatePlan(ctx, actor, reseller.ReadNewPlan(values("name", "Revenda <Silva>", "value", "49.90", "credits", "3")))
	must(err)
	below, err := p.Resellers.Create(ctx, actor, reseller.ReadNewReseller(values("name", "João Revenda <Silva>", "email", fmt.Sprintf("loja%d@example.com", actor.Company.ID),
		"type", "subscriber", "plan_id", fmt.Sprint(subscription.ID))))
	must(err)
	_, err = p.Resellers.Transfer(ctx, actor, below.ID, reseller.ReadCreditRequest(values("amount", "10")))
	must(err)
	view, err := p.Accounts.SaveView(ctx, actor, account.ReadView(values("list", "customers", "view", "João <Silva>", "query", "sort=name")))
	must(err)
	notice := p.sayPaid(invoices[0].ID, []byte("%PDF-1.7"))
	ids := p.fillMessages(record.ID)
	maps.Copy(ids, map[string]int64{
		"payments": p.fillPayments(plan.ID), "resellers": below.ID, "subscription-plans": subscription.ID,
		"received": 1, "products": product.ID, "plans": plan.ID, "customers": record.ID, "invoices": invoices[0].ID, "api": token.ID, "webhooks": hook.ID,
		"deliveries": deliveries[0].ID, "imports": upload.ID, "settings": user.ID, "profile": sessions[0].ID,
		"views": view.ID, "notices": notice.ID,
	})
	return ids
}
