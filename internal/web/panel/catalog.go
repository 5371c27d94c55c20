package panel

import (
	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

type planRow struct {
	catalog.Plan
	Customers int64
}

type productRow struct {
	catalog.Product
	Customers int64
}

type plansData struct {
	Plans    []planRow
	Products []productRow
	Pager    page.Pager
}

func (s *Server) plans(req *request) error {
	paging := req.query().Page()
	list, total, err := s.Catalog.Plans(req.Context(), req.Actor, catalogAll, paging)
	if err != nil {
		return err
	}
	ids := make([]int64, len(list))
	for i, plan := range list {
		ids[i] = plan.ID
	}
	counts, err := s.Customers.CountByPlan(req.Context(), req.Actor, ids)
	if err != nil {
		return err
	}
	data := plansData{Pager: page.NewPager(req.URL, paging, total)}
	for _, plan := range list {
		data.Plans = append(data.Plans, planRow{plan, counts[plan.ID].N})
	}
	return s.show(req, page.View{Name: "plans", Title: "Plans", Data: data})
}

func (s *Server) products(req *request) error {
	paging := req.query().Page()
	list, total, err := s.Catalog.Products(req.Context(), req.Actor, catalogAll, paging)
	if err != nil {
		return err
	}
	ids := make([]int64, len(list))
	for i, product := range list {
		ids[i] = product.ID
	}
	counts, err := s.Customers.CountByProduct(req.Context(), req.Actor, ids)
	if err != nil {
		return err
	}
	data := plansData{Pager: page.NewPager(req.URL, paging, total)}
	for _, product := range list {
		data.Products = append(data.Products, productRow{product, counts[product.ID].N})
	}
	return s.show(req, page.View{Name: "products", Title: "Products", Data: data})
}

type planForm struct {
	Form     *page.Form
	Products []page.Option
	Units    []page.Option
	Action   string
	New      bool
	Plan     int64 // 0: it is new
	Own      int64 // how many customers have a price of their own
}

// units are the words of a period with the texts that people read.
var units = []page.Option{
	{Value: "day", Label: "days"},
	{Value: "week", Label: "weeks"},
	{Value: "month", Label: "months"},
	{Value: "year", Label: "years"},
}

func (s *Server) planForm(req *request, title string, form planForm, refusal error) error {
	var err error
	if _, form.Products, err = s.choices(req, false); err != nil {
		return err
	}
	if !form.New {
		if form.Own, err = s.Customers.OwnPriced(req.Context(), req.Actor, form.Plan); err != nil {
			return err
		}
	}
	for _, unit := range units {
		form.Units = append(form.Units, page.Option{
			Value: unit.Value,
			Label: req.lang.T(unit.Label),
		})
	}
	return s.show(req, page.View{
		Name:   "plan_form",
		Title:  title,
		Status: statusOf(refusal),
		Data:   form,
	})
}

// planInput joins number and unit of the period, as a draft is read.
func planInput(req *request) *input.Form {
	count, unit := req.PostFormValue("period_count"), req.PostFormValue("period_unit")
	if count != "" {
		req.PostForm.Set("period", count+unit)
	}
	return req.form("value")
}

func (s *Server) newPlan(req *request) error {
	return s.planForm(req, "New plan", planForm{
		Form:   page.NewForm("period_count", "1", "period_unit", "month"),
		Action: "/plans/new", New: true,
	}, nil)
}

func (s *Server) createPlan(req *request) error {
	plan, err := s.Catalog.CreatePlan(req.Context(), req.Actor, catalog.ReadNewPlan(planInput(req)))
	if refused(err) {
		return s.planForm(
			req,
			"New plan",
			planForm{Form: page.Sent(req.Request, err), Action: "/plans/new", New: true},
			err,
		)
	}
	if err != nil {
		return err
	}
	return req.done(req.another("/plans"), "%s was created.", plan.Name)
}

// another is where who has created something goes on: to the list, or to the form
// of the next.
func (req *request) another(list string) string {
	if req.PostFormValue("another") != "" {
		return list + "/new"
	}
	return list
}

func (s *Server) editPlan(req *request) error {
	plan, err := s.Catalog.Plan(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	form := page.NewForm("name", plan.Name, "value", plan.Value.BR()[len("R$ "):], "period_count",
		idText(int64(plan.Period.Count)), "period_unit", string(plan.Period.Unit),
		"product_id", idText(plan.Product.ID), "active", boolText(plan.Active))
	return s.planForm(
		req,
		"Edit plan",
		planForm{Form: form, Action: "/plans/" + idText(plan.ID), Plan: plan.ID},
		nil,
	)
}

func boolText(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

func (s *Server) updatePlan(req *request) error {
	plan, err := s.Catalog.UpdatePlan(req.Context(), req.Actor, req.id, catalog.ReadPlanChanges(planInput(req)))
	if refused(err) {
		return s.planForm(
			req,
			"Edit plan",
			planForm{Form: page.Sent(req.Request, err), Action: "/plans/" + idText(req.id), Plan: req.id},
			err,
		)
	}
	if err != nil {
		return err
	}
	own, err := s.Customers.OwnPriced(req.Context(), req.Actor, plan.ID)
	if err != nil {
		return err
	}
	if own > 0 {
		return req.done("/plans/"+idText(plan.ID), "%s was saved. With a price of their own, and so unchanged: %d.", plan.Name, own)
	}
	return req.done("/plans", "%s was saved.", plan.Name)
}

// askFollowPlan asks whether customers with a price of their own shall pay the
// plan's.
func (s *Server) askFollowPlan(req *request) error {
	plan, err := s.Catalog.Plan(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	path := "/plans/" + idText(plan.ID)
	return s.ask(req, page.Confirm{
		Question: "Everybody pays the price of %s?",
		Args:     []any{plan.Name + ", " + plan.Value.BR()},
		Effects:  []string{"Prices of their own are dropped. Open invoices take the price of the plan, unless somebody edited them."},
		Button:   "Bring them along",
		Back:     path,
		Action:   path + "/follow",
	})
}

func (s *Server) followPlan(req *request) error {
	plan, err := s.Catalog.Plan(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	count, err := s.Customers.FollowPlan(req.Context(), req.Actor, plan.ID)
	if err != nil {
		return err
	}
	return req.done("/plans", "Customers who pay the price of %s now: %d.", plan.Name, count)
}

type productForm struct {
	Form   *page.Form
	Action string
	New    bool
}

func (s *Server) productForm(req *request, title string, form productForm, refusal error) error {
	return s.show(req, page.View{
		Name:   "product_form",
		Title:  title,
		Status: statusOf(refusal),
		Data:   form,
	})
}

func (s *Server) newProduct(req *request) error {
	return s.productForm(
		req,
		"New product",
		productForm{page.NewForm(), "/products/new", true},
		nil,
	)
}

func (s *Server) createProduct(req *request) error {
	product, err := s.Catalog.CreateProduct(req.Context(), req.Actor, catalog.ReadNewProduct(req.form()))
	if refused(err) {
		return s.productForm(
			req,
			"New product",
			productForm{page.Sent(req.Request, err), "/products/new", true},
			err,
		)
	}
	if err != nil {
		return err
	}
	return req.done(req.another("/products"), "%s was created.", product.Name)
}

func (s *Server) editProduct(req *request) error {
	product, err := s.Catalog.Product(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	form := page.NewForm("name", product.Name, "description", product.Description, "active", boolText(product.Active))
	return s.productForm(
		req,
		"Edit product",
		productForm{form, "/products/" + idText(product.ID), false},
		nil,
	)
}

func (s *Server) updateProduct(req *request) error {
	product, err := s.Catalog.UpdateProduct(req.Context(), req.Actor, req.id, catalog.ReadProductChanges(req.form()))
	if refused(err) {
		return s.productForm(
			req,
			"Edit product",
			productForm{page.Sent(req.Request, err), "/products/" + idText(req.id), false},
			err,
		)
	}
	if err != nil {
		return err
	}
	return req.done("/products", "%s was saved.", product.Name)
}

// PeriodText says a period in words: every month, every 3 months.
func (p planRow) PeriodText(lang page.Lang) string {
	return periodText(lang, p.Period)
}

func periodText(lang page.Lang, period civil.Period) string {
	count := period.Count
	texts := map[civil.Unit][2]string{
		civil.Day: {"every day", "every %d days"}, civil.Week: {"every week", "every %d weeks"},
		civil.Month: {"every month", "every %d months"},
		civil.Year:  {"every year", "every %d years"},
	}
	pair := texts[period.Unit]
	if count == 1 {
		return lang.T(pair[0])
	}
	return lang.T(pair[1], count)
}
