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
	p := req.query().Page()
	list, total, err := s.Catalog.Plans(req.Context(), req.Actor, catalogAll, p)
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
	d := plansData{Pager: page.NewPager(req.URL, p, total)}
	for _, plan := range list {
		d.Plans = append(d.Plans, planRow{plan, counts[plan.ID].N})
	}
	return s.show(req, page.View{Name: "plans", Title: "Plans", Data: d})
}

func (s *Server) products(req *request) error {
	p := req.query().Page()
	list, total, err := s.Catalog.Products(req.Context(), req.Actor, catalogAll, p)
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
	d := plansData{Pager: page.NewPager(req.URL, p, total)}
	for _, product := range list {
		d.Products = append(d.Products, productRow{product, counts[product.ID].N})
	}
	return s.show(req, page.View{Name: "products", Title: "Products", Data: d})
}

type planForm struct {
	Form     *page.Form
	Products []page.Option
	Units    []page.Option
	Action   string
	New      bool
}

// units are the words of a period with the texts that people read.
var units = []page.Option{
	{Value: "day", Label: "days"},
	{Value: "week", Label: "weeks"},
	{Value: "month", Label: "months"},
	{Value: "year", Label: "years"},
}

func (s *Server) planForm(req *request, title string, d planForm, refusal error) error {
	var err error
	if _, d.Products, err = s.choices(req, false); err != nil {
		return err
	}
	for _, u := range units {
		d.Units = append(d.Units, page.Option{Value: u.Value, Label: req.lang.T(u.Label)})
	}
	return s.show(req, page.View{Name: "plan_form", Title: title, Status: statusOf(refusal), Data: d})
}

// planInput joins number and unit of the period, as a draft is read.
func planInput(req *request) *input.Form {
	if count, unit := req.PostFormValue("period_count"), req.PostFormValue("period_unit"); count != "" {
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
	p, err := s.Catalog.CreatePlan(req.Context(), req.Actor, catalog.ReadNewPlan(planInput(req)))
	if refused(err) {
		return s.planForm(req, "New plan", planForm{Form: page.Sent(req.Request, err), Action: "/plans/new", New: true}, err)
	}
	if err != nil {
		return err
	}
	return req.done("/plans", "%s was created.", p.Name)
}

func (s *Server) editPlan(req *request) error {
	p, err := s.Catalog.Plan(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	form := page.NewForm("name", p.Name, "value", p.Value.BR()[len("R$ "):], "period_count",
		idText(int64(p.Period.Count)), "period_unit", string(p.Period.Unit),
		"product_id", idText(p.Product.ID), "active", boolText(p.Active))
	return s.planForm(req, "Edit plan", planForm{Form: form, Action: "/plans/" + idText(p.ID)}, nil)
}

func boolText(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

func (s *Server) updatePlan(req *request) error {
	p, err := s.Catalog.UpdatePlan(req.Context(), req.Actor, req.id, catalog.ReadPlanChanges(planInput(req)))
	if refused(err) {
		return s.planForm(req, "Edit plan", planForm{Form: page.Sent(req.Request, err), Action: "/plans/" + idText(req.id)}, err)
	}
	if err != nil {
		return err
	}
	return req.done("/plans", "%s was saved.", p.Name)
}

type productForm struct {
	Form   *page.Form
	Action string
	New    bool
}

func (s *Server) productForm(req *request, title string, d productForm, refusal error) error {
	return s.show(req, page.View{Name: "product_form", Title: title, Status: statusOf(refusal), Data: d})
}

func (s *Server) newProduct(req *request) error {
	return s.productForm(req, "New product", productForm{page.NewForm(), "/products/new", true}, nil)
}

func (s *Server) createProduct(req *request) error {
	p, err := s.Catalog.CreateProduct(req.Context(), req.Actor, catalog.ReadNewProduct(req.form()))
	if refused(err) {
		return s.productForm(req, "New product", productForm{page.Sent(req.Request, err), "/products/new", true}, err)
	}
	if err != nil {
		return err
	}
	return req.done("/products", "%s was created.", p.Name)
}

func (s *Server) editProduct(req *request) error {
	p, err := s.Catalog.Product(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	form := page.NewForm("name", p.Name, "description", p.Description, "active", boolText(p.Active))
	return s.productForm(req, "Edit product", productForm{form, "/products/" + idText(p.ID), false}, nil)
}

func (s *Server) updateProduct(req *request) error {
	p, err := s.Catalog.UpdateProduct(req.Context(), req.Actor, req.id, catalog.ReadProductChanges(req.form()))
	if refused(err) {
		return s.productForm(req, "Edit product", productForm{page.Sent(req.Request, err), "/products/" + idText(req.id), false}, err)
	}
	if err != nil {
		return err
	}
	return req.done("/products", "%s was saved.", p.Name)
}

// PeriodText says a period in words: every month, every 3 months.
func (p planRow) PeriodText(l page.Lang) string { return periodText(l, p.Period) }

func periodText(l page.Lang, p civil.Period) string {
	n := p.Count
	texts := map[civil.Unit][2]string{
		civil.Day: {"every day", "every %d days"}, civil.Week: {"every week", "every %d weeks"},
		civil.Month: {"every month", "every %d months"}, civil.Year: {"every year", "every %d years"},
	}
	pair := texts[p.Unit]
	if n == 1 {
		return l.T(pair[0])
	}
	return l.T(pair[1], n)
}
