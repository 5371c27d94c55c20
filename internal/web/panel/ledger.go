package panel

import (
	"cmp"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/web/page"
)

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
	return s.showForm(req, "invoice_edit", "Edit the invoice", refusal, invoiceEdit{form, invoice, invoice.Overdue(req.today)})
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
	return s.showForm(req, "refund", "Money given back", refusal, data)
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
	return s.showForm(req, "again", "Register as credit", refusal, againForm{form, invoice, means(req)})
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
