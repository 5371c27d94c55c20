package sandbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/wire"
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
	chargeID  string // its payment authorises; "": an action of the panel does
	state     payment.AuthorisationState
	endedBy   payment.EndedBy
	fails     int // so many attempts to come fail
	expiresAt time.Time
	activeAt  time.Time
	endedAt   time.Time
	secret    string
}

// at is the authorisation as it is at an instant: a request that is over has no
// answer.
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

// Journeys are those that the gateway has: where payers are sent to a page there
// is no code that could pay and authorise.
func (g *gateway) Journeys() []payment.Journey {
	if g.flow == payment.FlowRedirect {
		return []payment.Journey{payment.JourneyRequest, payment.JourneyCode}
	}
	return []payment.Journey{payment.JourneyRequest, payment.JourneyCode, payment.JourneyPayCode}
}

// Deed is an action of a simulated payer on an authorisation.
type Deed string

// The actions.
const (
	DeedAuthorise Deed = "authorise"
	DeedRefuse    Deed = "refuse"
	DeedEnd       Deed = "end"
	DeedEmpty     Deed = "fail" // the account has no money when it is next debited
)

// Deeds are all actions.
var Deeds = []Deed{DeedAuthorise, DeedRefuse, DeedEnd, DeedEmpty}

// Act is a button of a simulated payer. What does not fit the state of the
// authorisation is a conflict.
func (s *Sandbox) Act(ctx context.Context, name string, deed Deed) error {
	return s.changeAuthorisation(ctx, name, func(tx *sqldb.Tx, a *authorisation) error {
		switch {
		case deed == DeedAuthorise && a.state == payment.AuthorisationAsked && a.chargeID != "":
			return fault.Conflict("the customer authorises by paying the code")
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

// ActNamed is Act for an action by its name.
func (s *Sandbox) ActNamed(ctx context.Context, name, deed string) error {
	return s.Act(ctx, name, Deed(deed))
}

// end ends an authorisation with the debits that wait for their day.
func (a *authorisation) end(ctx context.Context, tx *sqldb.Tx, by payment.EndedBy) error {
	a.state, a.endedBy, a.endedAt = payment.AuthorisationEnded, by, tx.Now()
	return tx.Do(ctx, `
		UPDATE sandbox_charges SET cancelled_at = COALESCE(cancelled_at, ?) WHERE id IN (
			SELECT charge_id FROM sandbox_debits WHERE authorisation_id = ? AND waiting = ?)`,
		tx.Now().UnixMicro(), a.id, true)
}

// changeAuthorisation locks an authorisation and changes it.
func (s *Sandbox) changeAuthorisation(
	ctx context.Context, name string, change func(tx *sqldb.Tx, a *authorisation) error,
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

// Authorise asks the payer, or returns what was asked before. What a code pays now
// is made in the same transaction: it cannot be paid before it authorises.
func (g *gateway) Authorise(ctx context.Context, mandate payment.Mandate) (payment.Authorisation, error) {
	if !slices.Contains(g.Journeys(), mandate.Journey) {
		return payment.Authorisation{}, &payment.Refusal{Reason: "there is no such journey"}
	}
	made, err := newAuthorisation(mandate)
	if err != nil {
		return payment.Authorisation{}, err
	}
	var first Charge
	if mandate.Charge != nil {
		if first, err = g.newCharge(*mandate.Charge); err != nil {
			return payment.Authorisation{}, err
		}
	}
	return sqldb.Write(ctx, g.db, func(tx *sqldb.Tx) (payment.Authorisation, error) {
		return storeAuthorisation(ctx, tx, made, first)
	})
}

func newAuthorisation(mandate payment.Mandate) (authorisation, error) {
	made := authorisation{
		id:        id.NewCode(26),
		reference: mandate.Reference,
		payerName: mandate.Payer.Name,
		state:     payment.AuthorisationAsked,
		expiresAt: mandate.ExpiresAt,
		secret:    id.NewCode(32),
	}
	if mandate.Journey != payment.JourneyCode {
		return made, nil
	}
	var err error
	made.pixCode, err = pix.Dynamic{
		URL:  "pix.example.com/rec/" + made.id,
		Name: "Simulador Carteira",
		City: "Sao Paulo",
	}.Code()
	return made, err
}

// storeAuthorisation stores an authorisation, with the charge that authorises
// by its payment unless that is zero, and returns what the reference has now.
func storeAuthorisation(
	ctx context.Context, tx *sqldb.Tx, made authorisation, first Charge,
) (payment.Authorisation, error) {
	var paidNow *payment.Charge
	if first.Reference != "" {
		if err := insertCharge(ctx, tx, first); err != nil {
			return payment.Authorisation{}, err
		}
		stored, err := charge(ctx, tx, first.Reference)
		if err != nil {
			return payment.Authorisation{}, err
		}
		shown := stored.public()
		paidNow, made.chargeID, made.pixCode = &shown, stored.ID, stored.PixCode
	}
	if err := insertAuthorisation(ctx, tx, made); err != nil {
		return payment.Authorisation{}, err
	}
	known, err := authorisationNamed(ctx, tx, made.reference)
	shown := known.at(tx.Now()).public()
	shown.Charge = paidNow
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
