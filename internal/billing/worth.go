package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/tally"
)

// smallSum is up to how many invoices are added up where no counter knows their
// sum.
const smallSum = 2000

// Worth is what the invoices of a filter are worth together: an open one what is
// still to come, without late charges. matches is how many there are. ok is false
// where no counter knows and there are too many to add up at every look.
func (s *Service) Worth(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	matches int64,
) (worth money.Cents, ok bool, err error) {
	if err := actor.NotAttendant(); err != nil {
		return 0, false, err
	}
	l := s.asked(actor, filter)
	switch {
	case filter.tallied():
		_, cents, err := counter.Sum(ctx, s.db, actor.Company.ID, l.keys())
		return money.Cents(cents), true, err
	case filter.paidOnly():
		cents, err := s.paidBetween(ctx, actor.Company.ID, filter)
		return cents, true, err
	case matches > smallSum:
		return 0, false, nil
	}
	query, err := s.query(ctx, actor, Query{Filter: filter})
	if err != nil {
		return 0, false, err
	}
	cents, err := sumRows(ctx, s.db, actor.Company.ID, query.Where)
	return money.Cents(cents), true, err
}

// paidOnly reports whether the counter of paid invoices can add the filter up.
func (f Filter) paidOnly() bool {
	dated := !f.PaidFrom.IsZero() || !f.PaidTo.IsZero()
	known := f.Status == "" || f.Status == Paid
	f.Status, f.PlanID, f.ProductID = "", 0, 0
	f.PaidFrom, f.PaidTo = civil.Date{}, civil.Date{}
	return dated && known && f == (Filter{})
}

func (s *Service) paidBetween(ctx context.Context, companyID int64, chosen Filter) (money.Cents, error) {
	filter := tally.Filter{Days: []tally.Days{countedDays(chosen.PaidFrom, chosen.PaidTo)}}
	filter.And("state IN ('on_time', 'late')")
	if chosen.PlanID != 0 {
		filter.And("plan_id = ?", chosen.PlanID)
	}
	if chosen.ProductID != 0 {
		filter.And("product_id = ?", chosen.ProductID)
	}
	_, cents, err := paid.Sum(ctx, s.db, companyID, filter)
	return money.Cents(cents), err
}
