package payment

import (
	"context"
	"errors"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// checkAuthorisations checks once what is due of authorisations, and returns how
// much that was.
func (s *Service) checkAuthorisations(ctx context.Context) (int, error) {
	ids, err := dueAuthorisations(ctx, s.db, s.db.Now(), s.pace(maxInFlight))
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	var claimed []authorisation
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		claimed, err = claimAuthorisations(ctx, tx, ids, tx.Now().Add(s.lease()))
		if err != nil {
			return err
		}
		uses := make([]gatewayUse, len(claimed))
		for i, known := range claimed {
			uses[i] = gatewayUse{known.companyID, known.gatewayID, known.provider}
		}
		return s.spaceOut(ctx, tx, uses)
	})
	crashpoint.Here("authorisation-claimed")
	var checks sync.WaitGroup
	for _, known := range claimed {
		checks.Go(func() { s.checkAuthorisation(context.WithoutCancel(ctx), known) })
	}
	checks.Wait()
	return len(claimed), err
}

// authorisationCheck is a claimed authorisation with the gateway that it is
// checked at.
type authorisationCheck struct {
	setup   Setup
	gateway Debitor
	company account.Company
	known   authorisation
	dead    bool // it waits for the payment of a charge that can be paid no more
}

// checkAuthorisation finishes what a claimed authorisation is due for. If its
// check panics, it is set aside for a day, as a charge is after its third panic.
func (s *Service) checkAuthorisation(ctx context.Context, claimed authorisation) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err := worker.Guard(ctx, func() error { return s.dispatchAuthorisation(ctx, claimed) })
	if err == nil {
		return
	}
	s.options.Log.WarnContext(ctx, "authorisation not looked after; it will be",
		"company_id", claimed.companyID, "reference", claimed.Reference, "error", err)
	if !worker.Panicked(err) {
		return
	}
	s.metrics.aside.WithLabelValues("authorisation").Inc()
	err = s.changeAuthorisation(ctx, claimed, func(tx *sqldb.Tx, a *authorisation) error {
		if a.claim != claimed.claim {
			return errUnchanged
		}
		a.hintedAt = unanswered(a.hintedAt, claimed.hintedAt)
		a.claim, a.problem, a.nextCheck = "", asideProblem, tx.Now().Add(worker.Jitter(asideFor))
		return nil
	})
	if err != nil {
		s.options.Log.ErrorContext(ctx, "authorisation cannot be set aside",
			"company_id", claimed.companyID, "reference", claimed.Reference, "error", err)
	}
}

// dispatchAuthorisation chooses what an authorisation is due for.
func (s *Service) dispatchAuthorisation(ctx context.Context, claimed authorisation) error {
	work, err := s.authorisationWork(ctx, claimed)
	if err != nil {
		return s.finishAuthorisation(ctx, work, err, nil)
	}
	if claimed.state.live() {
		gone, err := s.customerGone(ctx, work)
		if err != nil {
			return err
		}
		if gone {
			return s.finishAuthorisation(ctx, work, nil, func(a *authorisation, now time.Time) {
				a.end(ByCompany, "the customer was cancelled or deleted", now)
			})
		}
	}
	if work.dead, err = s.codeIsDead(ctx, claimed); err != nil {
		return err
	}
	switch claimed.state {
	case authReserved:
		if claimed.journey == JourneyPayCode { // who makes the charge makes it
			return s.fetchAuthorisation(ctx, work)
		}
		return s.authorise(ctx, work)
	case authEnding:
		return s.endAtGateway(ctx, work)
	case authAsked, authActive, authEnded:
	}
	return s.fetchAuthorisation(ctx, work)
}

func (s *Service) authorisationWork(ctx context.Context, known authorisation) (authorisationCheck, error) {
	work := authorisationCheck{known: known}
	var err error
	if work.setup, err = s.setupByID(ctx, known.companyID, known.gatewayID); err != nil {
		return work, err
	}
	if work.company, err = account.FindCompany(ctx, s.db, known.companyID); err != nil {
		return work, err
	}
	gateway, err := s.open(work.setup)
	if err != nil {
		return work, err
	}
	var can bool
	if work.gateway, can = gateway.(Debitor); !can {
		return work, errNoDebits
	}
	return work, nil
}

// customerGone reports whether the company has no business with the customer any
// more.
func (s *Service) customerGone(ctx context.Context, work authorisationCheck) (bool, error) {
	record, err := customer.FindIn(ctx, s.db, account.System(work.company, "autopay"), work.known.customerID)
	if fault.KindOf(err) == fault.KindNotFound {
		return true, nil
	}
	return record.IsCancelled(), err
}

// authorise has the gateway ask the payer.
func (s *Service) authorise(ctx context.Context, work authorisationCheck) error {
	if !work.known.expiresAt.After(s.db.Now()) {
		return s.finishAuthorisation(ctx, work, nil, func(a *authorisation, now time.Time) {
			a.end(ByExpiry, "", now)
		})
	}
	payer, err := customer.FindIn(ctx, s.db, account.System(work.company, "autopay"), work.known.customerID)
	if err != nil {
		return err
	}
	return s.sendMandate(ctx, work, work.known.mandate(payerOf(payer)))
}

// sendMandate calls the gateway for an authorisation that is stored, and records
// what it answers.
func (s *Service) sendMandate(ctx context.Context, work authorisationCheck, mandate Mandate) error {
	var made Authorisation
	err := s.call(ctx, callAbout{work.setup, "authorise", work.known.Reference}, func(ctx context.Context) (err error) {
		made, err = work.gateway.Authorise(ctx, mandate)
		if err == nil && made.ID == "" {
			err = errors.New("the gateway made an authorisation without an id")
		}
		return errors.Join(err, work.known.checkAnswer(made))
	})
	crashpoint.Here("authorisation-asked")
	return s.finishAuthorisation(ctx, work, err, func(a *authorisation, now time.Time) {
		switch {
		case err == nil && a.state == authEnded: // it was ended while the gateway made it
			a.ID = made.ID
			a.end(ByCompany, a.reason, now)
		case err == nil:
			a.follow(made, now)
		case errors.Is(err, ErrRefused) && a.state == authReserved:
			a.endedBy, a.reason = ByBank, publicProblem(work.setup, err)
			a.enter(authEnded, now)
		}
	})
}

// fetchAuthorisation reads an authorisation from the gateway and follows it; then
// what is due soon is announced.
func (s *Service) fetchAuthorisation(ctx context.Context, work authorisationCheck) error {
	var report Authorisation
	err := s.call(ctx, callAbout{work.setup, "look", work.known.Reference}, func(ctx context.Context) (err error) {
		report, err = work.gateway.FetchAuthorisation(ctx, work.known.Ref)
		return errors.Join(err, work.known.checkAnswer(report))
	})
	crashpoint.Here("authorisation-looked-up")
	missing := errors.Is(err, ErrNoCharge)
	if err != nil {
		report = Authorisation{}
	}
	if missing && work.known.awaitsPayment() {
		err = nil // it is made with its charge, or never
	}
	if err == nil && work.known.state == authActive && report.State == AuthorisationActive && work.setup.Active {
		err = s.announceDebits(ctx, work)
		if err != nil && fault.KindOf(err) != fault.KindUpstream {
			return errors.Join(err, s.finishAuthorisation(ctx, work, nil, nil))
		}
	}
	return s.finishAuthorisation(ctx, work, err, func(a *authorisation, now time.Time) {
		if missing {
			a.onMissing(now)
		} else if report.State != "" {
			a.follow(report, now)
		}
		if work.dead && a.awaitsPayment() && err == nil {
			a.end(ByCompany, unpaidReason, now)
		}
	})
}

// checkAnswer refuses what a gateway says of another authorisation: it must not
// have a payer debited who has not agreed.
func (a authorisation) checkAnswer(said Authorisation) error {
	if said.Reference != "" && said.Reference != a.Reference || a.ID != "" && said.ID != "" && said.ID != a.ID {
		return errors.New("the gateway answered about another authorisation")
	}
	return nil
}

// onMissing decides about an authorisation that the gateway does not know.
func (a *authorisation) onMissing(now time.Time) {
	if (a.state == authAsked || a.awaitsPayment()) && !a.expiresAt.After(now) {
		a.end(ByExpiry, "", now)
	}
}

// endAtGateway makes sure at the gateway that nothing more is debited.
func (s *Service) endAtGateway(ctx context.Context, work authorisationCheck) error {
	err := s.call(ctx, callAbout{work.setup, "end", work.known.Reference}, func(ctx context.Context) error {
		return work.gateway.EndAuthorisation(ctx, work.known.Ref)
	})
	crashpoint.Here("authorisation-ended")
	return s.finishAuthorisation(ctx, work, err, func(a *authorisation, now time.Time) {
		if err == nil && a.state == authEnding {
			a.enter(authEnded, now)
		}
	})
}

// finishAuthorisation ends a claim and records what became of the authorisation.
// It returns what the gateway failed with. A worker that has lost its claim changes
// nothing, unless the gateway made what was ended meanwhile: that is ended once
// more.
func (s *Service) finishAuthorisation(
	ctx context.Context, work authorisationCheck, cause error, change func(a *authorisation, now time.Time),
) error {
	err := s.changeAuthorisation(ctx, work.known, func(tx *sqldb.Tx, a *authorisation) error {
		ours := a.claim == work.known.claim
		if change != nil && (ours || a.state == authEnded && cause == nil) {
			change(a, tx.Now())
		}
		if ours || a.state == authEnding && !a.busy(tx.Now()) {
			a.problem = publicProblem(work.setup, cause)
			a.hintedAt = unanswered(a.hintedAt, work.known.hintedAt)
			a.release(work.setup.Provider, tx.Now())
		}
		return recordGatewayHealth(ctx, tx, work.setup, cause)
	})
	return errors.Join(cause, err)
}

// customersChanged has the authorisations of customers looked at who were
// cancelled or deleted.
func (s *Service) customersChanged(ctx context.Context, tx *sqldb.Tx, changed customer.Changes) error {
	var ids []int64
	for _, change := range changed.List {
		if change.Before.ID != 0 && (change.Action == customer.ActionDeleted || change.After.IsCancelled()) {
			ids = append(ids, change.Before.ID)
		}
	}
	return s.poke(ctx, tx, changed.Actor.Company.ID, ids)
}

// pokeOwners schedules a check of the authorisations of customers with a new
// invoice, or one that is to be announced again.
func (s *Service) pokeOwners(ctx context.Context, tx *sqldb.Tx, changed billing.Changes) error {
	var ids []int64
	for _, change := range changed.List {
		issued := change.Action == billing.ActionCreated && !change.OfNewCustomer()
		if issued || change.CostsOther() {
			ids = append(ids, change.Invoice().Customer.ID)
		}
	}
	return s.poke(ctx, tx, changed.Actor.Company.ID, ids)
}

func (s *Service) poke(ctx context.Context, tx *sqldb.Tx, companyID int64, customerIDs []int64) error {
	if len(customerIDs) == 0 {
		return nil
	}
	marked, err := markOfCustomers(ctx, tx, companyID, customerIDs)
	if err == nil && marked > 0 {
		tx.OnCommit(s.wake.Hint)
	}
	return err
}
