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

// ReadNewPlan reads the draft of a new plan from the fields name, value,
// period, product_id and active.
func ReadNewPlan(in *input.Form) PlanDraft {
	in.Require("name")
	in.Require("value")
	in.Require("period")
	return readPlan(in)
}

// ReadPlanChanges reads the draft of a change.
func ReadPlanChanges(in *input.Form) PlanDraft {
	in.MustNotClear("name")
	in.MustNotClear("value")
	in.MustNotClear("period")
	return readPlan(in)
}

func readPlan(in *input.Form) PlanDraft {
	d := PlanDraft{
		Name:      in.Line("name", maxName),
		Value:     in.Money("value"),
		Period:    readPeriod(in),
		ProductID: in.ID("product_id"),
		Active:    in.Bool("active"),
	}
	d.Problems = in.Problems()
	return d
}

func readPeriod(in *input.Form) input.Opt[civil.Period] {
	label := in.Line("period", maxPeriod)
	if !label.HasValue() {
		return input.Opt[civil.Period]{} // null is refused: every plan has a period
	}
	period, err := civil.ParsePeriod(label.Value)
	if err != nil {
		in.Refuse("period", err.Error())
		return input.Opt[civil.Period]{}
	}
	return input.Some(period)
}

// to sets what the draft gives, and returns what the company's rules refuse.
func (d PlanDraft) to(ctx context.Context, tx *sqldb.Tx, a account.Actor, p *Plan) (refused fault.Fields, err error) {
	d.Name.To(&p.Name)
	d.Value.To(&p.Value)
	d.Period.To(&p.Period)
	d.Active.To(&p.Active)
	if p.Name == "" {
		refused.Add("name", "must not be empty")
	}
	if p.Period.Count == 0 {
		refused.Add("period", "must not be empty")
	}
	if !d.ProductID.Given() || d.ProductID.Value == p.Product.ID {
		return refused, nil
	}
	p.Product = Ref{ID: d.ProductID.Value}
	if p.Product.ID == 0 {
		return refused, nil
	}
	product, err := productByID(ctx, tx, a.Company.ID, p.Product.ID)
	if fault.KindOf(err) == fault.KindNotFound {
		refused.Add("product_id", "does not exist")
		return refused, nil
	}
	p.Product.Name = product.Name
	return refused, err
}

// CreatePlan makes a plan.
func (s *Service) CreatePlan(ctx context.Context, a account.Actor, d PlanDraft) (Plan, error) {
	if err := d.Problems.Err(); err != nil {
		return Plan{}, err
	}
	var c PlanChange
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		c = PlanChange{Action: ActionCreated, After: Plan{Active: true, CreatedAt: tx.Now()}}
		refused, err := d.to(ctx, tx, a, &c.After)
		if err != nil {
			return err
		}
		if err := refused.Err(); err != nil {
			return err
		}
		return s.applyPlan(ctx, tx, a, &c)
	})
	return c.After, err
}

// UpdatePlan changes the fields that are given. Nothing is recorded when
// nothing changes.
func (s *Service) UpdatePlan(ctx context.Context, a account.Actor, id int64, d PlanDraft) (Plan, error) {
	if err := d.Problems.Err(); err != nil {
		return Plan{}, err
	}
	var c PlanChange
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := lockPlan(ctx, tx, a.Company.ID, id)
		if err != nil {
			return err
		}
		c = PlanChange{Action: ActionUpdated, Before: before, After: before}
		refused, err := d.to(ctx, tx, a, &c.After)
		if err != nil {
			return err
		}
		if err := refused.Err(); err != nil || !planFields.Differ(&c.Before, &c.After) {
			return err
		}
		return s.applyPlan(ctx, tx, a, &c)
	})
	return c.After, err
}

// Plan finds a plan.
func (s *Service) Plan(ctx context.Context, a account.Actor, id int64) (Plan, error) {
	return planByID(ctx, s.db, a.Company.ID, id)
}

// Plans lists plans, newest first, with how many there are in all.
func (s *Service) Plans(ctx context.Context, a account.Actor, f Filter, page input.Page) ([]Plan, int64, error) {
	return plans(ctx, s.db, a.Company.ID, f, page)
}

// FindPlan finds a plan for another use case, inside its transaction.
func FindPlan(ctx context.Context, q sqldb.Querier, a account.Actor, id int64) (Plan, error) {
	return planByID(ctx, q, a.Company.ID, id)
}

// AllPlans returns every plan of the company for another use case.
func AllPlans(ctx context.Context, q sqldb.Querier, a account.Actor) ([]Plan, error) {
	return allPlans(ctx, q, a.Company.ID)
}
