package gatewaytest

import (
	"context"
	"errors"
	"testing"

	"carteira/internal/payment"
)

// calls makes every call of PIX Automático and returns what came of it.
func (b *DebitBench) calls(t *testing.T, ref payment.DebitRef) map[string]error {
	t.Helper()
	debitor := b.Debitor
	_, authorise := debitor.Authorise(t.Context(), Mandate(7, b.journey()))
	_, look := debitor.FetchAuthorisation(t.Context(), ref.Authorisation)
	_, byReference := debitor.FetchAuthorisation(t.Context(), payment.Ref{Reference: ref.Authorisation.Reference})
	_, announce := debitor.Announce(t.Context(), Debit(7, ref.Authorisation, 35_00))
	_, debit := debitor.FetchDebit(t.Context(), ref)
	_, debitByReference := debitor.FetchDebit(t.Context(), debitRefs(ref)["reference"])
	return map[string]error{
		"authorise":                           authorise,
		"look at an authorisation":            look,
		"look at it by reference":             byReference,
		"end an authorisation":                debitor.EndAuthorisation(t.Context(), ref.Authorisation),
		"announce":                            announce,
		"look at a debit":                     debit,
		"look at a debit by reference":        debitByReference,
		"cancel a debit":                      debitor.CancelDebit(t.Context(), ref),
		"ask for one more attempt of a debit": debitor.RetryDebit(t.Context(), ref, FirstDebit.AddDays(2)),
	}
}

// testDebitDenied wants refusals, not more: a caller that cannot see a debit
// must not report that there is none.
func testDebitDenied(t *testing.T, bench *DebitBench) {
	_, ref := bench.announced(t, 1, 35_00)
	denied := *bench
	denied.Debitor = bench.Denied
	for name, err := range denied.calls(t, ref) {
		if !errors.Is(err, payment.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bench.checkUntouched(t, ref)
}

// checkUntouched wants the authorisation active and the debit announced.
func (b *DebitBench) checkUntouched(t *testing.T, ref payment.DebitRef) {
	t.Helper()
	if found := b.authorisation(t, ref.Authorisation); found.State != payment.AuthorisationActive {
		t.Errorf("afterwards the authorisation is %+v", found)
	}
	if report := b.debit(t, ref); report.State != payment.DebitAnnounced {
		t.Errorf("afterwards the debit is %+v", report)
	}
}

func testDebitTroubles(t *testing.T, bench *DebitBench) {
	_, ref := bench.announced(t, 1, 35_00)
	for name, answer := range map[string]trouble{
		"500":             says(500, `{"message":"internal error"}`),
		"503":             says(503, "<html>try later</html>"),
		"429":             says(429, `{}`),
		"garbage":         says(200, "<html>hello</html>"),
		"an empty body":   says(200, ""),
		"an empty object": says(200, "{}"),
		"null":            says(200, "null"),
		"the wrong types": says(200, `{"id":[],"status":7,"idRec":1,"recs":1,"data":{"a":1},"subscription":"x","installment":3}`),
		"a redirect":      redirects,
		"a hang-up":       hangsUp,
		"a break-off":     breaksOff,
	} {
		t.Run(name, func(t *testing.T) {
			defer bench.Line.suffer(answer)()
			for call, err := range bench.calls(t, ref) {
				if err == nil || errors.Is(err, payment.ErrRefused) || errors.Is(err, payment.ErrNoCharge) || errors.Is(err, payment.ErrPaid) {
					t.Errorf("%s: %v", call, err)
				}
			}
		})
	}
	bench.checkUntouched(t, ref)
}

// testDebitHollow has a provider that reads back what it has, says yes to every
// change, and makes none.
func testDebitHollow(t *testing.T, bench *DebitBench) {
	_, ref := bench.announced(t, 1, 35_00)
	other := bench.active(t, 2)
	mend := bench.Line.suffer(hollow)
	if made, err := bench.Debitor.Authorise(t.Context(), Mandate(3, bench.journey())); err == nil || errors.Is(err, payment.ErrRefused) {
		t.Errorf("authorise: %+v, %v", made, err)
	}
	if made, err := bench.Debitor.Announce(t.Context(), Debit(2, other, 1_00)); err == nil || errors.Is(err, payment.ErrRefused) {
		t.Errorf("announce: %+v, %v", made, err)
	}
	if err := bench.Debitor.CancelDebit(t.Context(), ref); err == nil {
		t.Error("cancel believes that it is done")
	}
	if err := bench.Debitor.EndAuthorisation(t.Context(), ref.Authorisation); err == nil {
		t.Error("end believes that it is done")
	}
	mend()
	bench.checkUntouched(t, ref)
}

// lose makes a call and loses its answer once the provider has done it.
func (b *DebitBench) lose(t *testing.T, call func(context.Context) error) {
	t.Helper()
	made := make(chan struct{}, 1)
	mend := b.Line.suffer(b.Line.loses(made))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call(ctx) }()
	<-made
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || errors.Is(err, payment.ErrRefused) {
		t.Errorf("the lost answer: %v", err)
	}
	mend()
}

func testLostAuthorisation(t *testing.T, bench *DebitBench) {
	for i, journey := range bench.Journeys {
		mandate := Mandate(i+1, journey)
		bench.lose(t, func(ctx context.Context) error {
			_, err := bench.Debitor.Authorise(ctx, mandate)
			return err
		})
		found := bench.authorisation(t, payment.Ref{Reference: mandate.Reference})
		if found.State != payment.AuthorisationAsked || found.Reference != mandate.Reference {
			t.Errorf("by %s found %+v", journey, found)
		}
		again := bench.authorise(t, mandate)
		bench.checkAsked(t, journey, again)
		if again.ID != found.ID {
			t.Errorf("by %s found %+v, then asked %+v", journey, found, again)
		}
		if n := bench.Double.Authorisations(); n != i+1 {
			t.Errorf("by %s: %d authorisations were made", journey, n)
		}
	}
}

func testLostDebit(t *testing.T, bench *DebitBench) {
	debit := Debit(1, bench.active(t, 1), 35_00)
	bench.lose(t, func(ctx context.Context) error {
		_, err := bench.Debitor.Announce(ctx, debit)
		return err
	})
	found := bench.debit(t, refOf(debit, ""))
	again, err := bench.Debitor.Announce(t.Context(), debit)
	if err != nil || again.ID != found.ID || again.State != payment.DebitAnnounced {
		t.Errorf("found %+v, then announced %+v, %v", found, again, err)
	}
	if n := bench.Double.Debits(); n != 1 {
		t.Errorf("%d debits were announced", n)
	}
}

func testDebitSecrets(t *testing.T, bench *DebitBench) {
	_, ref := bench.announced(t, 1, 35_00)
	plain := Bench{Secrets: bench.Secrets}
	for name, answer := range map[string]trouble{"an echo": echoes, "a hang-up": hangsUp, "garbage": says(200, "x")} {
		mend := bench.Line.suffer(answer)
		for call, err := range bench.calls(t, ref) {
			if err != nil {
				plain.checkSecrets(t, call+" with "+name, err)
			}
		}
		mend()
	}
}
