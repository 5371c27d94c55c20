package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/money"
	"carteira/internal/tally"
)

// smallSum is up to how many customers are added up at every look.
const smallSum = 2000

// Amount is what the customers of a filter pay together, each for a period of
// their own; cancelled ones, who pay nothing, only where they are asked for, with
// what they paid. matches is how many there are. ok is false where there are too
// many to add up at every look and no counter knows.
func (s *Service) Amount(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	matches int64,
) (amount money.Cents, ok bool, err error) {
	if err := actor.NotAttendant(); err != nil {
		return 0, false, err
	}
	if matches == 0 {
		return 0, true, nil
	}
	if amount, ok, err = s.amountByPlan(ctx, actor, filter); err != nil || ok || matches > smallSum {
		return amount, ok, err
	}
	query := s.query(actor, Query{Filter: filter})
	if filter.Status == "" {
		query.Where.And("c.cancelled_at IS NULL")
	}
	ids, err := table.IDs(ctx, s.db, query)
	if err != nil {
		return 0, false, err
	}
	cents, err := sumAmounts(ctx, s.db, actor.Company.ID, ids)
	return money.Cents(cents), err == nil, err
}

// amountByPlan multiplies what plans cost by how many customers have them. That
// is not what they pay where some have a price of their own.
func (s *Service) amountByPlan(ctx context.Context, actor account.Actor, filter Filter) (money.Cents, bool, error) {
	if !filter.tallied() || filter.Status == Cancelled {
		return 0, false, nil
	}
	company, today := actor.Company.ID, actor.Today(s.db.Now())
	own, usual := filter.keys(today), filter.keys(today)
	own.And("state = ?", tally.CustomerOwnPrice)
	usual.And("state = ?", "")
	if count, _, err := counter.Sum(ctx, s.db, company, own); err != nil || count != 0 {
		return 0, false, err
	}
	byPlan, err := tally.By[int64](ctx, s.db, counter, company, "plan_id", usual)
	if err != nil {
		return 0, false, err
	}
	plans, err := catalog.AllPlans(ctx, s.db, actor)
	if err != nil {
		return 0, false, err
	}
	var amount money.Cents
	for _, plan := range plans {
		amount += plan.Value * money.Cents(byPlan[plan.ID].N)
	}
	return amount, true, nil
}
