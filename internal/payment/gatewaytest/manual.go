package gatewaytest

import (
	"errors"
	"net/http"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/platform/money"
)

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
	if code, err := pix.Parse(charge.PixCode); err != nil || code.Amount != order.Amount {
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
