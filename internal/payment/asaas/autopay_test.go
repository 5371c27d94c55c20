package asaas_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/asaas"
	"carteira/internal/platform/civil"
	"carteira/test/kit/gatewaytest"
)

func debitBench(t *testing.T) (*gatewaytest.DebitBench, *double) {
	t.Helper()
	double := newDouble()
	line := gatewaytest.NewLine(t, double, makesAutopay)
	opened := func(change ...string) payment.Debitor {
		return open(t, line, options(append(change, "autopay", "yes")...)).(payment.Debitor)
	}
	return &gatewaytest.DebitBench{
		Debitor: opened(), Denied: opened("api_key", "$aact_hmlg_wrong"), Double: double, Line: line,
		Journeys: []payment.Journey{payment.JourneyPayCode}, Reason: "INSUFFICIENT_BALANCE",
		Secrets: []string{key, handMade, "$aact_hmlg_wrong"},
	}, double
}

func TestAsaasPassesTheSuiteOfDebits(t *testing.T) {
	gatewaytest.RunDebits(t, gatewaytest.Only(debitBench))
}

func TestGatewayWithAutopayStillPassesTheSuiteOfCharges(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		b, _ := bench(t)
		b.Gateway, b.Denied = open(t, b.Line, options("autopay", "yes")), open(t, b.Line, options("autopay", "yes", "api_key", "$aact_hmlg_wrong"))
		return b
	})
}

func TestAccountWithoutAutopayHasNoDebitor(t *testing.T) {
	b, _ := bench(t)
	page := gatewaytest.Open(t, asaas.CheckoutProviderAt(b.Line.URL), gatewaytest.Env(b.Line), options())
	for _, gateway := range []payment.Gateway{b.Gateway, page} {
		if _, ok := gateway.(payment.Debitor); ok {
			t.Errorf("%T has PIX Automático", gateway)
		}
	}
}

// asked is an authorisation without an answer.
func asked(t *testing.T) (*gatewaytest.DebitBench, *double, payment.Authorisation) {
	t.Helper()
	bench, double := debitBench(t)
	made, err := bench.Debitor.Authorise(t.Context(), gatewaytest.Mandate(1, payment.JourneyPayCode))
	if err != nil {
		t.Fatal(err)
	}
	return bench, double, made
}

func TestChargeOfACodeIsPendingUntilItIsPaidAndThenCannotBeCancelled(t *testing.T) {
	bench, double, made := asked(t)
	ref := payment.Ref{ID: made.Charge.ID, Reference: "ours"}
	report, err := bench.Debitor.Fetch(t.Context(), ref)
	if err != nil || report.State != payment.StatePending || report.Reference != "ours" || report.ID != ref.ID {
		t.Errorf("pending: %+v, %v", report, err)
	}
	double.Approve(made.Reference)
	if err := bench.Debitor.Cancel(t.Context(), ref); !errors.Is(err, payment.ErrPaid) {
		t.Errorf("cancel what was paid: %v", err)
	}
	if found, err := bench.Debitor.FetchAuthorisation(t.Context(), made.Ref); err != nil || found.State != payment.AuthorisationActive {
		t.Errorf("the authorisation: %+v, %v", found, err)
	}
}

// A code cannot be cancelled at Asaas otherwise.
func TestCancellingTheChargeOfACodeEndsItsAuthorisation(t *testing.T) {
	bench, _, made := asked(t)
	for range 2 {
		if err := bench.Debitor.Cancel(t.Context(), payment.Ref{ID: made.Charge.ID}); err != nil {
			t.Fatal(err)
		}
		if found, err := bench.Debitor.FetchAuthorisation(t.Context(), made.Ref); err != nil || found.State != payment.AuthorisationEnded {
			t.Errorf("the authorisation: %+v, %v", found, err)
		}
	}
}

// Asaas makes a payment of a code when it is paid, without a reference of ours.
func TestPaymentOfACodeIsAHintForItsCharge(t *testing.T) {
	bench, double, made := asked(t)
	double.Approve(made.Reference)
	for _, charge := range double.charges {
		callback := double.calls(object{"id": "evt_1", "event": "PAYMENT_RECEIVED", "payment": charge})
		hints, err := bench.Debitor.VerifyCallback(t.Context(), callback)
		if err != nil || len(hints) != 1 || hints[0].Ref.ID != made.Charge.ID || hints[0].Kind != payment.HintCharge {
			t.Errorf("got %+v, %v", hints, err)
		}
	}
}

func TestWebhookWantsTheEventsOfAutopayOnlyWhereThereIsOne(t *testing.T) {
	for autopay, want := range map[string]int{"no": 8, "yes": 17} {
		bench, double := debitBench(t)
		gateway := open(t, bench.Line, options("autopay", autopay))
		if err := gateway.(payment.Registrar).Register(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, hook := range double.webhooks {
			if events := hook["events"].([]any); len(events) != want {
				t.Errorf("autopay %s registers %d events", autopay, len(events))
			}
		}
	}
}

// Asaas may close PIX Automático to an account, which ends its authorisations.
func TestEligibilityOfTheAccountHasAllAuthorisationsLookedAt(t *testing.T) {
	bench, double, _ := asked(t)
	for _, status := range []string{"ELIGIBLE", "INELIGIBLE"} {
		told := object{"id": "evt_" + status, "event": "PIX_AUTOMATIC_RECURRING_ELIGIBILITY_UPDATED", "eligibility": object{"status": status}}
		hints, err := bench.Debitor.VerifyCallback(t.Context(), double.calls(told))
		if err != nil || len(hints) != 1 || hints[0] != (payment.Hint{EventID: "evt_" + status, Kind: payment.HintAccount}) {
			t.Errorf("%s: %+v, %v", status, hints, err)
		}
		plain := open(t, bench.Line, options())
		if hints, err := plain.VerifyCallback(t.Context(), double.calls(told)); err != nil || len(hints) != 0 {
			t.Errorf("%s without PIX Automático: %+v, %v", status, hints, err)
		}
	}
}

func TestCodeThatAuthorisesEndsWithTheDueDateOfItsAmount(t *testing.T) {
	bench, double := debitBench(t)
	mandate := gatewaytest.Mandate(1, payment.JourneyPayCode)
	mandate.Charge.Due = &payment.Due{On: civil.MustParse("2026-11-16"), Face: mandate.Charge.Amount, LateFee: 2_00, Days: 30}
	mandate.Charge.ExpiresAt = gatewaytest.Now.AddDate(0, 0, 31)
	made, err := bench.Debitor.Authorise(t.Context(), mandate)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Date(2026, 11, 17, 3, 0, 0, 0, time.UTC)
	code, _ := double.authorisations[made.ID]["immediateQrCode"].(object)
	if seconds := fmt.Sprint(code["expirationSeconds"]); seconds != fmt.Sprint(int(end.Sub(gatewaytest.Now).Seconds())) {
		t.Errorf("the code lives %s seconds", seconds)
	}
	if made.Charge.ExpiresAt.After(end) {
		t.Errorf("the charge ends at %s", made.Charge.ExpiresAt)
	}
}

// The instruction of a day that has passed is not executed any more.
func TestOverdueDebitHasFailed(t *testing.T) {
	bench, double, made := asked(t)
	double.Approve(made.Reference)
	debit := gatewaytest.Debit(1, made.Ref, 35_00)
	report, err := bench.Debitor.Announce(t.Context(), debit)
	if err != nil {
		t.Fatal(err)
	}
	double.find(debit.Reference)["status"] = "OVERDUE"
	for day, want := range map[string]payment.DebitState{"2026-12-01": payment.DebitAnnounced, "2026-12-02": payment.DebitFailed} {
		env := gatewaytest.Env(bench.Line)
		env.Now = func() time.Time {
			at, _ := time.Parse("2006-01-02 15:04", day+" 15:00")
			return at
		}
		gateway := gatewaytest.Open(t, asaas.ProviderAt(bench.Line.URL), env, options("autopay", "yes"))
		found, err := gateway.(payment.Debitor).FetchDebit(t.Context(), report.DebitRef)
		if err != nil || found.State != want {
			t.Errorf("on %s: %+v, %v", day, found, err)
		}
	}
}

// Once it is at the payer's bank Asaas removes it no more.
func TestDebitThatAsaasDoesNotRemoveCannotBeStopped(t *testing.T) {
	bench, double, made := asked(t)
	double.Approve(made.Reference)
	report, err := bench.Debitor.Announce(t.Context(), gatewaytest.Debit(1, made.Ref, 35_00))
	if err != nil {
		t.Fatal(err)
	}
	double.find(gatewaytest.Debit(1, made.Ref, 0).Reference)["status"] = "DUNNING_REQUESTED"
	if err := bench.Debitor.CancelDebit(t.Context(), report.DebitRef); !errors.Is(err, payment.ErrPaid) {
		t.Errorf("got %v", err)
	}
}

func TestMandateIsToldAsAsaasWantsIt(t *testing.T) {
	bench, double := debitBench(t)
	mandate := gatewaytest.Mandate(1, payment.JourneyPayCode)
	mandate.Amount, mandate.Retries = 29_90, false
	if _, err := bench.Debitor.Authorise(t.Context(), mandate); err != nil {
		t.Fatal(err)
	}
	sent := double.authorisationOf(mandate.Reference)
	for field, want := range map[string]string{
		"value": "29.90", "minLimitValue": "<nil>", "retryPolicy": "<nil>", "paymentCreationMode": "MANUAL",
		"startDate": "2026-12-01", "frequency": "MONTHLY",
	} {
		if got := fmt.Sprint(sent[field]); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
}
