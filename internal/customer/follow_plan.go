package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/tally"
)

// OwnPriced is how many customers of a plan have a price of their own, and so do
// not follow the plan's.
func (s *Service) OwnPriced(ctx context.Context, actor account.Actor, planID int64) (int64, error) {
	keys := tally.Filter{Days: []tally.Days{{}}}
	keys.And("plan_id = ?", planID)
	keys.And("state = ?", tally.CustomerOwnPrice)
	count, _, err := counter.Sum(ctx, s.db, actor.Company.ID, keys)
	return count, err
}

// followBatch is how many customers are read at once to follow their plan.
const followBatch = 100

// FollowPlan has the customers of a plan who pay a price of their own pay the
// plan's, and returns how many. Each is a change of its own: what an error leaves
// undone, another call does.
func (s *Service) FollowPlan(ctx context.Context, actor account.Actor, planID int64) (done int, err error) {
	filter := Filter{PlanID: planID, Figure: Figure{OwnPrice: true}}
	for {
		list, err := s.First(ctx, actor, filter, followBatch)
		if err != nil || len(list) == 0 {
			return done, err
		}
		for _, record := range list {
			if _, err := s.Update(ctx, actor, record.ID, Draft{OwnPrice: input.Null[money.Cents]()}); err != nil {
				return done, err
			}
			done++
		}
	}
}
