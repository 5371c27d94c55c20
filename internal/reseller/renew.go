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
func (s *Service) Renew(ctx context.Context, actor account.Actor, id int64, request RenewRequest) (paid Paid, err error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (Paid, error) {
		return s.renewTx(ctx, tx, renewal{id, request})
	})
}

// renewal is a renewal of one reseller.
type renewal struct {
	resellerID int64
	request    RenewRequest
}

func (s *Service) renewTx(ctx context.Context, tx account.Tx, renewal renewal) (paid Paid, err error) {
	if err := lockBalances(ctx, tx.Tx, tx.Company.ID); err != nil {
		return paid, err
	}
	before, err := s.lock(ctx, tx, renewal.resellerID)
	if err != nil {
		return paid, err
	}
	plan, err := renewal.request.price(ctx, tx, before.Company)
	if err != nil {
		return paid, err
	}
	change := account.Change{Action: account.ResellerRenewed, Before: before.profile(), After: before.profile()}
	change.After.PlanName = plan.Name
	change.After.Subscription, err = renewal.request.renewed(before.Company, plan, civil.Of(tx.Now().In(before.Zone)))
	if err != nil {
		return paid, err
	}
	if err := s.accounts.SaveTx(ctx, tx, &change); err != nil {
		return paid, err
	}
	return s.pay(ctx, tx, Entry{
		Kind: ForRenew, Amount: -renewal.request.cost(plan), Reseller: Ref{ID: renewal.resellerID},
		Plan: Ref{ID: plan.ID}, Periods: renewal.request.periods(),
	})
}

func (r RenewRequest) periods() int { return max(1, r.Periods) }

func (r RenewRequest) cost(plan Plan) int64 {
	return plan.Credits * int64(r.periods())
}

// price finds the plan of a renewal and refuses what cannot be done, while
// nothing has been written yet.
func (r RenewRequest) price(ctx context.Context, tx account.Tx, company account.Company) (Plan, error) {
	plan, refused, err := r.plan(ctx, tx, tx.Actor, company)
	if err != nil {
		return plan, err
	}
	if err := r.Problems.With(refused).Err(); err != nil {
		return plan, err
	}
	if r.Agreed.HasValue() && r.Agreed.Value != r.cost(plan) {
		return plan, fault.Conflict("the price of the plan has changed; look at the cost again")
	}
	return plan, enough(ctx, tx, tx.Actor, r.cost(plan))
}

// plan is the plan that a renewal pays for. One that is no longer sold can be
// kept, and cannot be chosen.
func (r RenewRequest) plan(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, company account.Company,
) (Plan, fault.Fields, error) {
	var refused fault.Fields
	planID := cmp.Or(r.PlanID, company.Subscription.PlanID)
	if planID == 0 {
		refused.Add("plan_id", "is required: the reseller has no plan yet")
		return Plan{}, refused, nil
	}
	plan, err := planByID(ctx, querier, actor.Company.ID, planID)
	if fault.KindOf(err) == fault.KindNotFound {
		refused.Add("plan_id", "does not exist")
		return Plan{}, refused, nil
	}
	if err == nil && !plan.Active && planID != company.Subscription.PlanID {
		refused.Add("plan_id", "is not active")
	}
	return plan.soldBy(actor), refused, err
}

// renewed is the subscription after the renewal.
func (r RenewRequest) renewed(company account.Company, plan Plan, today civil.Date) (account.Subscription, error) {
	sub := company.Subscription
	if sub.ExpiresOn.IsZero() || sub.ExpiresOn.Before(today) {
		sub.ExpiresOn, sub.OwnDay = today, today.Day()
	}
	sub.Kind, sub.PlanID, sub.Functions = account.Subscriber, plan.ID, plan.Functions
	sub.SuspendedAt = account.Subscription{}.SuspendedAt
	sub.Anonymous = false
	return extended(sub, plan.Period, r.periods(), today)
}

// Quote is what a renewal would cost and bring, for a person who wants to see it
// before it is done.
type Quote struct {
	Reseller  Reseller
	Plan      Plan
	Periods   int
	Cost      int64
	Balance   int64      // of the company that pays, as it is
	ExpiresOn civil.Date // the last day after it
}

// Enough reports whether the company can pay.
func (q Quote) Enough() bool { return q.Cost <= q.Balance }

// Left is the balance after it.
func (q Quote) Left() int64 { return q.Balance - q.Cost }

// QuoteRenewal returns what Renew would do with the same request, with the
// same refusals except for missing credits. Reseller and Balance are set with
// a refusal too.
func (s *Service) QuoteRenewal(
	ctx context.Context, actor account.Actor, id int64, request RenewRequest,
) (quote Quote, err error) {
	quote.Periods = request.periods()
	if quote.Reseller, err = s.Find(ctx, actor, id); err != nil {
		return quote, err
	}
	if quote.Balance, err = s.Balance(ctx, actor); err != nil {
		return quote, err
	}
	var refused fault.Fields
	quote.Plan, refused, err = request.plan(ctx, s.db, actor, quote.Reseller.Company)
	if err != nil {
		return quote, err
	}
	if err := request.Problems.With(refused).Err(); err != nil {
		return quote, err
	}
	quote.Cost = request.cost(quote.Plan)
	after, err := request.renewed(quote.Reseller.Company, quote.Plan, civil.Of(s.db.Now().In(quote.Reseller.Zone)))
	quote.ExpiresOn = after.ExpiresOn
	return quote, err
}

// Movement is credits on their way between a company and its reseller, and what
// both would have after it.
type Movement struct {
	Reseller Reseller
	Balance  int64 // of the company, as it is
	Amount   int64
	Note     string
	After    Moved
}

// QuoteTransfer returns what Transfer would do with the same request, with the
// same refusals. Reseller and Balance are set with a refusal too.
func (s *Service) QuoteTransfer(
	ctx context.Context, actor account.Actor, id int64, request CreditRequest,
) (Movement, error) {
	return s.quoteMove(ctx, actor, transfer{down, id, request})
}

// QuoteTakeBack is QuoteTransfer for TakeBack.
func (s *Service) QuoteTakeBack(
	ctx context.Context, actor account.Actor, id int64, request CreditRequest,
) (Movement, error) {
	return s.quoteMove(ctx, actor, transfer{up, id, request})
}

func (s *Service) quoteMove(ctx context.Context, actor account.Actor, transfer transfer) (movement Movement, err error) {
	movement.Amount, movement.Note = transfer.request.Amount, transfer.request.Note
	if movement.Reseller, err = s.Find(ctx, actor, transfer.resellerID); err != nil {
		return movement, err
	}
	if movement.Balance, err = s.Balance(ctx, actor); err != nil {
		return movement, err
	}
	if err := transfer.request.err(); err != nil {
		return movement, err
	}
	gain := transfer.direction.sign * movement.Amount
	movement.After = Moved{Balance: movement.Balance + gain, ResellerBalance: movement.Reseller.Credits - gain}
	switch {
	case movement.After.Balance < 0:
		return movement, tooFew(movement.Amount, movement.Balance)
	case movement.After.ResellerBalance < 0:
		return movement, tooFew(movement.Amount, movement.Reseller.Credits)
	}
	return movement, nil
}

// Waiting reports whether the owner of a reseller has not set a password yet,
// and can be invited.
func (s *Service) Waiting(ctx context.Context, actor account.Actor, id int64) (bool, error) {
	company, err := account.FindChild(ctx, s.db, actor, id)
	if err != nil {
		return false, err
	}
	ready, err := account.InUse(ctx, s.db, company.ID)
	return !ready, err
}

// LevelsFor lists the levels that a company may give a reseller besides the one
// it has, in rising order. With none, the error says why.
func LevelsFor(caller, present account.Level) (levels []account.Level, why error) {
	for _, wanted := range account.Levels {
		if wanted != present && mayChange(caller, present, wanted) {
			levels = append(levels, wanted)
		}
	}
	if len(levels) == 0 {
		return nil, refuseLevel(caller, present, present)
	}
	return levels, nil
}
