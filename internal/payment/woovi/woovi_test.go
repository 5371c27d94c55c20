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
	"carteira/internal/payment/gatewaytest"
	"carteira/internal/payment/woovi"
	"carteira/internal/platform/fault"
)

func options(change ...string) map[string]string {
	o := map[string]string{"app_id": appID, "environment": "sandbox", "webhook_authorization": handMade}
	for i := 0; i < len(change); i += 2 {
		o[change[i]] = change[i+1]
	}
	return o
}

func open(t *testing.T, p payment.Provider, env payment.Env, options map[string]string) payment.Gateway {
	t.Helper()
	g, err := p.Open(options, env)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func bench(t *testing.T) (*gatewaytest.Bench, *double) {
	t.Helper()
	d := newDouble()
	line := gatewaytest.NewLine(t, d, makes)
	p := woovi.ProviderAt(line.URL)
	return &gatewaytest.Bench{
		Flow:    payment.FlowPix,
		Gateway: open(t, p, gatewaytest.Env(line), options()),
		Denied:  open(t, p, gatewaytest.Env(line), options("app_id", "wrong-app-id")),
		Double:  d,
		Line:    line,
		Secrets: []string{appID, handMade, "wrong-app-id"},
	}, d
}

func TestWooviPassesTheSuite(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		b, _ := bench(t)
		return b
	})
}

// Woovi may turn down a wrong AppID with the status of an unknown charge.
func TestWrongAppIDIsNotTakenForAnUnknownCharge(t *testing.T) {
	b, d := bench(t)
	d.denyStatus = http.StatusBadRequest
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
	b, d := bench(t)
	d.keys = []string{string(mustRead(t, "testdata/woovi_pub.pem"))}
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

// ring is a gateway whose clock can be moved, with a charge that was paid.
func ring(t *testing.T) (g payment.Gateway, d *double, now *time.Time, reference string) {
	t.Helper()
	d = newDouble()
	line := gatewaytest.NewLine(t, d, makes)
	at := gatewaytest.Now
	env := gatewaytest.Env(line)
	env.Now = func() time.Time { return at }
	g = open(t, woovi.ProviderAt(line.URL), env, options())
	o := gatewaytest.Order(1, 35_00)
	if _, err := g.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	d.Pay(o.Reference, 35_00)
	return g, d, &at, o.Reference
}

func TestKeysAreKeptForAnHour(t *testing.T) {
	g, d, now, reference := ring(t)
	for _, step := range []struct {
		after time.Duration
		calls int
	}{{0, 1}, {time.Minute, 1}, {58 * time.Minute, 1}, {time.Minute, 2}} {
		*now = now.Add(step.after)
		if _, err := g.VerifyCallback(t.Context(), d.Callback(reference)); err != nil {
			t.Fatal(err)
		}
		if d.keyCalls != step.calls {
			t.Errorf("after %s: asked %d times, want %d", step.after, d.keyCalls, step.calls)
		}
	}
}

func TestNewKeyIsFetchedWhenASignatureDoesNotFit(t *testing.T) {
	g, d, now, reference := ring(t)
	key := d.keys
	d.keys = []string{string(mustRead(t, "testdata/woovi_pub.pem"))}
	if _, err := g.VerifyCallback(t.Context(), d.Callback(reference)); !errors.Is(err, payment.ErrForged) {
		t.Fatalf("before the rotation: %v", err)
	}
	d.keys = key
	*now = now.Add(2 * time.Minute)
	if _, err := g.VerifyCallback(t.Context(), d.Callback(reference)); err != nil {
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
	g, d, _, reference := ring(t)
	forgeries := d.Forgeries(reference)
	for range 20 {
		for _, c := range forgeries {
			if _, err := g.VerifyCallback(t.Context(), c); !errors.Is(err, payment.ErrForged) {
				t.Fatal(err)
			}
		}
	}
	if d.keyCalls > 1 {
		t.Errorf("asked %d times", d.keyCalls)
	}
}

// Woovi sends again what was not taken.
func TestKeysThatCannotBeFetchedAreNoForgery(t *testing.T) {
	g, d, now, reference := ring(t)
	d.keysStatus = http.StatusInternalServerError
	if _, err := g.VerifyCallback(t.Context(), d.Callback(reference)); err == nil || errors.Is(err, payment.ErrForged) {
		t.Errorf("without keys: %v", err)
	}
	d.keysStatus = 0
	*now = now.Add(2 * time.Minute)
	if _, err := g.VerifyCallback(t.Context(), d.Callback(reference)); err != nil {
		t.Errorf("with keys: %v", err)
	}
	d.keysStatus = http.StatusInternalServerError
	*now = now.Add(2 * time.Hour)
	if _, err := g.VerifyCallback(t.Context(), d.Callback(reference)); err != nil {
		t.Errorf("with old keys: %v", err)
	}
}

func TestWebhooksAreRegisteredOncePerEventAndSetRight(t *testing.T) {
	b, d := bench(t)
	g := open(t, woovi.ProviderAt(b.Line.URL), gatewaytest.Env(b.Line), options("webhook_authorization", ""))
	d.webhooks = []map[string]any{
		{"id": "old", "event": "OPENPIX:CHARGE_COMPLETED", "url": gatewaytest.CallbackURL, "authorization": "old", "isActive": true},
		{"id": "theirs", "event": "OPENPIX:CHARGE_COMPLETED", "url": "https://elsewhere.example.com", "authorization": "x", "isActive": true},
	}
	for range 2 {
		if err := g.(payment.Registrar).Register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ours := map[any]int{}
	for _, hook := range d.webhooks {
		if hook["url"] == gatewaytest.CallbackURL {
			ours[hook["event"]]++
			if hook["authorization"] == "old" || strings.Contains(hook["authorization"].(string), appID) {
				t.Errorf("there is %v", hook)
			}
		}
	}
	if len(ours) != 3 || ours["OPENPIX:CHARGE_COMPLETED"] != 1 || len(d.webhooks) != 4 {
		t.Errorf("there are %v", d.webhooks)
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
	b, d := bench(t)
	o := gatewaytest.Order(1, 35_00)
	if _, err := b.Gateway.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	d.Pay(o.Reference, 35_00)
	fee := map[string]any{"charge": map[string]any{"correlationID": o.Reference}, "value": 85, "type": "FEE", "status": "CONFIRMED", "endToEndId": "x"}
	d.transactions = append(d.transactions, fee)
	r, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: o.Reference})
	if err != nil || len(r.Payments) != 1 || r.Payments[0].Refunded != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	fee["type"] = "REFUND"
	r, err = b.Gateway.Fetch(t.Context(), payment.Ref{Reference: o.Reference})
	if err != nil || len(r.Payments) != 1 || r.Payments[0].Refunded != 85 {
		t.Fatalf("given back: %+v, %v", r, err)
	}
	d.transactions = nil
	if r, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: o.Reference}); err == nil {
		t.Errorf("paid with nothing: %+v", r)
	}
}

func TestExpiredChargeIsCancelled(t *testing.T) {
	b, d := bench(t)
	o := gatewaytest.Order(1, 35_00)
	if _, err := b.Gateway.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	d.charges[o.Reference]["status"] = "EXPIRED"
	if r, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: o.Reference}); err != nil || r.State != payment.StateCancelled {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := b.Gateway.Cancel(t.Context(), payment.Ref{Reference: o.Reference}); err != nil {
		t.Error(err)
	}
}

func TestShortLifeIsMadeLongEnough(t *testing.T) {
	b, _ := bench(t)
	o := gatewaytest.Order(1, 35_00)
	o.ExpiresAt = gatewaytest.Now.Add(time.Minute)
	if c, err := b.Gateway.Create(t.Context(), o); err != nil || !c.ExpiresAt.Equal(gatewaytest.Now.Add(15*time.Minute)) {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestPayerIsNamedAsFarAsItIsKnown(t *testing.T) {
	b, d := bench(t)
	whole, partial := gatewaytest.Order(1, 35_00), gatewaytest.Order(2, 35_00)
	partial.Payer.TaxID, partial.Payer.Address.Number = "", ""
	for _, o := range []payment.Order{whole, partial} {
		if _, err := b.Gateway.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	sent := fmt.Sprint(d.charges[whole.Reference]["customer"])
	for _, want := range []string{"taxID:52998224725", "phone:5511987654321", "email:jose@example.com", "zipcode:01310100", "neighborhood:Bela Vista", "complement:ap 12"} {
		if !strings.Contains(sent, want) {
			t.Errorf("no %s in %s", want, sent)
		}
	}
	if sent := fmt.Sprint(d.charges[partial.Reference]["customer"]); strings.Contains(sent, "address") || strings.Contains(sent, "taxID") {
		t.Errorf("an address that is not complete: %s", sent)
	}
}

func TestPayerWithNothingButANameIsLeftOut(t *testing.T) {
	b, d := bench(t)
	o := gatewaytest.Order(1, 35_00)
	o.Payer.TaxID, o.Payer.Email, o.Payer.Phone = "", "", ""
	if _, err := b.Gateway.Create(t.Context(), o); err != nil || d.charges[o.Reference]["customer"] != nil {
		t.Errorf("sent %v, %v", d.charges[o.Reference], err)
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
