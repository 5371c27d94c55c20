package asaas_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/asaas"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/test/kit/gatewaytest"
)

func open(t *testing.T, line *gatewaytest.Line, options map[string]string) payment.Gateway {
	t.Helper()
	return gatewaytest.Open(t, asaas.ProviderAt(line.URL), gatewaytest.Env(line), options)
}

func options(change ...string) map[string]string {
	return gatewaytest.Options(map[string]string{
		"api_key": key, "environment": "sandbox", "webhook_token": handMade, "notify_email": "dona@example.com",
	}, change...)
}

func bench(t *testing.T) (*gatewaytest.Bench, *double) {
	t.Helper()
	double := newDouble()
	line := gatewaytest.NewLine(t, double, makes)
	return &gatewaytest.Bench{
		Flow:    payment.FlowPix,
		Gateway: open(t, line, options()),
		Denied:  open(t, line, options("api_key", "$aact_hmlg_wrong")),
		Double:  double,
		Line:    line,
		Secrets: []string{key, handMade, "$aact_hmlg_wrong"},
	}, double
}

func TestAsaasPassesTheSuite(t *testing.T) {
	gatewaytest.Run(t, gatewaytest.Only(bench))
}

// The page of a charge has PIX, boleto and card on it.
func TestPagePassesTheSuite(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		b, double := bench(t)
		provider := asaas.CheckoutProviderAt(b.Line.URL)
		opened := func(options map[string]string) payment.Gateway {
			return gatewaytest.Open(t, provider, gatewaytest.Env(b.Line), options)
		}
		b.Flow, b.Gateway, b.Denied = provider.Flow, opened(options()), opened(options("api_key", "$aact_hmlg_wrong"))
		double.noCodes = true // it needs no PIX key
		return b
	})
}

// The token need not be invented.
func TestRegisteredWebhookProvesItselfWithATokenOfItsOwn(t *testing.T) {
	b, double := bench(t)
	gateway := open(t, b.Line, options("webhook_token", ""))
	order := gatewaytest.Order(1, 35_00)
	if _, err := gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := gateway.(payment.Registrar).Register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(double.webhooks) != 1 || double.token() == handMade || strings.Contains(double.token(), key) {
		t.Fatalf("registered %v", double.webhooks)
	}
	if hints, err := gateway.VerifyCallback(t.Context(), double.Callback(order.Reference)); err != nil || len(hints) != 1 || hints[0].Ref.Reference != order.Reference {
		t.Errorf("got %+v, %v", hints, err)
	}
	// Another company that uses the same key at another address has another.
	env := gatewaytest.Env(b.Line)
	env.CallbackURL += "x"
	other, err := asaas.ProviderAt(b.Line.URL).Open(options("webhook_token", ""), env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.VerifyCallback(t.Context(), double.Callback(order.Reference)); !errors.Is(err, payment.ErrForged) {
		t.Errorf("got %v", err)
	}
}

func TestAddressThatAsaasCannotReachIsNotRegistered(t *testing.T) {
	b, double := bench(t)
	env := gatewaytest.Env(b.Line)
	env.CallbackURL = "http://127.0.0.1:8080/gateways/asaas/x"
	gateway, err := asaas.ProviderAt(b.Line.URL).Open(options(), env)
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.(payment.Registrar).Register(t.Context()); err != nil || len(double.webhooks) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestPayerIsMadeOnce(t *testing.T) {
	b, double := bench(t)
	for i := range 3 {
		if _, err := b.Gateway.Create(t.Context(), gatewaytest.Order(i, 10_00)); err != nil {
			t.Fatal(err)
		}
	}
	if len(double.customers) != 1 {
		t.Errorf("%d customers were made", len(double.customers))
	}
}

func TestPayerIsBookedUnderItsOwnTaxID(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 10_00)
	order.Payer.TaxID = ""
	if _, err := open(t, b.Line, options("payer_tax_id", "11222333000181")).Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	order = gatewaytest.Order(2, 10_00) // the same customer, who now has a CPF
	if _, err := b.Gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	if len(double.customers) != 2 {
		t.Errorf("%d customers were made", len(double.customers))
	}
	c := double.customers[fmt.Sprint(double.find(order.Reference)["customer"])]
	for field, want := range map[string]string{
		"cpfCnpj": "52998224725", "name": "José da Silva", "email": "jose@example.com", "mobilePhone": "11987654321", "postalCode": "01310100",
		"address": "Avenida Paulista", "addressNumber": "1000", "complement": "ap 12", "province": "Bela Vista",
	} {
		if c[field] != want {
			t.Errorf("%s is %v, want %s", field, c[field], want)
		}
	}
}

func TestPhoneOfAPayerIsANationalOne(t *testing.T) {
	for phone, want := range map[string][2]any{
		"5511987654321": {"11987654321", nil}, "551132654321": {nil, "1132654321"}, "351912345678": {nil, nil}, "": {nil, nil},
	} {
		b, double := bench(t)
		order := gatewaytest.Order(1, 10_00)
		order.Payer.Phone = phone
		if _, err := b.Gateway.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		for _, customer := range double.customers {
			if got := [2]any{customer["mobilePhone"], customer["phone"]}; got != want {
				t.Errorf("%q became %v, want %v", phone, got, want)
			}
		}
	}
}

// Who has a postal code that Asaas does not know can pay all the same.
func TestPayerWhoseAddressIsRefusedIsMadeWithoutIt(t *testing.T) {
	b, double := bench(t)
	double.strictAddress = true
	if _, err := b.Gateway.Create(t.Context(), gatewaytest.Order(1, 10_00)); err != nil {
		t.Fatal(err)
	}
	for _, customer := range double.customers {
		if customer["postalCode"] != nil || customer["cpfCnpj"] != "52998224725" {
			t.Errorf("made %v", customer)
		}
	}
}

func TestPayerWithoutTaxIDGetsTheCompanysOwnOrIsRefused(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 10_00)
	order.Payer.TaxID = ""
	if _, err := b.Gateway.Create(t.Context(), order); !errors.Is(err, payment.ErrRefused) || double.Charges() != 0 {
		t.Errorf("got %v", err)
	}
	if _, err := open(t, b.Line, options("payer_tax_id", "11.222.333/0001-81")).Create(t.Context(), order); err != nil {
		t.Error(err)
	}
	for _, customer := range double.customers {
		if customer["cpfCnpj"] != "11222333000181" {
			t.Errorf("made %v", customer)
		}
	}
}

// A charge without a code must not stay behind: its page at Asaas could be paid.
func TestChargeWithoutACodeIsTakenBack(t *testing.T) {
	b, double := bench(t)
	double.noCodes = true
	order := gatewaytest.Order(1, 10_00)
	if _, err := b.Gateway.Create(t.Context(), order); !errors.Is(err, payment.ErrRefused) || !strings.Contains(err.Error(), "chave Pix") {
		t.Errorf("got %v", err)
	}
	if c := double.find(order.Reference); c["deleted"] != true {
		t.Errorf("it is still there: %v", c)
	}
}

func TestMoneyGivenBackIsTold(t *testing.T) {
	for status, want := range map[string]money.Cents{
		"REFUNDED": 35_00, "CHARGEBACK_REQUESTED": 35_00, "RECEIVED": 1_00, "REFUND_REQUESTED": 1_00, "REFUND_IN_PROGRESS": 1_00,
	} {
		b, double := bench(t)
		order := gatewaytest.Order(1, 35_00)
		if _, err := b.Gateway.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		double.Pay(order.Reference, 35_00)
		double.find(order.Reference)["status"] = status
		double.find(order.Reference)["refunds"] = []any{map[string]any{"status": "DONE", "value": 1}, map[string]any{"status": "PENDING", "value": 34}}
		report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
		if err != nil || len(report.Payments) != 1 || report.Payments[0].Refunded != want {
			t.Errorf("%s: %+v, %v", status, report, err)
		}
	}
}

func TestStatesOfAsaas(t *testing.T) {
	tests := map[string]payment.State{
		"PENDING": payment.StatePending, "OVERDUE": payment.StatePending,
		"RECEIVED": payment.StatePaid, "CONFIRMED": payment.StatePaid, "RECEIVED_IN_CASH": payment.StatePaid,
	}
	for status, want := range tests {
		b, double := bench(t)
		order := gatewaytest.Order(1, 35_00)
		if _, err := b.Gateway.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		double.find(order.Reference)["status"] = status
		if report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference}); err != nil || report.State != want {
			t.Errorf("%s: %+v, %v", status, report, err)
		}
	}
}

func TestUnknownStatusIsNoState(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 35_00)
	if _, err := b.Gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	double.find(order.Reference)["status"] = "SOMETHING_NEW"
	if report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference}); err == nil {
		t.Errorf("got %+v", report)
	}
}

func TestEventsOfNoInterestGiveNoHint(t *testing.T) {
	b, _ := bench(t)
	for _, event := range []string{"PAYMENT_CREATED", "PAYMENT_BANK_SLIP_VIEWED", "TRANSFER_DONE"} {
		callback := payment.Callback{
			Header: map[string][]string{"Asaas-Access-Token": {handMade}},
			Body:   fmt.Appendf(nil, `{"id":"evt_1","event":%q,"payment":{"id":"pay_1"}}`, event),
		}
		if hints, err := b.Gateway.VerifyCallback(t.Context(), callback); err != nil || len(hints) != 0 {
			t.Errorf("%s: %+v, %v", event, hints, err)
		}
	}
}

func TestWrongOptionsAreRefusedByName(t *testing.T) {
	tests := map[string]map[string]string{
		"api_key":       options("api_key", ""),
		"environment":   options("environment", "production"), // the key is of the sandbox
		"webhook_token": options("webhook_token", "short"),
		"payer_tax_id":  options("payer_tax_id", "52998224726"),
	}
	for field, test := range tests {
		_, err := asaas.Provider().Open(test, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) != 1 {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// The rules of docs.asaas.com for tokens of webhooks.
func TestTokensThatAsaasRefusesAreRefused(t *testing.T) {
	fine := strings.Repeat("aB3x", 10)
	for token, want := range map[string]bool{
		fine: true, fine + "1234": true, fine + "aaa9": true, strings.Repeat("7", 40): true,
		fine + "12345": false, fine + "98765": false, fine + "zzzz": false, fine + "zZzZ": false,
		fine[:31]: false, strings.Repeat(fine, 7): false, key: false,
	} {
		_, err := asaas.Provider().Open(options("webhook_token", token), payment.Env{})
		if (err == nil) != want {
			t.Errorf("%s: %v", token, err)
		}
	}
}

// The token that is made for a company has only letters, none twice in a row.
func TestMadeTokenKeepsTheRules(t *testing.T) {
	double := newDouble()
	line := gatewaytest.NewLine(t, double, makes)
	for i := range 200 {
		env := gatewaytest.Env(line)
		env.CallbackURL = fmt.Sprintf("https://pay.example.com/gateways/asaas/%d", i)
		gateway, err := asaas.ProviderAt(line.URL).Open(options("webhook_token", ""), env)
		if err != nil {
			t.Fatal(err)
		}
		if err := gateway.(payment.Registrar).Register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	rule := regexp.MustCompile(`^([a-m][n-z]){32}$`)
	for _, hook := range double.webhooks {
		if made := fmt.Sprint(hook["authToken"]); !rule.MatchString(made) {
			t.Errorf("made %s", made)
		}
	}
	if len(double.webhooks) != 200 {
		t.Errorf("%d webhooks", len(double.webhooks))
	}
}

// Companies that registered before Asaas had its rules have another token there.
func TestTokenOfBeforeIsStillHeard(t *testing.T) {
	b, double := bench(t)
	gateway := open(t, b.Line, options("webhook_token", ""))
	order := gatewaytest.Order(1, 35_00)
	if _, err := gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	double.Pay(order.Reference, 35_00)
	callback := double.Callback(order.Reference)
	callback.Header.Set("Asaas-Access-Token", wire.Derive(key, gatewaytest.CallbackURL))
	if hints, err := gateway.VerifyCallback(t.Context(), callback); err != nil || len(hints) != 1 {
		t.Errorf("got %+v, %v", hints, err)
	}
}

func TestRegisteringWithoutAnAddressForWarningsSaysSo(t *testing.T) {
	b, double := bench(t)
	err := open(t, b.Line, options("notify_email", "")).(payment.Registrar).Register(t.Context())
	if !errors.Is(err, payment.ErrRefused) || !strings.Contains(err.Error(), "notify_email") || len(double.webhooks) != 0 {
		t.Errorf("got %v, %v", err, double.webhooks)
	}
}

func TestAsaasIsToldWhatToComputeBy(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 33_25)
	order.Due = &payment.Due{
		On: civil.MustParse("2026-11-30"), Face: 35_00, Discount: 1_75, LateFee: 2_00, LateInterest: 1_00, Days: 30,
	}
	order.ExpiresAt = time.Date(2026, 12, 31, 3, 0, 0, 0, time.UTC)
	for _, provider := range []payment.Provider{asaas.ProviderAt(b.Line.URL), asaas.CheckoutProviderAt(b.Line.URL)} {
		if !provider.Computes(options("late_charges", "bank")) || provider.Computes(options()) {
			t.Errorf("%s does not compute when it is chosen, or does without", provider.Name)
		}
	}
	charge, err := b.Gateway.Create(t.Context(), order)
	if err != nil || !charge.ExpiresAt.Equal(order.ExpiresAt) {
		t.Fatalf("made %+v, %v", charge, err)
	}
	made := double.find(order.Reference)
	sent, _ := json.Marshal([]any{made["sent"], made["dueDate"], made["discount"], made["fine"], made["interest"]})
	const want = `[35.00,"2026-11-30",{"dueDateLimitDays":0,"type":"FIXED","value":1.75},` +
		`{"type":"PERCENTAGE","value":2.00},{"type":"PERCENTAGE","value":1.00}]`
	if string(sent) != want {
		t.Errorf("sent %s", sent)
	}
	double.Pay(order.Reference, 35_71)
	report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
	if err != nil || len(report.Payments) != 1 || report.Payments[0].Amount != 35_71 {
		t.Errorf("paid late: %+v, %v", report, err)
	}
}
