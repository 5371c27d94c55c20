package sandbox_test

import (
	"errors"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/gatewaytest"
	"carteira/test/kit/sqldbtest"
)

// debitDouble moves the sandbox's payers and their bank as the suite wants.
type debitDouble struct {
	*double
	debitor payment.Debitor
}

func (d *debitDouble) count(text string) int {
	n, err := sqldb.Value[int](d.t.Context(), d.db, text)
	d.must(err)
	return n
}

func (d *debitDouble) exec(text string, args ...any) {
	d.must(d.db.Write(d.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(d.t.Context(), text, args...)
		return err
	}))
}

func (d *debitDouble) Authorisations() int {
	return d.count(`SELECT count(*) FROM sandbox_authorisations`)
}

func (d *debitDouble) Debits() int { return d.count(`SELECT count(*) FROM sandbox_debits`) }

func (d *debitDouble) Approve(reference string) {
	chargeID, err := sqldb.Value[string](d.t.Context(), d.db,
		`SELECT charge_id FROM sandbox_authorisations WHERE reference = ?`, reference)
	d.must(err)
	if chargeID == "" {
		d.must(d.sand.Act(d.t.Context(), reference, sandbox.DeedAuthorise))
		return
	}
	_, err = d.sand.Pay(d.t.Context(), chargeID)
	d.must(err)
}

func (d *debitDouble) Decline(reference string) {
	d.must(d.sand.Act(d.t.Context(), reference, sandbox.DeedRefuse))
}

func (d *debitDouble) Revoke(reference string) {
	d.must(d.sand.Act(d.t.Context(), reference, sandbox.DeedEnd))
}

func (d *debitDouble) Announced(ref payment.DebitRef) money.Cents { return d.Asked(ref.Reference) }

// Collect has the day of the debit come, for this one alone, and go again.
func (d *debitDouble) Collect(ref payment.DebitRef, _ money.Cents) {
	d.exec(`UPDATE sandbox_debits SET attempt_on = ? WHERE charge_id = ?`, "2026-11-13", ref.ID)
	report, err := d.debitor.FetchDebit(d.t.Context(), ref)
	d.must(err)
	if report.State != payment.DebitPaid && report.State != payment.DebitFailed {
		d.t.Fatalf("on its day the debit is %+v", report)
	}
	d.exec(`UPDATE sandbox_debits SET attempt_on = ? WHERE charge_id = ?`, ref.Due.String(), ref.ID)
}

func (d *debitDouble) Fail(ref payment.DebitRef) {
	d.must(d.sand.Act(d.t.Context(), ref.Authorisation.Reference, sandbox.DeedEmpty))
	d.Collect(ref, 0)
}

func (d *debitDouble) GiveBack(payment.DebitRef, money.Cents) {
	d.t.Fatal("the sandbox gives nothing back")
}

func (d *debitDouble) AuthorisationCallback(reference string) payment.Callback {
	callback, err := d.sand.AuthorisationCallback(d.t.Context(), reference)
	d.must(err)
	return callback
}

func (d *debitDouble) DebitCallback(ref payment.DebitRef) payment.Callback {
	return d.Callback(ref.Reference)
}

func openDebits(t *testing.T, engine sqldb.Engine, flow payment.Flow) *gatewaytest.DebitBench {
	t.Helper()
	place := open(t, engine, string(flow))
	debitor := place.gateway.(payment.Debitor)
	bench := &gatewaytest.DebitBench{
		Debitor:  debitor,
		Double:   &debitDouble{&place.double, debitor},
		Journeys: []payment.Journey{payment.JourneyRequest, payment.JourneyCode, payment.JourneyPayCode},
		Reason:   "too little money",
		Lacks:    gatewaytest.Lacks{Refunds: true},
	}
	if flow == payment.FlowRedirect {
		bench.Journeys = bench.Journeys[:2]
	}
	return bench
}

func TestSandboxPassesTheSuiteOfDebits(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		gatewaytest.RunDebits(t, func(t *testing.T) *gatewaytest.DebitBench {
			t.Helper()
			return openDebits(t, engine, payment.FlowPix)
		})
	})
}

func TestSandboxThatRedirectsPassesTheSuiteOfDebits(t *testing.T) {
	gatewaytest.RunDebits(t, func(t *testing.T) *gatewaytest.DebitBench {
		t.Helper()
		return openDebits(t, sqldb.SQLite, payment.FlowRedirect)
	})
}

func TestCodeThatPaysAuthorisesByItsPaymentAlone(t *testing.T) {
	place := open(t, sqldb.SQLite, "")
	debitor := place.gateway.(payment.Debitor)
	mandate := gatewaytest.Mandate(1, payment.JourneyPayCode)
	_, err := debitor.Authorise(t.Context(), mandate)
	place.must(err)
	if err := place.sand.Act(t.Context(), mandate.Reference, sandbox.DeedAuthorise); fault.KindOf(err) != fault.KindConflict {
		t.Errorf("authorised without a payment: %v", err)
	}
	mandate = gatewaytest.Mandate(2, payment.JourneyPayCode)
	mandate.Charge.Amount = 0
	if _, err := debitor.Authorise(t.Context(), mandate); !errors.Is(err, payment.ErrRefused) {
		t.Errorf("a code that pays nothing: %v", err)
	}
}

// Money that comes for a debit ahead of its day is all that comes.
func TestDebitThatWasPaidAheadIsNotAttempted(t *testing.T) {
	place := open(t, sqldb.SQLite, "")
	debitor := place.gateway.(payment.Debitor)
	mandate := gatewaytest.Mandate(1, payment.JourneyCode)
	_, err := debitor.Authorise(t.Context(), mandate)
	place.must(err)
	place.must(place.sand.Act(t.Context(), mandate.Reference, sandbox.DeedAuthorise))
	debit := gatewaytest.Debit(1, payment.Ref{Reference: mandate.Reference}, 35_00)
	_, err = debitor.Announce(t.Context(), debit)
	place.must(err)
	place.Pay(debit.Reference, 35_00)
	place.clock.Advance(debit.On.AddDays(1).Start(gatewaytest.Now.Location()).Sub(gatewaytest.Now))
	ref := payment.DebitRef{Ref: payment.Ref{Reference: debit.Reference}}
	report, err := debitor.FetchDebit(t.Context(), ref)
	if err != nil || report.State != payment.DebitPaid || len(report.Payments) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
