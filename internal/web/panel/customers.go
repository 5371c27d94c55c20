package panel

import (
	"net/url"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

func urlQuery(s string) string { return url.QueryEscape(s) }

var catalogAll catalog.Filter

// maxChoices is how many plans or products a select offers.
const maxChoices = 200

type customersData struct {
	Form     *page.Form // the filters
	List     []customer.Customer
	Pager    page.Pager
	Plans    []page.Option
	Products []page.Option
	Statuses []page.Option
	Filtered bool
	Export   string
	Today    civil.Date
	Back     string
}

func (s *Server) customers(q *request) error {
	in := q.query()
	p, f := in.Page(), customer.ReadFilter(in)
	d := customersData{Form: queryForm(q), Today: q.today, Back: q.URL.RequestURI(), Export: "/customers/export?" + q.URL.RawQuery}
	if err := in.Err(); err != nil {
		d.Form.Fail(err)
		f = customer.Filter{}
	}
	var total int64
	var err error
	if d.List, total, err = s.Customers.List(q.Context(), q.Actor, f, p); err != nil {
		return err
	}
	d.Pager, d.Filtered = page.NewPager(q.URL, p, total), f != (customer.Filter{})
	if d.Plans, d.Products, err = s.choices(q, true); err != nil {
		return err
	}
	d.Statuses = []page.Option{{Value: "", Label: q.lang.T("All")}}
	for _, status := range []customer.Status{customer.Active, customer.DueToday, customer.Expired} {
		d.Statuses = append(d.Statuses, page.Option{Value: string(status), Label: word(q.lang, string(status))})
	}
	return s.show(q, page.View{Name: "customers", Title: "Customers", Data: d})
}

// queryForm shows what the address asks for.
func queryForm(q *request) *page.Form {
	var pairs []string
	for name, values := range q.URL.Query() {
		pairs = append(pairs, name, values[0])
	}
	return page.NewForm(pairs...)
}

// choices are the plans and products that a select offers. Filters offer those
// that are no longer sold too.
func (s *Server) choices(q *request, inactive bool) (plans, products []page.Option, err error) {
	all := input.Page{Number: 1, Size: maxChoices}
	planList, _, err := s.Catalog.Plans(q.Context(), q.Actor, catalogAll, all)
	if err != nil {
		return nil, nil, err
	}
	productList, _, err := s.Catalog.Products(q.Context(), q.Actor, catalogAll, all)
	if err != nil {
		return nil, nil, err
	}
	none := "None"
	if inactive {
		none = "All"
	}
	plans, products = []page.Option{{Value: "", Label: q.lang.T(none)}}, []page.Option{{Value: "", Label: q.lang.T(none)}}
	for _, p := range planList {
		if p.Active || inactive {
			plans = append(plans, page.Option{Value: idText(p.ID), Label: p.Name + " · " + p.Value.BR()})
		}
	}
	for _, p := range productList {
		if p.Active || inactive {
			products = append(products, page.Option{Value: idText(p.ID), Label: p.Name})
		}
	}
	return plans, products, nil
}

func idText(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

type customerData struct {
	Customer customer.Customer
	Status   customer.Status
	Invoices []billing.Invoice
	More     bool // there are older ones
	History  []deedRow
	Messages *customerMessages
	Today    civil.Date
}

func (s *Server) customer(q *request) error {
	c, err := s.Customers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	const shown = 12
	d := customerData{Customer: c, Status: c.Status(q.today), Today: q.today}
	byCustomer, err := s.Billing.Latest(q.Context(), q.Actor, []int64{c.ID}, shown+1)
	if err != nil {
		return err
	}
	d.Invoices = byCustomer[c.ID]
	if d.More = len(d.Invoices) > shown; d.More {
		d.Invoices = d.Invoices[:shown]
	}
	deeds, _, err := s.Accounts.Audit(q.Context(), q.Actor, account.AuditFilter{Record: "customer", ID: c.ID}, input.Page{Number: 1, Size: 10})
	if err != nil {
		return err
	}
	d.History = deedRows(q, deeds)
	if d.Messages, err = s.customerMessages(q, c); err != nil {
		return err
	}
	return s.show(q, page.View{Name: "customer", Title: c.Name, Data: d})
}

type customerForm struct {
	Form            *page.Form
	Plans, Products []page.Option
	Action, Back    string
	New             bool
}

func (s *Server) customerForm(q *request, title string, d customerForm, err error) error {
	var failed error
	if d.Plans, d.Products, failed = s.choices(q, !d.New); failed != nil {
		return failed
	}
	if !d.New { // a plan that is no longer sold stays with whoever has it
		d.Plans[0].Label, d.Products[0].Label = q.lang.T("None"), q.lang.T("None")
	}
	return s.show(q, page.View{Name: "customer_form", Title: title, Status: statusOf(err), Data: d})
}

func (s *Server) newCustomer(q *request) error {
	return s.customerForm(q, "New customer", customerForm{Form: page.NewForm(), Action: "/customers/new", Back: "/customers", New: true}, nil)
}

func (s *Server) createCustomer(q *request) error {
	c, err := s.Customers.Create(q.Context(), q.Actor, customer.ReadNew(q.form()))
	if refused(err) {
		return s.customerForm(q, "New customer", customerForm{
			Form: page.Sent(q.Request, err), Action: "/customers/new", Back: "/customers", New: true,
		}, err)
	}
	if err != nil {
		return err
	}
	return q.done(customerPath(c.ID), "%s was created.", c.Name)
}

func customerPath(id int64) string { return "/customers/" + strconv.FormatInt(id, 10) }

func (s *Server) editCustomer(q *request) error {
	c, err := s.Customers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	form := page.NewForm(
		"name", c.Name, "whatsapp", page.FormatPhone(c.Whatsapp), "email", c.Email, "usuario", c.Usuario, "data_de_vencimento", c.DueOn.String(),
		"plan_id", idText(c.Plan.ID), "product_id", idText(c.Product.ID), "notes", c.Notes, "external_id", c.ExternalID)
	return s.customerForm(q, "Edit customer", customerForm{Form: form, Action: customerPath(c.ID) + "/edit", Back: customerPath(c.ID)}, nil)
}

func (s *Server) updateCustomer(q *request) error {
	c, err := s.Customers.Update(q.Context(), q.Actor, q.id, customer.ReadChanges(q.form()))
	if refused(err) {
		return s.customerForm(q, "Edit customer", customerForm{
			Form: page.Sent(q.Request, err), Action: customerPath(q.id) + "/edit", Back: customerPath(q.id),
		}, err)
	}
	if err != nil {
		return err
	}
	return q.done(customerPath(c.ID), "%s was saved.", c.Name)
}

// ask shows a question in the panel's frame.
func (s *Server) ask(q *request, c page.Confirm) error {
	return s.show(q, page.View{Name: "ask", Title: "Are you sure?", Data: c})
}

func (s *Server) askDeleteCustomer(q *request) error {
	c, err := s.Customers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.ask(q, page.Confirm{
		Question: "Delete %s?", Args: []any{c.Name}, Danger: true, Button: "Delete customer", Back: customerPath(c.ID), Action: customerPath(c.ID) + "/delete",
		Effects: []string{
			"Its invoices are deleted too, also from the numbers of past months.", "Messages that are scheduled for it are not sent.",
			"Webhooks are told that the customer was deleted.", "This cannot be undone.",
		},
	})
}

func (s *Server) deleteCustomer(q *request) error {
	c, err := s.Customers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	if err := s.Customers.Delete(q.Context(), q.Actor, q.id); err != nil {
		return err
	}
	return q.done("/customers", "%s was deleted.", c.Name)
}

// back is where a form that stands on several pages leads to.
func (q *request) back(otherwise string) string {
	if b := q.PostFormValue("back"); b != "" {
		return page.LocalPath(b)
	}
	return otherwise
}

func (s *Server) renewCustomer(q *request) error {
	periods, err := customer.ReadPeriods(q.form())
	if err != nil {
		return q.complain(q.back(customerPath(q.id)), err)
	}
	r, err := s.Customers.RenewTimes(q.Context(), q.Actor, q.id, periods)
	if err != nil {
		return q.complain(q.back(customerPath(q.id)), err)
	}
	return q.done(q.back(customerPath(q.id)), "%s was renewed until %s.", r.Name, page.FormatDate(r.DueOn))
}
