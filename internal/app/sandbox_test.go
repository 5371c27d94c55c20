package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"carteira/internal/account"
	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

func TestSandboxIsOffWhereRealPeoplePay(t *testing.T) {
	for _, tt := range []struct {
		public   string
		position config.Switch
		on       bool
	}{
		{"http://127.0.0.1:8080", config.SwitchAuto, true},
		{"https://clientes.example.com", config.SwitchAuto, false},
		{"https://clientes.example.com", config.SwitchOn, true},
		{"http://127.0.0.1:8080", config.SwitchOff, false},
	} {
		if got := tt.position.On(tt.public); got != tt.on {
			t.Errorf("%s at %s is on: %t", tt.position, tt.public, got)
		}
	}
}

func TestProviderThatIsSwitchedOffCannotBeChosenOrCharged(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program := newApp(t, engine)
		company, _, err := program.Accounts.CreateCompany(t.Context(), account.ReadNewCompany(housetest.Form("name", "Rede", "email", "a@example.com")))
		housetest.Must(t, err)
		actor := account.Operator(company)
		_, err = program.Payments.ConfigureGateway(t.Context(), actor, program.Payments.ReadGateway(housetest.Form("provider", sandbox.Name)))
		housetest.Must(t, err)

		cfg := program.Config
		cfg.SandboxGateway = config.SwitchOff
		off := payment.New(program.DB, program.Billing, program.Box, paymentOptions(cfg, program.Log, program.DB, program.Webhooks))
		for _, provider := range off.Providers() {
			if provider.Name == sandbox.Name {
				t.Error("it is still offered")
			}
		}
		if err := off.CheckGateway(t.Context(), actor); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("it is still used: %v", err)
		}
		if _, err := off.SetupOf(t.Context(), actor, sandbox.Name); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("it still has a page: %v", err)
		}
		_, err = off.ConfigureGateway(t.Context(), actor, payment.GatewayDraft{Provider: sandbox.Name})
		if fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("it can still be chosen: %v", err)
		}
	})
}

func TestMetricsWithoutATokenAnswerLoopbackNamesOnly(t *testing.T) {
	handler := newApp(t, sqldb.SQLite).Handler()
	for host, status := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200, "[::1]": 200,
		"evil.example": 404, "evil.example:8080": 404, "127.0.0.1.evil.example": 404, "10.0.0.1": 404, "": 404,
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = host
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("Host %q got %d, want %d", host, w.Code, status)
		}
	}
}
