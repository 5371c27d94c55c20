package woovi_test

import (
	"errors"
	"slices"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/payment/woovi"
	"carteira/test/kit/gatewaytest"
)

func debitBench(t *testing.T) (*gatewaytest.DebitBench, *double) {
	t.Helper()
	double := newDouble()
	line := gatewaytest.NewLine(t, guard(t, double), makesAutopay)
	opened := func(change ...string) payment.Debitor {
		options := options(append(change, "autopay", "yes")...)
		return gatewaytest.Open(t, woovi.ProviderAt(line.URL), gatewaytest.Env(line), options).(payment.Debitor)
	}
	return &gatewaytest.DebitBench{
		Debitor: opened(), Denied: opened("app_id", "wrong-app-id"), Double: double, Line: line,
		Journeys: []payment.Journey{payment.JourneyCode}, Reason: "AM02",
		Lacks:   gatewaytest.Lacks{Cancelling: true, Retries: true, Refunds: true, Refusals: true},
		Secrets: []string{appID, handMade, "wrong-app-id"},
	}, double
}

func TestWooviPassesTheSuiteOfDebits(t *testing.T) {
	gatewaytest.RunDebits(t, gatewaytest.Only(debitBench))
}

func TestAccountWithoutAutopayHasNoDebitor(t *testing.T) {
	b, _ := bench(t)
	if _, ok := b.Gateway.(payment.Debitor); ok {
		t.Error("it has PIX Automático")
	}
}

// announced is a debit of 35,00 that was announced.
func announced(t *testing.T) (*gatewaytest.DebitBench, *double, payment.DebitReport) {
	t.Helper()
	bench, double := debitBench(t)
	mandate := gatewaytest.Mandate(1, payment.JourneyCode)
	asked, err := bench.Debitor.Authorise(t.Context(), mandate)
	if err != nil {
		t.Fatal(err)
	}
	double.Approve(mandate.Reference)
	report, err := bench.Debitor.Announce(t.Context(), gatewaytest.Debit(1, asked.Ref, 35_00))
	if err != nil {
		t.Fatal(err)
	}
	return bench, double, report
}

// Woovi announces, with its own amount, what we have not announced.
func TestDebitThatWooviAnnouncedByItselfIsFollowed(t *testing.T) {
	bench, _, report := announced(t)
	debit := gatewaytest.Debit(1, report.Authorisation, 99_00)
	again, err := bench.Debitor.Announce(t.Context(), debit)
	if err != nil || again.ID != report.ID || bench.Double.Announced(report.DebitRef) != 35_00 {
		t.Errorf("got %+v, %v", again, err)
	}
}

// A due date on a Sunday is debited on Monday, and Woovi says Sunday.
func TestInstalmentIsFoundNearItsDay(t *testing.T) {
	bench, _, report := announced(t)
	for days, want := range map[int]bool{-6: false, -5: true, 3: true, 5: true, 6: false} {
		debit := gatewaytest.Debit(1, report.Authorisation, 35_00)
		debit.On = debit.On.AddDays(days)
		found, err := bench.Debitor.Announce(t.Context(), debit)
		if want && (err != nil || found.ID != report.ID) || !want && !errors.Is(err, payment.ErrRefused) {
			t.Errorf("%d days off: %+v, %v", days, found, err)
		}
	}
}

// Woovi's pages show an instalment without the object that its document has it in.
func TestInstalmentMayComeBare(t *testing.T) {
	bench, double, report := announced(t)
	double.bare = true
	if found, err := bench.Debitor.FetchDebit(t.Context(), report.DebitRef); err != nil || found.State != payment.DebitAnnounced {
		t.Errorf("got %+v, %v", found, err)
	}
}

// Without its id and its day nothing may be said of a debit, least of all that
// there is none.
func TestDebitWithoutIDAndDayIsNotSaidToBeUnknown(t *testing.T) {
	bench, _, report := announced(t)
	ref := payment.DebitRef{Ref: payment.Ref{Reference: "x"}, Authorisation: report.Authorisation}
	if _, err := bench.Debitor.FetchDebit(t.Context(), ref); err == nil || errors.Is(err, payment.ErrNoCharge) {
		t.Errorf("got %v", err)
	}
}

func TestPayerWithoutAWholeAddressIsRefused(t *testing.T) {
	bench, double := debitBench(t)
	mandate := gatewaytest.Mandate(1, payment.JourneyCode)
	mandate.Payer.Address.Number = ""
	if _, err := bench.Debitor.Authorise(t.Context(), mandate); !errors.Is(err, payment.ErrRefused) || double.Authorisations() != 0 {
		t.Errorf("got %v", err)
	}
}

func TestWebhooksOfAutopayAreRegisteredWhereThereIsOne(t *testing.T) {
	bench, double := debitBench(t)
	for range 2 {
		if err := bench.Debitor.(payment.Registrar).Register(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var events []string
	for _, hook := range double.webhooks {
		events = append(events, hook["event"].(string))
	}
	if len(events) != 10 || !slices.Contains(events, "PIX_AUTOMATIC_COBR_COMPLETED") || !slices.Contains(events, "OPENPIX:CHARGE_COMPLETED") {
		t.Errorf("registered %q", events)
	}
}

// Banks try several times a day; only the last word ends the debit.
func TestFailedAttemptIsNotTheEndOfADebit(t *testing.T) {
	bench, double, report := announced(t)
	double.cobrOf(report.DebitRef)["status"] = "FAILED_TRY"
	if found, err := bench.Debitor.FetchDebit(t.Context(), report.DebitRef); err != nil || found.State != payment.DebitRetrying {
		t.Errorf("got %+v, %v", found, err)
	}
}
