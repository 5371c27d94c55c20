package reseller

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Paid is a reseller after something that costs credits.
type Paid struct {
	Reseller
	CreditsSpent   int64
	CreditsBalance int64  // what is left to the company that paid
	InvitationLink string // "": the owner has a password
}

// draft is what a form says about a reseller that is to be made.
type draft struct {
	newcomer account.Newcomer
	kind     account.SubscriptionKind
	planID   int64
	periods  int
	taken    string // what is said of an e-mail address that somebody has
}

const maxPeriods = 120

// Create makes a reseller below the company: as a trial, or as a subscriber
// that costs credits. A company without a password for its owner gets an
// invitation.
func (s *Service) Create(ctx context.Context, a account.Actor, in *input.Form) (p Paid, err error) {
	in.Require("name")
	in.Require("email")
	in.Ignore(readOnly...)
	d := draft{kind: account.Trial, taken: "is taken by another user"}
	d.newcomer.Name, _ = in.Line("name", maxName).Get()
	d.newcomer.Email, _ = in.Email("email").Get()
	d.newcomer.Whatsapp, _ = in.Phone("whatsapp").Get()
	password := account.ReadPassword(in)
	if kind, _ := in.Choice("type", string(account.Trial), string(account.Subscriber)).Get(); kind != "" {
		d.kind = account.SubscriptionKind(kind)
	}
	d.planID, _ = in.ID("plan_id").Get()
	d.periods = readPeriods(in)
	if d.kind == account.Subscriber {
		in.Require("plan_id")
	}
	return s.create(ctx, a, d, password, in)
}

func readPeriods(in *input.Form) int {
	if n, _ := in.Int("periods", 1, maxPeriods).Get(); n != 0 {
		return int(n)
	}
	return 1
}

// create checks a draft against the database and makes the company.
func (s *Service) create(ctx context.Context, a account.Actor, d draft, password string, in *input.Form) (p Paid, err error) {
	if in.Err() != nil { // all that fails is told at once
		if _, err := d.check(ctx, s.db, a, in); err != nil {
			return p, err
		}
		return p, in.Err()
	}
	if d.newcomer.PasswordHash, err = account.HashPassword(ctx, password); err != nil {
		return p, err
	}
	invitation := account.NewInvitation()
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		p, err = s.createTx(ctx, tx, a, d, invitation, in)
		return err
	})
	return p, err
}

func (s *Service) createTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, d draft, i account.Invitation, in *input.Form) (p Paid, err error) {
	if err := lockBalances(ctx, tx, a.Company.ID); err != nil {
		return p, err
	}
	plan, err := d.check(ctx, tx, a, in)
	if err != nil {
		return p, err
	}
	if err := in.Err(); err != nil {
		return p, err
	}
	if d.newcomer.Subscription, err = d.subscription(a, plan, a.Today(tx.Now())); err != nil {
		return p, err
	}
	if d.kind == account.Subscriber {
		p.CreditsSpent = plan.Credits * int64(d.periods)
	}
	if err := enough(ctx, tx, a, p.CreditsSpent); err != nil { // before anything is written
		return p, err
	}
	made, _, err := s.accounts.AddTx(ctx, tx, a.Company, d.newcomer)
	if err != nil {
		return p, err
	}
	if d.newcomer.PasswordHash == "" {
		if err := s.accounts.InviteTx(ctx, tx, made, i); err != nil {
			return p, err
		}
		p.InvitationLink = s.invitationLink(i)
	}
	paid, err := s.pay(ctx, tx, a, made.ID, p.CreditsSpent, Entry{Kind: ForCreate, Plan: Ref{ID: plan.ID}, Periods: d.periods})
	if err != nil {
		return p, err
	}
	paid.InvitationLink = p.InvitationLink
	return paid, note(ctx, tx, a, "reseller.created", nil, paid.Reseller)
}

// check finds the plan of a draft, and refuses what the database knows better.
// A trial without a plan takes the oldest there is; with none, ID is 0.
func (d draft) check(ctx context.Context, q sqldb.Querier, a account.Actor, in *input.Form) (plan Plan, err error) {
	taken, err := account.EmailTaken(ctx, q, d.newcomer.Email)
	if err != nil {
		return plan, err
	}
	if taken && d.newcomer.Email != "" {
		in.Refuse("email", d.taken)
	}
	switch {
	case d.planID != 0:
		plan, err = planByID(ctx, q, a.Company.ID, d.planID)
		if err != nil {
			return plan, refuseMissing(err, in)
		}
		if !plan.Active {
			in.Refuse("plan_id", "is not active")
		}
	case d.kind == account.Trial:
		plan, err = oldestPlan(ctx, q, a.Company.ID)
	}
	if plan.ID != 0 && plan.TrialDays == 0 && d.kind == account.Trial {
		in.Refuse("plan_id", "cannot be tried: it has no trial days")
	}
	return plan, err
}

// subscription is what a new company begins with.
func (d draft) subscription(a account.Actor, plan Plan, today civil.Date) (account.Subscription, error) {
	sub := account.Subscription{Kind: d.kind, PlanID: plan.ID, Functions: plan.Functions, ExpiresOn: today, OwnDay: today.Day()}
	if d.kind == account.Subscriber {
		return extended(sub, plan.Period, d.periods)
	}
	days := plan.TrialDays
	if plan.ID == 0 {
		days, sub.Functions = defaultTrialDays, a.Company.Subscription.Functions
	}
	sub.ExpiresOn = today.AddDays(days)
	sub.OwnDay = sub.ExpiresOn.Day()
	return sub, nil
}

// extended moves the last day on by a number of periods. Months and years
// return to the own day of the month; days and weeks make a new one.
func extended(sub account.Subscription, p civil.Period, periods int) (account.Subscription, error) {
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
	return sub, nil
}

// Renew pays for more periods of a reseller's subscription, on its plan or on
// that of the field plan_id. One that has ended counts from today, a live one
// from its end. It also ends a trial, and a suspension.
func (s *Service) Renew(ctx context.Context, a account.Actor, id int64, in *input.Form) (Paid, error) {
	return s.renew(ctx, a, id, in, func(int64) error { return nil })
}

// renew is Renew where somebody may object to the cost.
func (s *Service) renew(ctx context.Context, a account.Actor, id int64, in *input.Form, object func(cost int64) error) (p Paid, err error) {
	planID, _ := in.ID("plan_id").Get()
	periods := readPeriods(in)
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if err := lockBalances(ctx, tx, a.Company.ID); err != nil {
			return err
		}
		before, err := account.LockBelowTx(ctx, tx, a, id)
		if err != nil {
			return err
		}
		record, err := s.find(ctx, tx, a, id)
		if err != nil {
			return err
		}
		plan, err := renewalPlan(ctx, tx, a, before, planID, in)
		if err != nil {
			return err
		}
		if err := in.Err(); err != nil {
			return err
		}
		cost := plan.Credits * int64(periods)
		if err := object(cost); err != nil {
			return err
		}
		if err := enough(ctx, tx, a, cost); err != nil {
			return err
		}
		after := before
		if after.Subscription, err = renewed(before, plan, periods, civil.Of(tx.Now().In(before.Zone))); err != nil {
			return err
		}
		if err := s.accounts.SaveTx(ctx, tx, before, after); err != nil {
			return err
		}
		if p, err = s.pay(ctx, tx, a, id, cost, Entry{Kind: ForRenew, Plan: Ref{ID: plan.ID}, Periods: periods}); err != nil {
			return err
		}
		return note(ctx, tx, a, "reseller.renewed", record.fields(), p.Reseller)
	})
	return p, err
}

// renewalPlan is the plan that a renewal pays for. One that is no longer sold
// can be kept, and cannot be chosen.
func renewalPlan(ctx context.Context, q sqldb.Querier, a account.Actor, c account.Company, chosen int64, in *input.Form) (Plan, error) {
	planID := chosen
	if planID == 0 {
		planID = c.Subscription.PlanID
	}
	if planID == 0 {
		in.Refuse("plan_id", "is required: the reseller has no plan yet")
		return Plan{}, nil
	}
	plan, err := planByID(ctx, q, a.Company.ID, planID)
	if err != nil {
		return plan, refuseMissing(err, in)
	}
	if !plan.Active && planID != c.Subscription.PlanID {
		in.Refuse("plan_id", "is not active")
	}
	return plan, nil
}

func renewed(c account.Company, plan Plan, periods int, today civil.Date) (account.Subscription, error) {
	sub := c.Subscription
	if sub.ExpiresOn.IsZero() || sub.ExpiresOn.Before(today) {
		sub.ExpiresOn, sub.OwnDay = today, today.Day()
	}
	sub.Kind, sub.PlanID, sub.Functions = account.Subscriber, plan.ID, plan.Functions
	sub.SuspendedAt = account.Subscription{}.SuspendedAt
	return extended(sub, plan.Period, periods)
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

// pay takes the credits that a reseller's subscription costs, in the
// transaction of what they pay for, and reads the record that comes of it.
func (s *Service) pay(ctx context.Context, tx *sqldb.Tx, a account.Actor, id, cost int64, e Entry) (p Paid, err error) {
	p.CreditsSpent = cost
	if cost > 0 {
		e.Amount, e.Reseller = -cost, Ref{ID: id}
		p.CreditsBalance, err = book(ctx, tx, a, a.Company.ID, e)
	} else {
		p.CreditsBalance, err = balanceOf(ctx, tx, a.Company.ID)
	}
	if err != nil {
		return p, err
	}
	p.Reseller, err = s.find(ctx, tx, a, id)
	return p, err
}
