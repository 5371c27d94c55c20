package payment

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// SimulateAutopay has the payer of a gateway that only pretends do something about
// the newest authorisation of a customer, and records at once what comes of it.
func (s *Service) SimulateAutopay(
	ctx context.Context,
	actor account.Actor,
	customerID int64,
	deed string,
) (Autopay, error) {
	if _, err := customer.FindIn(ctx, s.db, actor, customerID); err != nil {
		return Autopay{}, err
	}
	newest, err := newestAuthorisation(ctx, s.db, actor.Company.ID, customerID)
	if err != nil {
		return Autopay{}, err
	}
	if newest.id == 0 || !newest.state.live() {
		return Autopay{}, fault.Conflict("the customer has not been asked, or it has ended")
	}
	act, pretends := s.options.SimulatePayer[newest.provider]
	if !pretends {
		return Autopay{}, fault.Forbidden("the customer's bank is real")
	}
	setup, err := s.setupByID(ctx, newest.companyID, newest.gatewayID)
	if err != nil {
		return Autopay{}, err
	}
	err = s.call(ctx, callAbout{setup, "simulate", newest.Reference}, func(ctx context.Context) error {
		return act(ctx, newest.ID, deed)
	})
	if err != nil {
		return Autopay{}, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return markAuthorisation(ctx, tx, setup, newest.Ref)
	})
	if err == nil {
		_, err = s.checkAuthorisations(ctx)
	}
	if err != nil {
		return Autopay{}, err
	}
	return s.Autopay(ctx, actor, customerID)
}

// SimulatesPayers reports whether the authorisations of a provider are only
// pretended.
func (s *Service) SimulatesPayers(provider string) bool {
	_, pretends := s.options.SimulatePayer[provider]
	return pretends
}
