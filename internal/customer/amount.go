package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// smallSum is up to how many customers are added up at every look; those of a search are
// as few as are kept, so that it is not searched twice.
func smallSum(filter Filter) int64 {
	if filter.Search != "" {
		return mostKept
	}
	return 2000
}

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
	l := s.listing(actor, filter)
	if amount, ok, err = s.amountByPlan(ctx, actor, l); err != nil || ok || matches > smallSum(filter) {
		return amount, ok, err
	}
	company, err := counter.Total(ctx, s.db, actor.Company.ID)
	if err != nil {
		return 0, false, err
	}
	source, err := s.sumSource(ctx, l, company, matches)
	if err != nil {
		return 0, false, err
	}
	if filter.Status == "" {
		source.Where.And("c.cancelled_at IS NULL")
	}
	cents, err := sumAmounts(ctx, s.db, source)
	return money.Cents(cents), err == nil, err
}

// sumSource has the customers of a listing, who are few, as rows.
func (s *Service) sumSource(ctx context.Context, l listing, company, matches int64) (sqldb.Source, error) {
	if ids, ok, err := s.idsOf(ctx, l, company); err != nil || ok {
		return among(l.company, ids), err
	}
	l, err := s.known(ctx, l, company)
	if err != nil {
		return sqldb.Source{}, err
	}
	l.few = company > smallSort
	l.byDate, err = s.allByDate(ctx, l, company, matches)
	return l.matching(), err
}

// amountByPlan multiplies what plans cost by how many customers have them. That
// is not what they pay where some have a price of their own.
func (s *Service) amountByPlan(ctx context.Context, actor account.Actor, l listing) (money.Cents, bool, error) {
	if !l.filter.tallied() || l.filter.Status == Cancelled {
		return 0, false, nil
	}
	own, usual := l.keys(), l.keys()
	own.And("state = ?", tally.CustomerOwnPrice)
	usual.And("state = ?", "")
	if count, _, err := counter.Sum(ctx, s.db, l.company, own); err != nil || count != 0 {
		return 0, false, err
	}
	byPlan, err := tally.By[int64](ctx, s.db, counter, l.company, "plan_id", usual)
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

// tallied reports whether the counter of customers knows who matches.
func (f Filter) tallied() bool {
	return f.Search == "" && f.ExternalID == "" && f.CpfCnpj == "" && f.UpdatedSince == 0 && f.Figure == (Figure{})
}
