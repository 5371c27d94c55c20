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
	"carteira/internal/web/panel/kit"
)

type invoicesData struct {
	kit.Listing
	List  []billing.Invoice
	Today civil.Date
	Of    *customer.Customer // the customer of the invoices, when filtered so
}

// invoiceList is how invoices are listed.
func (s *Server) invoiceList() kit.Source[billing.Filter, billing.Invoice] {
	rows := func(ctx context.Context, actor account.Actor, filter billing.Filter, at input.Page) ([]billing.Invoice, int64, error) {
		return s.Billing.Sorted(ctx, actor, billing.Query{Filter: filter, Sort: at.Sort}, at)
	}
	return kit.ListOf(account.InvoiceList, billing.ReadFilter, kit.SortOf, rows)
}

func (s *Server) invoices(req *kit.Request) error {
	data := invoicesData{Today: req.Today}
	data.Listing = kit.NewList(req, "/invoices/export", invoiceChips(req), "due_from", "due_to", "paid_from", "paid_to")
	data.More = anyGiven(req, "plan_id", "product_id", "created_from", "created_to")
	data.Heads = s.invoiceList().Heads(req, input.ByName, "Customer", input.ByDueDate, "Due date", input.ByUpdated, "Last change")
	rows, filter := kit.Fill(req, &data.Listing, s.invoiceList())
	data.List, data.Of, data.Total = rows, s.filteredCustomer(req, filter.CustomerID), s.invoicesFoot(req, filter, data.Pager.Total)
	return req.Show("invoices", "Invoices", data)
}

// filteredCustomer is the customer that a list is filtered by; nil for none.
func (s *Server) filteredCustomer(req *kit.Request, id int64) *customer.Customer {
	if id == 0 {
		return nil
	}
	record := kit.ReadOf(req, s.Customers.Find, id)
	return &record
}

// anyGiven reports whether the address has one of some filters.
func anyGiven(req *kit.Request, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return req.URL.Query().Get(name) != "" })
}

// invoicesFoot is how many invoices a filter has, and for who may see totals what
// they are worth, where that is known.
func (s *Server) invoicesFoot(req *kit.Request, filter billing.Filter, count int64) string {
	text := kit.Counted(req.Lang, count, "1 invoice", "%s invoices")
	if !kit.Allows(req.User.Role, viewer) {
		return text
	}
	worth, known, err := s.Billing.Worth(req.Context(), req.Actor, filter, count)
	if req.Note(err); !known {
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
	Place    kit.Place
	Notices  []noticeRow // what the payer said about it
	billed
}

func (s *Server) invoice(req *kit.Request, form *page.Form, refusal error) error {
	invoice := kit.ReadOf(req, s.Billing.Find, req.ID)
	record := kit.ReadOf(req, s.Customers.Find, invoice.Customer.ID)
	data := invoiceData{
		Invoice: invoice, Customer: record, Form: cmp.Or(form, page.NewForm()), Today: req.Today,
		Due: invoice.PayableOn(req.Actor.Company, req.Today), Overdue: invoice.Overdue(req.Today), Via: s.through(req, invoice.PaidVia),
		Means: means(req), Less: differences(req), Again: reissuable(invoice, record), Renews: req.Actor.Company.Settings.RenewOnPayment,
		CanUndo: invoice.Status == billing.Paid && !invoice.Superseded && slices.Contains(billing.HandMeans, invoice.PaidVia),
	}
	data.billed, data.Notices, data.Place = s.billed(req, invoice, record), s.noticesOf(req, invoice), s.invoicePlace(req)
	return req.ShowForm("invoice", "Invoice", refusal, data)
}

func (s *Server) setInvoiceStatus(req *kit.Request) error {
	path, actor := req.Back(invoicePath(req.ID)), req.Batch()
	out, err := s.Billing.SetStatus(req.Context(), actor, req.ID, billing.ReadStatusChange(req.Input("amount")))
	if kit.Refused(err) && req.PostFormValue("status") == billing.Paid.String() {
		return s.refusePayment(req, err, path)
	}
	switch {
	case err != nil:
		return req.Again(err, s.invoice)
	case out.Renewed:
		return req.Done(path, "The invoice is paid, and the customer renewed.")
	case out.MovedBack:
		return req.Done(path, "The payment was undone, and the due date moved back.")
	}
	if out.Status == billing.Open && out.Received > 0 {
		return req.Done(path, "A part was received; the invoice is still open.")
	}
	if out.Status == billing.Cancelled {
		undo := actor.Batch
		if req.PostFormValue("money") != "" {
			undo = "" // what was given back is gone
		}
		return req.DoneUndo(undo, path, statusSaid[out.Status])
	}
	return req.Done(path, statusSaid[out.Status])
}

var statusSaid = map[billing.Status]string{
	billing.Paid: "The invoice is paid.", billing.Open: "The invoice is open again.",
	billing.Cancelled: "The invoice is cancelled.",
}

type invoiceForm struct {
	Form     *page.Form
	Customer customer.Customer
}

func (s *Server) invoiceForm(req *kit.Request, form *page.Form, refusal error) error {
	record := kit.ReadOf(req, s.Customers.Find, req.ID)
	form = cmp.Or(form, page.NewForm("amount", kit.AmountText(max(record.Price(), 0)), "due", req.Today.String()))
	return req.ShowForm("invoice_form", "Extra invoice", refusal, invoiceForm{form, record})
}

func (s *Server) createInvoice(req *kit.Request) error {
	invoice, err := s.Billing.CreateExtra(req.Context(), req.Actor, req.ID, billing.ReadExtra(req.Input("amount")))
	return req.Sent(err, s.invoiceForm, invoicePath(invoice.ID), "The invoice was made.")
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
	return kit.Decimal(invoice.OwnDiscount.Amount)
}

func (s *Server) invoiceEdit(req *kit.Request, form *page.Form, refusal error) error {
	invoice := kit.ReadOf(req, s.Billing.Find, req.ID)
	form = cmp.Or(form, page.NewForm("total_amount", kit.Decimal(invoice.Amount), "due_date", invoice.DueOn.String(),
		"description", invoice.Description, "discount", discountText(invoice)))
	return req.ShowForm("invoice_edit", "Edit the invoice", refusal, invoiceEdit{form, invoice, invoice.Overdue(req.Today)})
}

func (s *Server) editInvoice(req *kit.Request) error {
	_, err := s.Billing.Edit(req.Context(), req.Actor, req.ID, billing.ReadEditOff(req.Input("total_amount", "discount", "off")))
	return req.Sent(err, s.invoiceEdit, invoicePath(req.ID), "The invoice was saved.")
}

// reissuable reports whether the due date of an invoice can be issued again: it is
// still the customer's, and the invoice renewed nothing.
func reissuable(invoice billing.Invoice, record customer.Customer) bool {
	renewed := invoice.Status == billing.Paid && invoice.Renewed()
	return invoice.Generated && !invoice.Superseded && invoice.Status != billing.Open && !renewed &&
		record.DueOn == invoice.IssuedFor && !record.IsCancelled()
}

func (s *Server) reissueInvoice(req *kit.Request, invoice billing.Invoice) error {
	made, err := s.Billing.Reissue(req.Context(), req.Actor, invoice.Customer.ID, billing.Extra{Renews: true})
	if err != nil {
		return req.Complain(invoicePath(invoice.ID), err)
	}
	return req.Done(invoicePath(made.ID), "The due date was billed again.")
}

// refundForm is the form that says that money was given back.
type refundForm struct {
	Form          *page.Form
	Payment       billing.PaymentRecord
	Through, Left string
	Effects       []page.Option
}

func (s *Server) refundForm(req *kit.Request, form *page.Form, refusal error) error {
	record := kit.ReadOf(req, s.Billing.FindPayment, req.ID)
	left := (record.Amount - record.Refunded).BR()
	data := refundForm{cmp.Or(form, page.NewForm()), record, s.through(req, record.Via), left, req.Options(
		"", "All goes back: it is open again. A part: it stays paid",
		string(billing.EffectReopen), "It is open again, and the renewal is taken back",
		string(billing.EffectDiscount), "It stays paid: what goes back is a discount",
	)}
	return req.ShowForm("refund", "Money given back", refusal, data)
}

func (s *Server) refundPayment(req *kit.Request) error {
	record, err := s.Billing.RefundPayment(req.Context(), req.Actor, req.ID, billing.ReadRefund(req.Input("amount")))
	path := "/payments"
	if record.InvoiceStatus != "" {
		path = invoicePath(record.InvoiceID)
	}
	return req.Sent(err, s.refundForm, path, "The refund was recorded.")
}

func (s *Server) undoPayment(req *kit.Request, record billing.PaymentRecord) error {
	out, err := s.Billing.UndoPayment(req.Context(), req.Actor, req.ID)
	return req.Did(err, invoicePath(record.InvoiceID),
		kit.Either(out.MovedBack, "The payment was undone, and the due date moved back.", "The payment was undone."))
}

// againForm is the form of money that came for a paid invoice.
type againForm struct {
	Form    *page.Form
	Invoice billing.Invoice
	Means   []page.Option
}

func (s *Server) againForm(req *kit.Request, form *page.Form, refusal error) error {
	invoice := kit.ReadOf(req, s.Billing.Find, req.ID)
	form = cmp.Or(form, page.NewForm("amount", kit.Decimal(invoice.Amount), "paid_via", "pix"))
	return req.ShowForm("again", "Register as credit", refusal, againForm{form, invoice, means(req)})
}

func (s *Server) receiveAgain(req *kit.Request) error {
	_, err := s.Billing.ReceiveAgain(req.Context(), req.Actor, req.ID, billing.ReadAgain(req.Input("amount")))
	return req.Sent(err, s.againForm, invoicePath(req.ID), "The money is the customer's credit.")
}

func (s *Server) useCredit(req *kit.Request) error {
	out, err := s.Billing.UseCredit(req.Context(), req.Actor, req.ID)
	switch {
	case err != nil:
		return req.Complain(invoicePath(req.ID), err)
	case out.Renewed:
		return req.Done(invoicePath(req.ID), "The invoice is paid, and the customer renewed.")
	case out.Status == billing.Open:
		return req.Done(invoicePath(req.ID), "A part was received; the invoice is still open.")
	}
	return req.Done(invoicePath(req.ID), "The invoice is paid.")
}

// means are how money comes that a person reports.
func means(req *kit.Request) []page.Option {
	return kit.WordOptions(req, billing.HandMeans, nil)
}

// invoicesOf is customersOf for invoices.
func (s *Server) invoicesOf(req *kit.Request, chosen kit.Picks, limit int) ([]billing.Invoice, error) {
	return kit.Picked(req, chosen, limit, billing.ReadFilter, s.Billing.Find, s.Billing.Walk)
}

// invoicePlace is where an invoice is in the list that it was opened from: that of
// invoices, or that of payments.
func (s *Server) invoicePlace(req *kit.Request) kit.Place {
	if came := kit.PlaceFrom(req, kit.Place{}); came.Back != "" {
		return s.amongPayments(req, came)
	}
	return kit.PlaceIn(req, "/invoices", s.invoiceList().Nth(req, func(invoice billing.Invoice) int64 { return invoice.ID }))
}

func invoiceChips(req *kit.Request) []kit.ChipLine {
	status, overdue := req.URL.Query().Get("status"), req.URL.Query().Get("overdue") == "true"
	shown := func(label, of string) kit.Chip {
		return kit.Chip{Label: label, URL: kit.Filtered(req, "status", of, "overdue", ""), Current: !overdue && status == of}
	}
	line := kit.ChipLine{Label: req.Lang.T("Status"), Chips: []kit.Chip{
		shown(req.Lang.T("All invoices"), ""),
		{Label: req.Lang.T("Overdue // invoices"), URL: kit.Filtered(req, "status", "", "overdue", "true"), Current: overdue},
		shown(req.Lang.T("Open"), billing.Open.String()),
		shown(req.Lang.T("Paid // invoices"), billing.Paid.String()),
		shown(req.Lang.T("Cancelled // invoices"), billing.Cancelled.String()),
	}}
	if status == billing.Paid.String() {
		return []kit.ChipLine{line, kit.DateChips(req, "paid_from", "paid_to", false)}
	}
	return []kit.ChipLine{line, kit.DateChips(req, "due_from", "due_to", true)}
}
