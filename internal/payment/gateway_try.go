package payment

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// TryGateway asks the provider of a draft whether its options work, and keeps
// nothing of them: a gateway that works is not given up for one that does not.
func (s *Service) TryGateway(ctx context.Context, actor account.Actor, draft GatewayDraft) error {
	if err := draft.check(s); err != nil {
		return err
	}
	var setup Setup
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		before, err := s.previousSetup(ctx, tx, actor, s.providers[draft.Provider])
		setup = before.with(draft, tx.Now())
		return err
	})
	if err != nil {
		return err
	}
	if err := s.checkOptions(setup); err != nil {
		return err
	}
	gateway, err := setup.Provider.Open(setup.plain, s.env(setup))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	return explain(setup, s.call(ctx, callAbout{setup, "check", ""}, gateway.Check))
}
