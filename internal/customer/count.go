package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
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

// total is how many customers a filter has that the counter knows.
func (s *Service) total(ctx context.Context, companyID int64, filter Filter, today civil.Date) (int64, error) {
	if filter == (Filter{}) {
		return counter.Total(ctx, s.db, companyID)
	}
	n, _, err := counter.Sum(ctx, s.db, companyID, filter.keys(today))
	return n, err
}

// tallied reports whether the counter of customers knows who matches.
func (f Filter) tallied() bool {
	return f.Search == "" && f.ExternalID == "" && f.CpfCnpj == "" && f.UpdatedSince == 0 && f.Figure == (Figure{})
}

// keys are the filters that the counter knows.
func (f Filter) keys(today civil.Date) (filter tally.Filter) {
	if f.PlanID != 0 {
		filter.And("plan_id = ?", f.PlanID)
	}
	if f.ProductID != 0 {
		filter.And("product_id = ?", f.ProductID)
	}
	switch f.Status {
	case "":
	case Cancelled:
		filter.And("state = ?", tally.CustomerCancelled)
	default:
		filter.And("state <> ?", tally.CustomerCancelled)
	}
	filter.Days = f.due(today).days()
	return filter
}

// days are the span as the counter has it.
func (d due) days() []tally.Days {
	switch {
	case d.open():
		return []tally.Days{{}}
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
