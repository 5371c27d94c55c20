package checkout_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/internal/web/checkout"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/worldtest"
)

// signupWorld is a company with a plan, and its signup page.
type signupWorld struct {
	t         *testing.T
	url       string
	path      string
	resellers *reseller.Service
	seller    account.Actor
	plan      reseller.Plan
	from      string // where requests come from
}

func newSignupWorld(t *testing.T, engine sqldb.Engine, plan map[string]string) *signupWorld {
	t.Helper()
	base := worldtest.New(t, engine, "name", `Rede <b>"Clara"`, "email", "paula@example.com")
	world := &signupWorld{t: t, resellers: reseller.New(base.DB, base.Accounts, ""), seller: base.Actor, from: "203.0.113.9:4711"}
	fields := map[string]string{"name": "Revenda", "value": "49.90", "credits": "1"}
	maps.Copy(fields, plan)
	var err error
	world.plan, err = world.resellers.CreatePlan(t.Context(), world.seller, reseller.ReadNewPlan(input.FromStrings(fields)))
	housetest.Must(t, err)
	mux := http.NewServeMux()
	checkout.RegisterSignup(mux, world.resellers)
	served := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = world.from
		mux.ServeHTTP(rw, r)
	}))
	t.Cleanup(served.Close)
	world.url, world.path = served.URL, world.resellers.SignupLink(world.plan)
	return world
}

// visit sends a request, a form when there are fields, and returns status,
// where it leads and the page.
func (w *signupWorld) visit(path, fields string, header ...string) (status int, to, body string) {
	w.t.Helper()
	method := http.MethodGet
	if fields != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(fields))
	housetest.Must(w.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	housetest.Must(w.t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	housetest.Must(w.t, err)
	return resp.StatusCode, resp.Header.Get("Location"), string(page)
}

func (w *signupWorld) wantResellers(want int64) {
	w.t.Helper()
	if _, n, err := w.resellers.List(w.t.Context(), w.seller, reseller.Filter{}, input.Page{Number: 1, Size: 1}); err != nil || n != want {
		w.t.Errorf("%d resellers, %v; want %d", n, err, want)
	}
}

func wantTexts(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%q is not in\n%s", text, page)
		}
	}
}

func TestSignupPageMakesAnAccount(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		world := newSignupWorld(t, engine, map[string]string{"trial_days": "10"})
		status, _, page := world.visit(world.path, "")
		if status != 200 || strings.Contains(page, `<b>"Clara"`) {
			t.Errorf("%d", status)
		}
		wantTexts(t, page, "Crie sua conta", "Revenda", "10 dias", "R$ 49,90 por mês", "Rede &lt;b&gt;&#34;Clara&#34; convida")
		_, _, english := world.visit(world.path, "", "Accept-Language", "en")
		wantTexts(t, english, "Create your account", "10 days", "R$ 49,90 a month")

		form := url.Values{"name": {"Loja da Lia"}, "email": {"lia@example.com"}, "whatsapp": {"(11) 98765-4321"}, "password": {"correct horse"}}.Encode()
		status, to, _ := world.visit(world.path, form)
		if status != 303 || to != world.path+"?done" {
			t.Fatalf("%d to %q", status, to)
		}
		_, _, page = world.visit(to, "")
		wantTexts(t, page, "Sua conta está pronta", "por 10 dias")
		world.wantResellers(1)

		status, again, page := world.visit(world.path, form)
		if status != 303 || again != to || strings.Contains(page, "correct horse") {
			t.Errorf("a known address is answered otherwise: %d to %q", status, again)
		}
		_, _, page = world.visit(again, "")
		wantTexts(t, page, "Sua conta está pronta", "entre com a senha que tinha")
		_, _, page = world.visit(world.path, "name=&email=x&password=short&whatsapp=12")
		wantTexts(t, page, "é obrigatório", "deve ser um e-mail válido", "deve ter pelo menos 8 caracteres", "deve ter 10 ou 11 dígitos com o DDD", `value="12"`)
		world.wantResellers(1)
	})
}

func TestSignupPageIsClosedWithItsLink(t *testing.T) {
	world := newSignupWorld(t, sqldb.SQLite, nil)
	_, err := world.resellers.RenewSignupLink(t.Context(), world.seller, world.plan.ID)
	housetest.Must(t, err)
	for _, fields := range []string{"", "name=Lia&email=lia@example.com&password=correct+horse"} {
		for _, path := range []string{world.path, "/signup/nothing", world.path + "?done"} {
			status, _, page := world.visit(path, fields)
			if status != 404 {
				t.Errorf("%s with %q: %d", path, fields, status)
			}
			wantTexts(t, page, "Este link está incompleto ou não existe mais")
		}
	}
	world.wantResellers(0)
}

func TestProgramsThatFillInEverythingMakeNothing(t *testing.T) {
	world := newSignupWorld(t, sqldb.SQLite, nil)
	status, to, _ := world.visit(world.path, "name=Bot&email=bot@example.com&password=correct+horse&website=https://spam.example.com")
	if status != 303 || to != world.path+"?done" {
		t.Errorf("%d to %q", status, to)
	}
	if status, _, _ = world.visit(world.path, "name=Bot&email=bot@example.com&password=correct+horse", "Sec-Fetch-Site", "cross-site"); status != 403 {
		t.Errorf("a form on another site: %d", status)
	}
	if status, _, _ = world.visit(world.path, "name="+strings.Repeat("x", 1<<20)); status != 422 {
		t.Errorf("a huge form: %d", status)
	}
	world.wantResellers(0)
}

func TestSignupsAreLimitedByAddress(t *testing.T) {
	world := newSignupWorld(t, sqldb.SQLite, nil)
	try := func(from string) int {
		world.from = from
		status, _, page := world.visit(world.path, "name=Lia&email=paula@example.com&password=correct+horse") // with a taken address
		if status == 429 {
			wantTexts(t, page, "tentativas demais deste endereço", `value="Lia"`)
		}
		return status
	}
	for i := range 20 {
		if status := try(fmt.Sprintf("[2001:db8:1:2::%x]:443", i)); status != 303 {
			t.Fatalf("attempt %d: %d", i+1, status)
		}
	}
	for from, want := range map[string]int{"[2001:db8:1:2:ffff::1]:99": 429, "[2001:db8:1:3::1]:99": 303, "203.0.113.9": 303, "[::ffff:203.0.113.9]:1": 303} {
		if status := try(from); status != want {
			t.Errorf("from %s: %d, want %d", from, status, want)
		}
	}
}

func TestPriceIsToldInWords(t *testing.T) {
	for period, want := range map[string]string{
		"1day": "R$ 49,90 por dia", "3days": "R$ 49,90 a cada 3 dias", "1week": "R$ 49,90 por semana", "2weeks": "R$ 49,90 a cada 2 semanas",
		"6months": "R$ 49,90 a cada 6 meses", "1year": "R$ 49,90 por ano", "2years": "R$ 49,90 a cada 2 anos",
	} {
		world := newSignupWorld(t, sqldb.SQLite, map[string]string{"period": period, "trial_days": "1"})
		_, _, page := world.visit(world.path, "")
		wantTexts(t, page, want, "1 dia")
	}
	free := newSignupWorld(t, sqldb.SQLite, map[string]string{"value": "0"})
	if _, _, page := free.visit(free.path, ""); strings.Contains(page, "Depois") {
		t.Error("a plan that costs nothing has a price")
	}
}
