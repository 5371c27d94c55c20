package sandbox

import (
	"context"
	"errors"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
)

var _ payment.Debitor = (*gateway)(nil)

// authorisation is an authorisation as the simulated provider knows it.
type authorisation struct {
	id        string
	reference string
	pixCode   string
	payerName string
	chargeID  string // whose payment authorises; "": a deed does
	state     payment.AuthorisationState
	endedBy   payment.EndedBy
	fails     int // so many attempts to come fail
	expiresAt time.Time
	activeAt  time.Time
	endedAt   time.Time
	secret    string
}

// at is the authorisation as it is at an instant: nobody has answered a request
// that is over.
func (a authorisation) at(now time.Time) authorisation {
	if a.state == payment.AuthorisationAsked && !a.expiresAt.After(now) {
		a.state, a.endedBy, a.endedAt = payment.AuthorisationRefused, payment.ByExpiry, a.expiresAt
	}
	return a
}

func (a authorisation) live() bool {
	return a.state == payment.AuthorisationAsked || a.state == payment.AuthorisationActive
}

func (a authorisation) public() payment.Authorisation {
	shown := payment.Authorisation{
		Ref:      payment.Ref{ID: a.id, Reference: a.reference},
		State:    a.state,
		EndedBy:  a.endedBy,
		ActiveAt: a.activeAt,
		EndedAt:  a.endedAt,
	}
	if a.state == payment.AuthorisationAsked {
		shown.PixCode = a.pixCode
	}
	return shown
}

// Deed is what a simulated payer does about an authorisation.
type Deed string

// The deeds.
const (
	DeedAuthorise Deed = "authorise"
	DeedRefuse    Deed = "refuse"
	DeedEnd       Deed = "end"
	DeedEmpty     Deed = "fail" // the account has no money when it is next debited
)

// Deeds are those that there are.
var Deeds = []Deed{DeedAuthorise, DeedRefuse, DeedEnd, DeedEmpty}

// Act is a button of a simulated payer. What does not fit the state of the
// authorisation is a conflict.
func (s *Sandbox) Act(ctx context.Context, name string, deed Deed) error {
	return s.changeAuthorisation(ctx, name, func(tx *sqldb.Tx, a *authorisation) error {
		switch {
		case deed == DeedAuthorise && a.state == payment.AuthorisationAsked:
			a.state, a.activeAt = payment.AuthorisationActive, tx.Now()
		case deed == DeedRefuse && a.state == payment.AuthorisationAsked:
			a.state, a.endedBy, a.endedAt = payment.AuthorisationRefused, payment.ByPayer, tx.Now()
		case deed == DeedEnd && a.state == payment.AuthorisationActive:
			return a.end(ctx, tx, payment.ByPayer)
		case deed == DeedEmpty && a.state == payment.AuthorisationActive:
			a.fails++
		default:
			return fault.Conflict("the authorisation is " + string(a.state))
		}
		return nil
	})
}

// ActNamed is Act for a deed by its name.
func (s *Sandbox) ActNamed(ctx context.Context, name, deed string) error {
	return s.Act(ctx, name, Deed(deed))
}

// end ends an authorisation with the debits that wait for their day.
func (a *authorisation) end(ctx context.Context, tx *sqldb.Tx, by payment.EndedBy) error {
	a.state, a.endedBy, a.endedAt = payment.AuthorisationEnded, by, tx.Now()
	return cancelDebits(ctx, tx, a.id)
}

// changeAuthorisation locks an authorisation and changes it.
func (s *Sandbox) changeAuthorisation(
	ctx context.Context,
	name string,
	change func(tx *sqldb.Tx, a *authorisation) error,
) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		locked, err := lockAuthorisation(ctx, tx, name)
		if err != nil {
			return err
		}
		locked = locked.at(tx.Now())
		if err := change(tx, &locked); err != nil {
			return err
		}
		return updateAuthorisation(ctx, tx, locked)
	})
}

// Authorise asks the payer, or returns what was asked before.
func (g *gateway) Authorise(ctx context.Context, mandate payment.Mandate) (payment.Authorisation, error) {
	made := authorisation{
		id:        id.NewCode(26),
		reference: mandate.Reference,
		payerName: mandate.Payer.Name,
		state:     payment.AuthorisationAsked,
		expiresAt: mandate.ExpiresAt,
		secret:    id.NewCode(32),
	}
	var first *payment.Charge
	if mandate.Charge != nil {
		charge, err := g.Create(ctx, *mandate.Charge)
		if err != nil {
			return payment.Authorisation{}, err
		}
		first, made.chargeID = &charge, charge.ID
	}
	if mandate.Journey == payment.JourneyCode {
		code, err := pix.Dynamic{URL: "pix.example.com/rec/" + made.id, Name: "Simulador Carteira", City: "Sao Paulo"}.Code()
		if err != nil {
			return payment.Authorisation{}, err
		}
		made.pixCode = code
	}
	var shown payment.Authorisation
	err := g.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := insertAuthorisation(ctx, tx, made); err != nil {
			return err
		}
		known, err := authorisationNamed(ctx, tx, mandate.Reference)
		shown = known.at(tx.Now()).public()
		return err
	})
	shown.Charge = first
	return shown, err
}

// FetchAuthorisation reads it back.
func (g *gateway) FetchAuthorisation(ctx context.Context, ref payment.Ref) (payment.Authorisation, error) {
	known, err := authorisationNamed(ctx, g.db, wire.Pick(ref.ID, ref.Reference))
	return known.at(g.db.Now()).public(), err
}

// EndAuthorisation ends it for the company.
func (g *gateway) EndAuthorisation(ctx context.Context, ref payment.Ref) error {
	err := g.changeAuthorisation(ctx, wire.Pick(ref.ID, ref.Reference), func(tx *sqldb.Tx, a *authorisation) error {
		if !a.live() {
			return nil
		}
		return a.end(ctx, tx, payment.ByCompany)
	})
	if errors.Is(err, payment.ErrNoCharge) {
		return nil
	}
	return err
}

// debit is a debit as the simulated provider knows it: a charge that is paid by
// itself on its day.
type debit struct {
	Charge
	authorisationID string
	on              civil.Date
	attempts        int
	waiting         bool // for the attempt of that day
}

// The hours of a simulated bank: when it debits, and until when it can be stopped.
const (
	debitsAt = 6 * time.Hour
	stopsAt  = 0
)

var bankZone = time.FixedZone("BRT", -3*60*60)

// attempted reports whether the day of the newest attempt has come.
func (d debit) attempted(now time.Time) bool {
	return !now.Before(d.on.At(debitsAt, bankZone))
}

// started reports whether the newest attempt can no longer be stopped.
func (d debit) started(now time.Time) bool {
	return d.waiting && !now.Before(d.on.At(stopsAt, bankZone))
}

func (d debit) report(by authorisation) payment.DebitReport {
	report := payment.DebitReport{
		DebitRef: payment.DebitRef{
			Ref:           payment.Ref{ID: d.ID, Reference: d.Reference},
			Authorisation: payment.Ref{ID: by.id, Reference: by.reference},
		},
		State:    payment.DebitFailed,
		On:       d.on,
		Attempts: d.attempts,
		Payments: d.Payments,
	}
	switch {
	case len(d.Payments) > 0:
		report.State = payment.DebitPaid
	case d.Cancelled:
		report.State = payment.DebitCancelled
	case d.waiting && d.attempts > 0:
		report.State = payment.DebitRetrying
	case d.waiting:
		report.State = payment.DebitAnnounced
	default:
		report.Reason = "the account had too little money"
	}
	return report
}

// Announce announces a debit, or finds it.
func (g *gateway) Announce(ctx context.Context, order payment.Debit) (report payment.DebitReport, err error) {
	made := debit{Charge: Charge{
		ID:          id.NewCode(26),
		Reference:   order.Reference,
		Amount:      order.Amount,
		Description: order.Description,
		PayerName:   order.Payer.Name,
		ExpiresAt:   order.On.AddDays(30).Start(bankZone),
		secret:      id.NewCode(32),
	}, on: order.On}
	err = g.db.Write(ctx, func(tx *sqldb.Tx) error {
		by, err := lockAuthorisation(ctx, tx, wire.Pick(order.Authorisation.ID, order.Authorisation.Reference))
		if errors.Is(err, payment.ErrNoCharge) || err == nil && by.state != payment.AuthorisationActive {
			return &payment.Refusal{Reason: "the payer has not authorised"}
		}
		if err != nil {
			return err
		}
		if err := insertDebit(ctx, tx, made, by.id); err != nil {
			return err
		}
		known, err := debitNamed(ctx, tx, order.Reference)
		report = known.report(by)
		return err
	})
	return report, err
}

// FetchDebit reads a debit back. What the bank does on its day is done by then.
func (g *gateway) FetchDebit(ctx context.Context, ref payment.DebitRef) (report payment.DebitReport, err error) {
	err = g.changeDebit(ctx, ref, func(tx *sqldb.Tx, d *debit, by *authorisation) error {
		if d.waiting && !d.Cancelled && d.attempted(tx.Now()) {
			if err := g.attempt(ctx, tx, d, by); err != nil {
				return err
			}
		}
		report = d.report(*by)
		return nil
	})
	return report, err
}

// attempt debits the payer's account.
func (g *gateway) attempt(ctx context.Context, tx *sqldb.Tx, d *debit, by *authorisation) error {
	d.waiting = false
	d.attempts++
	if by.fails > 0 {
		by.fails--
		return nil
	}
	if err := insertPayment(ctx, tx, d.ID, d.Amount); err != nil {
		return err
	}
	paid, err := charge(ctx, tx, d.ID)
	d.Payments = paid.Payments
	return err
}

// CancelDebit stops a debit before its day.
func (g *gateway) CancelDebit(ctx context.Context, ref payment.DebitRef) error {
	err := g.changeDebit(ctx, ref, func(tx *sqldb.Tx, d *debit, _ *authorisation) error {
		switch {
		case d.Cancelled:
			return nil
		case len(d.Payments) > 0, d.started(tx.Now()):
			return payment.ErrPaid
		}
		d.waiting = false
		return cancelCharge(ctx, tx, d.ID)
	})
	if errors.Is(err, payment.ErrNoCharge) {
		return nil
	}
	return err
}

// RetryDebit has a debit that failed attempted once more.
func (g *gateway) RetryDebit(ctx context.Context, ref payment.DebitRef, on civil.Date) error {
	return g.changeDebit(ctx, ref, func(_ *sqldb.Tx, d *debit, by *authorisation) error {
		switch {
		case d.waiting && d.on == on:
			return nil
		case d.waiting, d.Cancelled, len(d.Payments) > 0, d.attempts >= 4, by.state != payment.AuthorisationActive:
			return &payment.Refusal{Reason: "there is no attempt left"}
		}
		d.on, d.waiting = on, true
		return nil
	})
}

// changeDebit locks a debit with its authorisation and changes both.
func (g *gateway) changeDebit(
	ctx context.Context,
	ref payment.DebitRef,
	change func(tx *sqldb.Tx, d *debit, by *authorisation) error,
) error {
	return g.db.Write(ctx, func(tx *sqldb.Tx) error {
		known, err := debitNamed(ctx, tx, wire.Pick(ref.ID, ref.Reference))
		if err != nil {
			return err
		}
		by, err := lockAuthorisation(ctx, tx, known.authorisationID)
		if err != nil {
			return err
		}
		if known, err = debitNamed(ctx, tx, known.ID); err != nil { // as it is now that nobody else changes it
			return err
		}
		if err := change(tx, &known, &by); err != nil {
			return err
		}
		return errors.Join(updateDebit(ctx, tx, known), updateAuthorisation(ctx, tx, by))
	})
}
