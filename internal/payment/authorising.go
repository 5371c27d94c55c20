package payment

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// codeKind is which code a payer wants for an invoice.
type codeKind int

const (
	anyCode         codeKind = iota // the one that can be paid already, else a plain one
	plainCode                       // one that pays, and authorises nothing
	authorisingCode                 // one that pays, and authorises the debits that follow
)

// authorises reports whether paying the charge authorises the debits that follow.
func (c charge) authorises() bool {
	return c.debit.authorisationID != 0 && c.debit.on.IsZero()
}

// ChargeAuthorising is Charge with a code that pays the invoice and authorises the
// debits of those that follow. The charge and the authorisation are two records
// that are reserved together; from then on each goes its own way.
func (s *Service) ChargeAuthorising(ctx context.Context, actor account.Actor, invoiceID int64) (Payable, error) {
	return s.chargeWith(ctx, actor, invoiceID, authorisingCode)
}

// chargeWith is Charge with a code of a kind.
func (s *Service) chargeWith(ctx context.Context, actor account.Actor, invoiceID int64, kind codeKind) (Payable, error) {
	job := s.newCharging(actor, invoiceID)
	job.code = kind
	return job.payable(ctx)
}

// mayAuthorise refuses a code that authorises where the gateway, the customer's
// plan, or an authorisation that the customer has, rules it out.
func (j *charging) mayAuthorise(ctx context.Context, tx *sqldb.Tx) (err error) {
	if j.code != authorisingCode {
		return nil
	}
	j.newest, err = newestAuthorisation(ctx, tx, j.actor.Company.ID, j.payer.ID)
	switch {
	case err != nil:
		return err
	case j.newest.state == authActive:
		return fault.Conflict("the customer has authorised already")
	}
	_, err = j.service.askable(asking{draft: payCodeDraft, setup: j.setup}, j.payer)
	return err
}

var payCodeDraft = AutopayRequestDraft{Journey: JourneyPayCode}

// mayAuthorise reports whether a payer who has a plain code can have one that
// authorises.
func (s *Service) mayAuthorise(ctx context.Context, page Page) (bool, error) {
	if page.Authorises || page.Invoice.Status != billing.Open || !slices.Contains(s.journeys(page.setup), JourneyPayCode) {
		return false, nil
	}
	payer, err := customer.FindIn(ctx, s.db, account.System(page.Company, "checkout"), page.Invoice.Customer.ID)
	return payer.Autopay != customer.AutopayActive && Debitable(payer), err
}

// reserveAuthorisation stores what a charge that is reserved authorises. Whatever
// the customer was asked before makes place for it.
func (j *charging) reserveAuthorisation(ctx context.Context, tx *sqldb.Tx, reserved *charge) error {
	if j.newest.state.live() {
		if err := j.endReplaced(ctx, tx); err != nil {
			return err
		}
	}
	ask := asking{draft: payCodeDraft, setup: j.setup}
	made := authorisationChange{after: j.service.newAuthorisation(j.actor, j.payer, ask, tx.Now())}
	made.after.every, _ = everyOf(j.payer.Period())
	made.after.expiresAt, made.after.claim = reserved.ExpiresAt, "" // the charge's worker makes it
	if err := j.service.applyAuthorisation(ctx, j.actor.In(tx), &made); err != nil {
		return err
	}
	reserved.debit.authorisationID = made.after.id
	return nil
}

func (j *charging) endReplaced(ctx context.Context, tx *sqldb.Tx) error {
	locked, err := lockAuthorisation(ctx, tx, j.actor.Company.ID, j.newest.id)
	if err != nil {
		return err
	}
	change := authorisationChange{locked, locked}
	change.after.end(ByCompany, replacedReason, tx.Now())
	if !locked.busy(tx.Now()) {
		change.after.nextCheck = tx.Now()
	}
	return j.service.applyAuthorisation(ctx, j.actor.In(tx), &change)
}

// Why an authorisation by an unpaid code ends.
const (
	replacedReason = "another code has taken its place"
	unpaidReason   = "its code can no longer be paid"
)

// authorising shows a Debitor as the Gateway of a charge that authorises.
type authorising struct {
	Debitor
	by authorisation
}

func (s *Service) openAuthorising(ctx context.Context, work check) (Gateway, error) {
	gateway, err := s.open(work.setup)
	if err != nil {
		return nil, err
	}
	by, err := authorisationByID(ctx, s.db, work.charge.companyID, work.charge.debit.authorisationID)
	debitor, can := gateway.(Debitor)
	if err != nil || !can || !by.state.live() { // what has ended is not authorised any more
		return gateway, err
	}
	return &authorising{debitor, by}, nil
}

// Create makes the charge together with the authorisation.
func (a *authorising) Create(ctx context.Context, order Order) (Charge, error) {
	mandate := a.by.mandate(order.Payer)
	mandate.Charge = &order
	made, err := a.Authorise(ctx, mandate)
	switch {
	case err != nil:
		return Charge{}, err
	case made.Charge == nil:
		return Charge{}, errors.New("the gateway made an authorisation without a charge")
	}
	charge := *made.Charge
	charge.PixCode = cmp.Or(made.PixCode, charge.PixCode)
	return charge, nil
}

// awaitsPayment reports whether an authorisation is given by the payment of a
// charge, which has not come.
func (a authorisation) awaitsPayment() bool {
	return a.journey == JourneyPayCode && (a.state == authReserved || a.state == authAsked)
}

// codeIsDead reports whether an authorisation waits for the payment of a charge
// that can be paid no more.
func (s *Service) codeIsDead(ctx context.Context, waiting authorisation) (bool, error) {
	if !waiting.awaitsPayment() {
		return false, nil
	}
	state, err := stateOfCharge(ctx, s.db, waiting)
	return state.closed() && state != paid, err
}

// pokeAuthorised schedules a check of an authorisation after its code was
// paid, or can no longer be paid.
func (s *Service) pokeAuthorised(ctx context.Context, tx *sqldb.Tx, change *chargeChange) error {
	ends := change.after.state.closed() && !change.before.state.closed()
	if !ends || !change.after.authorises() {
		return nil
	}
	return s.poke(ctx, tx, change.after.companyID, []int64{change.after.customerID})
}
