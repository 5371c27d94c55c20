// Package gatewaytest has the suite that every gateway passes, so that the
// payment room can rely on all of them alike. A gateway's own tests bring a
// double of its provider that speaks its wire format; the suite breaks the line
// between them in every way it can think of. Only tests import it.
package gatewaytest

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/address"
	"carteira/internal/platform/money"
	"carteira/test/kit/pixtest"
)

// Now is the time of every test.
var Now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// CallbackURL is where gateways under test want to be called back.
const CallbackURL = "https://pay.example.com/gateways/x/4f1d5a7c9b3e2860"

// Double is a provider as the suite moves it.
type Double interface {
	// Charges is how many charges were made, cancelled ones included.
	Charges() int
	// Asked is a charge as the provider received it.
	Asked(reference string) money.Cents
	// Pay pays a charge now.
	Pay(reference string, amount money.Cents)
	// Callback is a genuine callback about a charge that was paid.
	Callback(reference string) payment.Callback
	// Forgeries are callbacks that prove nothing, by what is wrong with them.
	Forgeries(reference string) map[string]payment.Callback
}

// Refunder is a double that can give money back, as all that speak over HTTP can.
type Refunder interface {
	// Refund gives back a part of what was paid for a charge, now.
	Refund(reference string, amount money.Cents)
}

// Bench is a gateway with the double of its provider.
type Bench struct {
	Flow    payment.Flow
	Gateway payment.Gateway
	Double  Double
	Denied  payment.Gateway // with credentials that are wrong; nil without a line
	Line    *Line           // between the two; nil when they do not speak over HTTP
	Secrets []string        // what nothing may tell
}

// Env is the house as a gateway under test sees it.
func Env(line *Line) payment.Env {
	env := payment.Env{
		CallbackURL: CallbackURL,
		ReturnURL:   "https://pay.example.com/pay/abc",
		Now:         func() time.Time { return Now },
	}
	if line != nil {
		env.Client = line.Client
	}
	return env
}

// Order is an order that differs from others in its reference.
func Order(n int, amount money.Cents) payment.Order {
	return payment.Order{
		Reference:   fmt.Sprintf("T%031d", n),
		Amount:      amount,
		Description: "Mensalidade — José & Cia.",
		ExpiresAt:   Now.Add(24 * time.Hour),
		Payer: payment.Payer{
			Reference: "c-42", Name: "José da Silva", Email: "jose@example.com", TaxID: "52998224725", Phone: "5511987654321",
			Address: address.Address{
				CEP: "01310100", Street: "Avenida Paulista", Number: "1000", Complement: "ap 12",
				District: "Bela Vista", City: "São Paulo", State: "SP",
			},
		},
		PayURL: "https://pay.example.com/pay/abc",
	}
}

// Only makes benches for a suite, without the doubles that tests of one gateway move by hand.
func Only[Bench, Double any](open func(t *testing.T) (Bench, Double)) func(t *testing.T) Bench {
	return func(t *testing.T) Bench {
		t.Helper()
		bench, _ := open(t)
		return bench
	}
}

// Run runs the suite; open makes a fresh bench for each part.
func Run(t *testing.T, open func(t *testing.T) *Bench) {
	t.Helper()
	overHTTP := false
	for name, part := range parts {
		t.Run(name, func(t *testing.T) {
			bench := open(t)
			overHTTP = bench.Line != nil
			part(t, bench)
		})
	}
	if !overHTTP {
		return
	}
	for name, part := range lineParts {
		t.Run(name, func(t *testing.T) { part(t, open(t)) })
	}
}

// parts are what every gateway passes.
var parts = map[string]func(*testing.T, *Bench){
	"makes a charge":                    testCreate,
	"makes it once":                     testCreateAgain,
	"finds it pending":                  testPending,
	"finds it paid":                     testPaid,
	"finds a payment of another amount": testWrongAmount,
	"does not know others":              testUnknown,
	"cancels it":                        testCancel,
	"cancels it by our reference":       testCancelByReference,
	"does not cancel what was paid":     testCancelPaid,
	"is exact to the cent":              testAmounts,
	"accepts its credentials":           testCheck,
	"hears callbacks":                   testCallback,
	"does not hear forgeries":           testForgeries,
	"bears broken callbacks":            testBrokenCallbacks,
}

// lineParts are for those that speak to a provider over HTTP, where much can
// go wrong.
var lineParts = map[string]func(*testing.T, *Bench){
	"does not accept other credentials":    testDenied,
	"registers its callback, and again":    testRegister,
	"registers on a yes without a word":    testSilentRegister,
	"leaves troubles open":                 testTroubles,
	"believes no empty yes":                testHollow,
	"tells refusals":                       testRefused,
	"ends with its context":                testHangs,
	"finds a charge whose answer was lost": testLost,
	"finds what was given back":            testRefunded,
	"keeps secrets":                        testSecrets,
	"follows no redirect":                  testRedirect,
}

func (b *Bench) create(t *testing.T, order payment.Order) payment.Charge {
	t.Helper()
	charge, err := b.Gateway.Create(t.Context(), order)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return charge
}

func (b *Bench) look(t *testing.T, ref payment.Ref) payment.Report {
	t.Helper()
	report, err := b.Gateway.Fetch(t.Context(), ref)
	if err != nil {
		t.Fatalf("look: %v", err)
	}
	return report
}

func testCheck(t *testing.T, bench *Bench) {
	if err := bench.Gateway.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if n := bench.Double.Charges(); n != 0 {
		t.Errorf("the check made %d charges", n)
	}
}

// testDenied wants refusals, not more: a caller that cannot see a charge must
// not report that there is none.
func testDenied(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	ref := payment.Ref{ID: charge.ID, Reference: order.Reference}
	denied := *bench
	denied.Gateway = bench.Denied
	for name, err := range denied.calls(t, ref) {
		if !errors.Is(err, payment.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			bench.checkSecrets(t, name, err)
		}
	}
	if report := bench.look(t, ref); report.State != payment.StatePending {
		t.Errorf("afterwards: %+v", report)
	}
}

// calls makes every call there is and returns what came of it.
func (b *Bench) calls(t *testing.T, ref payment.Ref) map[string]error {
	t.Helper()
	_, create := b.Gateway.Create(t.Context(), Order(7, 1_00))
	_, look := b.Gateway.Fetch(t.Context(), ref)
	_, byID := b.Gateway.Fetch(t.Context(), payment.Ref{ID: ref.ID})
	_, byReference := b.Gateway.Fetch(t.Context(), payment.Ref{Reference: ref.Reference})
	list := map[string]error{
		"create":              create,
		"look":                look,
		"look by id":          byID,
		"look by reference":   byReference,
		"cancel":              b.Gateway.Cancel(t.Context(), ref),
		"cancel by reference": b.Gateway.Cancel(t.Context(), payment.Ref{Reference: ref.Reference}),
		"check":               b.Gateway.Check(t.Context()),
	}
	if registrar, ok := b.Gateway.(payment.Registrar); ok {
		list["register"] = registrar.Register(t.Context())
	}
	return list
}

func (b *Bench) checkSecrets(t *testing.T, name string, err error) {
	t.Helper()
	texts := []string{err.Error(), fmt.Sprintf("%+v", err)}
	if refusal, ok := errors.AsType[*payment.Refusal](err); ok {
		texts = append(texts, refusal.Reason)
	}
	for _, text := range texts {
		for _, secret := range append([]string{CallbackURL}, b.Secrets...) {
			if strings.Contains(text, secret) {
				t.Errorf("%s tells a secret: %s", name, text)
			}
		}
	}
}

// RunManual is the suite of gateways where a person confirms: there is no
// provider to ask, so nothing may ever say that a charge was paid.
func RunManual(t *testing.T, gateway payment.Gateway) {
	t.Helper()
	for i, amount := range []money.Cents{1, 29, 1234_56, money.Max} {
		testManual(t, gateway, Order(i, amount))
	}
	if err := gateway.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	for _, callback := range []payment.Callback{{}, {Header: http.Header{"Authorization": {"x"}}, Body: []byte(`{"status":"paid"}`)}} {
		if hints, err := gateway.VerifyCallback(t.Context(), callback); !errors.Is(err, payment.ErrForged) || len(hints) != 0 {
			t.Errorf("hear: %+v, %v", hints, err)
		}
	}
}

func testManual(t *testing.T, gateway payment.Gateway, order payment.Order) {
	t.Helper()
	bench := &Bench{Gateway: gateway, Flow: payment.FlowPix}
	charge := bench.create(t, order)
	bench.checkCharge(t, charge)
	if again := bench.create(t, order); again != charge {
		t.Errorf("first %+v, then %+v", charge, again)
	}
	if code, err := pixtest.Parse(charge.PixCode); err != nil || code.Amount != order.Amount {
		t.Errorf("%s says %+v, %v", order.Amount, code, err)
	}
	if !charge.ExpiresAt.Equal(order.ExpiresAt) {
		t.Errorf("expires at %s", charge.ExpiresAt)
	}
	for name, ref := range refs(order, charge) {
		if report := bench.look(t, ref); report.State != payment.StatePending || len(report.Payments) != 0 {
			t.Errorf("by %s: %+v", name, report)
		}
		if err := gateway.Cancel(t.Context(), ref); err != nil {
			t.Errorf("cancel by %s: %v", name, err)
		}
	}
}

// Open opens a gateway with options that must be fine.
func Open(t *testing.T, provider payment.Provider, env payment.Env, options map[string]string) payment.Gateway {
	t.Helper()
	gateway, err := provider.Open(options, env)
	if err != nil {
		t.Fatal(err)
	}
	return gateway
}

// Options are the usual ones with changes, each a name and its value.
func Options(usual map[string]string, change ...string) map[string]string {
	options := maps.Clone(usual)
	for i := 0; i < len(change); i += 2 {
		options[change[i]] = change[i+1]
	}
	return options
}
