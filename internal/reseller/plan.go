package reseller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Plan is a subscription plan: what a reseller pays the company above it, for
// how long, and what it may use.
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
	var f PlanFilter
	f.Search, _ = in.Line("search", maxName).Get()
	if active, ok := in.Choice("active", "true", "false", "1", "0").Get(); ok && active != "" {
		yes := active == "true" || active == "1"
		f.OnlyActive = &yes
	}
	return f
}

// Bounds of a plan.
const (
	maxCredits   = 1_000_000
	maxTrialDays = 365
	// defaultTrialDays are those of a plan that does not say, and of a trial
	// without a plan.
	defaultTrialDays = 7
)

// defaultPeriod is that of a plan that does not say.
var defaultPeriod = civil.Period{Unit: civil.Month, Count: 1}

// FindPlan returns a subscription plan of the company.
func (s *Service) FindPlan(ctx context.Context, a account.Actor, planID int64) (Plan, error) {
	return planByID(ctx, s.db, a.Company.ID, planID)
}

// Plans lists subscription plans, newest first, with how many there are in all.
func (s *Service) Plans(ctx context.Context, a account.Actor, f PlanFilter, page input.Page) ([]Plan, int64, error) {
	return plans(ctx, s.db, a.Company.ID, f, page)
}

// SignupLink is where a reseller registers on a plan by itself.
func (s *Service) SignupLink(p Plan) string { return s.publicURL + "/signup/" + p.SignupCode }

// CreatePlan makes a subscription plan. It has every function that the company
// has itself, unless some are named.
func (s *Service) CreatePlan(ctx context.Context, a account.Actor, in *input.Form) (p Plan, err error) {
	in.Require("name")
	in.Require("value")
	in.Require("credits")
	change := readPlan(a, in)
	if err := in.Err(); err != nil {
		return p, err
	}
	code := newSignupCode()
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		p = Plan{
			Period: defaultPeriod, TrialDays: defaultTrialDays, SignupCode: code, Active: true, CreatedAt: tx.Now(),
			Functions: account.FunctionsOf(a.Company.Subscription.Functions.Names()...),
		}
		if in.Sent("functions") {
			p.Functions = 0
		}
		change(&p)
		if p.ID, err = insertPlan(ctx, tx, a.Company.ID, p); err != nil {
			return err
		}
		return notePlan(ctx, tx, a, "subscription_plan.created", nil, p)
	})
	return p, err
}

// UpdatePlan changes the fields that are given. Functions are only added, and
// those who are on the plan have them from the same moment.
func (s *Service) UpdatePlan(ctx context.Context, a account.Actor, planID int64, in *input.Form) (p Plan, err error) {
	for _, name := range []string{"name", "value", "credits", "period", "period_unit", "period_count", "trial_days", "active"} {
		in.MustNotClear(name)
	}
	change := readPlan(a, in)
	err = s.changePlan(ctx, a, planID, "subscription_plan.updated", func(p *Plan) error {
		if err := in.Err(); err != nil {
			return err
		}
		change(p)
		return nil
	}, &p)
	return p, err
}

// RenewSignupLink gives a plan another signup link. The old one stops working.
func (s *Service) RenewSignupLink(ctx context.Context, a account.Actor, planID int64) (p Plan, err error) {
	code := newSignupCode()
	err = s.changePlan(ctx, a, planID, "subscription_plan.link", func(p *Plan) error {
		p.SignupCode = code
		return nil
	}, &p)
	return p, err
}

func newSignupCode() string { return id.NewCode(20) }

func (s *Service) changePlan(ctx context.Context, a account.Actor, planID int64, action string, do func(*Plan) error, p *Plan) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if err := lockBalances(ctx, tx, a.Company.ID); err != nil {
			return err
		}
		before, err := planByID(ctx, tx, a.Company.ID, planID)
		if err != nil {
			return err
		}
		*p = before
		if err := do(p); err != nil {
			return err
		}
		if err := updatePlan(ctx, tx, a.Company.ID, *p); err != nil {
			return err
		}
		if p.Functions != before.Functions {
			if err := s.accounts.SetFunctionsTx(ctx, tx, a, planID, p.Functions); err != nil {
				return err
			}
		}
		return notePlan(ctx, tx, a, action, before.fields(), *p)
	})
}

func notePlan(ctx context.Context, tx *sqldb.Tx, a account.Actor, action string, before account.AuditFields, p Plan) error {
	return account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: action, Record: "subscription_plan", ID: p.ID, Name: p.Name, Before: before, After: p.fields(),
	})
}

func (p Plan) fields() account.AuditFields {
	return account.AuditFields{
		"name": p.Name, "value": p.Value, "credits": p.Credits, "period": p.Period, "trial_days": p.TrialDays,
		"functions": strings.Trim(p.Functions.String(), ","), "active": p.Active,
	}
}

// planReadOnly are the fields of a plan's record that change nothing.
var planReadOnly = []string{"id", "signup_link", "created_at"}

// readPlan returns what the form changes.
func readPlan(a account.Actor, in *input.Form) func(*Plan) {
	in.Ignore(planReadOnly...)
	name, hasName := in.Line("name", maxName).Get()
	value, hasValue := in.Money("value").Get()
	credits, hasCredits := in.Int("credits", 0, maxCredits).Get()
	period := readPeriod(in)
	trial, hasTrial := in.Int("trial_days", 0, maxTrialDays).Get()
	functions := readFunctions(a, in)
	active, hasActive := in.Bool("active").Get()
	return func(p *Plan) {
		set(&p.Name, name, hasName)
		set(&p.Value, value, hasValue)
		set(&p.Credits, credits, hasCredits)
		period(&p.Period)
		set(&p.TrialDays, int(trial), hasTrial && in.Sent("trial_days"))
		p.Functions |= functions
		set(&p.Active, active, hasActive && in.Sent("active"))
	}
}

// readPeriod reads period_unit and period_count, or both in one as period,
// such as 1month.
func readPeriod(in *input.Form) func(*civil.Period) {
	unit, _ := in.Choice("period_unit", string(civil.Day), string(civil.Week), string(civil.Month), string(civil.Year)).Get()
	count, _ := in.Int("period_count", 1, civil.MaxCount).Get()
	label, _ := in.Line("period", 40).Get()
	whole, err := civil.ParsePeriod(label)
	if label != "" && err != nil {
		in.Refuse("period", err.Error())
	}
	return func(p *civil.Period) {
		set(p, whole, label != "")
		set(&p.Unit, civil.Unit(unit), unit != "")
		set(&p.Count, int(count), count != 0)
	}
}

// readFunctions reads the names of functions. Nobody gives what it does not
// have.
func readFunctions(a account.Actor, in *input.Form) (f account.Functions) {
	names, _ := in.List("functions").Get()
	for _, n := range names {
		name := account.Function(n)
		switch {
		case account.FunctionsOf(name) == 0:
			in.Refuse("functions", fmt.Sprintf("%q is not a function; there are %s", n, functionNames()))
		case !a.May(name):
			in.Refuse("functions", fmt.Sprintf("the company does not have %s itself", name))
		default:
			f |= account.FunctionsOf(name)
		}
	}
	return f
}

func functionNames() (list string) {
	for i, e := range account.FunctionCatalog {
		if i > 0 {
			list += ", "
		}
		list += string(e.Name)
	}
	return list
}
