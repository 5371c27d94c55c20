package gatewaytest

import (
	"errors"
	"slices"
	"testing"

	"carteira/internal/payment"
)

func testAuthorise(t *testing.T, bench *DebitBench, journey payment.Journey) {
	mandate := Mandate(1, journey)
	first := bench.authorise(t, mandate)
	second := bench.authorise(t, mandate)
	bench.checkAsked(t, journey, first)
	if first.ID == "" || first.ID != second.ID || first.PixCode != second.PixCode {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if n := bench.Double.Authorisations(); n != 1 {
		t.Errorf("%d authorisations were made", n)
	}
	if other := bench.authorise(t, Mandate(2, journey)); other.ID == first.ID {
		t.Error("two mandates share an authorisation")
	}
}

// checkAsked wants what the payer needs for a journey, and nothing else.
func (b *DebitBench) checkAsked(t *testing.T, journey payment.Journey, asked payment.Authorisation) {
	t.Helper()
	byCode := journey != payment.JourneyRequest
	if asked.State != payment.AuthorisationAsked || (asked.PixCode != "") != byCode || asked.EndedBy != "" {
		t.Errorf("asked by %s: %+v", journey, asked)
	}
	pays := journey == payment.JourneyPayCode
	if (asked.Charge != nil) != pays || pays && asked.Charge.ID == "" {
		t.Errorf("asked by %s, with the charge %+v", journey, asked.Charge)
	}
}

// authorisationRefs are the ways to name one.
func authorisationRefs(mandate payment.Mandate, id string) map[string]payment.Ref {
	return map[string]payment.Ref{
		"id":        {ID: id},
		"reference": {Reference: mandate.Reference},
		"both":      {ID: id, Reference: mandate.Reference},
	}
}

func testAsked(t *testing.T, bench *DebitBench, journey payment.Journey) {
	bench.authorise(t, Mandate(2, journey))
	mandate := Mandate(1, journey)
	asked := bench.authorise(t, mandate)
	for name, ref := range authorisationRefs(mandate, asked.ID) {
		found := bench.authorisation(t, ref)
		if found.State != payment.AuthorisationAsked || found.ID != asked.ID || found.Reference != mandate.Reference ||
			found.PixCode != asked.PixCode {
			t.Errorf("by %s: %+v, asked %+v", name, found, asked)
		}
	}
}

func testApproved(t *testing.T, bench *DebitBench, journey payment.Journey) {
	bench.authorise(t, Mandate(2, journey))
	mandate := Mandate(1, journey)
	asked := bench.authorise(t, mandate)
	bench.Double.Approve(mandate.Reference)
	for name, ref := range authorisationRefs(mandate, asked.ID) {
		found := bench.authorisation(t, ref)
		if found.State != payment.AuthorisationActive || found.ID != asked.ID || found.EndedBy != "" || found.ActiveAt.After(Now) {
			t.Errorf("by %s: %+v", name, found)
		}
	}
	if other := bench.authorisation(t, payment.Ref{Reference: Mandate(2, journey).Reference}); other.State != payment.AuthorisationAsked {
		t.Errorf("the other: %+v", other)
	}
	if journey != payment.JourneyPayCode {
		return
	}
	ref := payment.Ref{ID: asked.Charge.ID, Reference: mandate.Charge.Reference}
	report, err := bench.Debitor.Fetch(t.Context(), ref)
	if err != nil || report.State != payment.StatePaid || len(report.Payments) != 1 {
		t.Fatalf("what the code paid: %+v, %v", report, err)
	}
	checkPayment(t, report.Payments[0], 35_00)
}

func testDeclined(t *testing.T, bench *DebitBench, journey payment.Journey) {
	mandate := Mandate(1, journey)
	bench.authorise(t, mandate)
	bench.Double.Decline(mandate.Reference)
	found := bench.authorisation(t, payment.Ref{Reference: mandate.Reference})
	want := payment.AuthorisationRefused
	if bench.Lacks.Refusals {
		want = payment.AuthorisationEnded
	}
	if found.State != want || found.PixCode != "" || found.EndedAt.After(Now) {
		t.Errorf("found %+v", found)
	}
	if err := bench.Debitor.EndAuthorisation(t.Context(), found.Ref); err != nil {
		t.Errorf("end what was refused: %v", err)
	}
}

func testRevoked(t *testing.T, bench *DebitBench, journey payment.Journey) {
	mandate := Mandate(1, journey)
	bench.authorise(t, mandate)
	bench.Double.Approve(mandate.Reference)
	bench.Double.Revoke(mandate.Reference)
	found := bench.authorisation(t, payment.Ref{Reference: mandate.Reference})
	if found.State != payment.AuthorisationEnded || found.EndedBy == payment.ByCompany || found.EndedAt.After(Now) {
		t.Errorf("found %+v", found)
	}
	if err := bench.Debitor.EndAuthorisation(t.Context(), found.Ref); err != nil {
		t.Errorf("end what is ended: %v", err)
	}
	debit := Debit(1, found.Ref, 35_00)
	if report, err := bench.Debitor.Announce(t.Context(), debit); err == nil && report.State == payment.DebitAnnounced {
		t.Errorf("announced by what is ended: %+v", report)
	}
}

func testEndAsked(t *testing.T, bench *DebitBench, journey payment.Journey) {
	mandate := Mandate(1, journey)
	asked := bench.authorise(t, mandate)
	for name, ref := range authorisationRefs(mandate, asked.ID) {
		if err := bench.Debitor.EndAuthorisation(t.Context(), ref); err != nil {
			t.Fatalf("by %s: %v", name, err)
		}
		found, err := bench.Debitor.FetchAuthorisation(t.Context(), ref)
		over := found.State == payment.AuthorisationEnded || found.State == payment.AuthorisationRefused
		if !errors.Is(err, payment.ErrNoCharge) && (err != nil || !over) {
			t.Errorf("by %s, afterwards: %+v, %v", name, found, err)
		}
	}
}

func testEndActive(t *testing.T, bench *DebitBench, journey payment.Journey) {
	mandate := Mandate(1, journey)
	asked := bench.authorise(t, mandate)
	bench.Double.Approve(mandate.Reference)
	ref := payment.Ref{ID: asked.ID, Reference: mandate.Reference}
	for range 2 {
		if err := bench.Debitor.EndAuthorisation(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if found := bench.authorisation(t, ref); found.State != payment.AuthorisationEnded || found.EndedBy == payment.ByPayer {
			t.Errorf("afterwards: %+v", found)
		}
	}
}

func testOtherJourneys(t *testing.T, bench *DebitBench) {
	if said := payment.JourneysOf(bench.Debitor); !slices.Equal(said, bench.Journeys) {
		t.Errorf("it says that it has %q", said)
	}
	for _, journey := range []payment.Journey{payment.JourneyRequest, payment.JourneyCode, payment.JourneyPayCode} {
		if bench.has(journey) {
			continue
		}
		if asked, err := bench.Debitor.Authorise(t.Context(), Mandate(1, journey)); !errors.Is(err, payment.ErrRefused) {
			t.Errorf("%s: %+v, %v", journey, asked, err)
		}
	}
	if n := bench.Double.Authorisations() + bench.Double.Charges(); n != 0 {
		t.Errorf("%d authorisations and charges were made", n)
	}
}

// unknownID looks like an id of each provider.
const unknownID = "RN99999999202611150000000zzzz"

func testUnknownAuthorisation(t *testing.T, bench *DebitBench) {
	bench.authorise(t, Mandate(1, bench.journey()))
	for _, ref := range []payment.Ref{{Reference: Mandate(9, "").Reference}, {ID: unknownID}} {
		if found, err := bench.Debitor.FetchAuthorisation(t.Context(), ref); !errors.Is(err, payment.ErrNoCharge) {
			t.Errorf("look %+v: %+v, %v", ref, found, err)
		}
		if err := bench.Debitor.EndAuthorisation(t.Context(), ref); err != nil {
			t.Errorf("end %+v: %v", ref, err)
		}
	}
}
