package efi_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/efi"
	"carteira/internal/payment/gatewaytest"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func options(t *testing.T, change ...string) map[string]string {
	t.Helper()
	good, _ := certificates(t)
	o := map[string]string{
		"client_id": clientID, "client_secret": clientSecret, "key": pixKey, "environment": "sandbox",
		"certificate": good.certificate, "private_key": good.key,
	}
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
	line := newLine(t, d)
	p := efi.ProviderAt(line.URL)
	b := &gatewaytest.Bench{
		Flow:    payment.FlowPix,
		Gateway: open(t, p, gatewaytest.Env(line), options(t)),
		Denied:  open(t, p, gatewaytest.Env(line), options(t, "client_secret", "Client_Secret_wrong")),
		Double:  d,
		Line:    line,
		Secrets: []string{clientSecret, basic, "token-of-efi", "PRIVATE KEY", "Client_Secret_wrong"},
	}
	if err := b.Gateway.(payment.Registrar).Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(d.webhook, "?hmac=")
	b.Secrets = append(b.Secrets, strings.TrimSuffix(rest, "&ignorar="))
	return b, d
}

func TestEfiPassesTheSuite(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		b, _ := bench(t)
		return b
	})
}

func TestTokenIsKeptAcrossGatewaysAndRenewedInTime(t *testing.T) {
	d := newDouble()
	line := newLine(t, d)
	p := efi.ProviderAt(line.URL)
	env := gatewaytest.Env(line)
	now := gatewaytest.Now
	env.Now = func() time.Time { return now }
	check := func(want int) {
		t.Helper()
		if err := open(t, p, env, options(t)).Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.tokens != want {
			t.Errorf("%d tokens at %s, want %d", d.tokens, now, want)
		}
	}
	check(1)
	check(1)
	now = now.Add(3569 * time.Second)
	check(1)
	now = now.Add(2 * time.Second)
	check(2)
}

func TestTokenThatIsNoLongerAcceptedIsReplaced(t *testing.T) {
	b, d := bench(t)
	d.revoked = d.tokens
	if err := b.Gateway.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestManyCallsAtOnceGetOneToken(t *testing.T) {
	d := newDouble()
	line := newLine(t, d)
	g := open(t, efi.ProviderAt(line.URL), gatewaytest.Env(line), options(t))
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if _, err := g.Create(t.Context(), gatewaytest.Order(i, 1_00)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if d.tokens != 1 || d.Charges() != 20 {
		t.Errorf("%d tokens, %d charges", d.tokens, d.Charges())
	}
}

func TestAnotherCertificateIsRefused(t *testing.T) {
	d := newDouble()
	line := newLine(t, d)
	_, other := certificates(t)
	g := open(t, efi.ProviderAt(line.URL), gatewaytest.Env(line), options(t, "certificate", other.certificate, "private_key", other.key))
	if err := g.Check(t.Context()); !errors.Is(err, payment.ErrRefused) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
	if d.tokens != 0 {
		t.Error("it got a token")
	}
}

func TestKeyMayStandInTheCertificatesText(t *testing.T) {
	d := newDouble()
	line := newLine(t, d)
	good, _ := certificates(t)
	g := open(t, efi.ProviderAt(line.URL), gatewaytest.Env(line), options(t, "certificate", "Bag Attributes\n"+good.key+good.certificate, "private_key", ""))
	if err := g.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCodeIsFetchedWhereItDoesNotComeWithTheCharge(t *testing.T) {
	b, d := bench(t)
	d.apart = true
	o := gatewaytest.Order(1, 1_00)
	c, err := b.Gateway.Create(t.Context(), o)
	if err != nil || c.PixCode != codeOf(o.Reference) {
		t.Errorf("made %+v, %v", c, err)
	}
	if r, err := b.Gateway.Fetch(t.Context(), payment.Ref{ID: c.ID}); err != nil || r.PixCode != c.PixCode {
		t.Errorf("found %+v, %v", r, err)
	}
}

// The API leaves an expired charge active.
func TestExpiredChargeIsOneThatNobodyCanPay(t *testing.T) {
	b, d := bench(t)
	o := gatewaytest.Order(1, 1_00)
	c, err := b.Gateway.Create(t.Context(), o)
	if err != nil || !c.ExpiresAt.Equal(o.ExpiresAt) {
		t.Fatalf("%+v, %v", c, err)
	}
	for after, want := range map[time.Duration]payment.State{
		-time.Second: payment.StatePending, time.Minute: payment.StatePending, time.Hour: payment.StateCancelled,
	} {
		env := gatewaytest.Env(b.Line)
		env.Now = func() time.Time { return o.ExpiresAt.Add(after) }
		g := open(t, efi.ProviderAt(b.Line.URL), env, options(t))
		if r, err := g.Fetch(t.Context(), payment.Ref{ID: c.ID}); err != nil || r.State != want {
			t.Errorf("%s after: %+v, %v", after, r, err)
		}
	}
	if d.cobs[o.Reference]["status"] != "ATIVA" {
		t.Error("the test is about an active one")
	}
}

func TestTakenIDWithAnotherAmountIsNoCharge(t *testing.T) {
	b, _ := bench(t)
	if _, err := b.Gateway.Create(t.Context(), gatewaytest.Order(1, 1_00)); err != nil {
		t.Fatal(err)
	}
	if c, err := b.Gateway.Create(t.Context(), gatewaytest.Order(1, 2_00)); err == nil || errors.Is(err, payment.ErrRefused) {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestMoneyGivenBackIsTold(t *testing.T) {
	for status, want := range map[string]money.Cents{"DEVOLVIDO": 40, "EM_PROCESSAMENTO": 0, "NAO_REALIZADO": 0} {
		b, d := bench(t)
		o := gatewaytest.Order(1, 1_00)
		if _, err := b.Gateway.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		d.Pay(o.Reference, 1_00)
		d.cobs[o.Reference]["pix"].([]any)[0].(map[string]any)["devolucoes"] = []any{map[string]string{"id": "1", "valor": "0.40", "status": status}}
		r, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: o.Reference})
		if err != nil || len(r.Payments) != 1 || r.Payments[0].Refunded != want {
			t.Errorf("%s: %+v, %v", status, r, err)
		}
	}
}

func TestPaidWithoutAPaymentIsAskedAgain(t *testing.T) {
	b, d := bench(t)
	o := gatewaytest.Order(1, 1_00)
	if _, err := b.Gateway.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	d.cobs[o.Reference]["status"] = "CONCLUIDA"
	if r, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: o.Reference}); err == nil {
		t.Errorf("got %+v", r)
	}
}

func TestCallbackOfSeveralGivesAHintForEach(t *testing.T) {
	b, d := bench(t)
	var parts []string
	for i := range 3 {
		o := gatewaytest.Order(i, 1_00)
		if _, err := b.Gateway.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		d.Pay(o.Reference, 1_00)
		parts = append(parts, fmt.Sprintf(`{"endToEndId":%q,"txid":%q,"valor":"1.00"}`, endToEndID(o.Reference), o.Reference))
	}
	c := d.Callback(gatewaytest.Order(0, 0).Reference)
	c.Body = []byte(`{"pix":[` + strings.Join(parts, ",") + `]}`)
	hints, err := b.Gateway.VerifyCallback(t.Context(), c)
	if err != nil || len(hints) != 3 || hints[1].Ref.Reference != gatewaytest.Order(1, 0).Reference || hints[1].EventID == hints[2].EventID {
		t.Errorf("got %+v, %v", hints, err)
	}
}

func TestWebhookIsRegisteredWithAProofAndAPlaceForTheSuffix(t *testing.T) {
	_, d := bench(t)
	if !strings.HasPrefix(d.webhook, gatewaytest.CallbackURL+"?hmac=") || !strings.HasSuffix(d.webhook, "&ignorar=") || strings.Contains(d.webhook, clientSecret) {
		t.Errorf("registered %s", d.webhook)
	}
}

func TestWrongOptionsAreRefusedByName(t *testing.T) {
	good, other := certificates(t)
	tests := map[string]map[string]string{
		"client_id":     options(t, "client_id", ""),
		"client_secret": options(t, "client_secret", "with space"),
		"certificate":   options(t, "certificate", ""),
		"private_key":   options(t, "private_key", other.key),
		"key":           options(t, "key", "nothing"),
		"environment":   options(t, "environment", "moon"),
	}
	for field, o := range tests {
		_, err := efi.Provider().Open(o, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) != 1 {
			t.Errorf("%s: %v", field, err)
		}
		if err != nil && strings.Contains(err.Error(), good.key[40:80]) {
			t.Errorf("%s: it tells the key", field)
		}
	}
	_, err := efi.Provider().Open(options(t, "private_key", ""), payment.Env{})
	if fields := fault.FieldsOf(err); len(fields.Get("certificate")) != 1 {
		t.Errorf("a certificate without its key: %v", err)
	}
}
