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
func RunManual(t *testing.T, g payment.Gateway) {
	t.Helper()
	for i, amount := range []money.Cents{1, 29, 1234_56, money.Max} {
		testManual(t, g, Order(i, amount))
	}
	if err := g.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	for _, c := range []payment.Callback{{}, {Header: http.Header{"Authorization": {"x"}}, Body: []byte(`{"status":"paid"}`)}} {
		if hints, err := g.VerifyCallback(t.Context(), c); !errors.Is(err, payment.ErrForged) || len(hints) != 0 {
			t.Errorf("hear: %+v, %v", hints, err)
		}
	}
}

func testManual(t *testing.T, g payment.Gateway, o payment.Order) {
	t.Helper()
	b := &Bench{Gateway: g, Flow: payment.FlowPix}
	c := b.create(t, o)
	b.checkCharge(t, c)
	if again := b.create(t, o); again != c {
		t.Errorf("first %+v, then %+v", c, again)
	}
	if code, err := pix.Parse(c.PixCode); err != nil || code.Amount != o.Amount {
		t.Errorf("%s says %+v, %v", o.Amount, code, err)
	}
	if !c.ExpiresAt.Equal(o.ExpiresAt) {
		t.Errorf("expires at %s", c.ExpiresAt)
	}
	for name, ref := range refs(o, c) {
		if r := b.look(t, ref); r.State != payment.StatePending || len(r.Payments) != 0 {
			t.Errorf("by %s: %+v", name, r)
		}
		if err := g.Cancel(t.Context(), ref); err != nil {
			t.Errorf("cancel by %s: %v", name, err)
		}
	}
}
