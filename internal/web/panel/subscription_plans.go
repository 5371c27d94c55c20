package panel

import (
	"strconv"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
)

// functionWords are the functions as people read them.
var functionWords = map[account.Function]string{
	account.FunctionAPI: "API", account.FunctionWebhooks: "Webhooks", account.FunctionPayments: "Online payments", account.FunctionReminders: "Scheduled messages",
	account.FunctionResellers: "Resellers", account.FunctionImport: "Importing", account.FunctionExport: "Exporting",
}

type subscriptionPlansData struct {
	Form     *page.Form // the filters
	List     []subscriptionPlanRow
	Pager    page.Pager
	Filtered bool
	States   []page.Option
}

type subscriptionPlanRow struct {
	reseller.Plan
	Functions []string
	Every     string // the period in words
	Link      string
}

func (s *Server) subscriptionPlans(q *request) error {
	in := q.query()
	p, f := in.Page(), reseller.ReadPlanFilter(in)
	d := subscriptionPlansData{Form: queryForm(q)}
	if err := in.Err(); err != nil {
		d.Form.Fail(err)
		f = reseller.PlanFilter{}
	}
	list, total, err := s.Resellers.Plans(q.Context(), q.Actor, f, p)
	if err != nil {
		return err
	}
	for _, plan := range list {
		row := subscriptionPlanRow{Plan: plan, Every: periodText(q.lang, plan.Period), Link: s.Resellers.SignupLink(plan)}
		for _, name := range plan.Functions.Names() {
			row.Functions = append(row.Functions, q.lang.T(functionWords[name]))
		}
		d.List = append(d.List, row)
	}
	d.Pager, d.Filtered = page.NewPager(q.URL, p, total), f != (reseller.PlanFilter{})
	d.States = []page.Option{{Value: "", Label: q.lang.T("All")}, {Value: "true", Label: q.lang.T("On sale")}, {Value: "false", Label: q.lang.T("Not on sale")}}
	return s.show(q, page.View{Name: "subscription_plans", Title: "Subscription plans", Data: d})
}

type subscriptionPlanForm struct {
	Form      *page.Form
	Functions []functionRow
	Units     []page.Option
	Plan      reseller.Plan // as it is; ID 0: it is new
	Link      string
	Action    string
	New       bool
}

// functionRow is a box to tick. One that the plan has is ticked for good.
type functionRow struct {
	Name           account.Function
	Label          string
	Description    string
	Locked, Ticked bool
}

func (s *Server) subscriptionPlanForm(q *request, form *page.Form, refusal error) error {
	d, title := subscriptionPlanForm{Form: form, Action: "/subscription-plans/new", New: true}, "New subscription plan"
	if q.id != 0 {
		var err error
		if d.Plan, err = s.Resellers.FindPlan(q.Context(), q.Actor, q.id); err != nil {
			return err
		}
		d.New, title, d.Action, d.Link = false, "Edit subscription plan", subscriptionPlanPath(q.id), s.Resellers.SignupLink(d.Plan)
		if form == nil {
			d.Form = planShown(d.Plan)
		}
	}
	for _, e := range account.FunctionCatalog {
		has := d.Plan.Functions.Has(e.Name)
		if has || q.Actor.May(e.Name) { // nobody gives what it does not have
			d.Functions = append(d.Functions, functionRow{e.Name, functionWords[e.Name], e.Description, has, has || d.Form.Has("functions", string(e.Name))})
		}
	}
	for _, u := range units {
		d.Units = append(d.Units, page.Option{Value: u.Value, Label: q.lang.T(u.Label)})
	}
	return s.show(q, page.View{Name: "subscription_plan_form", Title: title, Status: statusOf(refusal), Data: d})
}

// planShown is a plan as its form shows it.
func planShown(p reseller.Plan) *page.Form {
	return page.NewForm("name", p.Name, "value", p.Value.BR()[len("R$ "):], "credits", strconv.FormatInt(p.Credits, 10),
		"period_count", strconv.Itoa(p.Period.Count), "period_unit", string(p.Period.Unit), "trial_days", strconv.Itoa(p.TrialDays), "active", boolText(p.Active))
}

func subscriptionPlanPath(id int64) string { return "/subscription-plans/" + idText(id) }

func (s *Server) newSubscriptionPlan(q *request) error {
	pairs := []string{"credits", "1", "period_count", "1", "period_unit", "month", "trial_days", "7"}
	for _, name := range q.Actor.Company.Subscription.Functions.Names() {
		pairs = append(pairs, "functions", string(name))
	}
	return s.subscriptionPlanForm(q, page.NewForm(pairs...), nil)
}

func (s *Server) createSubscriptionPlan(q *request) error {
	p, err := s.Resellers.CreatePlan(q.Context(), q.Actor, reseller.ReadNewPlan(q.formWith([]string{"functions"}, "value")))
	if refused(err) {
		return s.subscriptionPlanForm(q, page.Sent(q.Request, err), err)
	}
	if err != nil {
		return err
	}
	return q.done(subscriptionPlanPath(p.ID), "%s was created. Its signup link is below.", p.Name)
}

func (s *Server) editSubscriptionPlan(q *request) error { return s.subscriptionPlanForm(q, nil, nil) }

func (s *Server) updateSubscriptionPlan(q *request) error {
	p, err := s.Resellers.UpdatePlan(q.Context(), q.Actor, q.id, reseller.ReadPlanChanges(q.formWith([]string{"functions"}, "value")))
	if refused(err) {
		return s.subscriptionPlanForm(q, page.Sent(q.Request, err), err)
	}
	if err != nil {
		return err
	}
	return q.done("/subscription-plans", "%s was saved.", p.Name)
}

// switchSubscriptionPlan puts a plan on sale or takes it off.
func (s *Server) switchSubscriptionPlan(q *request) error {
	active := input.FromStrings(map[string]string{"active": q.PostFormValue("active")})
	p, err := s.Resellers.UpdatePlan(q.Context(), q.Actor, q.id, reseller.ReadPlanChanges(active))
	if err != nil {
		return q.complain("/subscription-plans", err)
	}
	if p.Active {
		return q.done("/subscription-plans", "%s is on sale.", p.Name)
	}
	return q.done("/subscription-plans", "%s is no longer on sale. Its signup link does not work until it is.", p.Name)
}

func (s *Server) askRenewSignupLink(q *request) error {
	p, err := s.Resellers.FindPlan(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.ask(q, page.Confirm{
		Question: "Replace the signup link of %s?", Args: []any{p.Name}, Danger: true, Button: "Replace the link",
		Back: subscriptionPlanPath(p.ID), Action: subscriptionPlanPath(p.ID) + "/link",
		Effects: []string{
			"The link that you have given out stops working at once, wherever it stands.", "Whoever has signed up with it keeps everything.",
			"This cannot be undone.",
		},
	})
}

func (s *Server) renewSignupLink(q *request) error {
	p, err := s.Resellers.RenewSignupLink(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return q.done(subscriptionPlanPath(p.ID), "%s has a new signup link.", p.Name)
}
