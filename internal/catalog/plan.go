package catalog

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Plan is what a customer pays for a period.
type Plan struct {
	ID        int64
	Name      string
	Value     money.Cents
	Period    civil.Period
	Product   Ref // ID 0: none
	Active    bool
	CreatedAt time.Time
}

// PlanDraft is what a caller wants a plan to be: a change leaves alone what is
// not given. An edge reads it from a form; Go callers fill it in.
type PlanDraft struct {
	Name      input.Opt[string]
	Value     input.Opt[money.Cents]
	Period    input.Opt[civil.Period]
	ProductID input.Opt[int64]
	Active    input.Opt[bool]

	Problems input.Problems // what the form had wrong
}

// PlanFields are the fields of a plan. A change that differs in none of them is none.
var PlanFields = account.Table[Plan, PlanDraft]{
	{Name: "id", At: func(p *Plan) any { return &p.ID }, Except: account.InAudit},
	account.Drafted("name", "name", func(p *Plan, d *PlanDraft) (*string, *input.Opt[string]) {
		return &p.Name, &d.Name
	}, account.Line(maxName)),
	account.Drafted("value", "value_cents", func(p *Plan, d *PlanDraft) (*money.Cents, *input.Opt[money.Cents]) {
		return &p.Value, &d.Value
	}, (*input.Form).Money),
	account.Drafted("period", "", func(p *Plan, d *PlanDraft) (*civil.Period, *input.Opt[civil.Period]) {
		return &p.Period, &d.Period
	}, readPeriod).Shown(func(p *Plan) any { return p.Period.String() }),
	{Column: "period_unit", At: func(p *Plan) any { return &p.Period.Unit }},
	{Column: "period_count", At: func(p *Plan) any { return &p.Period.Count }},
	account.Drafted("product_id", "", func(p *Plan, d *PlanDraft) (*int64, *input.Opt[int64]) {
		return &p.Product.ID, &d.ProductID
	}, (*input.Form).ID).Audited("product").Shown(func(p *Plan) any { return p.Product.Name }).
		Not(account.InRecord | account.InLists),
	account.Drafted("active", "active", func(p *Plan, d *PlanDraft) (*bool, *input.Opt[bool]) {
		return &p.Active, &d.Active
	}, (*input.Form).Bool),
}

// ReadNewPlan reads the draft of a new plan from the fields name, value,
// period (or period_unit and period_count), product_id and active.
func ReadNewPlan(in *input.Form) PlanDraft {
	in.Require("name")
	in.Require("value")
	draft := readPlan(in)
	if !in.Sent("period") && !in.Sent("period_unit") && !in.Sent("period_count") {
		draft.Period = input.Some(civil.Period{Unit: civil.Month, Count: 1})
	}
	return draft
}

// ReadPlanChanges reads the draft of a change.
func ReadPlanChanges(in *input.Form) PlanDraft {
	in.MustNotClear("name")
	in.MustNotClear("value")
	in.MustNotClear("period")
	return readPlan(in)
}

func readPlan(in *input.Form) (draft PlanDraft) {
	in.Ignore("id", "period_label", "product", "customers_count", "created_at")
	PlanFields.Read(in, &draft)
	draft.Problems = in.Problems()
	return draft
}

func readPeriod(in *input.Form, name string) input.Opt[civil.Period] {
	parts := readPeriodParts(in)
	if whole := account.Period(in, name); whole.HasValue() {
		return whole
	}
	return parts // null is refused: every plan has a period
}

// readPeriodParts reads a period as records show it.
func readPeriodParts(in *input.Form) input.Opt[civil.Period] {
	unit := in.Choice("period_unit", string(civil.Day), string(civil.Week), string(civil.Month), string(civil.Year))
	count := in.Int("period_count", 1, maxPeriodCount)
	if !unit.HasValue() {
		if count.HasValue() {
			in.Refuse("period_unit", "is required with period_count")
		}
		return input.Opt[civil.Period]{}
	}
	period, err := civil.NewPeriod(civil.Unit(unit.Value), int(max(count.Value, 1)))
	if err != nil {
		in.Refuse("period_count", err.Error())
		return input.Opt[civil.Period]{}
	}
	return input.Some(period)
}

// maxPeriodCount keeps the count in the range of numbers; NewPeriod knows how
// long a period may be.
const maxPeriodCount = 1 << 20

// to sets what the draft gives, and refuses what the company's rules do not allow.
func (d PlanDraft) to(ctx context.Context, tx account.Tx, plan *Plan) error {
	var refused fault.Fields
	before := plan.Product
	PlanFields.To(&d, plan)
	if plan.Name == "" {
		refused.Add("name", "must not be empty")
	}
	if plan.Period.Count == 0 {
		refused.Add("period", "must not be empty")
	}
	if plan.Product == before {
		return refused.Err()
	}
	plan.Product.Name = ""
	if plan.Product.ID != 0 {
		product, err := productByID(ctx, tx, tx.Company.ID, plan.Product.ID)
		switch {
		case fault.KindOf(err) == fault.KindNotFound:
			refused.Add("product_id", "does not exist")
		case err != nil:
			return err
		}
		plan.Product.Name = product.Name
	}
	return refused.Err()
}

// CreatePlan makes a plan.
func (s *Service) CreatePlan(ctx context.Context, actor account.Actor, draft PlanDraft) (Plan, error) {
	if err := draft.Problems.Err(); err != nil {
		return Plan{}, err
	}
	var change PlanChange
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		change = PlanChange{Action: ActionCreated, After: Plan{Active: true, CreatedAt: tx.Now()}}
		if err := draft.to(ctx, tx, &change.After); err != nil {
			return err
		}
		return s.applyPlan(ctx, tx, &change)
	})
	return change.After, err
}

// UpdatePlan changes the fields that are given. Nothing is recorded when
// nothing changes.
func (s *Service) UpdatePlan(ctx context.Context, actor account.Actor, id int64, draft PlanDraft) (Plan, error) {
	if err := draft.Problems.Err(); err != nil {
		return Plan{}, err
	}
	var change PlanChange
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := lockPlan(ctx, tx, id)
		if err != nil {
			return err
		}
		change = PlanChange{Action: ActionUpdated, Before: before, After: before}
		if err := draft.to(ctx, tx, &change.After); err != nil || !PlanFields.Differ(&change.Before, &change.After) {
			return err
		}
		return s.applyPlan(ctx, tx, &change)
	})
	return change.After, err
}

// Plan finds a plan.
func (s *Service) Plan(ctx context.Context, actor account.Actor, id int64) (Plan, error) {
	return planByID(ctx, s.db, actor.Company.ID, id)
}

// Plans lists plans, newest first, with how many there are in all.
func (s *Service) Plans(ctx context.Context, actor account.Actor, filter Filter, page input.Page) ([]Plan, int64, error) {
	return plans(ctx, s.db, actor.Company.ID, filter, page)
}

// FindPlan finds a plan for another use case, inside its transaction.
func FindPlan(ctx context.Context, querier sqldb.Querier, actor account.Actor, id int64) (Plan, error) {
	return planByID(ctx, querier, actor.Company.ID, id)
}

// HoldPlan is FindPlan for a use case that stores something derived from the
// plan's value or period. The plan cannot change until the commit, so that a
// change finds everything that was derived from the old one.
func HoldPlan(ctx context.Context, tx account.Tx, id int64) (Plan, error) {
	return sqldb.Find(ctx, tx, "customer plan", scanPlan, planSelect+` WHERE p.company_id = ? AND p.id = ? {for key share of p}`,
		tx.Company.ID, id)
}

// HoldPlans keeps every plan of the company from being changed until the
// commit.
func HoldPlans(ctx context.Context, tx account.Tx) error {
	_, err := sqldb.Values[int64](ctx, tx,
		`SELECT id FROM customer_plans WHERE company_id = ? ORDER BY id {for key share}`, tx.Company.ID)
	return err
}

// AllPlans returns every plan of the company for another use case.
func AllPlans(ctx context.Context, querier sqldb.Querier, actor account.Actor) ([]Plan, error) {
	return sqldb.All(ctx, querier, scanPlan, planSelect+` WHERE p.company_id = ? ORDER BY p.id`, actor.Company.ID)
}
