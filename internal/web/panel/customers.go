package panel

import (
	"cmp"
	"slices"
	"strconv"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
)

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
	Place    place
	Own      ownPage  // the customer's own page
	Autopay  *autopay // nil: who reads does not see it
	Steps    []renewStep
	Owes     money.Cents // what is overdue
	Credits  []billing.PaymentRecord
}

func newCustomerData(req *request, record customer.Customer) customerData {
	return customerData{
		Customer: record, Status: record.Status(req.today), Today: req.today,
		TaxID: taxid.Format(record.CpfCnpj), Texts: textFields(req.lang, &record), Steps: renewSteps(req, record),
	}
}

func (s *Server) customer(req *request) error {
	record, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	const shown = 12
	data := newCustomerData(req, record)
	owes, err := s.owing(req, []customer.Customer{record})
	if err != nil {
		return err
	}
	data.Owes = owes[record.ID]
	if data.Credits, err = s.Billing.CreditOf(req.Context(), req.Actor, record.ID); err != nil {
		return err
	}
	if data.Place, err = s.customerPlace(req); err != nil {
		return err
	}
	data.Renewal, data.Choices = page.NewForm(
		"invoice",
		string(req.Actor.Company.Settings.RenewInvoice),
	), renewChoices(req)
	byCustomer, err := s.Billing.Latest(req.Context(), req.Actor, []int64{record.ID}, shown+1)
	if err != nil {
		return err
	}
	data.Invoices = byCustomer[record.ID]
	if data.More = len(data.Invoices) > shown; data.More {
		data.Invoices = data.Invoices[:shown]
	}
	if data.History, err = s.history(req, record, data.Invoices); err != nil {
		return err
	}
	if data.Messages, err = s.customerMessages(req, record); err != nil {
		return err
	}
	if data.Own, err = s.ownPage(req, record); err != nil {
		return err
	}
	if data.Autopay, err = s.autopay(req, record); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "customer", Title: record.Name, Data: data})
}

type customerForm struct {
	Form            *page.Form
	Plans, Products []page.Option
	Texts           []textField
	Action, Back    string
	New             bool
	Alike           []customer.Alike // who may be the same person
	Late            *lateInvoice     // nil: no overdue invoice moves with the due date
}

// lateInvoice is an overdue invoice, and what may become of it when the due date of
// its customer moves.
type lateInvoice struct {
	billing.Invoice
	Choices []page.Option
}

const (
	lateStays = "stay"
	lateMoves = "move"
)

// late is the overdue invoice about which the form of a customer asks.
func (s *Server) late(req *request, record customer.Customer) (*lateInvoice, error) {
	invoice, found, err := s.Billing.OverdueOf(req.Context(), req.Actor, record)
	if err != nil || !found {
		return nil, err
	}
	return &lateInvoice{invoice, []page.Option{
		{Value: "", Label: req.lang.T("Choose")},
		{Value: lateStays, Label: req.lang.T("It stays overdue")},
		{Value: lateMoves, Label: req.lang.T("It moves to the new due date")},
	}}, nil
}

func (s *Server) customerForm(req *request, title string, form customerForm, err error) error {
	var failed error
	if form.Plans, form.Products, failed = s.choices(req, !form.New); failed != nil {
		return failed
	}
	form.Texts = textFields(req.lang, &customer.Customer{})
	if !form.New { // a plan that is no longer sold stays with the customers who have it
		form.Plans[0].Label, form.Products[0].Label = req.lang.T("None"), req.lang.T("None")
	}
	return s.show(req, page.View{Name: "customer_form", Title: title, Status: statusOf(err), Data: form})
}

func (s *Server) newCustomer(req *request) error {
	return s.customerForm(req, "New customer",
		customerForm{Form: page.NewForm(), Action: "/customers/new", Back: "/customers", New: true},
		nil)
}

func (s *Server) createCustomer(req *request) error {
	draft := customer.ReadNew(req.form("price"))
	alike, err := s.alike(req, draft)
	if err != nil {
		return err
	}
	if len(alike) > 0 {
		return s.customerForm(req, "New customer", customerForm{
			Form:   page.Sent(req.Request, nil),
			Action: "/customers/new",
			Back:   "/customers",
			New:    true,
			Alike:  alike,
		}, fault.Conflict("a customer like this is there already"))
	}
	record, err := s.Customers.Create(req.Context(), req.Actor, draft)
	if refused(err) {
		return s.customerForm(req, "New customer", customerForm{
			Form:   page.Sent(req.Request, err),
			Action: "/customers/new",
			Back:   "/customers",
			New:    true,
		}, err)
	}
	if err != nil {
		return err
	}
	return req.done(customerPath(record.ID), "%s was created.", record.Name)
}

func customerPath(id int64) string {
	return "/customers/" + strconv.FormatInt(id, 10)
}

func (s *Server) editCustomer(req *request) error {
	record, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.customerEdit(req, record, customerValues(record), nil)
}

// customerEdit shows the form of a customer.
func (s *Server) customerEdit(req *request, record customer.Customer, form *page.Form, refusal error) error {
	late, err := s.late(req, record)
	if err != nil {
		return err
	}
	path := customerPath(record.ID)
	return s.customerForm(req, "Edit customer", customerForm{Form: form, Action: path + "/edit", Back: path, Late: late}, refusal)
}

// customerValues is the form of a customer as it is.
func customerValues(record customer.Customer) *page.Form {
	form := page.NewForm(append(addressValues(record.Address),
		"cpf_cnpj", taxid.Format(record.CpfCnpj), "price", ownPrice(&record), "custom",
		record.Custom.Lines(),
		"name", record.Name, "whatsapp", page.FormatPhone(record.Whatsapp), "email", record.Email,
		"usuario", record.Usuario, "data_de_vencimento", record.DueOn.String(),
		"plan_id", idText(record.Plan.ID), "product_id", idText(record.Product.ID))...)
	for _, text := range customer.Texts() {
		form.Set(text.Name, text.Of(&record))
	}
	return form
}

// textField is a field of a customer that is a plain text, as pages show it.
type textField struct {
	Name, Label, Hint, Value string
	Rows                     int // of its input; 0: one line
}

// textFields lists the plain texts of a customer, those of one line first.
func textFields(lang page.Lang, record *customer.Customer) (list []textField) {
	for _, text := range customer.Texts() {
		field := textField{Name: text.Name, Label: lang.T(text.Label), Hint: lang.T(text.Hint), Value: text.Of(record)}
		if text.Lines {
			field.Rows = 4
		}
		list = append(list, field)
	}
	slices.SortStableFunc(list, func(a, b textField) int { return cmp.Compare(a.Rows, b.Rows) })
	return list
}

// addressValues are the parts of an address, as the form names them.
func addressValues(place address.Address) []string {
	var values []string
	for _, part := range address.Parts() {
		text := *place.Part(part)
		if part == "cep" {
			text = address.FormatCEP(text)
		}
		values = append(values, "address."+part, text)
	}
	return values
}

// updateCustomer changes a customer. What becomes of an overdue invoice when the due
// date moves is never assumed: without the choice nothing is saved.
func (s *Server) updateCustomer(req *request) error {
	before, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	late, err := s.late(req, before)
	if err != nil {
		return err
	}
	draft, choice := customer.ReadChanges(req.form("price")), req.PostFormValue("overdue_invoice")
	moves := draft.DueOn.HasValue() && draft.DueOn.Value != before.DueOn
	if late != nil && moves && choice != lateStays && choice != lateMoves {
		refusal := fault.Field("overdue_invoice", "is required")
		return s.customerEdit(req, before, page.Sent(req.Request, refusal), refusal)
	}
	draft.LeaveOverdue = choice == lateStays
	actor := req.Actor
	actor.Batch = id.NewCode(16)
	record, err := s.Customers.Update(req.Context(), actor, req.id, draft)
	if refused(err) {
		return s.customerEdit(req, before, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	undo, err := s.undoable(req, actor.Batch)
	if err != nil {
		return err
	}
	page.SayUndo(req.w, req.Request, undo, "%s was saved.", record.Name)
	page.Go(req.w, req.Request, customerPath(record.ID))
	return nil
}

// cancelPage asks why a customer goes and what becomes of its open invoices.
func (s *Server) cancelPage(req *request) error {
	return s.cancelForm(req, page.NewForm(), nil)
}

func (s *Server) cancelForm(req *request, form *page.Form, refusal error) error {
	record, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	open, count, err := s.Billing.List(req.Context(), req.Actor, billing.Filter{CustomerID: record.ID, Status: billing.Open},
		input.Page{Number: 1, Size: input.MaxPageSize})
	if err != nil {
		return err
	}
	data := customerCancel{Customer: record, Form: form, Count: count, Keep: debts(req)}
	for _, invoice := range open {
		data.Owes += invoice.PayableOn(req.Actor.Company, req.today).Rest
	}
	return s.show(req, page.View{Name: "customer_cancel", Title: "Cancel customer", Status: statusOf(refusal), Data: data})
}

// customerCancel is what is asked about a customer who goes.
type customerCancel struct {
	Customer customer.Customer
	Form     *page.Form
	Owes     money.Cents
	Count    int64 // of open invoices
	Keep     []page.Option
}

// debts are what may become of the open invoices of a customer who goes.
func debts(req *request) []page.Option {
	return []page.Option{
		{Value: "", Label: req.lang.T("Choose")},
		{Value: "true", Label: req.lang.T("Go on charging them")},
		{Value: "false", Label: req.lang.T("Forgive them: they are cancelled")},
	}
}

// cancelCustomer cancels a customer. What becomes of a debt is never assumed: without
// the choice nothing is done.
func (s *Server) cancelCustomer(req *request) error {
	_, owed, err := s.Billing.Owed(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	if owed && req.PostFormValue("keep_invoices") == "" {
		refusal := fault.Field("keep_invoices", "is required")
		return s.cancelForm(req, page.Sent(req.Request, refusal), refusal)
	}
	actor := req.Actor
	actor.Batch = id.NewCode(16)
	record, err := s.Customers.Update(req.Context(), actor, req.id, customer.ReadChanges(req.form()))
	if err != nil {
		return req.complain(customerPath(req.id), err)
	}
	page.SayUndo(req.w, req.Request, actor.Batch, "%s was cancelled.", record.Name)
	page.Go(req.w, req.Request, customerPath(record.ID))
	return nil
}

func (s *Server) restoreCustomer(req *request) error {
	record, err := s.Customers.Update(req.Context(), req.Actor, req.id, customer.ReadChanges(req.form()))
	if err != nil {
		return req.complain(customerPath(req.id), err)
	}
	return req.done(customerPath(record.ID), "%s was reactivated.", record.Name)
}

func (s *Server) askDeleteCustomer(req *request) error {
	record, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Delete %s?", Args: []any{record.Name}, Danger: true, Button: "Delete customer",
		Back: customerPath(record.ID), Action: customerPath(record.ID) + "/delete",
		Effects: []string{
			"Its invoices are deleted too. The numbers of past months stay.",
			"Messages that are scheduled for it are not sent.",
			"Webhooks are told that the customer was deleted.", "This cannot be undone.",
		},
	})
}

func (s *Server) deleteCustomer(req *request) error {
	record, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	if err := s.Customers.Delete(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	return req.done("/customers", "%s was deleted.", record.Name)
}

func (s *Server) renewCustomer(req *request) error {
	actor := req.Actor
	actor.Batch = id.NewCode(16)
	renewal, err := s.Billing.Renew(req.Context(), actor, req.id, billing.ReadRenewal(req.form()))
	if err != nil {
		return req.complain(req.back(customerPath(req.id)), err)
	}
	page.SayUndo(req.w, req.Request, actor.Batch, "%s: due date is now %s.", renewal.Name, page.FormatDate(renewal.DueOn))
	page.Go(req.w, req.Request, req.back(customerPath(req.id)))
	return nil
}
