package panel

import (
	"cmp"
	"slices"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
)

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
	Figures  map[string]string // filters of a figure, which the form hands on
}

func (s *Server) customers(req *request) error {
	in := req.query()
	p, f := in.Page(), customer.ReadFilter(in)
	d := customersData{Form: queryForm(req), Today: req.today, Back: req.URL.RequestURI(), Export: "/customers/export?" + req.URL.RawQuery}
	if err := in.Err(); err != nil {
		d.Form.Fail(err)
		f = customer.Filter{}
	}
	d.Figures = figureFilters(req)
	var total int64
	var err error
	if d.List, total, err = s.Customers.List(req.Context(), req.Actor, f, p); err != nil {
		return err
	}
	d.Pager, d.Filtered = page.NewPager(req.URL, p, total), f != (customer.Filter{})
	if d.Plans, d.Products, err = s.choices(req, true); err != nil {
		return err
	}
	d.Statuses = []page.Option{{Value: "", Label: req.lang.T("All")}}
	for _, status := range []customer.Status{customer.Active, customer.DueToday, customer.Expired, customer.Cancelled} {
		d.Statuses = append(d.Statuses, page.Option{Value: string(status), Label: word(req.lang, string(status))})
	}
	return s.show(req, page.View{Name: "customers", Title: "Customers", Data: d})
}

// figureFilters are the filters by which figures of the home page link to the
// list.
func figureFilters(req *request) map[string]string {
	given := map[string]string{}
	for _, name := range []string{"owes_from", "owes_to", "created_from", "created_to", "renewed_in", "recurring", "moved"} {
		if value := req.URL.Query().Get(name); value != "" {
			given[name] = value
		}
	}
	return given
}

type customerData struct {
	Customer customer.Customer
	Status   customer.Status
	Invoices []billing.Invoice
	More     bool // there are older ones
	History  []deedRow
	Messages *customerMessages
	Today    civil.Date
	TaxID    string // with its punctuation
	Texts    []textField
	Renewal  *page.Form
	Choices  []page.Option // what may become of the open invoice
}

func newCustomerData(req *request, c customer.Customer) customerData {
	return customerData{
		Customer: c, Status: c.Status(req.today), Today: req.today,
		TaxID: taxid.Format(c.CpfCnpj), Texts: textFields(req.lang, &c),
	}
}

func (s *Server) customer(req *request) error {
	c, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	const shown = 12
	d := newCustomerData(req, c)
	d.Renewal, d.Choices = page.NewForm("invoice", string(req.Actor.Company.Settings.RenewInvoice)), renewChoices(req)
	byCustomer, err := s.Billing.Latest(req.Context(), req.Actor, []int64{c.ID}, shown+1)
	if err != nil {
		return err
	}
	d.Invoices = byCustomer[c.ID]
	if d.More = len(d.Invoices) > shown; d.More {
		d.Invoices = d.Invoices[:shown]
	}
	deeds, _, err := s.Accounts.Audit(req.Context(), req.Actor, account.AuditFilter{Record: "customer", ID: c.ID},
		input.Page{Number: 1, Size: 10})
	if err != nil {
		return err
	}
	d.History = deedRows(req, deeds)
	if d.Messages, err = s.customerMessages(req, c); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "customer", Title: c.Name, Data: d})
}

type customerForm struct {
	Form            *page.Form
	Plans, Products []page.Option
	Texts           []textField
	Action, Back    string
	New             bool
}

func (s *Server) customerForm(req *request, title string, d customerForm, err error) error {
	var failed error
	if d.Plans, d.Products, failed = s.choices(req, !d.New); failed != nil {
		return failed
	}
	d.Texts = textFields(req.lang, &customer.Customer{})
	if !d.New { // a plan that is no longer sold stays with whoever has it
		d.Plans[0].Label, d.Products[0].Label = req.lang.T("None"), req.lang.T("None")
	}
	return s.show(req, page.View{Name: "customer_form", Title: title, Status: statusOf(err), Data: d})
}

func (s *Server) newCustomer(req *request) error {
	return s.customerForm(req, "New customer",
		customerForm{Form: page.NewForm(), Action: "/customers/new", Back: "/customers", New: true}, nil)
}

func (s *Server) createCustomer(req *request) error {
	c, err := s.Customers.Create(req.Context(), req.Actor, customer.ReadNew(req.form("price")))
	if refused(err) {
		return s.customerForm(req, "New customer", customerForm{
			Form: page.Sent(req.Request, err), Action: "/customers/new", Back: "/customers", New: true,
		}, err)
	}
	if err != nil {
		return err
	}
	return req.done(customerPath(c.ID), "%s was created.", c.Name)
}

func customerPath(id int64) string { return "/customers/" + strconv.FormatInt(id, 10) }

func (s *Server) editCustomer(req *request) error {
	c, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	form := customerValues(c)
	return s.customerForm(req, "Edit customer", customerForm{Form: form, Action: customerPath(c.ID) + "/edit", Back: customerPath(c.ID)}, nil)
}

// customerValues is the form of a customer as it is.
func customerValues(c customer.Customer) *page.Form {
	form := page.NewForm(append(addressValues(c.Address),
		"cpf_cnpj", taxid.Format(c.CpfCnpj), "price", c.OwnPrice.String(), "custom", c.Custom.Lines(),
		"name", c.Name, "whatsapp", page.FormatPhone(c.Whatsapp), "email", c.Email, "usuario", c.Usuario, "data_de_vencimento", c.DueOn.String(),
		"plan_id", idText(c.Plan.ID), "product_id", idText(c.Product.ID))...)
	for _, text := range customer.Texts() {
		form.Set(text.Name, text.Of(&c))
	}
	return form
}

// textField is a field of a customer that is a plain text, as pages show it.
type textField struct {
	Name, Label, Hint, Value string
	Rows                     int // of its input; 0: one line
}

// textFields lists the plain texts of a customer, those of one line first.
func textFields(lang page.Lang, c *customer.Customer) (list []textField) {
	for _, text := range customer.Texts() {
		field := textField{Name: text.Name, Label: lang.T(text.Label), Hint: lang.T(text.Hint), Value: text.Of(c)}
		if text.Lines {
			field.Rows = 4
		}
		list = append(list, field)
	}
	slices.SortStableFunc(list, func(a, b textField) int { return cmp.Compare(a.Rows, b.Rows) })
	return list
}

// addressValues are the parts of an address, as the form names them.
func addressValues(a address.Address) []string {
	var values []string
	for _, part := range address.Parts() {
		text := *a.Part(part)
		if part == "cep" {
			text = address.FormatCEP(text)
		}
		values = append(values, "address."+part, text)
	}
	return values
}

func (s *Server) updateCustomer(req *request) error {
	c, err := s.Customers.Update(req.Context(), req.Actor, req.id, customer.ReadChanges(req.form("price")))
	if refused(err) {
		return s.customerForm(req, "Edit customer", customerForm{
			Form: page.Sent(req.Request, err), Action: customerPath(req.id) + "/edit", Back: customerPath(req.id),
		}, err)
	}
	if err != nil {
		return err
	}
	return req.done(customerPath(c.ID), "%s was saved.", c.Name)
}

// cancelPage asks why a customer goes and what becomes of its open invoices.
func (s *Server) cancelPage(req *request) error {
	c, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.show(req, page.View{Name: "customer_cancel", Title: "Cancel customer", Data: customerCancel{c, page.NewForm()}})
}

type customerCancel struct {
	Customer customer.Customer
	Form     *page.Form
}

func (s *Server) cancelCustomer(req *request) error { return s.setCancelled(req, "%s was cancelled.") }

func (s *Server) restoreCustomer(req *request) error {
	return s.setCancelled(req, "%s was taken back.")
}

// setCancelled changes what a form says of the cancellation.
func (s *Server) setCancelled(req *request, message string) error {
	c, err := s.Customers.Update(req.Context(), req.Actor, req.id, customer.ReadChanges(req.form()))
	if err != nil {
		return req.complain(customerPath(req.id), err)
	}
	return req.done(customerPath(c.ID), message, c.Name)
}

func (s *Server) askDeleteCustomer(req *request) error {
	c, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Delete %s?", Args: []any{c.Name}, Danger: true, Button: "Delete customer",
		Back: customerPath(c.ID), Action: customerPath(c.ID) + "/delete",
		Effects: []string{
			"Its invoices are deleted too, also from the numbers of past months.", "Messages that are scheduled for it are not sent.",
			"Webhooks are told that the customer was deleted.", "This cannot be undone.",
		},
	})
}

func (s *Server) deleteCustomer(req *request) error {
	c, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	if err := s.Customers.Delete(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	return req.done("/customers", "%s was deleted.", c.Name)
}

func (s *Server) renewCustomer(req *request) error {
	r, err := s.Billing.Renew(req.Context(), req.Actor, req.id, billing.ReadRenewal(req.form()))
	if err != nil {
		return req.complain(req.back(customerPath(req.id)), err)
	}
	return req.done(req.back(customerPath(req.id)), "%s was renewed until %s.", r.Name, page.FormatDate(r.DueOn))
}
