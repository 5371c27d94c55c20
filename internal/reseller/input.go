package reseller

import (
	"fmt"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

// Bounds of what is read.
const (
	maxName      = 255
	maxPeriods   = 120
	maxAmount    = 1_000_000_000 // of one movement of credits
	maxCredits   = 1_000_000     // of a period of a plan
	maxTrialDays = 365
)

// readOnly are the fields of a record that a form may carry and that change
// nothing, so that what was read can be sent back.
var readOnly = []string{
	"id", "level", "status", "credits", "plan", "expires_at", "customers_count", "created_at",
	"invitation_link", "credits_spent", "credits_balance",
}

// NewReseller is a reseller that is to be made.
type NewReseller struct {
	Name     string
	Email    string                   // the owner's
	Whatsapp string                   // digits with country code
	Password string                   // "": the owner gets an invitation
	Kind     account.SubscriptionKind // "": a trial
	PlanID   int64                    // 0: the oldest plan, for a trial
	Periods  int                      // that a subscriber pays for; 0: one

	Problems input.Problems // what the form had wrong
}

// ReadNewReseller reads the fields name, email, whatsapp, password, type,
// plan_id and periods.
func ReadNewReseller(in *input.Form) NewReseller {
	in.Require("name")
	in.Require("email")
	in.Ignore(readOnly...)
	reseller := NewReseller{
		Name:     in.Line("name", maxName).Value,
		Email:    in.Email("email").Value,
		Whatsapp: in.Phone("whatsapp").Value,
		Password: account.ReadPassword(in),
		Kind:     choice(in, "type", []account.SubscriptionKind{account.Trial, account.Subscriber}),
		PlanID:   in.ID("plan_id").Value,
		Periods:  readPeriods(in),
	}
	if reseller.Kind == account.Subscriber {
		in.Require("plan_id")
	}
	reseller.Problems = in.Problems()
	return reseller
}

func readPeriods(in *input.Form) int {
	return int(in.Int("periods", 1, maxPeriods).Value)
}

// refused are the fields that a Go caller may have left out; those of a form
// are among its problems.
func (n NewReseller) refused() (refused fault.Fields) {
	if n.Problems.Any() {
		return refused
	}
	if n.Name == "" {
		refused.Add("name", "is required")
	}
	if n.Email == "" {
		refused.Add("email", "is required")
	}
	if n.Kind == account.Subscriber && n.PlanID == 0 {
		refused.Add("plan_id", "is required")
	}
	return refused
}

// Signup is what a reseller enters at its own registration.
type Signup struct {
	Code     string // of the signup link
	Address  string // where the request comes from
	Name     string
	Email    string
	Whatsapp string
	Password string

	Problems input.Problems // what the form had wrong
}

// ReadSignup reads the fields name, email, whatsapp and password.
func ReadSignup(in *input.Form) Signup {
	in.Require("name")
	in.Require("email")
	in.Require("password")
	return Signup{
		Name:     in.Line("name", maxName).Value,
		Email:    in.Email("email").Value,
		Whatsapp: in.Phone("whatsapp").Value,
		Password: account.ReadPassword(in),
		Problems: in.Problems(),
	}
}

// Changes are what a caller wants to change of a reseller; what is not
// given stays.
type Changes struct {
	Name     input.Opt[string]
	Email    input.Opt[string]
	Whatsapp input.Opt[string]

	Problems input.Problems // what the form had wrong
}

// ReadChanges reads the fields name, email and whatsapp.
func ReadChanges(in *input.Form) Changes {
	in.MustNotClear("name")
	in.MustNotClear("email")
	in.Ignore(readOnly...)
	changes := Changes{Name: in.Line("name", maxName), Email: in.Email("email"), Whatsapp: in.Phone("whatsapp")}
	if in.Sent("plan_id") {
		in.Refuse("plan_id", "cannot be changed here; another plan is chosen when the subscription is renewed")
	}
	changes.Problems = in.Problems()
	return changes
}

// LevelRequest is the level that a reseller is to have.
type LevelRequest struct {
	Level account.Level

	Problems input.Problems // what the form had wrong
}

// ReadLevelRequest reads the field level.
func ReadLevelRequest(in *input.Form) LevelRequest {
	in.Require("level")
	return LevelRequest{Level: choice(in, "level", account.Levels), Problems: in.Problems()}
}

// RenewRequest is a renewal that a caller wants.
type RenewRequest struct {
	PlanID  int64            // 0: the plan that the reseller has
	Periods int              // 0: one
	Agreed  input.Opt[int64] // the cost that the caller has seen; another one is refused

	Problems input.Problems // what the form had wrong
}

// ReadRenewRequest reads the fields plan_id and periods.
func ReadRenewRequest(in *input.Form) RenewRequest {
	return RenewRequest{PlanID: in.ID("plan_id").Value, Periods: readPeriods(in), Problems: in.Problems()}
}

// ReadAgreedRenewal is ReadRenewRequest for a person who has seen a Quote: it
// reads the field agreed too, the cost.
func ReadAgreedRenewal(in *input.Form) RenewRequest {
	in.Require("agreed")
	agreed := in.Int("agreed", 0, maxCredits*maxPeriods)
	request := ReadRenewRequest(in)
	request.Agreed = agreed
	return request
}

// CreditRequest is credits that are to be granted or moved.
type CreditRequest struct {
	Amount int64
	Note   string

	Problems input.Problems // what the form had wrong
}

// ReadCreditRequest reads the fields amount and note.
func ReadCreditRequest(in *input.Form) CreditRequest {
	in.Require("amount")
	return CreditRequest{Amount: in.Int("amount", 1, maxAmount).Value, Note: in.Line("note", maxName).Value, Problems: in.Problems()}
}

// err is what is wrong with the request. A Go caller's amount has the bounds of
// a form's: a negative one would turn the direction around.
func (r CreditRequest) err() error {
	var refused fault.Fields
	if !r.Problems.Any() && (r.Amount < 1 || r.Amount > maxAmount) {
		refused.Add("amount", fmt.Sprintf("must be between %d and %d", 1, maxAmount))
	}
	return r.Problems.With(refused).Err()
}

// PlanDraft is what a caller wants a subscription plan to be; what is not given
// stays, or is the default of a new plan.
type PlanDraft struct {
	Name        input.Opt[string]
	Value       input.Opt[money.Cents]
	Credits     input.Opt[int64]
	Period      input.Opt[civil.Period]
	PeriodUnit  input.Opt[civil.Unit]
	PeriodCount input.Opt[int]
	TrialDays   input.Opt[int]
	Functions   input.Opt[[]string] // names; a plan that exists only gets more
	Active      input.Opt[bool]

	Problems input.Problems // what the form had wrong
}

// planReadOnly are the fields of a plan's record that change nothing.
var planReadOnly = []string{"id", "signup_link", "created_at"}

// ReadNewPlan reads the draft of a new plan.
func ReadNewPlan(in *input.Form) PlanDraft {
	in.Require("name")
	in.Require("value")
	in.Require("credits")
	return readPlan(in)
}

// ReadPlanChanges reads the draft of a change.
func ReadPlanChanges(in *input.Form) PlanDraft {
	for _, name := range []string{"name", "value", "credits", "period", "period_unit", "period_count", "trial_days", "active"} {
		in.MustNotClear(name)
	}
	return readPlan(in)
}

func readPlan(in *input.Form) (draft PlanDraft) {
	in.Ignore(planReadOnly...)
	planFields.Read(in, &draft)
	draft.Functions = in.List("functions")
	draft.Problems = in.Problems()
	return draft
}

// planFields are the fields of a plan. Null leaves alone what cannot be empty. Those
// of the period are read after the whole, which they complete.
var planFields = account.Table[Plan, PlanDraft]{
	account.Drafted("name", "name", func(p *Plan, d *PlanDraft) (*string, *input.Opt[string]) {
		return &p.Name, &d.Name
	}, account.Line(maxName)),
	account.Drafted("value", "value_cents", func(p *Plan, d *PlanDraft) (*money.Cents, *input.Opt[money.Cents]) {
		return &p.Value, &d.Value
	}, (*input.Form).Money),
	account.Drafted("credits", "credits", func(p *Plan, d *PlanDraft) (*int64, *input.Opt[int64]) {
		return &p.Credits, &d.Credits
	}, func(in *input.Form, name string) input.Opt[int64] { return in.Int(name, 0, maxCredits) }),
	account.Drafted("period", "", func(p *Plan, d *PlanDraft) (*civil.Period, *input.Opt[civil.Period]) {
		return &p.Period, &d.Period
	}, account.Period).Shown(func(p *Plan) any { return p.Period.String() }),
	account.Drafted("period_unit", "period_unit", func(p *Plan, d *PlanDraft) (*civil.Unit, *input.Opt[civil.Unit]) {
		return &p.Period.Unit, &d.PeriodUnit
	}, account.OneOf(civil.Day, civil.Week, civil.Month, civil.Year)).Not(account.InAudit),
	account.Drafted("period_count", "period_count", func(p *Plan, d *PlanDraft) (*int, *input.Opt[int]) {
		return &p.Period.Count, &d.PeriodCount
	}, account.NotNull(account.Number(1, civil.MaxCount))).Not(account.InAudit),
	account.Drafted("trial_days", "trial_days", func(p *Plan, d *PlanDraft) (*int, *input.Opt[int]) {
		return &p.TrialDays, &d.TrialDays
	}, account.NotNull(account.Number(0, maxTrialDays))),
	{
		Name: "functions", Column: "functions", At: func(p *Plan) any { return &p.Functions },
		Show: func(p *Plan) any { return strings.Trim(p.Functions.String(), ",") },
	},
	account.Drafted("active", "active", func(p *Plan, d *PlanDraft) (*bool, *input.Opt[bool]) {
		return &p.Active, &d.Active
	}, account.NotNull((*input.Form).Bool)),
	{Column: "signup_code", At: func(p *Plan) any { return &p.SignupCode }},
}

// to returns the plan with the draft's changes.
func (d PlanDraft) to(plan Plan) Plan {
	planFields.To(&d, &plan)
	plan.Functions |= d.functions()
	return plan
}

// functions are the functions that the draft names, as far as there are such.
func (d PlanDraft) functions() (functions account.Functions) {
	for _, name := range d.Functions.Value {
		functions |= account.FunctionsOf(account.Function(name))
	}
	return functions
}

// refused are the functions that the actor cannot give, since a company gives
// only what it has, and what a Go caller left out of a new plan.
func (d PlanDraft) refused(actor account.Actor) (refused fault.Fields) {
	if d.Credits.HasValue() && d.Credits.Value < floor(actor) {
		refused.Add("credits", "must be at least 1: below the top of the tree every period costs a credit")
	}
	for _, name := range d.Functions.Value {
		function := account.Function(name)
		switch {
		case account.FunctionsOf(function) == 0:
			refused.Add("functions", fmt.Sprintf("%q is not a function; there are %s", name, functionNames()))
		case !actor.May(function):
			refused.Add("functions", fmt.Sprintf("the company does not have %s itself", name))
		}
	}
	return refused
}

func functionNames() (list string) {
	for i, entry := range account.FunctionCatalog {
		if i > 0 {
			list += ", "
		}
		list += string(entry.Name)
	}
	return list
}
