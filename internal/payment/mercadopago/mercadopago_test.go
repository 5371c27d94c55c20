package mercadopago_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/mercadopago"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/test/kit/gatewaytest"
)

func open(t *testing.T, provider payment.Provider, line *gatewaytest.Line, options map[string]string) payment.Gateway {
	t.Helper()
	return gatewaytest.Open(t, provider, gatewaytest.Env(line), options)
}

func bench(t *testing.T) *gatewaytest.Bench {
	t.Helper()
	double := newDouble()
	line := gatewaytest.NewLine(t, guard(t, double), makes)
	p := mercadopago.ProviderAt(line.URL)
	return &gatewaytest.Bench{
		Flow:    p.Flow,
		Gateway: open(t, p, line, map[string]string{"access_token": token, "webhook_secret": secret}),
		Denied:  open(t, p, line, map[string]string{"access_token": "APP_USR-wrong", "webhook_secret": secret}),
		Double:  double,
		Line:    line,
		Secrets: []string{token, secret, "APP_USR-wrong"},
	}
}

func TestPixPassesTheSuite(t *testing.T) {
	gatewaytest.Run(t, bench)
}

// vectorTime is shortly after the vectors were signed.
func vectorTime() time.Time { return time.UnixMilli(1742505638683).Add(time.Minute) }

// An old signature may be replayed and is refused; one in seconds is read too.
func TestOldSignatureIsForged(t *testing.T) {
	b := bench(t)
	for age, good := range map[time.Duration]bool{
		0: true, 4 * 24 * time.Hour: true, 8 * 24 * time.Hour: false, -time.Minute: true, -2 * time.Hour: false,
	} {
		_, err := b.Gateway.VerifyCallback(t.Context(), signedAt(gatewaytest.Now.Add(-age), "payment", "77", secret, `{"id":1}`))
		if good != (err == nil) || !good && !errors.Is(err, payment.ErrForged) {
			t.Errorf("%s old: %v", age, err)
		}
	}
}

// The vector of ../shared/pix-facts.md.
func TestSignatureOfTheVector(t *testing.T) {
	gateway, err := mercadopago.Provider().Open(map[string]string{"access_token": token, "webhook_secret": "test_secret"}, payment.Env{Client: &http.Client{}, Now: vectorTime})
	if err != nil {
		t.Fatal(err)
	}
	call := payment.Callback{
		Header: http.Header{
			"X-Request-Id": {"bb56a2f1-6aae-46ac-982e-9dcd3581d08e"},
			"X-Signature":  {"ts=1742505638683,v1=b96eb82619d5973a92bd76a16eab55f2691d8ea91e251777e98732e36a0dab6e"},
		},
		Query: url.Values{"data.id": {"999999999"}, "type": {"payment"}},
		Body:  []byte(`{"id":1,"type":"payment"}`),
	}
	hints, err := gateway.VerifyCallback(t.Context(), call)
	if err != nil || len(hints) != 1 || hints[0] != (payment.Hint{EventID: "1", Ref: payment.Ref{ID: "999999999"}}) {
		t.Errorf("got %+v, %v", hints, err)
	}
}

func TestCallbacksOfOtherKindsAreGenuineAndOfNoInterest(t *testing.T) {
	b := bench(t)
	call := signed("77", secret)
	call.Query["type"] = []string{"merchant_order"}
	if hints, err := b.Gateway.VerifyCallback(t.Context(), call); err != nil || len(hints) != 0 {
		t.Errorf("got %+v, %v", hints, err)
	}
}

func TestWithoutASecretNoCallbackIsGenuine(t *testing.T) {
	b := bench(t)
	gateway := open(t, mercadopago.ProviderAt(b.Line.URL), b.Line, map[string]string{"access_token": token})
	if _, err := gateway.VerifyCallback(t.Context(), signed("77", "")); !errors.Is(err, payment.ErrForged) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsSentForACode(t *testing.T) {
	b := bench(t)
	order := gatewaytest.Order(1, 1234_50)
	if _, err := b.Gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	sent := b.Double.(*double).requests[0]
	for _, want := range []string{
		`"transaction_amount":1234.50`, `"payment_method_id":"pix"`, `"external_reference":"` + order.Reference + `"`,
		`"notification_url":"` + gatewaytest.CallbackURL + `?source_news=webhooks"`,
		`"date_of_expiration":"2026-11-16T09:00:00.000-03:00"`,
		`"identification":{"number":"52998224725","type":"CPF"}`, `"first_name":"José"`, `"last_name":"da Silva"`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("no %s in %s", want, sent)
		}
	}
}

func TestExpiryIsHeldToWhatMercadoPagoAllows(t *testing.T) {
	for _, lives := range []time.Duration{-time.Hour, time.Minute, 90 * 24 * time.Hour} {
		b := bench(t)
		order := gatewaytest.Order(1, 1_00)
		order.ExpiresAt = gatewaytest.Now.Add(lives)
		charge, err := b.Gateway.Create(t.Context(), order)
		if err != nil || charge.ExpiresAt.Before(gatewaytest.Now.Add(30*time.Minute)) {
			t.Errorf("%s: %+v, %v", lives, charge, err)
		}
	}
}

func TestPayerWithoutEmailGetsTheCompanysOwnOrIsRefused(t *testing.T) {
	b := bench(t)
	order := gatewaytest.Order(1, 1_00)
	order.Payer.Email = ""
	if _, err := b.Gateway.Create(t.Context(), order); !errors.Is(err, payment.ErrRefused) || b.Double.Charges() != 0 {
		t.Errorf("got %v", err)
	}
	gateway := open(t, mercadopago.ProviderAt(b.Line.URL), b.Line, map[string]string{"access_token": token, "payer_email": "loja@example.com"})
	if _, err := gateway.Create(t.Context(), order); err != nil {
		t.Error(err)
	}
	if sent := b.Double.(*double).requests[0]; !strings.Contains(sent, `"email":"loja@example.com"`) {
		t.Errorf("sent %s", sent)
	}
}

func TestMoneyGivenBackIsTold(t *testing.T) {
	for status, back := range map[string]json.Number{"refunded": "35", "charged_back": "0", "approved": "0.01"} {
		want := map[string]money.Cents{"refunded": 35_00, "charged_back": 35_00, "approved": 1}[status]
		b := bench(t)
		d := b.Double.(*double)
		order := gatewaytest.Order(1, 35_00)
		if _, err := b.Gateway.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		d.Pay(order.Reference, 35_00)
		p := d.find(order.Reference)[0]
		p["status"], p["transaction_amount_refunded"] = status, back
		report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
		if err != nil || len(report.Payments) != 1 || report.Payments[0].Refunded != want {
			t.Errorf("%s: %+v, %v", status, report, err)
		}
	}
}

func TestExpiredCodeIsCancelled(t *testing.T) {
	b := bench(t)
	d := b.Double.(*double)
	order := gatewaytest.Order(1, 35_00)
	if _, err := b.Gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	p := d.find(order.Reference)[0]
	p["status"], p["status_detail"] = "cancelled", "expired"
	if report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference}); err != nil || report.State != payment.StateCancelled {
		t.Errorf("got %+v, %v", report, err)
	}
}

func TestWrongOptionsAreRefusedByName(t *testing.T) {
	tests := map[string]map[string]string{
		"access_token": {},
		"payer_email":  {"access_token": token, "payer_email": "nobody"},
	}
	for field, options := range tests {
		_, err := mercadopago.Provider().Open(options, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) == 0 {
			t.Errorf("%s: %v", field, err)
		}
	}
	for field, options := range map[string]map[string]string{
		"access_token": {"access_token": "two\nlines"},
		"methods":      {"access_token": token, "methods": "cash"},
	} {
		_, err := mercadopago.CheckoutProvider().Open(options, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) == 0 {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Mercado Pago does not let an account pay itself.
func TestOwnAddressIsRefusedAsThatOfPayers(t *testing.T) {
	b := bench(t)
	for address, fine := range map[string]bool{"Dona@Example.com": false, "loja@example.com": true, "": true} {
		gateway := open(t, mercadopago.ProviderAt(b.Line.URL), b.Line, map[string]string{"access_token": token, "payer_email": address})
		err := gateway.Check(t.Context())
		if (err == nil) != fine || err != nil && (!errors.Is(err, payment.ErrRefused) || !strings.Contains(err.Error(), "payer_email")) {
			t.Errorf("%q: %v", address, err)
		}
	}
}
