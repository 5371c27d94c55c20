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
	account.FunctionAPI: "API", account.FunctionWebhooks: "Webhooks",
	account.FunctionPayments:  "Online payments",
	account.FunctionReminders: "Scheduled messages",
	account.FunctionResellers: "Resellers", account.FunctionImport: "Importing",
	account.FunctionExport: "Exporting",
}

type subscriptionPlansData struct {
	list
	List   []subscriptionPlanRow
	States []page.Option
}

type subscriptionPlanRow struct {
	reseller.Plan
	Functions []string
	Every     string // the period in words
	Link      string
}

func (s *Server) subscriptionPlans(req *request) error {
	data := subscriptionPlansData{list: newList(req, "", nil)}
	list, _, err := fill(s, req, &data.list, source[reseller.PlanFilter, reseller.Plan]{
		"", reseller.ReadPlanFilter, sortsBy(), s.Resellers.Plans,
	})
	if err != nil {
		return err
	}
	for _, plan := range list {
		row := subscriptionPlanRow{Plan: plan, Every: req.lang.Period(plan.Period), Link: s.Resellers.SignupLink(plan)}
		for _, name := range plan.Functions.Names() {
			row.Functions = append(row.Functions, req.lang.T(functionWords[name]))
		}
		data.List = append(data.List, row)
	}
	data.States = []page.Option{req.option("", "All"), req.option("true", "On sale"), req.option("false", "Not on sale")}
	return s.show(req, page.View{Name: "subscription_plans", Title: "Subscription plans", Data: data})
}

// functionRow is a box to tick. One that the plan has is ticked for good.
type functionRow struct {
	Name           account.Function
	Label          string
	Description    string
	Locked, Ticked bool
}

func (s *Server) subscriptionPlanRecord() record[reseller.Plan] {
	return record[reseller.Plan]{
		path: "/subscription-plans", form: "subscription_plan_form",
		fresh: "New subscription plan", edit: "Edit subscription plan",
		named: func(plan reseller.Plan) string { return plan.Name },
		blank: blankSubscriptionPlan, shown: planShown,
		find: s.Resellers.FindPlan,
		create: func(req *request) (reseller.Plan, error) {
			return s.Resellers.CreatePlan(req.Context(), req.Actor, reseller.ReadNewPlan(req.planForm()))
		},
		update: func(req *request) (reseller.Plan, error) {
			return s.Resellers.UpdatePlan(req.Context(), req.Actor, req.id, reseller.ReadPlanChanges(req.planForm()))
		},
		page: s.subscriptionPlanForm,
		created: func(req *request, plan reseller.Plan) error {
			return req.done(subscriptionPlanPath(plan.ID), "%s was created. Its signup link is below.", plan.Name)
		},
	}
}

// subscriptionPlanForm is what the form of a subscription plan shows.
type subscriptionPlanForm struct {
	recordForm
	Units         []page.Option
	Functions     []functionRow
	Active, Trial bool   // it is on sale, can be tried
	Link          string // by which resellers sign up
}

func (s *Server) subscriptionPlanForm(req *request, head recordForm, plan reseller.Plan) (any, error) {
	form := subscriptionPlanForm{recordForm: head, Units: req.units(), Active: plan.Active, Trial: plan.TrialDays > 0}
	if !form.New {
		form.Link = s.Resellers.SignupLink(plan)
	}
	for _, entry := range account.FunctionCatalog {
		has := plan.Functions.Has(entry.Name)
		if has || req.Actor.May(entry.Name) { // a company gives only what it has
			form.Functions = append(form.Functions, functionRow{
				entry.Name, functionWords[entry.Name], entry.Description,
				has, has || form.Form.Has("functions", string(entry.Name)),
			})
		}
	}
	return form, nil
}

// planShown is a plan as its form shows it.
func planShown(plan reseller.Plan) *page.Form {
	return page.NewForm("name", plan.Name, "value", decimal(plan.Value), "credits", strconv.FormatInt(plan.Credits, 10),
		"period_count", strconv.Itoa(plan.Period.Count), "period_unit", string(plan.Period.Unit),
		"trial_days", strconv.Itoa(plan.TrialDays), "active", boolText(plan.Active))
}

func subscriptionPlanPath(id int64) string { return "/subscription-plans/" + idText(id) }

func blankSubscriptionPlan(req *request) *page.Form {
	form := page.NewForm("credits", "1", "period_count", "1", "period_unit", "month", "trial_days", "7")
	for _, name := range req.Actor.Company.Subscription.Functions.Names() {
		form.Add("functions", string(name))
	}
	return form
}

// planForm is the form of a subscription plan: a list of functions, and an
// amount as people write it.
func (req *request) planForm() *input.Form {
	return req.formWith([]string{"functions"}, "value")
}

// switchSubscriptionPlan puts a plan on sale or takes it off.
func (s *Server) switchSubscriptionPlan(req *request) error {
	active := input.FromStrings(map[string]string{"active": req.PostFormValue("active")})
	plan, err := s.Resellers.UpdatePlan(req.Context(), req.Actor, req.id, reseller.ReadPlanChanges(active))
	if plan.Active {
		return req.did(err, "/subscription-plans", "%s is on sale.", plan.Name)
	}
	return req.did(err, "/subscription-plans", "%s is no longer on sale. Its signup link does not work until it is.", plan.Name)
}

func askRenewSignupLink(plan reseller.Plan) page.Confirm {
	return page.Confirm{
		Question: "Replace the signup link of %s?", Args: []any{plan.Name}, Danger: true,
		Button: "Replace the link", Back: subscriptionPlanPath(plan.ID),
		Effects: []string{
			"The link that you have given out stops working at once, wherever it stands.",
			"Whoever has signed up with it keeps everything.",
			"This cannot be undone.",
		},
	}
}

func (s *Server) renewSignupLink(req *request) error {
	plan, err := s.Resellers.RenewSignupLink(req.Context(), req.Actor, req.id)
	return req.did(err, subscriptionPlanPath(req.id), "%s has a new signup link.", plan.Name)
}
