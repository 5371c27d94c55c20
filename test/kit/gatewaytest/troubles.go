package gatewaytest

import (
	"context"
	"errors"
	"testing"
	"time"

	"carteira/internal/payment"
)

// testTroubles wants errors that leave open what happened.
func testTroubles(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	ref := payment.Ref{ID: charge.ID, Reference: order.Reference}
	troubles := map[string]trouble{
		"500":              says(500, `{"message":"internal error"}`),
		"503":              says(503, "<html>try later</html>"),
		"429":              says(429, `{}`),
		"408":              says(408, `{}`),
		"garbage":          says(200, "<html>hello</html>"),
		"an empty body":    says(200, ""),
		"an empty object":  says(200, "{}"),
		"null":             says(200, "null"),
		"a list":           says(200, `[1,"x"]`),
		"the wrong types":  says(200, `{"id":[],"status":7,"charge":"x","results":1,"data":{"a":1},"txid":false,"access_token":{}}`),
		"a redirect":       redirects,
		"a hang-up":        hangsUp,
		"a break-off":      breaksOff,
		"too long answers": floods,
	}
	for name, answer := range troubles {
		t.Run(name, func(t *testing.T) {
			defer bench.Line.suffer(answer)()
			for call, err := range bench.calls(t, ref) {
				bench.checkOpen(t, call, err)
			}
		})
	}
	if report := bench.look(t, ref); report.State != payment.StatePending {
		t.Errorf("afterwards: %+v", report)
	}
}

// checkOpen wants an error that says nothing of the charge. Looking at the
// credentials and registering need not understand an answer that says yes.
func (b *Bench) checkOpen(t *testing.T, call string, err error) {
	t.Helper()
	if err == nil && (call == "check" || call == "register") {
		return
	}
	if err == nil || errors.Is(err, payment.ErrRefused) || errors.Is(err, payment.ErrNoCharge) || errors.Is(err, payment.ErrPaid) {
		t.Errorf("%s: %v", call, err)
	}
}

// testHollow has a provider that reads back what it has, says yes to every
// change, and makes none.
func testHollow(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	mend := bench.Line.suffer(hollow)
	if made, err := bench.Gateway.Create(t.Context(), Order(2, 1_00)); err == nil || errors.Is(err, payment.ErrRefused) {
		t.Errorf("create: %+v, %v", made, err)
	}
	for name, ref := range refs(order, charge) {
		if err := bench.Gateway.Cancel(t.Context(), ref); err == nil {
			t.Errorf("cancel by %s believes that it is done", name)
		}
	}
	mend()
	if report := bench.look(t, payment.Ref{ID: charge.ID, Reference: order.Reference}); report.State != payment.StatePending {
		t.Errorf("afterwards: %+v", report)
	}
}

func testRefused(t *testing.T, bench *Bench) {
	defer bench.Line.suffer(says(400, `{"message":"not like this"}`))()
	_, err := bench.Gateway.Create(t.Context(), Order(1, 35_00))
	if !errors.Is(err, payment.ErrRefused) {
		t.Errorf("create: %v", err)
	}
}

func testRedirect(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	mend := bench.Line.suffer(redirects)
	for call, err := range bench.calls(t, payment.Ref{ID: charge.ID, Reference: order.Reference}) {
		if err == nil {
			t.Errorf("%s took it for an answer", call)
		}
	}
	mend()
	if n := bench.Line.followed(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// testHangs lets the provider hang, and the caller give up.
func testHangs(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	ref := payment.Ref{ID: charge.ID, Reference: order.Reference}
	arrived := make(chan struct{}, 1)
	defer bench.Line.suffer(hangs(arrived))()
	calls := map[string]func(context.Context) error{
		"create": func(ctx context.Context) error { _, err := bench.Gateway.Create(ctx, Order(2, 1_00)); return err },
		"look":   func(ctx context.Context) error { _, err := bench.Gateway.Fetch(ctx, ref); return err },
		"cancel": func(ctx context.Context) error { return bench.Gateway.Cancel(ctx, ref) },
		"check":  bench.Gateway.Check,
	}
	for name, call := range calls {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- call(ctx) }()
		<-arrived
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s, given up: %v", name, err)
		}
	}
	for name, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		go func() {
			select {
			case <-arrived:
			case <-ctx.Done():
			}
		}()
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, out of time: %v", name, err)
		}
		cancel()
	}
}

// testLost is the worst moment: the charge was made, and we do not know.
func testLost(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	made := make(chan struct{}, 1)
	mend := bench.Line.suffer(bench.Line.loses(made))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := bench.Gateway.Create(ctx, order)
		done <- err
	}()
	<-made
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || errors.Is(err, payment.ErrRefused) {
		t.Errorf("the lost answer: %v", err)
	}
	mend()
	report := bench.look(t, payment.Ref{Reference: order.Reference})
	bench.checkCharge(t, report.Charge)
	if report.State != payment.StatePending || report.Reference != order.Reference {
		t.Errorf("found %+v", report)
	}
	if again := bench.create(t, order); again.ID != report.ID || again.PixCode != report.PixCode {
		t.Errorf("found %+v, then made %+v", report.Charge, again)
	}
	if n := bench.Double.Charges(); n != 1 {
		t.Errorf("%d charges were made", n)
	}
}

func testSecrets(t *testing.T, bench *Bench) {
	if len(bench.Secrets) == 0 {
		t.Fatal("the bench names no secret")
	}
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	ref := payment.Ref{ID: charge.ID, Reference: order.Reference}
	for name, answer := range map[string]trouble{
		"an echo": echoes, "a hang-up": hangsUp,
		"garbage": says(200, "x"), "an empty object": says(200, "{}"),
	} {
		mend := bench.Line.suffer(answer)
		for call, err := range bench.calls(t, ref) {
			if err != nil {
				bench.checkSecrets(t, call+" with "+name, err)
			}
		}
		mend()
	}
}

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
