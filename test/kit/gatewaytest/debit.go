package gatewaytest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// DebitDouble is a provider of PIX Automático as the suite moves it.
type DebitDouble interface {
	Double
	// Authorisations is how many authorisations were made, ended ones included.
	Authorisations() int
	// Approve is the payer agreeing, now. Where the code pays too, it is paid.
	Approve(reference string)
	// Decline is the payer refusing what they are asked for.
	Decline(reference string)
	// Revoke is the payer ending an authorisation that is active.
	Revoke(reference string)
	// Debits is how many debits were announced, cancelled ones included.
	Debits() int
	// Announced is a debit as the provider received it.
	Announced(ref payment.DebitRef) money.Cents
	// Collect is the bank debiting the account, now.
	Collect(ref payment.DebitRef, amount money.Cents)
	// Fail is the newest attempt failing for the bench's Reason.
	Fail(ref payment.DebitRef)
	// GiveBack gives back a part of what was debited, now.
	GiveBack(ref payment.DebitRef, amount money.Cents)
	// AuthorisationCallback is a genuine callback about an authorisation.
	AuthorisationCallback(reference string) payment.Callback
	// DebitCallback is a genuine callback about a debit.
	DebitCallback(ref payment.DebitRef) payment.Callback
}

// DebitBench is a gateway of PIX Automático with the double of its provider.
type DebitBench struct {
	Debitor  payment.Debitor
	Double   DebitDouble
	Journeys []payment.Journey // those that the provider has
	Reason   string            // what a report says of a failed attempt, among other words
	Lacks    Lacks
	Denied   payment.Debitor // with credentials that are wrong; nil without a line
	// Line lies between the two; nil when they do not speak over HTTP. It knows the
	// requests that make an authorisation or a debit.
	Line    *Line
	Secrets []string // what nothing may tell
}

// Lacks are what a provider cannot do.
type Lacks struct {
	Cancelling bool // what is announced cannot be stopped: CancelDebit says ErrPaid
	Retries    bool // there is no attempt on another day: RetryDebit is refused
	Refunds    bool // it does not tell what was given back of a debit
	Refusals   bool // it has one word for a payer who refuses and one who ends
}

// FirstDebit is the first day on which the suite's mandates let debit.
var FirstDebit = civil.MustParse("2026-12-01")

// Mandate is a mandate that differs from others in its reference.
func Mandate(n int, journey payment.Journey) payment.Mandate {
	mandate := payment.Mandate{
		Reference:   fmt.Sprintf("A%031d", n),
		Journey:     journey,
		Description: "Internet 300 Mb — José & Cia. Ltda. e filhos",
		Payer:       Order(n, 1).Payer,
		Every:       payment.EveryMonth,
		From:        FirstDebit,
		Minimum:     1,
		Retries:     true,
		ExpiresAt:   Now.Add(7 * 24 * time.Hour),
	}
	switch journey {
	case payment.JourneyRequest:
		mandate.Account = &payment.PayerAccount{ISPB: "91193552", Branch: "2569", Account: "550689"}
	case payment.JourneyPayCode:
		order := Order(n+500, 35_00)
		mandate.Charge = &order
	case payment.JourneyCode:
	}
	return mandate
}

// Debit is a debit by an authorisation that differs from others in its reference.
func Debit(n int, authorisation payment.Ref, amount money.Cents) payment.Debit {
	return payment.Debit{
		Reference:     fmt.Sprintf("D%031d", n),
		Authorisation: authorisation,
		Amount:        amount,
		On:            FirstDebit,
		Description:   "Mensalidade de dezembro — José & Cia.",
		Payer:         Order(n, 1).Payer,
	}
}

// RunDebits runs the suite of PIX Automático; open makes a fresh bench for each
// part.
func RunDebits(t *testing.T, open func(t *testing.T) *DebitBench) {
	t.Helper()
	first := open(t)
	for name, part := range journeyParts {
		for _, journey := range first.Journeys {
			t.Run(name+" by "+string(journey), func(t *testing.T) { part(t, open(t), journey) })
		}
	}
	for name, part := range debitParts {
		t.Run(name, func(t *testing.T) { part(t, open(t)) })
	}
	if first.Line == nil {
		return
	}
	for name, part := range debitLineParts {
		t.Run(name, func(t *testing.T) { part(t, open(t)) })
	}
}

// journeyParts are passed for each journey that the provider has.
var journeyParts = map[string]func(*testing.T, *DebitBench, payment.Journey){
	"asks once":                    testAuthorise,
	"finds what was asked":         testAsked,
	"finds that the payer agreed":  testApproved,
	"finds that the payer refused": testDeclined,
	"finds that the payer ended":   testRevoked,
	"ends what is asked":           testEndAsked,
	"ends what is active":          testEndActive,
}

// debitParts are what every gateway of PIX Automático passes.
var debitParts = map[string]func(*testing.T, *DebitBench){
	"refuses a journey that it does not have": testOtherJourneys,
	"does not know other authorisations":      testUnknownAuthorisation,
	"announces once":                          testAnnounce,
	"finds what was announced":                testAnnounced,
	"finds the debit paid":                    testCollected,
	"finds a debit given back":                testGivenBack,
	"cancels what is announced":               testCancelDebit,
	"does not cancel what was debited":        testCancelCollected,
	"finds the failure with its reason":       testFailed,
	"tries again once a day":                  testRetry,
	"does not know other debits":              testUnknownDebit,
	"debits to the cent":                      testDebitAmounts,
	"hears callbacks of each kind":            testDebitCallbacks,
	"does not hear forged ones":               testDebitForgeries,
}

// debitLineParts are for those that speak to a provider over HTTP.
var debitLineParts = map[string]func(*testing.T, *DebitBench){
	"does not accept other credentials":              testDebitDenied,
	"leaves troubles open":                           testDebitTroubles,
	"believes no empty yes":                          testDebitHollow,
	"finds an authorisation whose answer was lost":   testLostAuthorisation,
	"finds an announced debit whose answer was lost": testLostDebit,
	"keeps secrets":                                  testDebitSecrets,
}

func (b *DebitBench) authorise(t *testing.T, mandate payment.Mandate) payment.Authorisation {
	t.Helper()
	asked, err := b.Debitor.Authorise(t.Context(), mandate)
	if err != nil {
		t.Fatalf("authorise: %v", err)
	}
	return asked
}

// journey is one that the provider has.
func (b *DebitBench) journey() payment.Journey { return b.Journeys[0] }

func (b *DebitBench) has(journey payment.Journey) bool { return slices.Contains(b.Journeys, journey) }

// active is an authorisation that debits can be announced by.
func (b *DebitBench) active(t *testing.T, n int) payment.Ref {
	t.Helper()
	mandate := Mandate(n, b.journey())
	asked := b.authorise(t, mandate)
	b.Double.Approve(mandate.Reference)
	return payment.Ref{ID: asked.ID, Reference: mandate.Reference}
}

func (b *DebitBench) authorisation(t *testing.T, ref payment.Ref) payment.Authorisation {
	t.Helper()
	found, err := b.Debitor.FetchAuthorisation(t.Context(), ref)
	if err != nil {
		t.Fatalf("look at an authorisation: %v", err)
	}
	return found
}

// announced is a debit that was announced, and how to name it.
func (b *DebitBench) announced(t *testing.T, n int, amount money.Cents) (payment.DebitReport, payment.DebitRef) {
	t.Helper()
	debit := Debit(n, b.active(t, n), amount)
	report, err := b.Debitor.Announce(t.Context(), debit)
	if err != nil {
		t.Fatalf("announce: %v", err)
	}
	return report, refOf(debit, report.ID)
}

// refOf names a debit in every way there is.
func refOf(debit payment.Debit, id string) payment.DebitRef {
	return payment.DebitRef{
		Ref:           payment.Ref{ID: id, Reference: debit.Reference},
		Authorisation: debit.Authorisation,
		Due:           debit.On,
	}
}

func (b *DebitBench) debit(t *testing.T, ref payment.DebitRef) payment.DebitReport {
	t.Helper()
	report, err := b.Debitor.FetchDebit(t.Context(), ref)
	if err != nil {
		t.Fatalf("look at a debit: %v", err)
	}
	return report
}
