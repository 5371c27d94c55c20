package reseller

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

// Plan is a subscription plan: what a reseller pays its parent, for how long, and
// what it may use.
type Plan struct {
	ID         int64
	Name       string
	Value      money.Cents // what the reseller pays, for people to read
	Credits    int64       // what a period costs the company that sells it
	Period     civil.Period
	TrialDays  int // 0: it cannot be tried
	Functions  account.Functions
	SignupCode string
	Active     bool
	CreatedAt  time.Time
}

// PlanFilter chooses plans.
type PlanFilter struct {
	Search     string
	OnlyActive *bool
}

// ReadPlanFilter reads search and active from a query.
func ReadPlanFilter(in *input.Form) PlanFilter {
	var filter PlanFilter
	filter.Search = in.Line("search", maxName).Value
	if active := in.Choice("active", "true", "false", "1", "0"); active.HasValue() {
		yes := active.Value == "true" || active.Value == "1"
		filter.OnlyActive = &yes
	}
	return filter
}

// defaultTrialDays are those of a plan that does not say, and of a trial
// without a plan.
const defaultTrialDays = 7

// defaultPeriod is that of a plan that does not say.
var defaultPeriod = civil.Period{Unit: civil.Month, Count: 1}

// FindPlan returns a subscription plan of the company.
func (s *Service) FindPlan(ctx context.Context, actor account.Actor, planID int64) (Plan, error) {
	return planByID(ctx, s.db, actor.Company.ID, planID)
}

// Plans lists subscription plans, newest first, with how many there are in all.
func (s *Service) Plans(
	ctx context.Context, actor account.Actor, filter PlanFilter, page input.Page,
) ([]Plan, int64, error) {
	return plans(ctx, s.db, actor.Company.ID, filter, page)
}

// SignupLink is where a reseller registers on a plan by itself.
func (s *Service) SignupLink(plan Plan) string {
	return s.publicURL + "/signup/" + plan.SignupCode
}

// CreatePlan makes a subscription plan. It has every function that the company
// has itself, unless some are named.
func (s *Service) CreatePlan(ctx context.Context, actor account.Actor, draft PlanDraft) (Plan, error) {
	if err := draft.Problems.With(draft.refused(actor)).Err(); err != nil {
		return Plan{}, err
	}
	fresh := Plan{
		Period:     defaultPeriod,
		TrialDays:  defaultTrialDays,
		SignupCode: newSignupCode(),
		Active:     true,
		Functions:  account.FunctionsOf(actor.Company.Subscription.Functions.Names()...),
	}
	if draft.Functions.HasValue() {
		fresh.Functions = 0
	}
	fresh = draft.to(fresh)
	if fresh.Name == "" {
		return Plan{}, fault.Field("name", "is required")
	}
	var made planChange
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		made = planChange{action: PlanCreated, after: fresh}
		return s.applyPlan(ctx, tx, &made)
	})
	return made.after, err
}

// UpdatePlan changes the fields that are given. Functions are only added, and
// the resellers on the plan have them from the same moment.
func (s *Service) UpdatePlan(ctx context.Context, actor account.Actor, planID int64, draft PlanDraft) (Plan, error) {
	return s.changePlan(ctx, actor, planEdit{planID, PlanUpdated, func(plan Plan) (Plan, error) {
		return draft.to(plan), draft.Problems.With(draft.refused(actor)).Err()
	}})
}

// RenewSignupLink gives a plan another signup link. The old one stops working.
func (s *Service) RenewSignupLink(ctx context.Context, actor account.Actor, planID int64) (Plan, error) {
	code := newSignupCode()
	return s.changePlan(ctx, actor, planEdit{planID, PlanLinkRenewed, func(plan Plan) (Plan, error) {
		plan.SignupCode = code
		return plan, nil
	}})
}

func newSignupCode() string { return id.NewCode(20) }

// planEdit is a change of one plan.
type planEdit struct {
	id     int64
	action PlanAction
	do     func(Plan) (Plan, error)
}

func (s *Service) changePlan(ctx context.Context, actor account.Actor, edit planEdit) (Plan, error) {
	var change planChange
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		if err := lockBalances(ctx, tx.Tx, actor.Company.ID); err != nil {
			return err
		}
		before, err := planByID(ctx, tx, actor.Company.ID, edit.id)
		if err != nil {
			return err
		}
		change = planChange{action: edit.action, before: before}
		if change.after, err = edit.do(before); err != nil {
			return err
		}
		return s.applyPlan(ctx, tx, &change)
	})
	return change.after, err
}
