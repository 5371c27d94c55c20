package reseller

import (
	"cmp"
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Paid is a reseller after something that costs credits.
type Paid struct {
	Reseller
	CreditsSpent   int64
	CreditsBalance int64  // what is left to the company that paid
	InvitationLink string // "": the owner has a password
}

// order is a reseller that is being made.
type order struct {
	child      account.NewChild
	kind       account.SubscriptionKind
	planID     int64
	periods    int
	invitation account.Invitation
	anonymous  bool // a stranger makes it
	plan       Plan // set by priced; ID 0: none
}

func (n NewReseller) order() order {
	return order{
		child:      account.NewChild{Name: n.Name, Email: n.Email, Whatsapp: n.Whatsapp},
		kind:       cmp.Or(n.Kind, account.Trial),
		planID:     n.PlanID,
		periods:    max(1, n.Periods),
		invitation: account.NewInvitation(),
	}
}

// Create makes a reseller of the company: as a trial, or as a subscriber that
// costs credits. An owner without a password gets an invitation.
func (s *Service) Create(ctx context.Context, a account.Actor, n NewReseller) (p Paid, err error) {
	err = s.accounts.LimitProbes(ctx, a, n.Email, func() error {
		p, err = s.create(ctx, a, n)
		return err
	})
	return p, err
}

func (s *Service) create(ctx context.Context, a account.Actor, n NewReseller) (p Paid, err error) {
	o := n.order()
	if problems := n.Problems.With(n.refused()); problems.Any() { // all that fails is reported at once
		_, refused, err := o.check(ctx, s.db, a)
		if err != nil {
			return p, err
		}
		return p, problems.With(refused).Err()
	}
	if err := account.RefusePassword(n.Password, n.Name, n.Email); err != nil {
		return p, err
	}
	if o.child.PasswordHash, err = account.HashPassword(ctx, n.Password); err != nil {
		return p, err
	}
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		p, err = s.createTx(ctx, tx, a, o)
		return err
	})
	return p, err
}

func (s *Service) createTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, o order) (p Paid, err error) {
	if err := lockBalances(ctx, tx, a.Company.ID); err != nil {
		return p, err
	}
	if o, err = o.priced(ctx, tx, a); err != nil {
		return p, err
	}
	made, err := s.accounts.AddChildTx(ctx, tx, a, o.child)
	if err != nil {
		return p, err
	}
	if o.child.PasswordHash == "" {
		if err := s.accounts.InviteTx(ctx, tx, made, o.invitation); err != nil {
			return p, err
		}
	}
	p, err = s.pay(ctx, tx, a, Entry{
		Kind: ForCreate, Amount: -o.cost(), Reseller: Ref{ID: made.ID}, Plan: Ref{ID: o.plan.ID}, Periods: o.periods,
	})
	if o.child.PasswordHash == "" {
		p.InvitationLink = s.invitationLink(o.invitation)
	}
	return p, err
}

// priced returns the order with the plan and the subscription that are found for
// it. It refuses what cannot be done while nothing has been written yet: the
// company must be able to pay.
func (o order) priced(ctx context.Context, tx *sqldb.Tx, a account.Actor) (order, error) {
	plan, refused, err := o.check(ctx, tx, a)
	if err != nil {
		return o, err
	}
	if err := refused.Err(); err != nil {
		return o, err
	}
	o.plan, o.child.PlanName = plan.soldBy(a), plan.Name
	if o.child.Subscription, err = o.subscription(a, a.Today(tx.Now())); err != nil {
		return o, err
	}
	return o, enough(ctx, tx, a, o.cost())
}

func (o order) cost() int64 {
	if o.kind != account.Subscriber {
		return 0
	}
	return o.plan.Credits * int64(o.periods)
}

// floor is the least that a company sells a period for. Below the top of the
// tree that is a credit: what costs nothing would have no end.
func floor(a account.Actor) int64 {
	if a.Company.ParentID == 0 {
		return 0
	}
	return 1
}

// soldBy is the plan as a company sells it now.
func (p Plan) soldBy(a account.Actor) Plan {
	p.Credits = max(p.Credits, floor(a))
	return p
}

// check finds the plan of an order, and returns as fields what the database
// refuses. A trial without a plan gets the oldest there is; with none, ID is 0.
func (o order) check(ctx context.Context, q sqldb.Querier, a account.Actor) (plan Plan, refused fault.Fields, err error) {
	taken, err := account.EmailTaken(ctx, q, o.child.Email)
	if err != nil {
		return plan, refused, err
	}
	if taken && o.child.Email != "" {
		refused.Add("email", "is taken by another user")
	}
	if o.planID == 0 {
		if o.kind == account.Trial {
			plan, err = oldestPlan(ctx, q, a.Company.ID)
		}
	} else if plan, err = planByID(ctx, q, a.Company.ID, o.planID); fault.KindOf(err) == fault.KindNotFound {
		refused.Add("plan_id", "does not exist")
		return Plan{}, refused, nil
	}
	if plan.ID != 0 && !plan.Active {
		refused.Add("plan_id", "is not active")
	}
	if plan.ID != 0 && plan.TrialDays == 0 && o.kind == account.Trial {
		refused.Add("plan_id", "cannot be tried: it has no trial days")
	}
	return plan, refused, err
}

// subscription is what a new company begins with.
func (o order) subscription(a account.Actor, today civil.Date) (account.Subscription, error) {
	plan := o.plan
	sub := account.Subscription{
		Kind: o.kind, PlanID: plan.ID, Functions: plan.Functions, ExpiresOn: today, OwnDay: today.Day(), Anonymous: o.anonymous,
	}
	if o.kind == account.Subscriber {
		return extended(sub, plan.Period, o.periods, today)
	}
	days := plan.TrialDays
	if plan.ID == 0 {
		days, sub.Functions = defaultTrialDays, a.Company.Subscription.Functions
	}
	sub.ExpiresOn = today.AddDays(days)
	sub.OwnDay = sub.ExpiresOn.Day()
	return sub, nil
}

// yearsAhead is how far ahead a subscription is sold.
const yearsAhead = 10

// extended moves the last day on by a number of periods. Months and years
// return to the own day of the month; days and weeks make a new one.
func extended(sub account.Subscription, p civil.Period, periods int, today civil.Date) (account.Subscription, error) {
	furthest, err := civil.Period{Unit: civil.Year, Count: yearsAhead}.After(today, today.Day())
	if err != nil {
		return sub, fault.Field("periods", err.Error())
	}
	for range periods {
		next, err := p.After(sub.ExpiresOn, sub.OwnDay)
		if err != nil {
			return sub, fault.Field("periods", err.Error())
		}
		sub.ExpiresOn = next
		if p.Unit == civil.Day || p.Unit == civil.Week {
			sub.OwnDay = next.Day()
		}
	}
	if furthest.Before(sub.ExpiresOn) {
		return sub, fault.Field("periods", "nothing is sold for more than ten years ahead")
	}
	return sub, nil
}

// enough refuses what the company cannot pay for while nothing has been
// written yet.
func enough(ctx context.Context, tx *sqldb.Tx, a account.Actor, cost int64) error {
	balance, err := balanceOf(ctx, tx, a.Company.ID)
	if err != nil || cost <= balance {
		return err
	}
	return tooFew(cost, balance)
}

// pay posts what a reseller's subscription costs, in the transaction of what is
// paid for, and reads the record that comes of it. The audit line is that of
// the reseller's change.
func (s *Service) pay(ctx context.Context, tx *sqldb.Tx, a account.Actor, e Entry) (p Paid, err error) {
	p.CreditsSpent = -e.Amount
	if p.CreditsSpent > 0 {
		p.CreditsBalance, err = post(ctx, tx, a, posting{a.Company.ID, e})
	} else {
		p.CreditsBalance, err = balanceOf(ctx, tx, a.Company.ID)
	}
	if err != nil {
		return p, err
	}
	p.Reseller, err = s.find(ctx, tx, a, e.Reseller.ID)
	return p, err
}
