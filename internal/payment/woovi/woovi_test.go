package woovi_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/woovi"
	"carteira/internal/platform/fault"
	"carteira/test/kit/gatewaytest"
)

func options(change ...string) map[string]string {
	usual := map[string]string{"app_id": appID, "environment": "sandbox", "webhook_authorization": handMade}
	return gatewaytest.Options(usual, change...)
}

func bench(t *testing.T) (*gatewaytest.Bench, *double) {
	t.Helper()
	double := newDouble()
	line := gatewaytest.NewLine(t, guard(t, double), makes)
	provider := woovi.ProviderAt(line.URL)
	return &gatewaytest.Bench{
		Flow:    payment.FlowPix,
		Gateway: gatewaytest.Open(t, provider, gatewaytest.Env(line), options()),
		Denied:  gatewaytest.Open(t, provider, gatewaytest.Env(line), options("app_id", "wrong-app-id")),
		Double:  double,
		Line:    line,
		Secrets: []string{appID, handMade, "wrong-app-id"},
	}, double
}

func TestWooviPassesTheSuite(t *testing.T) {
	gatewaytest.Run(t, gatewaytest.Only(bench))
}

// Woovi may turn down a wrong AppID with the status of an unknown charge.
func TestWrongAppIDIsNotTakenForAnUnknownCharge(t *testing.T) {
	b, double := bench(t)
	double.denyStatus = http.StatusBadRequest
	ref := payment.Ref{Reference: gatewaytest.Order(1, 0).Reference}
	if _, err := b.Denied.Fetch(t.Context(), ref); !errors.Is(err, payment.ErrRefused) || errors.Is(err, payment.ErrNoCharge) {
		t.Errorf("look: %v", err)
	}
	if err := b.Denied.Cancel(t.Context(), ref); !errors.Is(err, payment.ErrRefused) {
		t.Errorf("cancel: %v", err)
	}
}

// The sample that Woovi publishes, with its published key.
func TestPublishedSampleIsGenuine(t *testing.T) {
	b, double := bench(t)
	double.keys = []string{string(mustRead(t, "testdata/woovi_pub.pem"))}
	call := payment.Callback{
		Header: http.Header{"Authorization": {handMade}, "X-Webhook-Signature": {strings.TrimSpace(string(mustRead(t, "testdata/woovi_rsa_signature.b64")))}},
		Body:   mustRead(t, "testdata/woovi_rsa_body.json"),
	}
	hints, err := b.Gateway.VerifyCallback(t.Context(), call)
	if err != nil || len(hints) != 1 || hints[0].Ref.Reference != "417bae21-3d08-4cdb-9c2d-fee63c89e9e4" {
		t.Errorf("got %+v, %v", hints, err)
	}
	call.Body[10] ^= 1
	if _, err := b.Gateway.VerifyCallback(t.Context(), call); !errors.Is(err, payment.ErrForged) {
		t.Errorf("with one bit changed: %v", err)
	}
}

// ring is a gateway with a clock that can be moved, and a charge that was paid.
func ring(t *testing.T) (gateway payment.Gateway, double *double, now *time.Time, reference string) {
	t.Helper()
	double = newDouble()
	line := gatewaytest.NewLine(t, guard(t, double), makes)
	at := gatewaytest.Now
	env := gatewaytest.Env(line)
	env.Now = func() time.Time { return at }
	gateway = gatewaytest.Open(t, woovi.ProviderAt(line.URL), env, options())
	order := gatewaytest.Order(1, 35_00)
	if _, err := gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	double.Pay(order.Reference, 35_00)
	return gateway, double, &at, order.Reference
}

func TestKeysAreKeptForAnHour(t *testing.T) {
	gateway, double, now, reference := ring(t)
	for _, step := range []struct {
		after time.Duration
		calls int
	}{{0, 1}, {time.Minute, 1}, {58 * time.Minute, 1}, {time.Minute, 2}} {
		*now = now.Add(step.after)
		if _, err := gateway.VerifyCallback(t.Context(), double.Callback(reference)); err != nil {
			t.Fatal(err)
		}
		if double.keyCalls != step.calls {
			t.Errorf("after %s: asked %d times, want %d", step.after, double.keyCalls, step.calls)
		}
	}
}

func TestNewKeyIsFetchedWhenASignatureDoesNotFit(t *testing.T) {
	gateway, double, now, reference := ring(t)
	key := double.keys
	double.keys = []string{string(mustRead(t, "testdata/woovi_pub.pem"))}
	if _, err := gateway.VerifyCallback(t.Context(), double.Callback(reference)); !errors.Is(err, payment.ErrForged) {
		t.Fatalf("before the rotation: %v", err)
	}
	double.keys = key
	*now = now.Add(2 * time.Minute)
	if _, err := gateway.VerifyCallback(t.Context(), double.Callback(reference)); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestForgeriesDoNotMakeUsAskForKeysAgainAndAgain(t *testing.T) {
	gateway, double, _, reference := ring(t)
	forgeries := double.Forgeries(reference)
	for range 20 {
		for _, forgery := range forgeries {
			if _, err := gateway.VerifyCallback(t.Context(), forgery); !errors.Is(err, payment.ErrForged) {
				t.Fatal(err)
			}
		}
	}
	if double.keyCalls > 1 {
		t.Errorf("asked %d times", double.keyCalls)
	}
}

// Woovi sends again what was not taken.
func TestKeysThatCannotBeFetchedAreNoForgery(t *testing.T) {
	gateway, double, now, reference := ring(t)
	double.keysStatus = http.StatusInternalServerError
	if _, err := gateway.VerifyCallback(t.Context(), double.Callback(reference)); err == nil || errors.Is(err, payment.ErrForged) {
		t.Errorf("without keys: %v", err)
	}
	double.keysStatus = 0
	*now = now.Add(2 * time.Minute)
	if _, err := gateway.VerifyCallback(t.Context(), double.Callback(reference)); err != nil {
		t.Errorf("with keys: %v", err)
	}
	double.keysStatus = http.StatusInternalServerError
	*now = now.Add(2 * time.Hour)
	if _, err := gateway.VerifyCallback(t.Context(), double.Callback(reference)); err != nil {
		t.Errorf("with old keys: %v", err)
	}
}

func TestWebhooksAreRegisteredOncePerEventAndSetRight(t *testing.T) {
	b, double := bench(t)
	gateway := gatewaytest.Open(t, woovi.ProviderAt(b.Line.URL), gatewaytest.Env(b.Line), options("webhook_authorization", ""))
	double.webhooks = []map[string]any{
		{"id": "old", "event": "OPENPIX:CHARGE_COMPLETED", "url": gatewaytest.CallbackURL, "authorization": "old", "isActive": true},
		{"id": "theirs", "event": "OPENPIX:CHARGE_COMPLETED", "url": "https://elsewhere.example.com", "authorization": "x", "isActive": true},
	}
	for range 2 {
		if err := gateway.(payment.Registrar).Register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ours := map[any]int{}
	for _, hook := range double.webhooks {
		if hook["url"] == gatewaytest.CallbackURL {
			ours[hook["event"]]++
			if hook["authorization"] == "old" || strings.Contains(hook["authorization"].(string), appID) {
				t.Errorf("there is %v", hook)
			}
		}
	}
	if len(ours) != 3 || ours["OPENPIX:CHARGE_COMPLETED"] != 1 || len(double.webhooks) != 4 {
		t.Errorf("there are %v", double.webhooks)
	}
}

func TestEventsOfNewerAccountsAndTestsAreHeard(t *testing.T) {
	b, _ := bench(t)
	tests := map[string]int{
		`{"event":"woovi:CHARGE_COMPLETED","charge":{"correlationID":"x"}}`:                        1,
		`{"event":"OPENPIX:CHARGE_EXPIRED","charge":{"correlationID":"x"}}`:                        1,
		`{"event":"OPENPIX:CHARGE_CREATED","charge":{"correlationID":"x"}}`:                        0,
		`{"data_criacao":"2026-11-15T12:00:00Z","event":"OPENPIX:CHARGE_COMPLETED"}`:               0,
		`{"data_criacao":"2026-11-15T12:00:00Z","evento":"teste_webhook","event":"teste_webhook"}`: 0,
	}
	for body, want := range tests {
		hints, err := b.Gateway.VerifyCallback(t.Context(), signed(handMade, []byte(body), signingKey()))
		if err != nil || len(hints) != want {
			t.Errorf("%s: %+v, %v", body, hints, err)
		}
	}
}

func TestPaymentsAreThoseThatCameAndStayed(t *testing.T) {
	b, double := bench(t)
	double.astray = true // what Woovi sends has type and status in their own places
	order := gatewaytest.Order(1, 35_00)
	if _, err := b.Gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	double.Pay(order.Reference, 35_00)
	fee := map[string]any{"charge": map[string]any{"correlationID": order.Reference}, "value": 85, "type": "FEE", "status": "CONFIRMED", "endToEndId": "x"}
	double.transactions = append(double.transactions, fee)
	report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
	if err != nil || len(report.Payments) != 1 || report.Payments[0].Refunded != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	fee["type"] = "REFUND"
	report, err = b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
	if err != nil || len(report.Payments) != 1 || report.Payments[0].Refunded != 85 {
		t.Fatalf("given back: %+v, %v", report, err)
	}
	double.transactions = nil
	if report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference}); err == nil {
		t.Errorf("paid with nothing: %+v", report)
	}
}

func TestExpiredChargeIsCancelled(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 35_00)
	if _, err := b.Gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	double.charges[order.Reference]["status"] = "EXPIRED"
	if report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference}); err != nil || report.State != payment.StateCancelled {
		t.Errorf("got %+v, %v", report, err)
	}
	if err := b.Gateway.Cancel(t.Context(), payment.Ref{Reference: order.Reference}); err != nil {
		t.Error(err)
	}
}

func TestShortLifeIsMadeLongEnough(t *testing.T) {
	b, _ := bench(t)
	order := gatewaytest.Order(1, 35_00)
	order.ExpiresAt = gatewaytest.Now.Add(time.Minute)
	if charge, err := b.Gateway.Create(t.Context(), order); err != nil || !charge.ExpiresAt.Equal(gatewaytest.Now.Add(15*time.Minute)) {
		t.Errorf("got %+v, %v", charge, err)
	}
}

func TestPayerIsNamedAsFarAsItIsKnown(t *testing.T) {
	b, double := bench(t)
	whole, partial := gatewaytest.Order(1, 35_00), gatewaytest.Order(2, 35_00)
	partial.Payer.TaxID, partial.Payer.Address.Number = "", ""
	for _, order := range []payment.Order{whole, partial} {
		if _, err := b.Gateway.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
	}
	sent := fmt.Sprint(double.charges[whole.Reference]["customer"])
	for _, want := range []string{"taxID:52998224725", "phone:5511987654321", "email:jose@example.com", "zipcode:01310100", "neighborhood:Bela Vista", "complement:ap 12"} {
		if !strings.Contains(sent, want) {
			t.Errorf("no %s in %s", want, sent)
		}
	}
	if sent := fmt.Sprint(double.charges[partial.Reference]["customer"]); strings.Contains(sent, "address") || strings.Contains(sent, "taxID") {
		t.Errorf("an address that is not complete: %s", sent)
	}
}

func TestPayerWithNothingButANameIsLeftOut(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 35_00)
	order.Payer.TaxID, order.Payer.Email, order.Payer.Phone = "", "", ""
	if _, err := b.Gateway.Create(t.Context(), order); err != nil || double.charges[order.Reference]["customer"] != nil {
		t.Errorf("sent %v, %v", double.charges[order.Reference], err)
	}
}

func TestWrongOptionsAreRefusedByName(t *testing.T) {
	for field, o := range map[string]map[string]string{
		"app_id":      options("app_id", " "),
		"environment": options("environment", "moon"),
	} {
		_, err := woovi.Provider().Open(o, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) != 1 {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Many customers have a phone and nothing else; Woovi knows a payer by one of
// tax id, e-mail and phone.
func TestPayerIsKnownByThePhoneAlone(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 1_00)
	order.Payer = payment.Payer{Reference: "c-42", Name: "José da Silva", Phone: "5511987654321"}
	if _, err := b.Gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	sent, _ := double.charges[order.Reference]["customer"].(map[string]any)
	if len(sent) != 2 || sent["name"] != "José da Silva" || sent["phone"] != "5511987654321" {
		t.Errorf("sent %v", sent)
	}
}
