package panel

import (
	"cmp"
	"context"
	"slices"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

type invoicesData struct {
	list
	List  []billing.Invoice
	Today civil.Date
	Of    *customer.Customer // the customer of the invoices, when filtered so
}

// invoiceList is how invoices are listed.
func (s *Server) invoiceList() source[billing.Filter, billing.Invoice] {
	rows := func(ctx context.Context, actor account.Actor, filter billing.Filter, at input.Page) ([]billing.Invoice, int64, error) {
		return s.Billing.Sorted(ctx, actor, billing.Query{Filter: filter, Sort: at.Sort}, at)
	}
	return source[billing.Filter, billing.Invoice]{account.InvoiceList, billing.ReadFilter, sortOf, rows}
}

func (s *Server) invoices(req *request) error {
	data := invoicesData{Today: req.today}
	data.list = newList(req, "/invoices/export", invoiceChips(req), "due_from", "due_to", "paid_from", "paid_to")
	data.More = anyGiven(req, "plan_id", "product_id", "created_from", "created_to")
	data.Heads = headsOf(req, sortOf(req.URL.Query()), input.ByName, "Customer", input.ByDueDate, "Due date", input.ByUpdated, "Last change")
	rows, filter := fill(req, &data.list, s.invoiceList())
	data.List, data.Of, data.Total = rows, s.filteredCustomer(req, filter.CustomerID), s.invoicesFoot(req, filter, data.Pager.Total)
	return req.show("invoices", "Invoices", data)
}

// filteredCustomer is the customer that a list is filtered by; nil for none.
func (s *Server) filteredCustomer(req *request, id int64) *customer.Customer {
	if id == 0 {
		return nil
	}
	record := readOf(req, s.Customers.Find, id)
	return &record
}

// anyGiven reports whether the address has one of some filters.
func anyGiven(req *request, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return req.URL.Query().Get(name) != "" })
}

// invoicesFoot is how many invoices a filter has, and for who may see totals what
// they are worth, where that is known.
func (s *Server) invoicesFoot(req *request, filter billing.Filter, count int64) string {
	text := counted(req.lang, count, "1 invoice", "%s invoices")
	if !allows(req.User.Role, viewer) {
		return text
	}
	worth, known, err := s.Billing.Worth(req.Context(), req.Actor, filter, count)
	if req.note(err); !known {
		return text
	}
	return text + " · " + worth.BR()
}

type invoiceData struct {
	Invoice  billing.Invoice
	Customer customer.Customer
	Form     *page.Form
	Due      billing.Payable // what pays it today, or paid it
	Overdue  bool
	CanUndo  bool // it was paid by hand
	Via      string
	Renews   bool // the company renews on payment
	Today    civil.Date
	Means    []page.Option
	Less     []page.Option // what less money than is to pay may mean
	Again    bool          // its due date can be issued again
	Place    place
	Notices  []noticeRow // what the payer said about it
	billed
}

func (s *Server) invoice(req *request, form *page.Form, refusal error) error {
	invoice := readOf(req, s.Billing.Find, req.id)
	record := readOf(req, s.Customers.Find, invoice.Customer.ID)
	data := invoiceData{
		Invoice: invoice, Customer: record, Form: cmp.Or(form, page.NewForm()), Today: req.today,
		Due: invoice.PayableOn(req.Actor.Company, req.today), Overdue: invoice.Overdue(req.today), Via: s.through(req, invoice.PaidVia),
		Means: means(req), Less: differences(req), Again: reissuable(invoice, record), Renews: req.Actor.Company.Settings.RenewOnPayment,
		CanUndo: invoice.Status == billing.Paid && !invoice.Superseded && slices.Contains(billing.HandMeans, invoice.PaidVia),
	}
	data.billed, data.Notices, data.Place = s.billed(req, invoice, record), s.noticesOf(req, invoice), s.invoicePlace(req)
	return req.showForm("invoice", "Invoice", refusal, data)
}

func (s *Server) setInvoiceStatus(req *request) error {
	path, actor := req.back(invoicePath(req.id)), req.batch()
	out, err := s.Billing.SetStatus(req.Context(), actor, req.id, billing.ReadStatusChange(req.form("amount")))
	if refused(err) && req.PostFormValue("status") == billing.Paid.String() {
		return s.refusePayment(req, err, path)
	}
	switch {
	case err != nil:
		return req.again(err, s.invoice)
	case out.Renewed:
		return req.done(path, "The invoice is paid, and the customer renewed.")
	case out.MovedBack:
		return req.done(path, "The payment was undone, and the due date moved back.")
	}
	if out.Status == billing.Open && out.Received > 0 {
		return req.done(path, "A part was received; the invoice is still open.")
	}
	if out.Status == billing.Cancelled {
		undo := actor.Batch
		if req.PostFormValue("money") != "" {
			undo = "" // what was given back is gone
		}
		return req.doneUndo(undo, path, statusSaid[out.Status])
	}
	return req.done(path, statusSaid[out.Status])
}

var statusSaid = map[billing.Status]string{
	billing.Paid: "The invoice is paid.", billing.Open: "The invoice is open again.",
	billing.Cancelled: "The invoice is cancelled.",
}

type invoiceForm struct {
	Form     *page.Form
	Customer customer.Customer
}

func (s *Server) invoiceForm(req *request, form *page.Form, refusal error) error {
	record := readOf(req, s.Customers.Find, req.id)
	form = cmp.Or(form, page.NewForm("amount", amountText(max(record.Price(), 0)), "due", req.today.String()))
	return req.showForm("invoice_form", "Extra invoice", refusal, invoiceForm{form, record})
}

func (s *Server) createInvoice(req *request) error {
	invoice, err := s.Billing.CreateExtra(req.Context(), req.Actor, req.id, billing.ReadExtra(req.form("amount")))
	return req.sent(err, s.invoiceForm, invoicePath(invoice.ID), "The invoice was made.")
}

// invoiceEdit is the form that changes an open invoice.
type invoiceEdit struct {
	Form    *page.Form
	Invoice billing.Invoice
	Overdue bool
}

func discountText(invoice billing.Invoice) string {
	if !invoice.OwnDiscount.Given {
		return ""
	}
	return decimal(invoice.OwnDiscount.Amount)
}

func (s *Server) invoiceEdit(req *request, form *page.Form, refusal error) error {
	invoice := readOf(req, s.Billing.Find, req.id)
	form = cmp.Or(form, page.NewForm("total_amount", decimal(invoice.Amount), "due_date", invoice.DueOn.String(),
		"description", invoice.Description, "discount", discountText(invoice)))
	return req.showForm("invoice_edit", "Edit the invoice", refusal, invoiceEdit{form, invoice, invoice.Overdue(req.today)})
}

func (s *Server) editInvoice(req *request) error {
	_, err := s.Billing.Edit(req.Context(), req.Actor, req.id, billing.ReadEditOff(req.form("total_amount", "discount", "off")))
	return req.sent(err, s.invoiceEdit, invoicePath(req.id), "The invoice was saved.")
}

// reissuable reports whether the due date of an invoice can be issued again: it is
// still the customer's, and the invoice renewed nothing.
func reissuable(invoice billing.Invoice, record customer.Customer) bool {
	renewed := invoice.Status == billing.Paid && invoice.Renewed()
	return invoice.Generated && !invoice.Superseded && invoice.Status != billing.Open && !renewed &&
		record.DueOn == invoice.IssuedFor && !record.IsCancelled()
}

func (s *Server) reissueInvoice(req *request, invoice billing.Invoice) error {
	made, err := s.Billing.Reissue(req.Context(), req.Actor, invoice.Customer.ID, billing.Extra{Renews: true})
	if err != nil {
		return req.complain(invoicePath(invoice.ID), err)
	}
	return req.done(invoicePath(made.ID), "The due date was billed again.")
}

// refundForm is the form that says that money was given back.
type refundForm struct {
	Form          *page.Form
	Payment       billing.PaymentRecord
	Through, Left string
	Effects       []page.Option
}

func (s *Server) refundForm(req *request, form *page.Form, refusal error) error {
	record := readOf(req, s.Billing.FindPayment, req.id)
	left := (record.Amount - record.Refunded).BR()
	data := refundForm{cmp.Or(form, page.NewForm()), record, s.through(req, record.Via), left, req.options(
		"", "All goes back: it is open again. A part: it stays paid",
		string(billing.EffectReopen), "It is open again, and the renewal is taken back",
		string(billing.EffectDiscount), "It stays paid: what goes back is a discount",
	)}
	return req.showForm("refund", "Money given back", refusal, data)
}

func (s *Server) refundPayment(req *request) error {
	record, err := s.Billing.RefundPayment(req.Context(), req.Actor, req.id, billing.ReadRefund(req.form("amount")))
	path := "/payments"
	if record.InvoiceStatus != "" {
		path = invoicePath(record.InvoiceID)
	}
	return req.sent(err, s.refundForm, path, "The refund was recorded.")
}

func (s *Server) undoPayment(req *request, record billing.PaymentRecord) error {
	out, err := s.Billing.UndoPayment(req.Context(), req.Actor, req.id)
	return req.did(err, invoicePath(record.InvoiceID),
		either(out.MovedBack, "The payment was undone, and the due date moved back.", "The payment was undone."))
}

// againForm is the form of money that came for a paid invoice.
type againForm struct {
	Form    *page.Form
	Invoice billing.Invoice
	Means   []page.Option
}

func (s *Server) againForm(req *request, form *page.Form, refusal error) error {
	invoice := readOf(req, s.Billing.Find, req.id)
	form = cmp.Or(form, page.NewForm("amount", decimal(invoice.Amount), "paid_via", "pix"))
	return req.showForm("again", "Register as credit", refusal, againForm{form, invoice, means(req)})
}

func (s *Server) receiveAgain(req *request) error {
	_, err := s.Billing.ReceiveAgain(req.Context(), req.Actor, req.id, billing.ReadAgain(req.form("amount")))
	return req.sent(err, s.againForm, invoicePath(req.id), "The money is the customer's credit.")
}

func (s *Server) useCredit(req *request) error {
	out, err := s.Billing.UseCredit(req.Context(), req.Actor, req.id)
	switch {
	case err != nil:
		return req.complain(invoicePath(req.id), err)
	case out.Renewed:
		return req.done(invoicePath(req.id), "The invoice is paid, and the customer renewed.")
	case out.Status == billing.Open:
		return req.done(invoicePath(req.id), "A part was received; the invoice is still open.")
	}
	return req.done(invoicePath(req.id), "The invoice is paid.")
}

// renewChoices are what may become of the open invoice of a renewal by hand.
func renewChoices(req *request) []page.Option {
	return req.options("keep", "still owed", "paid", "paid with the renewal", "cancelled", "cancelled")
}

// means are how money comes that a person reports.
func means(req *request) []page.Option {
	return wordOptions(req, billing.HandMeans, nil)
}

// invoicesOf is customersOf for invoices.
func (s *Server) invoicesOf(req *request, chosen picks, limit int) ([]billing.Invoice, error) {
	return picked(req, chosen, limit, billing.ReadFilter, s.Billing.Find, s.Billing.Walk)
}

// invoicePlace is where an invoice is in the list that it was opened from: that of
// invoices, or that of payments.
func (s *Server) invoicePlace(req *request) place {
	if came := placeFrom(req, place{}); came.Back != "" {
		return s.amongPayments(req, came)
	}
	return placeIn(req, "/invoices", s.invoiceList().nth(req, func(invoice billing.Invoice) int64 { return invoice.ID }))
}

func invoiceChips(req *request) []chipLine {
	query := req.URL.Query()
	status, overdue := query.Get("status"), query.Get("overdue") == "true"
	void := billing.Cancelled.String()
	line := chipLine{Label: req.lang.T("Status"), Chips: []chip{
		{req.lang.T("All invoices"), filtered(req, "status", "", "overdue", ""), status == "" && !overdue},
		{req.lang.T("Overdue // invoices"), filtered(req, "status", "", "overdue", "true"), overdue},
		{req.lang.T("Open"), filtered(req, "status", billing.Open.String(), "overdue", ""), status == billing.Open.String() && !overdue},
		{req.lang.T("Paid // invoices"), filtered(req, "status", billing.Paid.String(), "overdue", ""), status == billing.Paid.String()},
		{req.lang.T("Cancelled // invoices"), filtered(req, "status", void, "overdue", ""), status == void},
	}}
	if status == billing.Paid.String() {
		return []chipLine{line, dateChips(req, "paid_from", "paid_to", false)}
	}
	return []chipLine{line, dateChips(req, "due_from", "due_to", true)}
}
