package customer

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/tally"
)

// book counts customers by due date, plan and product, which are what lists
// are filtered by, and by where they stand in the list.
const counter = tally.Customers

// counted is a customer as the book sees it.
func counted(customer Customer, n int64) tally.Change {
	return tally.Change{N: n, Key: tally.Key{
		Bucket:    tally.BucketOf(customer.ID),
		Day:       customer.DueOn.String(),
		PlanID:    customer.Plan.ID,
		ProductID: customer.Product.ID,
		State:     stateOf(customer),
	}}
}

// counts is how a change moves the counters of customers and of their creation.
// The creation of one who is deleted still counts, where no list has it.
func (c *Change) counts() []tally.Entry {
	before, after := c.Before, c.After
	switch c.Action {
	case ActionExpired:
		return nil
	case ActionCreated:
		return []tally.Entry{{Counter: counter, Change: counted(after, +1)}, countedCreation(after, +1, "")}
	case ActionDeleted:
		return []tally.Entry{
			{Counter: counter, Change: counted(before, -1)},
			countedCreation(before, -1, ""),
			countedCreation(before, +1, tally.Gone),
		}
	default:
		moved := counter.Moved(counted(before, 1), counted(after, 1))
		if before.Plan.ID != after.Plan.ID || before.Product.ID != after.Product.ID {
			moved = append(moved, countedCreation(before, -1, ""), countedCreation(after, +1, ""))
		}
		return moved
	}
}

// stateOf tells customers apart in the counter: cancelled ones are in no other
// status, and those with a price of their own do not pay the plan's value.
func stateOf(customer Customer) string {
	switch {
	case customer.IsCancelled():
		return tally.CustomerCancelled
	case customer.OwnPrice.Own:
		return tally.CustomerOwnPrice
	}
	return ""
}

// countMatches is how many customers a listing has. Filters are sums of the book; a search
// is counted once until something changes. Customers that changed since an instant are
// counted at every call: a change that moves no counter counts, too.
func (s *Service) countMatches(ctx context.Context, listing listing, company int64) (int64, error) {
	filter := listing.filter
	if filter.UpdatedSince != 0 {
		listing.few = true
		return s.countRows(ctx, listing, company)
	}
	if filter.tallied() {
		n, _, err := counter.Sum(ctx, s.db, listing.company, listing.keys())
		return n, err
	}
	if spread, _, ok, err := s.spread(ctx, listing, company, input.Page{Number: 1}); err != nil || ok {
		return spread.total, err
	}
	if listing.searchesBeside() {
		if b, err := s.beside(ctx, listing); err != nil {
			return 0, err
		} else if b != nil {
			return s.countBeside(ctx, b)
		}
	}
	return s.counts.Get(ctx, s.db, listing.question(), func() (int64, error) {
		return s.countRows(ctx, listing, company)
	})
}

// countRows counts the customers of a listing by their rows.
func (s *Service) countRows(ctx context.Context, l listing, company int64) (int64, error) {
	l, err := s.known(ctx, l, company)
	if err != nil {
		return 0, err
	}
	return l.matching().Count(ctx, s.db)
}

// question is what is counted, as the cache of counts knows it.
func (l listing) question() tally.Question {
	return tally.Question{
		CompanyID: l.company, What: fmt.Sprintf("%+v %+v %s", l.filter, l.due, l.month), Counters: l.filter.counters(),
	}
}

// keys are the filters that the counter knows.
func (l listing) keys() (filter tally.Filter) {
	if l.filter.PlanID != 0 {
		filter.And("plan_id = ?", l.filter.PlanID)
	}
	if l.filter.ProductID != 0 {
		filter.And("product_id = ?", l.filter.ProductID)
	}
	switch l.filter.Status {
	case "":
	case Cancelled:
		filter.And("state = ?", tally.CustomerCancelled)
	default:
		filter.And("state <> ?", tally.CustomerCancelled)
	}
	filter.Days = l.due.days()
	return filter
}

// days are the span as the counter has it.
func (d due) days() []tally.Days {
	switch {
	case d.open():
		return []tally.Days{{}}
	case d.missing:
		return []tally.Days{tally.NoDay}
	case d.none: // only Active leaves it so, which has a beginning and no end
		return []tally.Days{tally.NoDay, {From: d.from.String()}}
	}
	days := tally.Days{From: later(d.from, firstDate).String()}
	if !d.to.IsZero() {
		days.Until = tally.After(d.to.String())
	}
	return []tally.Days{days}
}

// CountByPlan tells how many customers each plan has.
func (s *Service) CountByPlan(
	ctx context.Context,
	actor account.Actor,
	planIDs []int64,
) (map[int64]tally.Sums, error) {
	return s.countBy(ctx, actor, "plan_id", planIDs)
}

// CountByProduct tells how many customers each product has.
func (s *Service) CountByProduct(
	ctx context.Context,
	actor account.Actor,
	productIDs []int64,
) (map[int64]tally.Sums, error) {
	return s.countBy(ctx, actor, "product_id", productIDs)
}

func (s *Service) countBy(
	ctx context.Context,
	actor account.Actor,
	column string,
	ids []int64,
) (map[int64]tally.Sums, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	filter := tally.Filter{Days: []tally.Days{{}}}
	filter.And(column+" {in ?}", ids)
	return tally.By[int64](ctx, s.db, counter, actor.Company.ID, column, filter)
}
