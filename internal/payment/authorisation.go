package payment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// authorisationState is the state of an authorisation in our records.
type authorisationState string

// The states. Debits are announced while an authorisation is active; while it is
// reserved or ending only the gateway knows.
//
//	reserved ──► asked ──► active ──► ending ──► ended
//
// Each of them leads to ended, since the payer and the bank can end it at any
// time, and to ending, since the company can.
const (
	authReserved authorisationState = "reserved"
	authAsked    authorisationState = "asked"
	authActive   authorisationState = "active"
	authEnding   authorisationState = "ending"
	authEnded    authorisationState = "ended"
)

// authorisationSteps is the state machine of an authorisation: applyAuthorisation
// refuses any other step. An ended one that turns out to be alive at the gateway
// is ended once more.
var authorisationSteps = map[authorisationState][]authorisationState{
	"":           {authReserved},
	authReserved: {authAsked, authActive, authEnding, authEnded},
	authAsked:    {authActive, authEnding, authEnded},
	authActive:   {authEnding, authEnded},
	authEnding:   {authEnded},
	authEnded:    {authEnding},
}

func (s authorisationState) leadsTo(next authorisationState) bool {
	return s == next || slices.Contains(authorisationSteps[s], next)
}

// live reports whether the payer has been asked, or has authorised.
func (s authorisationState) live() bool {
	return s == authReserved || s == authAsked || s == authActive
}

// shown is the state as people and the API see it.
func (s authorisationState) shown() customer.Autopay {
	switch s {
	case authReserved, authAsked:
		return customer.AutopayAsked
	case authActive:
		return customer.AutopayActive
	case authEnding, authEnded:
		return customer.AutopayEnded
	}
	return customer.AutopayNone
}

// authorisation is an Authorisation as we keep it.
type authorisation struct {
	Ref // ID is empty while its making is unknown

	id          int64
	companyID   int64
	gatewayID   int64
	provider    string
	customerID  int64
	journey     Journey
	account     *PayerAccount
	every       Every
	from        civil.Date
	minimum     money.Cents
	description string
	state       authorisationState
	pixCode     string
	endedBy     EndedBy
	reason      string
	problem     string
	expiresAt   time.Time // of the request
	activeAt    time.Time
	endedAt     time.Time
	nextCheck   time.Time // zero: nothing is left to do
	checks      int       // since it entered its state
	hintedAt    time.Time
	claim       string
	createdAt   time.Time
}

// busy reports whether another worker has claimed the authorisation.
func (a authorisation) busy(now time.Time) bool {
	return a.claim != "" && a.nextCheck.After(now)
}

// enter moves an authorisation to a state and counts its checks from zero.
func (a *authorisation) enter(state authorisationState, now time.Time) {
	if a.state == state {
		return
	}
	if state == authActive {
		a.activeAt = now
	}
	if a.state.live() && !state.live() {
		a.endedAt = now
	}
	a.state, a.checks = state, 0
}

// end has an authorisation ended at its gateway, by the wish of one.
func (a *authorisation) end(by EndedBy, reason string, now time.Time) {
	if a.state.live() {
		a.endedBy, a.reason = by, reason
	}
	a.enter(authEnding, now)
}

// follow moves an authorisation to what the gateway says of it.
func (a *authorisation) follow(report Authorisation, now time.Time) {
	if a.ID == "" {
		a.ID = report.ID
	}
	if report.PixCode != "" {
		a.pixCode = report.PixCode
	}
	switch report.State {
	case AuthorisationAsked:
		a.followAsked(now)
	case AuthorisationActive:
		if a.state == authEnded { // it was ended here, and is alive there
			a.end(ByCompany, a.reason, now)
		} else if a.state.live() {
			a.enter(authActive, now)
		}
	case AuthorisationRefused, AuthorisationEnded:
		if a.state.live() {
			a.endedBy, a.reason = report.EndedBy, report.Reason
			if a.endedBy == "" {
				a.endedBy = ByBank
			}
		}
		a.enter(authEnded, now)
	}
}

func (a *authorisation) followAsked(now time.Time) {
	if a.state == authReserved {
		a.enter(authAsked, now)
	}
	if a.state == authAsked && !a.expiresAt.After(now) {
		a.end(ByExpiry, "", now)
	}
}

// release ends the claim of an authorisation and schedules its next check.
func (a *authorisation) release(provider Provider, now time.Time) {
	a.claim, a.nextCheck = "", a.checkAt(provider, now)
}

// checkAt is when an authorisation must be checked again; zero: never.
func (a authorisation) checkAt(provider Provider, now time.Time) time.Time {
	again := now.Add(worker.Jitter(checkDelays[min(a.checks, len(checkDelays)-1)]))
	switch {
	case !a.hintedAt.IsZero(), a.state == authEnding && a.checks == 0, a.state == authActive && a.checks == 0:
		return now
	case a.state == authEnded:
		return time.Time{}
	case a.state == authActive && a.problem == "":
		return now.Add(day) // invoices that come into the window, and an end that no callback brought
	case a.state == authAsked && a.expiresAt.After(now) && (provider.Local || again.After(a.expiresAt)):
		return a.expiresAt
	}
	return again
}

// authorisationChange is one change of an authorisation. Before is zero for one
// that is reserved.
type authorisationChange struct{ before, after authorisation }

// applyAuthorisation writes a change of an authorisation and draws its
// consequences: the line of its history, the customer's state with its event and
// its audit line, and the debits of one that ends. It is the only place that
// writes an authorisation's state. The caller has locked the customer first.
func (s *Service) applyAuthorisation(ctx context.Context, tx account.Tx, change *authorisationChange) error {
	before, after := change.before.state, change.after.state
	if !before.leadsTo(after) {
		return fmt.Errorf("authorisation %s: no step leads from %q to %q", change.after.Reference, before, after)
	}
	if err := change.writeRow(ctx, tx.Tx); err != nil {
		return err
	}
	if at := change.after.nextCheck; !at.IsZero() && !at.After(tx.Now()) {
		tx.OnCommit(s.wake.Hint)
	}
	if before.shown() == after.shown() {
		return nil
	}
	step := authorisationStep{State: after.shown(), At: tx.Now()}
	if !after.live() {
		step.By, step.Reason = string(change.after.endedBy), change.after.reason
	}
	if err := insertStep(ctx, tx.Tx, change.after, step); err != nil {
		return err
	}
	if err := s.cancelDebits(ctx, tx.Tx, change.after); err != nil {
		return err
	}
	return s.showAutopay(ctx, tx, change.after, step)
}

func (c *authorisationChange) writeRow(ctx context.Context, tx *sqldb.Tx) (err error) {
	if c.before.id != 0 {
		return updateAuthorisation(ctx, tx, c.after)
	}
	c.after.id, err = insertAuthorisation(ctx, tx, c.after)
	return err
}

// cancelDebits has the debits of an authorisation that ends cancelled.
func (s *Service) cancelDebits(ctx context.Context, tx *sqldb.Tx, ended authorisation) error {
	if ended.state.live() {
		return nil
	}
	debits, err := sqldb.All(ctx, tx, scanCharge, `SELECT `+chargeColumns+` FROM charges
		WHERE company_id = ? AND authorisation_id = ? AND authorisation_id > 0 AND debit_on <> ''
			AND state IN ('reserved', 'pending', 'cancelling') ORDER BY id {for update}`,
		ended.companyID, ended.id)
	if err != nil {
		return err
	}
	return s.cancelLocked(ctx, tx, debits)
}

// showAutopay brings the state to the customer's record, unless the customer has
// been asked again since, or is deleted.
func (s *Service) showAutopay(ctx context.Context, tx account.Tx, changed authorisation, step authorisationStep) error {
	newest, err := newestAuthorisation(ctx, tx, changed.companyID, changed.customerID)
	if err != nil || newest.id != changed.id {
		return err
	}
	err = s.customers.SetAutopayTx(ctx, tx, changed.customerID, customer.AutopayStep{
		To:     step.State,
		By:     step.By,
		Reason: step.Reason,
	})
	if fault.KindOf(err) == fault.KindNotFound {
		return nil
	}
	return err
}

// authorisationStep is a line of an authorisation's history.
type authorisationStep struct {
	State  customer.Autopay
	By     string
	Reason string
	At     time.Time
}

// changeAuthorisation applies a change to an authorisation in a transaction of
// its own, which commits even when the time of the request is over.
func (s *Service) changeAuthorisation(
	ctx context.Context, known authorisation, change func(tx *sqldb.Tx, a *authorisation) error,
) error {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	company, err := account.FindCompany(ctx, s.db, known.companyID)
	if err != nil {
		return err
	}
	actor := account.System(company, "autopay")
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := customer.LockTx(ctx, actor.In(tx), known.customerID)
		if err != nil && fault.KindOf(err) != fault.KindNotFound {
			return err
		}
		locked, err := lockAuthorisation(ctx, tx, known.companyID, known.id)
		if err != nil {
			return err
		}
		made := authorisationChange{locked, locked}
		err = change(tx, &made.after)
		switch {
		case errors.Is(err, errUnchanged):
			return nil
		case err != nil:
			return err
		}
		return s.applyAuthorisation(ctx, actor.In(tx), &made)
	})
}

// errUnchanged says that there is nothing to change.
var errUnchanged = errors.New("unchanged")
