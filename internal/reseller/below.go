package reseller

import (
	"context"

	"carteira/internal/account"
)

// Below is how many companies are below a reseller, at any depth, and how they
// stand. Whose they are and what they have is for the reseller alone.
type Below struct {
	Total, Trial, Active, Expired, Suspended int64
}

// Below counts the companies below a reseller of the actor's company, by the
// day of that company.
func (s *Service) Below(ctx context.Context, actor account.Actor, id int64) (Below, error) {
	if _, err := account.FindChild(ctx, s.db, actor, id); err != nil {
		return Below{}, err
	}
	return countBelow(ctx, s.db, id, actor.Today(s.db.Now()))
}
