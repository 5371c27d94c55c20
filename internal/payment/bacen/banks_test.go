package bacen_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/payment/bacen"
	"carteira/internal/platform/fault"
	"carteira/test/kit/gatewaytest"
)

// manners are what a bank's documents say of it, written down a second time.
type manners struct {
	base, token string
	proves      func(*http.Request) bool
	sees        func(*http.Request) bool // of every call but that for a token
	options     []string
}

func provesByJSON(r *http.Request) bool {
	return provesByBasic(r) && r.Header.Get("Content-Type") == "application/json" && body(r)["grant_type"] == "client_credentials"
}

func provesByBasicForm(r *http.Request) bool {
	return provesByBasic(r) && r.PostFormValue("grant_type") == "client_credentials" && r.PostFormValue("client_id") == ""
}

func provesByForm(r *http.Request) bool {
	_, _, basic := r.BasicAuth()
	return !basic && r.PostFormValue("client_id") == clientID && r.PostFormValue("client_secret") == clientSecret &&
		r.FormValue("grant_type") == "client_credentials"
}

func provesByCertificate(r *http.Request) bool {
	_, _, basic := r.BasicAuth()
	return !basic && r.PostFormValue("client_id") == clientID && !r.PostForm.Has("client_secret") && asks(r)
}

// asks wants the scopes that our calls need.
func asks(r *http.Request) bool {
	scopes := strings.Fields(r.PostFormValue("scope"))
	return slices.Contains(scopes, "cob.write") && slices.Contains(scopes, "webhook.read")
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

var banks = map[string]manners{
	"efi":      {base: "/v2", token: "/oauth/token", proves: provesByJSON},
	"bradesco": {base: "/v2", token: "/auth/server/oauth/token", proves: provesByBasicForm},
	"sicredi":  {base: "/api/v2", token: "/oauth/token", proves: func(r *http.Request) bool { return provesByBasicForm(r) && asks(r) }},
	"c6":       {base: "/v2/pix", token: "/v1/auth", proves: provesByForm},
	"banrisul": {
		base: "/pix/api-mtls", token: "/auth/oauth/v2/token",
		proves: func(r *http.Request) bool { return provesByForm(r) && asks(r) },
	},
	"pagbank": {base: "/instant-payments", token: "/pix/oauth2", proves: provesByJSON},
	"bb": {
		base: "/pix/v2", token: "/oauth/token", options: []string{"app_key", "d27b"},
		proves: func(r *http.Request) bool { return provesByBasicForm(r) && asks(r) },
		sees:   func(r *http.Request) bool { return r.URL.Query().Get("gw-dev-app-key") == "d27b" },
	},
	"inter": {
		base: "/pix/v2", token: "/oauth/v2/token", options: []string{"account", "1234567"},
		proves: func(r *http.Request) bool { return provesByForm(r) && asks(r) },
		sees:   func(r *http.Request) bool { return r.Header.Get("x-conta-corrente") == "1234567" },
	},
	"itau": {
		base: "/pix_recebimentos/v2", token: "/api/oauth/token", options: []string{"environment", "production"},
		proves: provesByForm,
		sees: func(r *http.Request) bool {
			return r.Header.Get("x-itau-apikey") == clientID && uuid.MatchString(r.Header.Get("x-itau-correlationID"))
		},
	},
	"santander": {
		base: "/api/v1", token: "/oauth/token",
		proves: func(r *http.Request) bool {
			return provesByForm(r) && r.URL.Query().Get("grant_type") == "client_credentials" && !r.PostForm.Has("grant_type")
		},
	},
	"sicoob": {
		base: "/pix/api/v2", token: "/auth/realms/cooperado/protocol/openid-connect/token",
		options: []string{"environment", "production", "client_secret", ""},
		proves:  provesByCertificate,
		sees:    func(r *http.Request) bool { return r.Header.Get("client_id") == clientID },
	},
}

func TestEveryBankIsSpokenToInItsOwnManner(t *testing.T) {
	known := bacen.Provider(bacen.Settings{}).Options[0].Choices
	if len(known) != len(banks)+1 {
		t.Errorf("%d banks are in the table, and %d here", len(known)-1, len(banks))
	}
	for name, bank := range banks {
		t.Run(name, func(t *testing.T) {
			double := newDouble(bank.base)
			double.path, double.proves = bank.token, bank.proves
			line := newLine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != bank.token && bank.sees != nil && !bank.sees(r) {
					t.Errorf("%s %s lacks what the bank wants", r.Method, r.URL)
				}
				guard(t, double, bank.base).ServeHTTP(w, r)
			}))
			gateway := gatewaytest.Open(t, bacen.Provider(bacen.Settings{Server: line.URL}), gatewaytest.Env(line),
				options(t, append([]string{"bank", name}, bank.options...)...))
			if err := gateway.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			order := gatewaytest.Order(1, 35_00)
			if charge, err := gateway.Create(t.Context(), order); err != nil || charge.PixCode != codeOf(order.Reference) {
				t.Errorf("made %+v, %v", charge, err)
			}
			if err := gateway.(payment.Registrar).Register(t.Context()); err != nil || double.webhook == "" {
				t.Errorf("registered %q, %v", double.webhook, err)
			}
		})
	}
}

func TestOtherBankIsReachedWhereItsCompanySaysAndTheOperatorAllows(t *testing.T) {
	double := newDouble("/pix/v9")
	double.path, double.proves = "/token", provesByForm
	line := newLine(t, guard(t, double, "/pix/v9"))
	host := strings.TrimPrefix(line.URL, "https://")
	given := func(change ...string) map[string]string {
		return options(t, append([]string{
			"bank", "other", "base_url", line.URL + "/pix/v9/", "token_url", line.URL + "/token", "grant", "form",
		}, change...)...)
	}
	gateway := gatewaytest.Open(t, bacen.Provider(bacen.Settings{Hosts: []string{host}}), gatewaytest.Env(line), given())
	if err := gateway.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := gateway.Create(t.Context(), gatewaytest.Order(1, 1_00)); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		hosts []string
		given map[string]string
		field string
	}{
		"a server nobody allowed": {nil, given(), "base_url"},
		"no token address":        {[]string{host}, given("token_url", ""), "token_url"},
		"no base address":         {[]string{host}, given("base_url", ""), "base_url"},
		"plain http":              {[]string{host}, given("base_url", "http://"+host), "base_url"},
		"a password in it":        {[]string{host}, given("base_url", "https://a:b@"+host), "base_url"},
		"parameters in it":        {[]string{host}, given("token_url", line.URL+"/token?x=1"), "token_url"},
		"a port nobody allowed":   {[]string{"127.0.0.1"}, given(), "token_url"},
	} {
		_, err := bacen.Provider(bacen.Settings{Hosts: test.hosts}).Open(test.given, gatewaytest.Env(line))
		if fields := fault.FieldsOf(err); len(fields.Get(test.field)) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A bank may move a version without us, but not to another server.
func TestAddressOfAKnownBankMayChangeOnItsOwnServers(t *testing.T) {
	provider := bacen.Provider(bacen.Settings{})
	env := gatewaytest.Env(nil)
	env.Client = http.DefaultClient
	_, err := provider.Open(options(t, "bank", "sicredi", "base_url", "https://api-pix.sicredi.com.br/api/v3"), env)
	if err != nil {
		t.Error(err)
	}
	_, err = provider.Open(options(t, "bank", "sicredi", "base_url", "https://sicredi.example.com/api/v3"), env)
	if fields := fault.FieldsOf(err); len(fields.Get("base_url")) != 1 {
		t.Error(err)
	}
	_, err = provider.Open(options(t, "bank", "itau", "environment", "sandbox"), env)
	if fields := fault.FieldsOf(err); len(fields.Get("environment")) != 1 {
		t.Error(err)
	}
}

// The document lets banks leave the code out; the charge's address makes one.
func TestCodeIsMadeFromTheAddressWhereTheBankTellsNone(t *testing.T) {
	double := newDouble("/api/v2")
	double.apart = true
	line := newLine(t, guard(t, double, "/api/v2"))
	b := benchOf(t, bacen.Provider(bacen.Settings{Server: line.URL}), line, double, "bank", "sicredi")
	order := gatewaytest.Order(1, 35_00)
	charge, err := b.Gateway.Create(t.Context(), order)
	if err != nil || !strings.Contains(charge.PixCode, "pix.example.com/qr/v2/"+order.Reference) {
		t.Fatalf("made %+v, %v", charge, err)
	}
	report, err := b.Gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID})
	if err != nil || report.PixCode != charge.PixCode {
		t.Errorf("found %+v, %v", report, err)
	}
}

// Banco do Brasil's API has no list of charges.
func TestBankWithoutAListOfChargesIsCheckedByACharge(t *testing.T) {
	for status, fails := range map[int]bool{404: false, 403: true} {
		double := newDouble("/pix/v2")
		double.proves = func(r *http.Request) bool { return provesByBasicForm(r) && asks(r) }
		line := newLine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/pix/v2/cob":
				w.WriteHeader(http.StatusNotFound)
			case strings.HasPrefix(r.URL.Path, "/pix/v2/cob/"):
				w.WriteHeader(status)
			default:
				double.ServeHTTP(w, r)
			}
		}))
		gateway := gatewaytest.Open(t, bacen.Provider(bacen.Settings{Server: line.URL}), gatewaytest.Env(line),
			options(t, "bank", "bb", "app_key", "d27b"))
		if err := gateway.Check(t.Context()); (err != nil) != fails {
			t.Errorf("a charge that is not there is answered %d: %v", status, err)
		}
	}
}

func TestResourcesMayHaveVersionsOfTheirOwn(t *testing.T) {
	double := newDouble("/api/v2")
	double.proves = func(r *http.Request) bool { return provesByBasicForm(r) && asks(r) }
	var called []string
	line := newLine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called = append(called, r.Method+" "+r.URL.Path)
		r.URL.Path = strings.Replace(r.URL.Path, "/api/v3/", "/api/v2/", 1)
		double.ServeHTTP(w, r)
	}))
	gateway := gatewaytest.Open(t, bacen.Provider(bacen.Settings{Server: line.URL}), gatewaytest.Env(line),
		options(t, "bank", "sicredi", "versions", "cob/=v3, pix=v2"))
	if err := gateway.Check(t.Context()); err != nil {
		t.Error(err)
	}
	order := gatewaytest.Order(1, 35_00)
	if _, err := gateway.Create(t.Context(), order); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"GET /api/v2/cob", "PUT /api/v3/cob/" + order.Reference} {
		if !slices.Contains(called, want) {
			t.Errorf("%s was not called: %v", want, called)
		}
	}
	_, err := bacen.Provider(bacen.Settings{}).Open(options(t, "bank", "sicredi", "versions", "cob v3"), gatewaytest.Env(line))
	if fields := fault.FieldsOf(err); len(fields.Get("versions")) == 0 {
		t.Error(err)
	}
}
