package bacen_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/bacen"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/test/kit/gatewaytest"
)

func options(t *testing.T, change ...string) map[string]string {
	t.Helper()
	good, _ := certificates(t)
	return gatewaytest.Options(map[string]string{
		"client_id": clientID, "client_secret": clientSecret, "key": pixKey, "environment": "sandbox",
		"certificate": good.certificate, "private_key": good.key,
	}, change...)
}

// efiAt is Efí behind a double, with the line between them.
func efiAt(t *testing.T, double *double) (payment.Provider, *gatewaytest.Line) {
	t.Helper()
	line := newLine(t, guard(t, double, "/v2"))
	return bacen.EfiProvider(bacen.Settings{Server: line.URL}), line
}

func bench(t *testing.T) (*gatewaytest.Bench, *double) {
	t.Helper()
	double := newEfi()
	provider, line := efiAt(t, double)
	return benchOf(t, provider, line, double), double
}

func benchOf(t *testing.T, provider payment.Provider, line *gatewaytest.Line, double *double, change ...string) *gatewaytest.Bench {
	t.Helper()
	b := &gatewaytest.Bench{
		Flow:    payment.FlowPix,
		Gateway: gatewaytest.Open(t, provider, gatewaytest.Env(line), options(t, change...)),
		Denied:  gatewaytest.Open(t, provider, gatewaytest.Env(line), options(t, append(change, "client_secret", "Client_Secret_wrong")...)),
		Double:  double,
		Line:    line,
		Secrets: []string{clientSecret, basic, "token-of-bank", "PRIVATE KEY", "Client_Secret_wrong"},
	}
	if err := b.Gateway.(payment.Registrar).Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(double.webhook, "?hmac=")
	b.Secrets = append(b.Secrets, strings.TrimSuffix(rest, "&ignorar="))
	return b
}

func TestEfiPassesTheSuite(t *testing.T) {
	gatewaytest.Run(t, gatewaytest.Only(bench))
}

// A bank that says no more than the central bank's document passes it too.
func TestBankByTheDocumentPassesTheSuite(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		double := newDouble("/api/v2")
		line := newLine(t, guard(t, double, "/api/v2"))
		return benchOf(t, bacen.Provider(bacen.Settings{Server: line.URL}), line, double, "bank", "sicredi")
	})
}

func TestTokenIsKeptAcrossGatewaysAndRenewedInTime(t *testing.T) {
	double := newEfi()
	provider, line := efiAt(t, double)
	env := gatewaytest.Env(line)
	now := gatewaytest.Now
	env.Now = func() time.Time { return now }
	check := func(want int) {
		t.Helper()
		if err := gatewaytest.Open(t, provider, env, options(t)).Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if double.tokens != want {
			t.Errorf("%d tokens at %s, want %d", double.tokens, now, want)
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
	b, double := bench(t)
	double.revoked = double.tokens
	if err := b.Gateway.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestManyCallsAtOnceGetOneToken(t *testing.T) {
	double := newEfi()
	provider, line := efiAt(t, double)
	gateway := gatewaytest.Open(t, provider, gatewaytest.Env(line), options(t))
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if _, err := gateway.Create(t.Context(), gatewaytest.Order(i, 1_00)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if double.tokens != 1 || double.Charges() != 20 {
		t.Errorf("%d tokens, %d charges", double.tokens, double.Charges())
	}
}

func TestAnotherCertificateIsRefused(t *testing.T) {
	double := newEfi()
	provider, line := efiAt(t, double)
	_, other := certificates(t)
	gateway := gatewaytest.Open(t, provider, gatewaytest.Env(line), options(t, "certificate", other.certificate, "private_key", other.key))
	if err := gateway.Check(t.Context()); !errors.Is(err, payment.ErrRefused) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
	if double.tokens != 0 {
		t.Error("it got a token")
	}
}

func TestKeyMayStandInTheCertificatesText(t *testing.T) {
	double := newEfi()
	provider, line := efiAt(t, double)
	good, _ := certificates(t)
	gateway := gatewaytest.Open(t, provider, gatewaytest.Env(line), options(t, "certificate", "Bag Attributes\n"+good.key+good.certificate, "private_key", ""))
	if err := gateway.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCodeIsFetchedWhereItDoesNotComeWithTheCharge(t *testing.T) {
	b, double := bench(t)
	double.apart = true
	order := gatewaytest.Order(1, 1_00)
	charge, err := b.Gateway.Create(t.Context(), order)
	if err != nil || charge.PixCode != codeOf(order.Reference) {
		t.Errorf("made %+v, %v", charge, err)
	}
	if report, err := b.Gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID}); err != nil || report.PixCode != charge.PixCode {
		t.Errorf("found %+v, %v", report, err)
	}
}

// The API leaves an expired charge active.
func TestExpiredChargeIsOneThatNobodyCanPay(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 1_00)
	charge, err := b.Gateway.Create(t.Context(), order)
	if err != nil || !charge.ExpiresAt.Equal(order.ExpiresAt) {
		t.Fatalf("%+v, %v", charge, err)
	}
	for after, want := range map[time.Duration]payment.State{
		-time.Second: payment.StatePending, time.Minute: payment.StatePending, time.Hour: payment.StateCancelled,
	} {
		env := gatewaytest.Env(b.Line)
		env.Now = func() time.Time { return order.ExpiresAt.Add(after) }
		gateway := gatewaytest.Open(t, bacen.EfiProvider(bacen.Settings{Server: b.Line.URL}), env, options(t))
		if report, err := gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID}); err != nil || report.State != want {
			t.Errorf("%s after: %+v, %v", after, report, err)
		}
	}
	if double.cobs[order.Reference]["status"] != "ATIVA" {
		t.Error("the test is about an active one")
	}
}

func TestTakenIDWithAnotherAmountIsNoCharge(t *testing.T) {
	b, _ := bench(t)
	if _, err := b.Gateway.Create(t.Context(), gatewaytest.Order(1, 1_00)); err != nil {
		t.Fatal(err)
	}
	if charge, err := b.Gateway.Create(t.Context(), gatewaytest.Order(1, 2_00)); err == nil || errors.Is(err, payment.ErrRefused) {
		t.Errorf("got %+v, %v", charge, err)
	}
}

func TestMoneyGivenBackIsTold(t *testing.T) {
	for status, want := range map[string]money.Cents{"DEVOLVIDO": 40, "EM_PROCESSAMENTO": 0, "NAO_REALIZADO": 0} {
		b, double := bench(t)
		order := gatewaytest.Order(1, 1_00)
		if _, err := b.Gateway.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		double.Pay(order.Reference, 1_00)
		double.cobs[order.Reference]["pix"].([]any)[0].(map[string]any)["devolucoes"] = []any{returned(1, 40, status)}
		report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
		if err != nil || len(report.Payments) != 1 || report.Payments[0].Refunded != want {
			t.Errorf("%s: %+v, %v", status, report, err)
		}
	}
}

func TestPaidWithoutAPaymentIsAskedAgain(t *testing.T) {
	b, double := bench(t)
	order := gatewaytest.Order(1, 1_00)
	if _, err := b.Gateway.Create(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	double.cobs[order.Reference]["status"] = "CONCLUIDA"
	if report, err := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference}); err == nil {
		t.Errorf("got %+v", report)
	}
}

func TestCallbackOfSeveralGivesAHintForEach(t *testing.T) {
	b, double := bench(t)
	var parts []string
	for i := range 3 {
		order := gatewaytest.Order(i, 1_00)
		if _, err := b.Gateway.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		double.Pay(order.Reference, 1_00)
		parts = append(parts, fmt.Sprintf(`{"endToEndId":%q,"txid":%q,"valor":"1.00"}`, endToEndID(order.Reference), order.Reference))
	}
	callback := double.Callback(gatewaytest.Order(0, 0).Reference)
	callback.Body = []byte(`{"pix":[` + strings.Join(parts, ",") + `]}`)
	hints, err := b.Gateway.VerifyCallback(t.Context(), callback)
	if err != nil || len(hints) != 3 || hints[1].Ref.Reference != gatewaytest.Order(1, 0).Reference || hints[1].EventID == hints[2].EventID {
		t.Errorf("got %+v, %v", hints, err)
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
	for field, test := range tests {
		_, err := bacen.EfiProvider(bacen.Settings{}).Open(test, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) != 1 {
			t.Errorf("%s: %v", field, err)
		}
		if err != nil && strings.Contains(err.Error(), good.key[40:80]) {
			t.Errorf("%s: it tells the key", field)
		}
	}
	_, err := bacen.EfiProvider(bacen.Settings{}).Open(options(t, "private_key", ""), payment.Env{})
	if fields := fault.FieldsOf(err); len(fields.Get("certificate")) != 1 {
		t.Errorf("a certificate without its key: %v", err)
	}
}
