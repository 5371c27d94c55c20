package gatewaytest

import (
	"errors"
	"strings"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/platform/money"
)

func testAnnounce(t *testing.T, bench *DebitBench) {
	debit := Debit(1, bench.active(t, 1), 35_00)
	var first payment.DebitReport
	for range 2 {
		report, err := bench.Debitor.Announce(t.Context(), debit)
		if err != nil {
			t.Fatal(err)
		}
		if report.State != payment.DebitAnnounced || report.ID == "" || report.On != debit.On || len(report.Payments) != 0 {
			t.Errorf("announced %+v", report)
		}
		if first.ID != "" && first.ID != report.ID {
			t.Errorf("first %+v, then %+v", first, report)
		}
		first = report
	}
	if n := bench.Double.Debits(); n != 1 {
		t.Errorf("%d debits were announced", n)
	}
	if other, _ := bench.announced(t, 2, 35_00); other.ID == first.ID {
		t.Error("two debits are one")
	}
}

// debitRefs are the ways to name a debit.
func debitRefs(ref payment.DebitRef) map[string]payment.DebitRef {
	byID, byReference := ref, ref
	byID.Reference, byReference.ID = "", ""
	return map[string]payment.DebitRef{"id": byID, "reference": byReference, "both": ref}
}

func testAnnounced(t *testing.T, bench *DebitBench) {
	bench.announced(t, 2, 1_00)
	made, ref := bench.announced(t, 1, 35_00)
	for name, ref := range debitRefs(ref) {
		report := bench.debit(t, ref)
		if report.State != payment.DebitAnnounced || report.ID != made.ID || report.On != FirstDebit || report.Reason != "" {
			t.Errorf("by %s: %+v", name, report)
		}
	}
}

func testCollected(t *testing.T, bench *DebitBench) {
	_, other := bench.announced(t, 2, 1_00)
	_, ref := bench.announced(t, 1, 35_00)
	bench.Double.Collect(ref, 35_00)
	for name, ref := range debitRefs(ref) {
		report := bench.debit(t, ref)
		if report.State != payment.DebitPaid || len(report.Payments) != 1 || report.Reason != "" {
			t.Fatalf("by %s: %+v", name, report)
		}
		checkPayment(t, report.Payments[0], 35_00)
	}
	if report := bench.debit(t, other); report.State != payment.DebitAnnounced {
		t.Errorf("the other: %+v", report)
	}
}

func testGivenBack(t *testing.T, bench *DebitBench) {
	if bench.Lacks.Refunds {
		t.Skip("the provider does not tell")
	}
	_, ref := bench.announced(t, 1, 35_00)
	bench.Double.Collect(ref, 35_00)
	sum := money.Cents(0)
	for _, back := range []money.Cents{5_00, 1, 29_99} {
		bench.Double.GiveBack(ref, back)
		sum += back
		report := bench.debit(t, ref)
		if report.State != payment.DebitPaid || len(report.Payments) != 1 ||
			report.Payments[0].Amount != 35_00 || report.Payments[0].Refunded != sum {
			t.Errorf("%s given back: %+v", sum, report)
		}
	}
}

func testCancelDebit(t *testing.T, bench *DebitBench) {
	for n, name := range []string{"id", "reference", "both"} {
		_, whole := bench.announced(t, n+1, 35_00)
		ref := debitRefs(whole)[name]
		if bench.Lacks.Cancelling {
			if err := bench.Debitor.CancelDebit(t.Context(), ref); !errors.Is(err, payment.ErrPaid) {
				t.Errorf("by %s: %v", name, err)
			}
			continue
		}
		for range 2 {
			if err := bench.Debitor.CancelDebit(t.Context(), ref); err != nil {
				t.Fatalf("by %s: %v", name, err)
			}
			report, err := bench.Debitor.FetchDebit(t.Context(), ref)
			if !errors.Is(err, payment.ErrNoCharge) && (err != nil || report.State != payment.DebitCancelled) {
				t.Errorf("by %s, afterwards: %+v, %v", name, report, err)
			}
		}
	}
}

func testCancelCollected(t *testing.T, bench *DebitBench) {
	_, ref := bench.announced(t, 1, 35_00)
	bench.Double.Collect(ref, 35_00)
	for name, ref := range debitRefs(ref) {
		if err := bench.Debitor.CancelDebit(t.Context(), ref); !errors.Is(err, payment.ErrPaid) {
			t.Errorf("by %s: %v", name, err)
		}
	}
	if report := bench.debit(t, ref); report.State != payment.DebitPaid {
		t.Errorf("afterwards: %+v", report)
	}
}

func testFailed(t *testing.T, bench *DebitBench) {
	_, ref := bench.announced(t, 1, 35_00)
	bench.Double.Fail(ref)
	for name, ref := range debitRefs(ref) {
		report := bench.debit(t, ref)
		if report.State != payment.DebitFailed || !strings.Contains(report.Reason, bench.Reason) || len(report.Payments) != 0 {
			t.Errorf("by %s: %+v", name, report)
		}
	}
	if err := bench.Debitor.CancelDebit(t.Context(), ref); err != nil {
		t.Errorf("cancel what failed: %v", err)
	}
}

func testRetry(t *testing.T, bench *DebitBench) {
	_, ref := bench.announced(t, 1, 35_00)
	bench.Double.Fail(ref)
	on := FirstDebit.AddDays(2)
	if bench.Lacks.Retries {
		if err := bench.Debitor.RetryDebit(t.Context(), ref, on); !errors.Is(err, payment.ErrRefused) {
			t.Errorf("got %v", err)
		}
		return
	}
	for range 2 {
		if err := bench.Debitor.RetryDebit(t.Context(), ref, on); err != nil {
			t.Fatal(err)
		}
		report := bench.debit(t, ref)
		if report.State != payment.DebitRetrying || report.On != on || report.Attempts != 2 {
			t.Errorf("tried again: %+v", report)
		}
	}
	bench.Double.Collect(ref, 35_00)
	report := bench.debit(t, ref)
	if report.State != payment.DebitPaid || len(report.Payments) != 1 {
		t.Fatalf("afterwards: %+v", report)
	}
	checkPayment(t, report.Payments[0], 35_00)
	if err := bench.Debitor.RetryDebit(t.Context(), ref, on.AddDays(2)); err == nil {
		t.Error("what was debited is tried again")
	}
}

func testUnknownDebit(t *testing.T, bench *DebitBench) {
	authorisation := bench.active(t, 1)
	unknown := refOf(Debit(9, authorisation, 1), "")
	byID := refOf(Debit(9, authorisation, 1), unknownID)
	byID.Reference = ""
	for _, ref := range []payment.DebitRef{unknown, byID} {
		if report, err := bench.Debitor.FetchDebit(t.Context(), ref); !errors.Is(err, payment.ErrNoCharge) {
			t.Errorf("look %+v: %+v, %v", ref, report, err)
		}
		if err := bench.Debitor.CancelDebit(t.Context(), ref); err != nil {
			t.Errorf("cancel %+v: %v", ref, err)
		}
		if err := bench.Debitor.RetryDebit(t.Context(), ref, FirstDebit); err == nil {
			t.Errorf("retry %+v: it is done", ref)
		}
	}
}

func testDebitAmounts(t *testing.T, bench *DebitBench) {
	for i, amount := range []money.Cents{1, 29, 57, 1_15, 8_20, 1234_56, money.Max} {
		_, ref := bench.announced(t, i+1, amount)
		if got := bench.Double.Announced(ref); got != amount {
			t.Errorf("%s became %s", amount, got)
		}
		bench.Double.Collect(ref, amount)
		if report := bench.debit(t, ref); len(report.Payments) != 1 || report.Payments[0].Amount != amount {
			t.Errorf("%s was debited, %+v was found", amount, report.Payments)
		}
	}
}

func testDebitCallbacks(t *testing.T, bench *DebitBench) {
	report, ref := bench.announced(t, 1, 35_00)
	bench.Double.Collect(ref, 35_00)
	heard := bench.hearTwice(t, payment.HintAuthorisation, func() payment.Callback {
		return bench.Double.AuthorisationCallback(ref.Authorisation.Reference)
	})
	if found := bench.authorisation(t, heard); found.ID != ref.Authorisation.ID || found.State != payment.AuthorisationActive {
		t.Errorf("%+v leads to %+v", heard, found)
	}
	heard = bench.hearTwice(t, payment.HintDebit, func() payment.Callback { return bench.Double.DebitCallback(ref) })
	found := bench.debit(t, payment.DebitRef{Ref: heard, Authorisation: ref.Authorisation, Due: ref.Due})
	if found.ID != report.ID || found.State != payment.DebitPaid {
		t.Errorf("%+v leads to %+v", heard, found)
	}
}

// hearTwice hears a callback and hears it again, and returns what it is about.
func (b *DebitBench) hearTwice(t *testing.T, kind payment.HintKind, callback func() payment.Callback) payment.Ref {
	t.Helper()
	bench := Bench{Gateway: b.Debitor}
	first, again := bench.hear(t, callback()), bench.hear(t, callback())
	if len(first) != 1 || first[0].Kind != kind || len(again) != 1 || again[0] != first[0] {
		t.Fatalf("the first time %+v, the second time %+v", first, again)
	}
	return first[0].Ref
}

// testDebitForgeries gives genuine callbacks the proof of forged ones, and none.
func testDebitForgeries(t *testing.T, bench *DebitBench) {
	_, ref := bench.announced(t, 1, 35_00)
	bench.Double.Collect(ref, 35_00)
	other := Order(7, 1_00)
	if _, err := bench.Debitor.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	bench.Double.Pay(other.Reference, 1_00)
	forgeries := bench.Double.Forgeries(other.Reference)
	forgeries["nothing but the body"] = payment.Callback{}
	for kind, genuine := range map[string]payment.Callback{
		"an authorisation": bench.Double.AuthorisationCallback(ref.Authorisation.Reference),
		"a debit":          bench.Double.DebitCallback(ref),
	} {
		for name, forgery := range forgeries {
			forgery.Body = genuine.Body
			hints, err := bench.Debitor.VerifyCallback(t.Context(), forgery)
			if !errors.Is(err, payment.ErrForged) || len(hints) != 0 {
				t.Errorf("%s, %s: %+v, %v", kind, name, hints, err)
			}
		}
	}
}
