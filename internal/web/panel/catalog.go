package panel

import (
	"context"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
)

// offered is a plan or a product with how many customers have it.
type offered[T any] struct {
	Record    T
	Customers int64
}

type offeredList[T any] struct {
	List  []offered[T]
	Pager page.Pager
}

// offeredPage is a page of plans or products, and their ids.
func offeredPage[T any](
	req *request, name func(T) (int64, string),
	find func(context.Context, account.Actor, catalog.Filter, input.Page) ([]T, int64, error),
) (data offeredList[T], ids []int64) {
	paging := req.query().Page()
	list, total, err := find(req.Context(), req.Actor, catalogAll, paging)
	req.note(err)
	data.Pager = page.NewPager(req.URL, paging, total)
	for _, one := range list {
		id, _ := name(one)
		data.List, ids = append(data.List, offered[T]{Record: one}), append(ids, id)
	}
	return data, ids
}

func (s *Server) plans(req *request) error {
	data, ids := offeredPage(req, planName, s.Catalog.Plans)
	counts := readOf(req, s.Customers.CountByPlan, ids)
	for i, id := range ids {
		data.List[i].Customers = counts[id].N
	}
	return req.show("plans", "Plans", data)
}

func (s *Server) products(req *request) error {
	data, ids := offeredPage(req, productName, s.Catalog.Products)
	counts := readOf(req, s.Customers.CountByProduct, ids)
	for i, id := range ids {
		data.List[i].Customers = counts[id].N
	}
	return req.show("products", "Products", data)
}

// planInput joins number and unit of the period, as a draft is read.
func planInput(req *request) *input.Form {
	count, unit := req.PostFormValue("period_count"), req.PostFormValue("period_unit")
	if count != "" {
		req.PostForm.Set("period", count+unit)
	}
	return req.form("value")
}

func (s *Server) planRecord() record[catalog.Plan] {
	return record[catalog.Plan]{
		path: "/plans", form: "plan_form", fresh: "New plan", edit: "Edit plan",
		named: planName,
		blank: func(*request) *page.Form { return page.NewForm("period_count", "1", "period_unit", "month") },
		shown: func(plan catalog.Plan) *page.Form {
			return page.NewForm("name", plan.Name, "value", decimal(plan.Value),
				"period_count", idText(int64(plan.Period.Count)), "period_unit", string(plan.Period.Unit),
				"product_id", idText(plan.Product.ID), "active", boolText(plan.Active))
		},
		find: s.Catalog.Plan,
		create: func(req *request) (catalog.Plan, error) {
			return s.Catalog.CreatePlan(req.Context(), req.Actor, catalog.ReadNewPlan(planInput(req)))
		},
		update: func(req *request) (catalog.Plan, error) {
			return s.Catalog.UpdatePlan(req.Context(), req.Actor, req.id, catalog.ReadPlanChanges(planInput(req)))
		},
		page:  s.planForm,
		saved: s.planSaved,
		deleted: &deletion[catalog.Plan]{
			button: "Delete plan", unused: "Only a plan that no customer and no invoice has can be deleted.",
			remove: s.Catalog.DeletePlan,
			usedBy: func(rule reminder.Rule) int64 { return rule.PlanID },
		},
	}
}

// planForm is what the form of a plan shows.
type planForm struct {
	recordForm
	Units, Products []page.Option
	Own             int64 // how many customers have a price of their own
}

func (s *Server) planForm(req *request, form recordForm, _ catalog.Plan) any {
	_, products := s.choices(req, false)
	data := planForm{recordForm: form, Units: req.units(), Products: products}
	if !form.New {
		data.Own = readOf(req, s.Customers.OwnPriced, form.ID)
	}
	return data
}

// planSaved says who does not follow the plan's price.
func (s *Server) planSaved(req *request, plan catalog.Plan) error {
	if own := readOf(req, s.Customers.OwnPriced, plan.ID); own > 0 {
		return req.done("/plans/"+idText(plan.ID), "%s was saved. With a price of their own, and so unchanged: %d.", plan.Name, own)
	}
	return req.done("/plans", "%s was saved.", plan.Name)
}

// askFollowPlan asks whether customers with a price of their own shall pay the
// plan's.
func askFollowPlan(plan catalog.Plan) page.Confirm {
	return page.Confirm{
		Question: "Everybody pays the price of %s?", Args: []any{plan.Name + ", " + plan.Value.BR()},
		Effects: []string{"Prices of their own are dropped. Open invoices take the price of the plan, unless somebody edited them."},
		Button:  "Bring them along", Back: "/plans/" + idText(plan.ID),
	}
}

func (s *Server) followPlan(req *request, plan catalog.Plan) error {
	count, err := s.Customers.FollowPlan(req.Context(), req.Actor, plan.ID)
	if err != nil {
		return err
	}
	return req.done("/plans", "Customers who pay the price of %s now: %d.", plan.Name, count)
}

func (s *Server) productRecord() record[catalog.Product] {
	return record[catalog.Product]{
		path: "/products", form: "product_form", fresh: "New product", edit: "Edit product",
		named: productName,
		blank: func(*request) *page.Form { return page.NewForm() },
		shown: func(product catalog.Product) *page.Form {
			return page.NewForm("name", product.Name, "description", product.Description, "active", boolText(product.Active))
		},
		find: s.Catalog.Product,
		create: func(req *request) (catalog.Product, error) {
			return s.Catalog.CreateProduct(req.Context(), req.Actor, catalog.ReadNewProduct(req.form()))
		},
		update: func(req *request) (catalog.Product, error) {
			return s.Catalog.UpdateProduct(req.Context(), req.Actor, req.id, catalog.ReadProductChanges(req.form()))
		},
		deleted: &deletion[catalog.Product]{
			button: "Delete product", unused: "Only a product that no plan, no customer and no invoice has can be deleted.",
			remove: s.Catalog.DeleteProduct,
			usedBy: func(rule reminder.Rule) int64 { return rule.ProductID },
		},
	}
}

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
	list, _ := fill(req, &data.list, source[reseller.PlanFilter, reseller.Plan]{
		"", reseller.ReadPlanFilter, sortsBy(), s.Resellers.Plans,
	})
	for _, plan := range list {
		row := subscriptionPlanRow{Plan: plan, Every: req.lang.Period(plan.Period), Link: s.Resellers.SignupLink(plan)}
		for _, name := range plan.Functions.Names() {
			row.Functions = append(row.Functions, req.lang.T(functionWords[name]))
		}
		data.List = append(data.List, row)
	}
	data.States = req.options("", "All", "true", "On sale", "false", "Not on sale")
	return req.show("subscription_plans", "Subscription plans", data)
}

// functionRow is a box to tick. One that the plan has is ticked for good.
type functionRow struct {
	Name               account.Function
	Label, Description string
	Locked, Ticked     bool
}

func (s *Server) subscriptionPlanRecord() record[reseller.Plan] {
	return record[reseller.Plan]{
		path: "/subscription-plans", form: "subscription_plan_form",
		fresh: "New subscription plan", edit: "Edit subscription plan",
		named: resoldPlanName,
		blank: blankSubscriptionPlan, shown: planShown,
		find: s.Resellers.FindPlan,
		create: func(req *request) (reseller.Plan, error) {
			return s.Resellers.CreatePlan(req.Context(), req.Actor, reseller.ReadNewPlan(functionsForm(req)))
		},
		update: func(req *request) (reseller.Plan, error) {
			return s.Resellers.UpdatePlan(req.Context(), req.Actor, req.id, reseller.ReadPlanChanges(functionsForm(req)))
		},
		page: s.subscriptionPlanForm,
		created: func(req *request, plan reseller.Plan) error {
			return req.done("/subscription-plans/"+idText(plan.ID), "%s was created. Its signup link is below.", plan.Name)
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

func (s *Server) subscriptionPlanForm(req *request, head recordForm, plan reseller.Plan) any {
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
	return form
}

// planShown is a plan as its form shows it.
func planShown(plan reseller.Plan) *page.Form {
	return page.NewForm("name", plan.Name, "value", decimal(plan.Value), "credits", strconv.FormatInt(plan.Credits, 10),
		"period_count", strconv.Itoa(plan.Period.Count), "period_unit", string(plan.Period.Unit),
		"trial_days", strconv.Itoa(plan.TrialDays), "active", boolText(plan.Active))
}

func blankSubscriptionPlan(req *request) *page.Form {
	form := page.NewForm("credits", "1", "period_count", "1", "period_unit", "month", "trial_days", "7")
	for _, name := range req.Actor.Company.Subscription.Functions.Names() {
		form.Add("functions", string(name))
	}
	return form
}

// functionsForm is the form of a subscription plan: a list of functions, and an
// amount as people write it.
func functionsForm(req *request) *input.Form {
	return req.formWith([]string{"functions"}, "value")
}

// switchSubscriptionPlan puts a plan on sale or takes it off.
func (s *Server) switchSubscriptionPlan(req *request) error {
	active := input.FromStrings(map[string]string{"active": req.PostFormValue("active")})
	plan, err := s.Resellers.UpdatePlan(req.Context(), req.Actor, req.id, reseller.ReadPlanChanges(active))
	return req.did(err, "/subscription-plans", either(plan.Active, "%s is on sale.",
		"%s is no longer on sale. Its signup link does not work until it is."), plan.Name)
}
