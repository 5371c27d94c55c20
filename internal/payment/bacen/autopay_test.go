package bacen_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/payment/bacen"
	"carteira/internal/platform/fault"
	"carteira/test/kit/gatewaytest"
)

// automatic are the options of a company that has PIX Automático.
var automatic = []string{"autopay", "yes", "receiver_branch", "0001", "receiver_account", "123456-7"}

// debitBench is a bank by the document, which is none of the table's.
func debitBench(t *testing.T, change ...string) (*gatewaytest.DebitBench, *double) {
	t.Helper()
	double := newDouble("/api/v2")
	line := newLineFor(t, guard(t, double, "/api/v2"), makesAutopay)
	host := strings.TrimPrefix(line.URL, "https://")
	provider := bacen.Provider(bacen.Settings{Hosts: []string{host}})
	usual := slices.Concat([]string{
		"bank", "other", "base_url", line.URL + "/api/v2", "token_url", line.URL + "/oauth/token",
	}, automatic, change)
	return debitBenchOf(t, provider, line, double, usual...), double
}

func debitBenchOf(
	t *testing.T, provider payment.Provider, line *gatewaytest.Line, double *double, change ...string,
) *gatewaytest.DebitBench {
	t.Helper()
	bench := benchOf(t, provider, line, double, change...)
	return &gatewaytest.DebitBench{
		Debitor: bench.Gateway.(payment.Debitor), Denied: bench.Denied.(payment.Debitor),
		Double: double, Line: line, Secrets: bench.Secrets, Reason: "AM02",
		Journeys: []payment.Journey{payment.JourneyRequest, payment.JourneyCode, payment.JourneyPayCode},
	}
}

func TestBankByTheDocumentPassesTheSuiteOfDebits(t *testing.T) {
	gatewaytest.RunDebits(t, func(t *testing.T) *gatewaytest.DebitBench {
		t.Helper()
		bench, _ := debitBench(t)
		return bench
	})
}

// Efí refuses in its own words.
func TestEfiPassesTheSuiteOfDebits(t *testing.T) {
	gatewaytest.RunDebits(t, func(t *testing.T) *gatewaytest.DebitBench {
		t.Helper()
		double := newEfi()
		line := newLineFor(t, guard(t, double, "/v2"), makesAutopay)
		return debitBenchOf(t, bacen.EfiProvider(bacen.Settings{Server: line.URL}), line, double, automatic...)
	})
}

func TestGatewayWithAutopayStillPassesTheSuiteOfCharges(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		double := newEfi()
		provider, line := efiAt(t, double)
		return benchOf(t, provider, line, double, automatic...)
	})
}

func TestCompanyWithoutAutopayHasNoDebitor(t *testing.T) {
	b, double := bench(t)
	if _, ok := b.Gateway.(payment.Debitor); ok || len(double.hooks) != 0 {
		t.Errorf("it has: %v, hooks %v", ok, double.hooks)
	}
}

func TestBankOfWhichWeDoNotKnowAutopayIsNotOfferedIt(t *testing.T) {
	for bank, field := range map[string]string{"bradesco": "autopay", "itau": "autopay"} {
		options := options(t, append([]string{"bank", bank, "environment", "production"}, automatic...)...)
		_, err := bacen.Provider(bacen.Settings{}).Open(options, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) != 1 {
			t.Errorf("%s: %v", bank, err)
		}
	}
	for field, value := range map[string]string{
		"receiver_branch": "00011", "receiver_account": "", "receiver_account_type": "savings", "autopay": "maybe",
	} {
		options := options(t, append(slices.Clone(automatic), field, value)...)
		_, err := bacen.EfiProvider(bacen.Settings{}).Open(options, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) != 1 {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// PIX Automático calls back at addresses of its own, which may belong to another
// system too.
func TestWebhooksOfAutopayAreSetWithoutReplacingOthers(t *testing.T) {
	bench, double := debitBench(t)
	ours := double.webhook
	if double.hooks["webhookrec"] != ours || double.hooks["webhookcobr"] != ours {
		t.Fatalf("registered %v, %s", double.hooks, ours)
	}
	double.hooks["webhookrec"], double.hooks["webhookcobr"] = others, ""
	err := bench.Debitor.(payment.Registrar).Register(t.Context())
	taken, ok := errors.AsType[*payment.WebhookTaken](err)
	if !ok || taken.URL != "https://erp.example.com/pix/loja" || double.hooks["webhookrec"] != others {
		t.Fatalf("got %v, %v", err, double.hooks)
	}
	if double.hooks["webhookcobr"] != ours {
		t.Error("one that is taken keeps the others back")
	}
	if err := bench.Debitor.(payment.Replacer).Replace(t.Context(), taken.URL); err != nil || double.hooks["webhookrec"] != ours {
		t.Errorf("agreed: %v, %v", err, double.hooks)
	}
}

func TestDebitOfTodayCannotBeStopped(t *testing.T) {
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
	double.autopay.late = true
	if err := bench.Debitor.CancelDebit(t.Context(), report.DebitRef); !errors.Is(err, payment.ErrPaid) {
		t.Errorf("got %v", err)
	}
}

// The document keeps no trace of which charge with a due date a code pays.
func TestCodeWithAChargeWithADueDateIsGivenOutOnce(t *testing.T) {
	bench, double := debitBench(t, "late_charges", "bank")
	mandate := gatewaytest.Mandate(1, payment.JourneyPayCode)
	order := dueOrder(7)
	mandate.Charge = &order
	asked, err := bench.Debitor.Authorise(t.Context(), mandate)
	if err != nil || !strings.HasSuffix(asked.PixCode, order.Reference) || asked.Charge == nil {
		t.Fatalf("asked %+v, %v", asked, err)
	}
	if again, err := bench.Debitor.Authorise(t.Context(), mandate); err != nil || again.PixCode != asked.PixCode || double.Authorisations() != 1 {
		t.Errorf("again %+v, %v", again, err)
	}
	found, err := bench.Debitor.FetchAuthorisation(t.Context(), payment.Ref{Reference: mandate.Reference})
	if err != nil || found.PixCode != "" || found.Reference != mandate.Reference {
		t.Errorf("found %+v, %v", found, err)
	}
}

// A request may fail while the bank keeps the authorisation open.
func TestRequestThatNobodyAnsweredIsRefusedByExpiry(t *testing.T) {
	for status, want := range map[string]payment.EndedBy{
		"EXPIRADA": payment.ByExpiry, "REJEITADA": payment.ByPayer, "CANCELADA": payment.ByCompany, "RECEBIDA": "",
	} {
		bench, double := debitBench(t)
		mandate := gatewaytest.Mandate(1, payment.JourneyRequest)
		if _, err := bench.Debitor.Authorise(t.Context(), mandate); err != nil {
			t.Fatal(err)
		}
		step(double.recOf(mandate.Reference)["solicitacao"].([]any)[0].(object), status)
		found, err := bench.Debitor.FetchAuthorisation(t.Context(), payment.Ref{Reference: mandate.Reference})
		if err != nil || found.EndedBy != want || (found.State == payment.AuthorisationRefused) != (want != "") {
			t.Errorf("%s: %+v, %v", status, found, err)
		}
	}
}

func TestFixedAmountIsTheOneThatDebitsAreOf(t *testing.T) {
	bench, double := debitBench(t)
	mandate := gatewaytest.Mandate(1, payment.JourneyCode)
	mandate.Amount = 35_00
	if _, err := bench.Debitor.Authorise(t.Context(), mandate); err != nil {
		t.Fatal(err)
	}
	value := double.recOf(mandate.Reference)["valor"].(object)
	if value["valorRec"] != "35.00" || len(value) != 1 {
		t.Errorf("sent %v", value)
	}
}

func TestPayerWithoutTaxIDIsRefused(t *testing.T) {
	bench, double := debitBench(t)
	mandate := gatewaytest.Mandate(1, payment.JourneyPayCode)
	mandate.Payer.TaxID = ""
	if _, err := bench.Debitor.Authorise(t.Context(), mandate); !errors.Is(err, payment.ErrRefused) || double.Charges() != 0 {
		t.Errorf("got %v", err)
	}
}
