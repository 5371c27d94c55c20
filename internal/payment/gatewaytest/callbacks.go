package gatewaytest

import (
	"errors"
	"testing"

	"carteira/internal/payment"
)

func testCallback(t *testing.T, b *Bench) {
	o := Order(1, 35_00)
	c := b.create(t, o)
	b.Double.Pay(o.Reference, 35_00)
	first := b.hear(t, b.Double.Callback(o.Reference))
	if len(first) != 1 {
		t.Fatalf("%d hints", len(first))
	}
	ref := first[0].Ref
	if ref.Reference != o.Reference && ref.ID != c.ID {
		// What a callback names need not be the charge itself, but it leads to it.
		if r := b.look(t, ref); r.Reference != o.Reference {
			t.Errorf("the hint %+v leads to %+v", ref, r)
		}
	}
	if r := b.look(t, ref); r.State != payment.StatePaid || r.Reference != o.Reference {
		t.Errorf("looked up by the hint: %+v", r)
	}
	again := b.hear(t, b.Double.Callback(o.Reference))
	if len(again) != 1 || again[0] != first[0] {
		t.Errorf("the second time %+v, the first time %+v", again, first)
	}
}

func (b *Bench) hear(t *testing.T, c payment.Callback) []payment.Hint {
	t.Helper()
	hints, err := b.Gateway.VerifyCallback(t.Context(), c)
	if err != nil {
		t.Fatalf("a genuine callback: %v", err)
	}
	return hints
}

func testForgeries(t *testing.T, b *Bench) {
	o := Order(1, 35_00)
	b.create(t, o)
	b.Double.Pay(o.Reference, 35_00)
	forgeries := b.Double.Forgeries(o.Reference)
	genuine := b.Double.Callback(o.Reference)
	forgeries["nothing but the body"] = payment.Callback{Body: genuine.Body}
	forgeries["nothing"] = payment.Callback{}
	for name, c := range forgeries {
		hints, err := b.Gateway.VerifyCallback(t.Context(), c)
		if !errors.Is(err, payment.ErrForged) || len(hints) != 0 {
			t.Errorf("%s: %+v, %v", name, hints, err)
		}
		if err != nil {
			b.checkSecrets(t, name, err)
		}
	}
}

// testBrokenCallbacks sends bodies that no provider sends, with a proof where
// that does not cover the body.
func testBrokenCallbacks(t *testing.T, b *Bench) {
	o := Order(1, 35_00)
	b.create(t, o)
	b.Double.Pay(o.Reference, 35_00)
	for _, body := range []string{"", "{", "null", "[]", `""`, "{}", `{"pix":1,"payment":[],"charge":"x","data":7}`, "\xff\x00"} {
		c := b.Double.Callback(o.Reference)
		c.Body = []byte(body)
		hints, err := b.Gateway.VerifyCallback(t.Context(), c)
		for _, h := range hints {
			// The query may say it all; whatever is said is looked up.
			if err != nil || h.Ref == (payment.Ref{}) {
				t.Errorf("%q: %+v, %v", body, hints, err)
			}
		}
	}
}

func testRegister(t *testing.T, b *Bench) {
	r, ok := b.Gateway.(payment.Registrar)
	if !ok {
		t.Skip("a person enters the address, or every charge carries it")
	}
	for range 2 {
		if err := r.Register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	o := Order(1, 35_00)
	b.create(t, o)
	b.Double.Pay(o.Reference, 35_00)
	if hints := b.hear(t, b.Double.Callback(o.Reference)); len(hints) != 1 {
		t.Errorf("after registering: %+v", hints)
	}
}
