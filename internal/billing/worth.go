package billing

import (
	"context"
	"fmt"

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
	l := s.listing(actor, filter)
	switch {
	case filter.tallied():
		_, cents, err := counter.Sum(ctx, s.db, l.company, l.keys())
		return money.Cents(cents), true, err
	case filter.paidOnly():
		cents, err := s.paidBetween(ctx, l)
		return cents, true, err
	case matches > smallSum:
		return 0, false, nil
	}
	question := tally.Question{
		CompanyID: l.company, What: fmt.Sprintf("worth %+v %s", filter, l.today), Counters: []tally.Counter{counter, tally.Customers},
	}
	cents, err := s.counts.Get(ctx, s.db, question, func() (int64, error) {
		l, err := l.known(ctx)
		if err != nil {
			return 0, err
		}
		return sumRows(ctx, s.db, l.matching(0, 0))
	})
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

func (s *Service) paidBetween(ctx context.Context, l listing) (money.Cents, error) {
	filter := tally.Filter{Days: []tally.Days{countedDays(l.filter.PaidFrom, l.filter.PaidTo)}}
	filter.And("state IN ('on_time', 'late')")
	if l.filter.PlanID != 0 {
		filter.And("plan_id = ?", l.filter.PlanID)
	}
	if l.filter.ProductID != 0 {
		filter.And("product_id = ?", l.filter.ProductID)
	}
	_, cents, err := paid.Sum(ctx, s.db, l.company, filter)
	return money.Cents(cents), err
}
