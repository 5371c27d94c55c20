// Package gatewaytest has the suite that every gateway passes, so that the
// payment room can rely on all of them alike. A gateway's own tests bring a
// double of its provider that speaks its wire format; the suite breaks the line
// between them in every way it can think of. Only tests import it.
package gatewaytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/address"
	"carteira/internal/platform/money"
)

// Now is the time of every test.
var Now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// CallbackURL is where gateways under test want to be called back.
const CallbackURL = "https://pay.example.com/gateways/x/4f1d5a7c9b3e2860"

// Double is a provider as the suite moves it.
type Double interface {
	// Charges is how many charges were made, cancelled ones included.
	Charges() int
	// Asked is what a charge asks for, as the provider was told.
	Asked(reference string) money.Cents
	// Pay is somebody paying a charge, now.
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

func testCreate(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.checkCharge(t, charge)
	if !charge.ExpiresAt.After(Now) {
		t.Errorf("expires at %s", charge.ExpiresAt)
	}
	if n := bench.Double.Charges(); n != 1 {
		t.Errorf("%d charges were made", n)
	}
}

// checkCharge wants what the flow needs, and nothing of the other.
func (b *Bench) checkCharge(t *testing.T, charge payment.Charge) {
	t.Helper()
	pix := b.Flow == payment.FlowPix
	if charge.ID == "" || (charge.PixCode != "") != pix || (charge.CheckoutURL != "") == pix {
		t.Errorf("flow %s has %+v", b.Flow, charge)
	}
}

func testCreateAgain(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	first := bench.create(t, order)
	second := bench.create(t, order)
	if first.ID != second.ID || first.PixCode != second.PixCode || first.CheckoutURL != second.CheckoutURL {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if n := bench.Double.Charges(); n != 1 {
		t.Errorf("%d charges were made", n)
	}
	if other := bench.create(t, Order(2, 35_00)); other.ID == first.ID {
		t.Error("two orders share a charge")
	}
}

// refs are the ways to name a charge.
func refs(order payment.Order, charge payment.Charge) map[string]payment.Ref {
	return map[string]payment.Ref{
		"id":        {ID: charge.ID},
		"reference": {Reference: order.Reference},
		"both":      {ID: charge.ID, Reference: order.Reference},
	}
}

func testPending(t *testing.T, bench *Bench) {
	bench.create(t, Order(2, 1_00))
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	for name, ref := range refs(order, charge) {
		report := bench.look(t, ref)
		if report.State != payment.StatePending || len(report.Payments) != 0 || report.Reference != order.Reference || report.ID != charge.ID {
			t.Errorf("by %s: %+v", name, report)
		}
		// Some providers want one more call for the code. It is worth it only when
		// nothing but the reference is known.
		known := name != "reference" && report.PixCode == ""
		if report.PixCode != charge.PixCode && !known || report.CheckoutURL != charge.CheckoutURL {
			t.Errorf("by %s: made %+v, found %+v", name, charge, report.Charge)
		}
	}
}

func testPaid(t *testing.T, bench *Bench) {
	bench.create(t, Order(2, 1_00))
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	for name, ref := range refs(order, charge) {
		report := bench.look(t, ref)
		if report.State != payment.StatePaid || report.Reference != order.Reference || len(report.Payments) != 1 {
			t.Fatalf("by %s: %+v", name, report)
		}
		checkPayment(t, report.Payments[0], 35_00)
	}
	if report := bench.look(t, payment.Ref{Reference: Order(2, 0).Reference}); report.State != payment.StatePending {
		t.Errorf("the other: %+v", report)
	}
}

func checkPayment(t *testing.T, received payment.Received, amount money.Cents) {
	t.Helper()
	if received.ID == "" || received.Amount != amount || received.Currency != "BRL" || received.Refunded != 0 {
		t.Errorf("got %+v, want %s", received, amount)
	}
	// Some providers tell no more than the day.
	if received.At.After(Now) || received.At.Before(Now.Add(-24*time.Hour)) {
		t.Errorf("paid at %s, by what is said", received.At)
	}
}

func testWrongAmount(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	bench.create(t, order)
	bench.Double.Pay(order.Reference, 34_99)
	report := bench.look(t, payment.Ref{Reference: order.Reference})
	if len(report.Payments) != 1 {
		t.Fatalf("%+v", report)
	}
	checkPayment(t, report.Payments[0], 34_99)
}

// testRefunded gives money back in parts: what is reported is their sum.
func testRefunded(t *testing.T, bench *Bench) {
	double, ok := bench.Double.(Refunder)
	if !ok {
		t.Fatal("the double gives no money back")
	}
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	sum := money.Cents(0)
	for _, back := range []money.Cents{5_00, 1, 29_99} {
		double.Refund(order.Reference, back)
		sum += back
		for name, ref := range refs(order, charge) {
			report := bench.look(t, ref)
			if report.State != payment.StatePaid || len(report.Payments) != 1 ||
				report.Payments[0].Amount != 35_00 || report.Payments[0].Refunded != sum {
				t.Errorf("by %s, %s given back: %+v", name, sum, report)
			}
			if at := report.Payments[0].RefundedAt; !at.Equal(Now) {
				t.Errorf("by %s: given back at %s", name, at)
			}
		}
	}
}

func testUnknown(t *testing.T, bench *Bench) {
	bench.create(t, Order(1, 35_00))
	for _, ref := range []payment.Ref{{Reference: Order(9, 0).Reference}, {ID: "9999999999"}} {
		if report, err := bench.Gateway.Fetch(t.Context(), ref); !errors.Is(err, payment.ErrNoCharge) {
			t.Errorf("look %+v: %+v, %v", ref, report, err)
		}
		if err := bench.Gateway.Cancel(t.Context(), ref); err != nil {
			t.Errorf("cancel %+v: %v", ref, err)
		}
	}
}

func testCancel(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.cancelTwice(t, payment.Ref{ID: charge.ID, Reference: order.Reference})
}

func testCancelByReference(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	bench.create(t, order)
	bench.cancelTwice(t, payment.Ref{Reference: order.Reference})
}

func (b *Bench) cancelTwice(t *testing.T, ref payment.Ref) {
	t.Helper()
	for range 2 {
		if err := b.Gateway.Cancel(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		report, err := b.Gateway.Fetch(t.Context(), ref)
		if !errors.Is(err, payment.ErrNoCharge) && (err != nil || report.State != payment.StateCancelled) {
			t.Fatalf("after cancelling: %+v, %v", report, err)
		}
	}
}

func testCancelPaid(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	for name, ref := range refs(order, charge) {
		if err := bench.Gateway.Cancel(t.Context(), ref); !errors.Is(err, payment.ErrPaid) {
			t.Errorf("by %s: %v", name, err)
		}
	}
	if report := bench.look(t, payment.Ref{ID: charge.ID, Reference: order.Reference}); report.State != payment.StatePaid {
		t.Errorf("afterwards: %+v", report)
	}
}

func testAmounts(t *testing.T, bench *Bench) {
	for i, amount := range []money.Cents{1, 10, 29, 57, 1_15, 8_20, 1234_56, 10_000_000_10, money.Max} {
		order := Order(i, amount)
		bench.create(t, order)
		if got := bench.Double.Asked(order.Reference); got != amount {
			t.Errorf("%s became %s", amount, got)
		}
		bench.Double.Pay(order.Reference, amount)
		if report := bench.look(t, payment.Ref{Reference: order.Reference}); len(report.Payments) != 1 || report.Payments[0].Amount != amount {
			t.Errorf("%s was paid, %+v was found", amount, report.Payments)
		}
	}
}

func testCheck(t *testing.T, bench *Bench) {
	if err := bench.Gateway.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if n := bench.Double.Charges(); n != 0 {
		t.Errorf("the check made %d charges", n)
	}
}

// testDenied wants refusals, not more: whoever cannot see a charge must not say
// that there is none.
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
