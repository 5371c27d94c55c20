package gatewaytest

import (
	"errors"
	"testing"

	"carteira/internal/payment"
)

func testCallback(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	first := bench.hear(t, bench.Double.Callback(order.Reference))
	if len(first) != 1 {
		t.Fatalf("%d hints", len(first))
	}
	ref := first[0].Ref
	if ref.Reference != order.Reference && ref.ID != charge.ID {
		// What a callback names need not be the charge itself, but it leads to it.
		if report := bench.look(t, ref); report.Reference != order.Reference {
			t.Errorf("the hint %+v leads to %+v", ref, report)
		}
	}
	if report := bench.look(t, ref); report.State != payment.StatePaid || report.Reference != order.Reference {
		t.Errorf("looked up by the hint: %+v", report)
	}
	again := bench.hear(t, bench.Double.Callback(order.Reference))
	if len(again) != 1 || again[0] != first[0] {
		t.Errorf("the second time %+v, the first time %+v", again, first)
	}
}

func (b *Bench) hear(t *testing.T, callback payment.Callback) []payment.Hint {
	t.Helper()
	hints, err := b.Gateway.VerifyCallback(t.Context(), callback)
	if err != nil {
		t.Fatalf("a genuine callback: %v", err)
	}
	return hints
}

func testForgeries(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	forgeries := bench.Double.Forgeries(order.Reference)
	genuine := bench.Double.Callback(order.Reference)
	forgeries["nothing but the body"] = payment.Callback{Body: genuine.Body}
	forgeries["nothing"] = payment.Callback{}
	for name, forgery := range forgeries {
		hints, err := bench.Gateway.VerifyCallback(t.Context(), forgery)
		if !errors.Is(err, payment.ErrForged) || len(hints) != 0 {
			t.Errorf("%s: %+v, %v", name, hints, err)
		}
		if err != nil {
			bench.checkSecrets(t, name, err)
		}
	}
}

// testBrokenCallbacks sends bodies that no provider sends, with a proof where
// that does not cover the body.
func testBrokenCallbacks(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	for _, body := range []string{"", "{", "null", "[]", `""`, "{}", `{"pix":1,"payment":[],"charge":"x","data":7}`, "\xff\x00"} {
		callback := bench.Double.Callback(order.Reference)
		callback.Body = []byte(body)
		hints, err := bench.Gateway.VerifyCallback(t.Context(), callback)
		for _, hint := range hints {
			// The query may say it all; whatever is said is looked up.
			if err != nil || hint.Ref == (payment.Ref{}) {
				t.Errorf("%q: %+v, %v", body, hints, err)
			}
		}
	}
}

func testRegister(t *testing.T, bench *Bench) {
	registrar, ok := bench.Gateway.(payment.Registrar)
	if !ok {
		t.Skip("a person enters the address, or every charge carries it")
	}
	for range 2 {
		if err := registrar.Register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	order := Order(1, 35_00)
	bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	if hints := bench.hear(t, bench.Double.Callback(order.Reference)); len(hints) != 1 {
		t.Errorf("after registering: %+v", hints)
	}
}

func testSilentRegister(t *testing.T, bench *Bench) {
	registrar, ok := bench.Gateway.(payment.Registrar)
	if !ok {
		t.Skip("a person enters the address, or every charge carries it")
	}
	defer bench.Line.suffer(silent)()
	if err := registrar.Register(t.Context()); err != nil {
		t.Error(err)
	}
}
