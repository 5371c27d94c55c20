package panel

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

type customerData struct {
	Customer customer.Customer
	Status   customer.Status
	Invoices []billing.Invoice
	More     bool // there are older ones
	History  []kit.DeedRow
	Messages *customerMessages
	Today    civil.Date
	TaxID    string // with its punctuation
	Texts    []textField
	Renewal  *page.Form
	Choices  []page.Option // what may become of the open invoice
	Place    kit.Place
	Own      ownPage  // the customer's own page
	Autopay  *autopay // nil: who reads does not see it
	Steps    []renewStep
	Owes     money.Cents // what is overdue
	Credits  []billing.PaymentRecord
}

func newCustomerData(req *kit.Request, record customer.Customer) customerData {
	return customerData{
		Customer: record, Status: record.Status(req.Today), Today: req.Today,
		TaxID: taxid.Format(record.CpfCnpj), Texts: textFields(req.Lang, &record), Steps: renewSteps(req, record),
	}
}

func (s *Server) customer(req *kit.Request, record customer.Customer) error {
	const shown = 12
	data := newCustomerData(req, record)
	data.Renewal = page.NewForm("invoice", string(req.Actor.Company.Settings.RenewInvoice))
	data.Choices = kit.RenewChoices(req)
	byCustomer, err := s.Billing.Latest(req.Context(), req.Actor, []int64{record.ID}, shown+1)
	req.Note(err)
	data.Invoices = byCustomer[record.ID]
	if data.More = len(data.Invoices) > shown; data.More {
		data.Invoices = data.Invoices[:shown]
	}
	data.Owes, data.Credits = s.owing(req, []customer.Customer{record})[record.ID], kit.ReadOf(req, s.Billing.CreditOf, record.ID)
	data.Place, data.Messages = s.customerPlace(req), s.customerMessages(req, record)
	data.Own, data.Autopay = s.ownPage(req, record), s.autopay(req, record)
	data.History = s.history(req, record, data.Invoices)
	return req.Show("customer", record.Name, data)
}

type customerForm struct {
	kit.RecordForm
	Plans, Products []page.Option
	Texts           []textField
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
func (s *Server) late(req *kit.Request, record customer.Customer) *lateInvoice {
	invoice, found, err := s.Billing.OverdueOf(req.Context(), req.Actor, record)
	if req.Note(err); !found {
		return nil
	}
	choices := req.Options("", "Choose", lateStays, "It stays overdue", lateMoves, "It moves to the new due date")
	return &lateInvoice{invoice, choices}
}

// customerForm is the form of a customer, or of a new one.
func (s *Server) customerForm(req *kit.Request, form *page.Form, refusal error) error {
	data := customerForm{RecordForm: req.RecordForm("/customers", cmp.Or(form, page.NewForm()))}
	if !data.New {
		record := kit.ReadOf(req, s.Customers.Find, req.ID)
		data.Form, data.Late = cmp.Or(form, customerValues(record)), s.late(req, record)
	}
	return s.customerPage(req, data, refusal)
}

func (s *Server) customerPage(req *kit.Request, data customerForm, refusal error) error {
	data.Plans, data.Products = s.Choices(req, !data.New)
	data.Texts = textFields(req.Lang, &customer.Customer{})
	if !data.New { // a plan that is no longer sold stays with the customers who have it
		data.Plans[0].Label, data.Products[0].Label = req.Lang.T("None"), req.Lang.T("None")
	}
	return req.ShowForm("customer_form", data.Title("New customer", "Edit customer"), refusal, data)
}

func (s *Server) createCustomer(req *kit.Request) error {
	draft := customer.ReadNew(req.Input("price"))
	alike, err := s.alike(req, draft)
	if err != nil {
		return err
	}
	if len(alike) > 0 {
		data := customerForm{RecordForm: req.RecordForm("/customers", page.Sent(req.Request, nil)), Alike: alike}
		return s.customerPage(req, data, fault.Conflict("a customer like this is there already"))
	}
	record, err := s.Customers.Create(req.Context(), req.Actor, draft)
	return req.Sent(err, s.customerForm, customerPath(record.ID), "%s was created.", record.Name)
}

func customerPath(id int64) string { return "/customers/" + strconv.FormatInt(id, 10) }

// customerValues is the form of a customer as it is.
func customerValues(record customer.Customer) *page.Form {
	form := page.NewForm(append(addressValues(record.Address), "cpf_cnpj", taxid.Format(record.CpfCnpj), "price",
		ownPrice(&record), "custom", record.Custom.Lines(), "name", record.Name, "whatsapp",
		page.FormatPhone(record.Whatsapp), "email", record.Email, "usuario", record.Usuario, "data_de_vencimento",
		record.DueOn.String(), "plan_id", kit.IDText(record.Plan.ID), "product_id", kit.IDText(record.Product.ID))...)
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
func (s *Server) updateCustomer(req *kit.Request, before customer.Customer) error {
	late := s.late(req, before)
	draft, choice := customer.ReadChanges(req.Input("price")), req.PostFormValue("overdue_invoice")
	moves := draft.DueOn.HasValue() && draft.DueOn.Value != before.DueOn
	if late != nil && moves && choice != lateStays && choice != lateMoves {
		return req.Again(fault.Field("overdue_invoice", "is required"), s.customerForm)
	}
	if req.Failed != nil {
		return req.Failed
	}
	draft.LeaveOverdue = choice == lateStays
	actor := req.Batch()
	record, err := s.Customers.Update(req.Context(), actor, req.ID, draft)
	if err != nil {
		return req.Again(err, s.customerForm)
	}
	return req.DoneUndo(s.undoable(req, actor.Batch), customerPath(record.ID), "%s was saved.", record.Name)
}

// cancelForm asks why a customer goes and what becomes of its open invoices.
func (s *Server) cancelForm(req *kit.Request, form *page.Form, refusal error) error {
	record := kit.ReadOf(req, s.Customers.Find, req.ID)
	open, count := kit.ReadPage(req, s.Billing.List, billing.Filter{CustomerID: req.ID, Status: billing.Open},
		input.Page{Number: 1, Size: input.MaxPageSize})
	data := customerCancel{Customer: record, Form: cmp.Or(form, page.NewForm()), Count: count}
	data.Keep = req.Options("", "Choose", "true", "Go on charging them", "false", "Forgive them: they are cancelled")
	for _, invoice := range open {
		data.Owes += invoice.PayableOn(req.Actor.Company, req.Today).Rest
	}
	return req.ShowForm("customer_cancel", "Cancel customer", refusal, data)
}

// customerCancel is what is asked about a customer who goes.
type customerCancel struct {
	Customer customer.Customer
	Form     *page.Form
	Owes     money.Cents
	Count    int64 // of open invoices
	Keep     []page.Option
}

// cancelCustomer cancels a customer. What becomes of a debt is never assumed: without
// the choice nothing is done.
func (s *Server) cancelCustomer(req *kit.Request) error {
	_, owed, err := s.Billing.Owed(req.Context(), req.Actor, req.ID)
	if err != nil {
		return err
	}
	if owed && req.PostFormValue("keep_invoices") == "" {
		return req.Again(fault.Field("keep_invoices", "is required"), s.cancelForm)
	}
	actor := req.Batch()
	record, err := s.Customers.Update(req.Context(), actor, req.ID, customer.ReadChanges(req.Input()))
	if err != nil {
		return req.Complain(customerPath(req.ID), err)
	}
	return req.DoneUndo(actor.Batch, customerPath(record.ID), "%s was cancelled.", record.Name)
}

func (s *Server) restoreCustomer(req *kit.Request) error {
	record, err := s.Customers.Update(req.Context(), req.Actor, req.ID, customer.ReadChanges(req.Input()))
	return req.Did(err, customerPath(req.ID), "%s was reactivated.", record.Name)
}

func (s *Server) renewCustomer(req *kit.Request) error {
	actor, back := req.Batch(), req.Back(customerPath(req.ID))
	renewal, err := s.Billing.Renew(req.Context(), actor, req.ID, billing.ReadRenewal(req.Input()))
	if err != nil {
		return req.Complain(back, err)
	}
	return req.DoneUndo(actor.Batch, back, "%s: due date is now %s.", renewal.Name, page.FormatDate(renewal.DueOn))
}

type customersData struct {
	kit.Listing
	List            []customer.Customer
	Plans, Products []page.Option
	Today           civil.Date
	Figures         map[string]string     // filters of a figure, which the form hands on
	Owes            map[int64]money.Cents // what is overdue, by customer
}

// readCustomers reads the filters of the list; the API has no filter by own prices.
func readCustomers(in *input.Form) customer.Filter {
	filter := customer.ReadFilter(in)
	filter.Figure.OwnPrice = in.Bool("own_price").Value
	return filter
}

// customerList is how customers are listed.
func (s *Server) customerList() kit.Source[customer.Filter, customer.Customer] {
	rows := func(ctx context.Context, actor account.Actor, filter customer.Filter, at input.Page) ([]customer.Customer, int64, error) {
		return s.Customers.Sorted(ctx, actor, customer.Query{Filter: filter, Sort: at.Sort}, at)
	}
	return kit.ListOf(account.CustomerList, readCustomers, kit.SortOf, rows)
}

func (s *Server) customers(req *kit.Request) error {
	data := customersData{
		Listing: kit.NewList(req, "/customers/export", customerChips(req), "plan_id", "product_id", "due_from", "due_to"),
		Today:   req.Today, Figures: figureFilters(req),
	}
	data.Heads = s.customerList().Heads(req, input.ByName, "Name", input.ByDueDate, "Due date", input.ByUpdated, "Last change")
	rows, filter := kit.Fill(req, &data.Listing, s.customerList())
	data.List, data.Owes, data.Total = rows, s.owing(req, rows), s.customersFoot(req, filter, data.Pager.Total)
	data.Plans, data.Products = s.Choices(req, true)
	return req.Show("customers", "Customers", data)
}

// owing is what the customers of a page owe.
func (s *Server) owing(req *kit.Request, list []customer.Customer) map[int64]money.Cents {
	ids := make([]int64, len(list))
	for n, record := range list {
		ids[n] = record.ID
	}
	return kit.ReadOf(req, s.Billing.Owing, ids)
}

// customersFoot is how many customers a filter has, and for who may see totals
// what they pay together, where that is known.
func (s *Server) customersFoot(req *kit.Request, filter customer.Filter, count int64) string {
	text := kit.Counted(req.Lang, count, "1 customer", "%s customers")
	if !kit.Allows(req.User.Role, viewer) {
		return text
	}
	amount, known, err := s.Customers.Amount(req.Context(), req.Actor, filter, count)
	if req.Note(err); !known || amount == 0 {
		return text
	}
	return text + " · " + req.Lang.T("%s a month", amount.BR())
}

// figureFilters are the filters by which figures of the home page link to the
// list.
func figureFilters(req *kit.Request) map[string]string {
	given := map[string]string{}
	for _, name := range []string{"owes_from", "owes_to", "created_from", "created_to", "renewed_in", "recurring", "moved", "own_price"} {
		if value := req.URL.Query().Get(name); value != "" {
			given[name] = value
		}
	}
	return given
}

// renewStep is a button that renews a customer, with what comes of it.
type renewStep struct {
	Periods int
	Label   string
}

// yearOf is how many of a unit a year has.
var yearOf = map[civil.Unit]int{civil.Day: 366, civil.Week: 53, civil.Month: 12, civil.Year: 1}

// renewSteps are the renewals by one click: one period, or some up to a year. A customer with a due date that
// cannot be counted on has none.
func renewSteps(req *kit.Request, record customer.Customer) (steps []renewStep) {
	const most = 12
	offered := map[int]bool{3: true, 6: true, most: true}
	period := record.Period()
	step := 1
	if period.Unit == civil.Month { // a quarter has no nine months, but half a year
		step = period.Count
	}
	for n := 1; n <= most && (n == 1 || period.Count*n <= yearOf[period.Unit]); n++ {
		renewal, err := renewalOf(req, record)
		if err != nil {
			return steps
		}
		record = renewal.Customer
		if n > 1 && !offered[n*step] {
			continue
		}
		long := civil.Period{Unit: period.Unit, Count: period.Count * n}
		label := req.Lang.T("+%s (until %s)", lengthText(req.Lang, long), page.FormatDate(record.DueOn))
		steps = append(steps, renewStep{n, label})
	}
	return steps
}

// lengthText is how long a period is, in words.
func lengthText(lang page.Lang, period civil.Period) string {
	texts := map[civil.Unit][2]string{
		civil.Day: {"1 day", "%d days"}, civil.Week: {"1 week", "%d weeks"},
		civil.Month: {"1 month", "%d months"}, civil.Year: {"1 year", "%d years"},
	}
	pair := texts[period.Unit]
	if period.Count == 1 {
		return lang.T(pair[0])
	}
	return lang.T(pair[1], period.Count)
}

// alike are the customers who may be the one that a form would make, unless the
// form says that it is another.
func (s *Server) alike(req *kit.Request, draft customer.Draft) ([]customer.Alike, error) {
	if req.PostFormValue("another") != "" {
		return nil, nil
	}
	return s.Customers.Alike(req.Context(), req.Actor, draft)
}

func (s *Server) customerPlace(req *kit.Request) kit.Place {
	return kit.PlaceIn(req, "/customers", s.customerList().Nth(req, func(record customer.Customer) int64 { return record.ID }))
}

func customerChips(req *kit.Request) []kit.ChipLine {
	all := []customer.Status{customer.Active, customer.DueToday, customer.Expired, customer.Cancelled}
	statuses := kit.WordOptions(req, all, nil, req.Option("", "All"))
	return []kit.ChipLine{kit.ChoiceChips(req, "Status", "status", statuses), kit.DateChips(req, "due_from", "due_to", true)}
}
