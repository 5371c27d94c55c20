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
	"carteira/internal/web/panel/kit"
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
	req *kit.Request, name func(T) (int64, string),
	find func(context.Context, account.Actor, catalog.Filter, input.Page) ([]T, int64, error),
) (data offeredList[T], ids []int64) {
	paging := req.Query().Page()
	list, total := kit.ReadPage(req, find, catalog.Filter{}, paging)
	data.Pager = page.NewPager(req.URL, paging, total)
	for _, one := range list {
		id, _ := name(one)
		data.List, ids = append(data.List, offered[T]{Record: one}), append(ids, id)
	}
	return data, ids
}

func (s *Server) plans(req *kit.Request) error {
	data, ids := offeredPage(req, kit.PlanName, s.Catalog.Plans)
	counts := kit.ReadOf(req, s.Customers.CountByPlan, ids)
	for i, id := range ids {
		data.List[i].Customers = counts[id].N
	}
	return req.Show("plans", "Plans", data)
}

func (s *Server) products(req *kit.Request) error {
	data, ids := offeredPage(req, kit.ProductName, s.Catalog.Products)
	counts := kit.ReadOf(req, s.Customers.CountByProduct, ids)
	for i, id := range ids {
		data.List[i].Customers = counts[id].N
	}
	return req.Show("products", "Products", data)
}

// planInput joins number and unit of the period, as a draft is read.
func planInput(req *kit.Request) *input.Form {
	count, unit := req.PostFormValue("period_count"), req.PostFormValue("period_unit")
	if count != "" {
		req.PostForm.Set("period", count+unit)
	}
	return req.Input("value")
}

func (s *Server) planRecord() kit.Record[catalog.Plan] {
	return kit.Record[catalog.Plan]{
		Path: "/plans", Input: "plan_form", Fresh: "New plan", Edit: "Edit plan",
		Named: kit.PlanName,
		Blank: func(*kit.Request) *page.Form { return page.NewForm("period_count", "1", "period_unit", "month") },
		Shown: func(plan catalog.Plan) *page.Form {
			return page.NewForm("name", plan.Name, "value", kit.Decimal(plan.Value),
				"period_count", kit.IDText(int64(plan.Period.Count)), "period_unit", string(plan.Period.Unit),
				"product_id", kit.IDText(plan.Product.ID), "active", kit.BoolText(plan.Active))
		},
		Find: s.Catalog.Plan,
		Create: func(req *kit.Request) (catalog.Plan, error) {
			return s.Catalog.CreatePlan(req.Context(), req.Actor, catalog.ReadNewPlan(planInput(req)))
		},
		Update: func(req *kit.Request) (catalog.Plan, error) {
			return s.Catalog.UpdatePlan(req.Context(), req.Actor, req.ID, catalog.ReadPlanChanges(planInput(req)))
		},
		Page:  s.planForm,
		Saved: s.planSaved,
		Deleted: &kit.Deletion[catalog.Plan]{
			Button: "Delete plan", Unused: "Only a plan that no customer and no invoice has can be deleted.",
			Remove: s.Catalog.DeletePlan,
			UsedBy: func(rule reminder.Rule) int64 { return rule.PlanID },
		},
	}
}

// planForm is what the form of a plan shows.
type planForm struct {
	kit.RecordForm
	Units, Products []page.Option
	Own             int64 // how many customers have a price of their own
}

func (s *Server) planForm(req *kit.Request, form kit.RecordForm, _ catalog.Plan) any {
	_, products := s.Choices(req, false)
	data := planForm{RecordForm: form, Units: req.Units(), Products: products}
	if !form.New {
		data.Own = kit.ReadOf(req, s.Customers.OwnPriced, form.ID)
	}
	return data
}

// planSaved says who does not follow the plan's price.
func (s *Server) planSaved(req *kit.Request, plan catalog.Plan) error {
	if own := kit.ReadOf(req, s.Customers.OwnPriced, plan.ID); own > 0 {
		return req.Done("/plans/"+kit.IDText(plan.ID), "%s was saved. With a price of their own, and so unchanged: %d.", plan.Name, own)
	}
	return req.Done("/plans", "%s was saved.", plan.Name)
}

// askFollowPlan asks whether customers with a price of their own shall pay the
// plan's.
func askFollowPlan(plan catalog.Plan) page.Confirm {
	return page.Confirm{
		Question: "Everybody pays the price of %s?", Args: []any{plan.Name + ", " + plan.Value.BR()},
		Effects: []string{"Prices of their own are dropped. Open invoices take the price of the plan, unless somebody edited them."},
		Button:  "Bring them along", Back: "/plans/" + kit.IDText(plan.ID),
	}
}

func (s *Server) followPlan(req *kit.Request, plan catalog.Plan) error {
	count, err := s.Customers.FollowPlan(req.Context(), req.Actor, plan.ID)
	if err != nil {
		return err
	}
	return req.Done("/plans", "Customers who pay the price of %s now: %d.", plan.Name, count)
}

func (s *Server) productRecord() kit.Record[catalog.Product] {
	return kit.Record[catalog.Product]{
		Path: "/products", Input: "product_form", Fresh: "New product", Edit: "Edit product",
		Named: kit.ProductName,
		Blank: func(*kit.Request) *page.Form { return page.NewForm() },
		Shown: func(product catalog.Product) *page.Form {
			return page.NewForm("name", product.Name, "description", product.Description, "active", kit.BoolText(product.Active))
		},
		Find: s.Catalog.Product,
		Create: func(req *kit.Request) (catalog.Product, error) {
			return s.Catalog.CreateProduct(req.Context(), req.Actor, catalog.ReadNewProduct(req.Input()))
		},
		Update: func(req *kit.Request) (catalog.Product, error) {
			return s.Catalog.UpdateProduct(req.Context(), req.Actor, req.ID, catalog.ReadProductChanges(req.Input()))
		},
		Deleted: &kit.Deletion[catalog.Product]{
			Button: "Delete product", Unused: "Only a product that no plan, no customer and no invoice has can be deleted.",
			Remove: s.Catalog.DeleteProduct,
			UsedBy: func(rule reminder.Rule) int64 { return rule.ProductID },
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
	kit.Listing
	List   []subscriptionPlanRow
	States []page.Option
}

type subscriptionPlanRow struct {
	reseller.Plan
	Functions []string
	Every     string // the period in words
	Link      string
}

func (s *Server) subscriptionPlans(req *kit.Request) error {
	data := subscriptionPlansData{Listing: kit.NewList(req, "", nil)}
	list, _ := kit.Fill(req, &data.Listing, kit.ListOf("", reseller.ReadPlanFilter, kit.SortsBy(), s.Resellers.Plans))
	for _, plan := range list {
		row := subscriptionPlanRow{Plan: plan, Every: req.Lang.Period(plan.Period), Link: s.Resellers.SignupLink(plan)}
		for _, name := range plan.Functions.Names() {
			row.Functions = append(row.Functions, req.Lang.T(functionWords[name]))
		}
		data.List = append(data.List, row)
	}
	data.States = req.Options("", "All", "true", "On sale", "false", "Not on sale")
	return req.Show("subscription_plans", "Subscription plans", data)
}

// functionRow is a box to tick. One that the plan has is ticked for good.
type functionRow struct {
	Name               account.Function
	Label, Description string
	Locked, Ticked     bool
}

func (s *Server) subscriptionPlanRecord() kit.Record[reseller.Plan] {
	return kit.Record[reseller.Plan]{
		Path: "/subscription-plans", Input: "subscription_plan_form",
		Fresh: "New subscription plan", Edit: "Edit subscription plan",
		Named: resoldPlanName,
		Blank: blankSubscriptionPlan, Shown: planShown,
		Find: s.Resellers.FindPlan,
		Create: func(req *kit.Request) (reseller.Plan, error) {
			return s.Resellers.CreatePlan(req.Context(), req.Actor, reseller.ReadNewPlan(functionsForm(req)))
		},
		Update: func(req *kit.Request) (reseller.Plan, error) {
			return s.Resellers.UpdatePlan(req.Context(), req.Actor, req.ID, reseller.ReadPlanChanges(functionsForm(req)))
		},
		Page: s.subscriptionPlanForm,
		Created: func(req *kit.Request, plan reseller.Plan) error {
			return req.Done("/subscription-plans/"+kit.IDText(plan.ID), "%s was created. Its signup link is below.", plan.Name)
		},
	}
}

// subscriptionPlanForm is what the form of a subscription plan shows.
type subscriptionPlanForm struct {
	kit.RecordForm
	Units         []page.Option
	Functions     []functionRow
	Active, Trial bool   // it is on sale, can be tried
	Link          string // by which resellers sign up
}

func (s *Server) subscriptionPlanForm(req *kit.Request, head kit.RecordForm, plan reseller.Plan) any {
	form := subscriptionPlanForm{RecordForm: head, Units: req.Units(), Active: plan.Active, Trial: plan.TrialDays > 0}
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
	return page.NewForm("name", plan.Name, "value", kit.Decimal(plan.Value), "credits", strconv.FormatInt(plan.Credits, 10),
		"period_count", strconv.Itoa(plan.Period.Count), "period_unit", string(plan.Period.Unit),
		"trial_days", strconv.Itoa(plan.TrialDays), "active", kit.BoolText(plan.Active))
}

func blankSubscriptionPlan(req *kit.Request) *page.Form {
	form := page.NewForm("credits", "1", "period_count", "1", "period_unit", "month", "trial_days", "7")
	for _, name := range req.Actor.Company.Subscription.Functions.Names() {
		form.Add("functions", string(name))
	}
	return form
}

// functionsForm is the form of a subscription plan: a list of functions, and an
// amount as people write it.
func functionsForm(req *kit.Request) *input.Form {
	return req.InputWith([]string{"functions"}, "value")
}

// switchSubscriptionPlan puts a plan on sale or takes it off.
func (s *Server) switchSubscriptionPlan(req *kit.Request) error {
	active := input.FromStrings(map[string]string{"active": req.PostFormValue("active")})
	plan, err := s.Resellers.UpdatePlan(req.Context(), req.Actor, req.ID, reseller.ReadPlanChanges(active))
	return req.Did(err, "/subscription-plans", kit.Either(plan.Active, "%s is on sale.",
		"%s is no longer on sale. Its signup link does not work until it is."), plan.Name)
}
