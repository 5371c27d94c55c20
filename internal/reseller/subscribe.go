package reseller

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/secret"
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
	trialDays  int  // set by priced: the most that a trial has; 0: as many as the plan says
}

// Create makes a reseller of the company: as a trial, or as a subscriber that
// costs credits. An owner without a password gets an invitation.
func (s *Service) Create(ctx context.Context, actor account.Actor, reseller NewReseller) (paid Paid, err error) {
	err = s.accounts.LimitProbes(ctx, actor, reseller.Email, func() error {
		paid, err = s.create(ctx, actor, reseller)
		return err
	})
	return paid, err
}

func (s *Service) create(ctx context.Context, actor account.Actor, reseller NewReseller) (paid Paid, err error) {
	order := order{
		child:      account.NewChild{Name: reseller.Name, Email: reseller.Email, Whatsapp: reseller.Whatsapp},
		kind:       cmp.Or(reseller.Kind, account.Trial),
		planID:     reseller.PlanID,
		periods:    max(1, reseller.Periods),
		invitation: account.NewInvitation(),
	}
	if problems := reseller.Problems.With(reseller.refused()); problems.Any() { // all that fails is reported at once
		_, refused, err := order.check(ctx, s.db, actor)
		if err != nil {
			return paid, err
		}
		return paid, problems.With(refused).Err()
	}
	if err := account.RefusePassword(reseller.Password, reseller.Name, reseller.Email); err != nil {
		return paid, err
	}
	// What is cheap to refuse is refused before the hash, which is not.
	if _, err := order.priced(ctx, s.db, actor, s.db.Now()); err != nil {
		return paid, err
	}
	if order.child.PasswordHash, err = account.HashPassword(hashingFor(ctx, actor), reseller.Password); err != nil {
		return paid, err
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (Paid, error) {
		return s.createTx(ctx, tx, order)
	})
}

// hashingFor puts the hash of a password that a company chooses for another behind
// those of people who sign in, with a bound by network.
func hashingFor(ctx context.Context, actor account.Actor) context.Context {
	company := "company " + strconv.FormatInt(actor.Company.ID, 10)
	return secret.InLane(ctx, secret.LaneStranger, secret.Caller{Network: company, Subject: company})
}

func (s *Service) createTx(ctx context.Context, tx account.Tx, order order) (paid Paid, err error) {
	if err := lockBalances(ctx, tx.Tx, tx.Company.ID); err != nil {
		return paid, err
	}
	if order, err = order.priced(ctx, tx, tx.Actor, tx.Now()); err != nil {
		return paid, err
	}
	made, err := s.accounts.AddChildTx(ctx, tx, order.child)
	if err != nil {
		return paid, err
	}
	if order.child.PasswordHash == "" {
		if err := s.accounts.InviteTx(ctx, tx.Tx, made, order.invitation); err != nil {
			return paid, err
		}
	}
	paid, err = s.pay(ctx, tx, Entry{
		Kind:     ForCreate,
		Amount:   -order.cost(),
		Reseller: Ref{ID: made.ID},
		Plan:     Ref{ID: order.plan.ID},
		Periods:  order.periods,
	})
	if order.child.PasswordHash == "" {
		paid.InvitationLink = s.invitationLink(order.invitation)
	}
	return paid, err
}

// priced returns the order with the plan and the subscription that are found for
// it. It refuses what cannot be done while nothing has been written yet: the
// company must be able to pay.
func (o order) priced(ctx context.Context, querier sqldb.Querier, actor account.Actor, now time.Time) (order, error) {
	plan, refused, err := o.check(ctx, querier, actor)
	if err != nil {
		return o, err
	}
	if err := refused.Err(); err != nil {
		return o, err
	}
	o.plan, o.child.PlanName = plan.soldBy(actor), plan.Name
	if o.kind == account.Trial && actor.Company.ParentID != 0 {
		if o, err = o.boundedTrial(ctx, querier, actor, now); err != nil {
			return o, err
		}
	}
	if o.child.Subscription, err = o.subscription(actor, actor.Today(now)); err != nil {
		return o, err
	}
	return o, enough(ctx, querier, actor, o.cost())
}

func (o order) cost() int64 {
	if o.kind != account.Subscriber {
		return 0
	}
	return o.plan.Credits * int64(o.periods)
}

// floor is the least that a company sells a period for. Below the top of the
// tree that is a credit: what costs nothing would have no end.
func floor(actor account.Actor) int64 {
	if actor.Company.ParentID == 0 {
		return 0
	}
	return 1
}

// soldBy is the plan as a company sells it now.
func (p Plan) soldBy(actor account.Actor) Plan {
	p.Credits = max(p.Credits, floor(actor))
	return p
}

// check finds the plan of an order, and returns as fields what the database
// refuses. A trial without a plan gets the oldest there is; with none, ID is 0.
func (o order) check(
	ctx context.Context, querier sqldb.Querier, actor account.Actor,
) (plan Plan, refused fault.Fields, err error) {
	taken, err := account.EmailTaken(ctx, querier, o.child.Email)
	if err != nil {
		return plan, refused, err
	}
	if taken && o.child.Email != "" {
		refused.Add("email", "is taken by another user")
	}
	if o.planID == 0 {
		if o.kind == account.Trial {
			plan, err = oldestPlan(ctx, querier, actor.Company.ID)
		}
	} else if plan, err = planByID(ctx, querier, actor.Company.ID, o.planID); fault.KindOf(err) == fault.KindNotFound {
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
func (o order) subscription(actor account.Actor, today civil.Date) (account.Subscription, error) {
	plan := o.plan
	sub := account.Subscription{
		Kind:      o.kind,
		PlanID:    plan.ID,
		Functions: plan.Functions,
		ExpiresOn: today,
		OwnDay:    today.Day(),
		Anonymous: o.anonymous,
	}
	if o.kind == account.Subscriber {
		return extended(sub, plan.Period, o.periods, today)
	}
	days := plan.TrialDays
	if plan.ID == 0 {
		days, sub.Functions = defaultTrialDays, actor.Company.Subscription.Functions
	}
	if o.trialDays != 0 {
		days = min(days, o.trialDays)
	}
	sub.ExpiresOn = today.AddDays(days)
	sub.OwnDay = sub.ExpiresOn.Day()
	return sub, nil
}

// yearsAhead is how far ahead a subscription is sold.
const yearsAhead = 10

// extended moves the last day on by a number of periods. Months and years
// return to the own day of the month; days and weeks make a new one.
func extended(sub account.Subscription, period civil.Period, periods int, today civil.Date) (account.Subscription, error) {
	furthest, err := civil.Period{Unit: civil.Year, Count: yearsAhead}.After(today, today.Day())
	if err != nil {
		return sub, fault.Field("periods", err.Error())
	}
	for range periods {
		next, err := period.After(sub.ExpiresOn, sub.OwnDay)
		if err != nil {
			return sub, fault.Field("periods", err.Error())
		}
		sub.ExpiresOn = next
		if period.Unit == civil.Day || period.Unit == civil.Week {
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
func enough(ctx context.Context, querier sqldb.Querier, actor account.Actor, cost int64) error {
	balance, err := balanceOf(ctx, querier, actor.Company.ID)
	if err != nil || cost <= balance {
		return err
	}
	return tooFew(cost, balance)
}

// pay posts what a reseller's subscription costs, in the transaction of what is
// paid for, and reads the record that comes of it. The audit line is that of
// the reseller's change.
func (s *Service) pay(ctx context.Context, tx account.Tx, entry Entry) (paid Paid, err error) {
	paid.CreditsSpent = -entry.Amount
	if paid.CreditsSpent > 0 {
		paid.CreditsBalance, err = post(ctx, tx, posting{tx.Company.ID, entry})
	} else {
		paid.CreditsBalance, err = balanceOf(ctx, tx, tx.Company.ID)
	}
	if err != nil {
		return paid, err
	}
	paid.Reseller, err = s.find(ctx, tx, tx.Actor, entry.Reseller.ID)
	return paid, err
}

// What a company below the top may give away: a trial costs no credits, so
// without a bound no one would buy any.
const (
	trialDaysBelow = 30
	liveTrials     = 5
)

// boundedTrial refuses a trial too many of a company below the top, and a second
// one of the same owner, and bounds its days by those of the company's own plan.
func (o order) boundedTrial(ctx context.Context, querier sqldb.Querier, actor account.Actor, now time.Time) (order, error) {
	live, err := account.CountTrials(ctx, querier, actor, actor.Today(now))
	if err != nil {
		return o, err
	}
	if live >= liveTrials {
		return o, fault.New(fault.KindConflict,
			fmt.Sprintf("the company has %d trials that have not ended, the most there can be; make it a subscriber", liveTrials))
	}
	had, err := account.ChildOf(ctx, querier, actor, o.child.Email)
	if err != nil {
		return o, err
	}
	if had {
		return o, fault.Field("email", "belongs to somebody who has a company here already; there is one trial for each")
	}
	o.trialDays = trialDaysBelow
	own, err := planByID(ctx, querier, actor.Company.ParentID, actor.Company.Subscription.PlanID)
	if fault.KindOf(err) == fault.KindNotFound {
		return o, nil
	}
	if own.TrialDays > 0 {
		o.trialDays = min(o.trialDays, own.TrialDays)
	}
	return o, err
}
