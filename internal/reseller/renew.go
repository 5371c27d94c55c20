package reseller

import (
	"cmp"
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Renew pays for more periods of a reseller's subscription, on its plan or on
// another. One that has ended counts from today, a live one from its end. It
// also ends a trial, and a suspension.
func (s *Service) Renew(ctx context.Context, a account.Actor, id int64, r RenewRequest) (p Paid, err error) {
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		p, err = s.renewTx(ctx, tx, a, renewal{id, r})
		return err
	})
	return p, err
}

// renewal is a renewal of one reseller.
type renewal struct {
	resellerID int64
	request    RenewRequest
}

func (s *Service) renewTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, r renewal) (p Paid, err error) {
	if err := lockBalances(ctx, tx, a.Company.ID); err != nil {
		return p, err
	}
	before, err := s.lock(ctx, tx, a, r.resellerID)
	if err != nil {
		return p, err
	}
	plan, err := r.request.price(ctx, tx, a, before.Company)
	if err != nil {
		return p, err
	}
	change := account.Change{Action: account.ResellerRenewed, Before: before.profile(), After: before.profile()}
	change.After.PlanName = plan.Name
	change.After.Subscription, err = r.request.renewed(before.Company, plan, civil.Of(tx.Now().In(before.Zone)))
	if err != nil {
		return p, err
	}
	if err := s.accounts.SaveTx(ctx, tx, a, &change); err != nil {
		return p, err
	}
	return s.pay(ctx, tx, a, Entry{
		Kind: ForRenew, Amount: -r.request.cost(plan), Reseller: Ref{ID: r.resellerID},
		Plan: Ref{ID: plan.ID}, Periods: r.request.periods(),
	})
}

func (r RenewRequest) periods() int { return max(1, r.Periods) }

func (r RenewRequest) cost(plan Plan) int64 { return plan.Credits * int64(r.periods()) }

// price finds the plan of a renewal and refuses what cannot be done, while
// nothing has been written yet.
func (r RenewRequest) price(ctx context.Context, tx *sqldb.Tx, a account.Actor, c account.Company) (Plan, error) {
	plan, refused, err := r.plan(ctx, tx, a, c)
	if err != nil {
		return plan, err
	}
	if err := r.Problems.With(refused).Err(); err != nil {
		return plan, err
	}
	if r.Agreed.HasValue() && r.Agreed.Value != r.cost(plan) {
		return plan, fault.Conflict("the price of the plan has changed; look at the cost again")
	}
	return plan, enough(ctx, tx, a, r.cost(plan))
}

// plan is the plan that a renewal pays for. One that is no longer sold can be
// kept, and cannot be chosen.
func (r RenewRequest) plan(ctx context.Context, q sqldb.Querier, a account.Actor, c account.Company) (Plan, fault.Fields, error) {
	var refused fault.Fields
	planID := cmp.Or(r.PlanID, c.Subscription.PlanID)
	if planID == 0 {
		refused.Add("plan_id", "is required: the reseller has no plan yet")
		return Plan{}, refused, nil
	}
	plan, err := planByID(ctx, q, a.Company.ID, planID)
	if fault.KindOf(err) == fault.KindNotFound {
		refused.Add("plan_id", "does not exist")
		return Plan{}, refused, nil
	}
	if err == nil && !plan.Active && planID != c.Subscription.PlanID {
		refused.Add("plan_id", "is not active")
	}
	return plan.soldBy(a), refused, err
}

// renewed is the subscription after the renewal.
func (r RenewRequest) renewed(c account.Company, plan Plan, today civil.Date) (account.Subscription, error) {
	sub := c.Subscription
	if sub.ExpiresOn.IsZero() || sub.ExpiresOn.Before(today) {
		sub.ExpiresOn, sub.OwnDay = today, today.Day()
	}
	sub.Kind, sub.PlanID, sub.Functions = account.Subscriber, plan.ID, plan.Functions
	sub.SuspendedAt = account.Subscription{}.SuspendedAt
	sub.Anonymous = false
	return extended(sub, plan.Period, r.periods(), today)
}
