package panel

import (
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

func (s *Server) editInvoicePage(req *request) error {
	invoice, err := s.Billing.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.invoiceEditPage(req, invoice, page.NewForm(
		"total_amount", invoice.Amount.BR()[len("R$ "):], "due_date", invoice.DueOn.String(),
		"description", invoice.Description,
		"discount", discountText(invoice)), nil)
}

func discountText(invoice billing.Invoice) string {
	if !invoice.OwnDiscount.Given {
		return ""
	}
	return invoice.OwnDiscount.Amount.BR()[len("R$ "):]
}

func (s *Server) invoiceEditPage(req *request, invoice billing.Invoice, form *page.Form, refusal error) error {
	return s.show(req, page.View{
		Name:   "invoice_edit",
		Title:  "Edit the invoice",
		Status: statusOf(refusal),
		Data:   invoiceEdit{form, invoice, invoice.Overdue(req.today)},
	})
}

func (s *Server) editInvoice(req *request) error {
	_, err := s.Billing.Edit(req.Context(), req.Actor, req.id, billing.ReadEditOff(req.form("total_amount", "discount", "off")))
	if refused(err) {
		invoice, failed := s.Billing.Find(req.Context(), req.Actor, req.id)
		if failed != nil {
			return failed
		}
		return s.invoiceEditPage(req, invoice, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	return req.done(invoicePath(req.id), "The invoice was saved.")
}

// reissuable reports whether the due date of an invoice can be issued again: it is
// still the customer's, and the invoice renewed nothing.
func reissuable(invoice billing.Invoice, record customer.Customer) bool {
	renewed := invoice.Status == billing.Paid && invoice.Renewed()
	return invoice.Generated &&
		!invoice.Superseded &&
		invoice.Status != billing.Open &&
		!renewed &&
		record.DueOn == invoice.IssuedFor &&
		!record.IsCancelled()
}

func (s *Server) reissueInvoice(req *request) error {
	invoice, err := s.Billing.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	made, err := s.Billing.Reissue(req.Context(), req.Actor, invoice.Customer.ID, billing.Extra{Renews: true})
	if err != nil {
		return req.complain(invoicePath(invoice.ID), err)
	}
	return req.done(invoicePath(made.ID), "The due date was billed again.")
}

// refundForm is the form that says that money was given back.
type refundForm struct {
	Form    *page.Form
	Payment billing.PaymentRecord
	Through string
	Left    string
	Effects []page.Option
}

func (s *Server) refundPage(req *request) error {
	return s.refundFormPage(req, page.NewForm(), nil)
}

func (s *Server) refundFormPage(req *request, form *page.Form, refusal error) error {
	record, err := s.Billing.FindPayment(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	d := refundForm{
		form, record, s.through(req, record.Via), (record.Amount - record.Refunded).BR(), []page.Option{
			{Label: req.lang.T("All goes back: it is open again. A part: it stays paid")},
			{Value: string(billing.EffectReopen), Label: req.lang.T("It is open again, and the renewal is taken back")},
			{Value: string(billing.EffectDiscount), Label: req.lang.T("It stays paid: what goes back is a discount")},
		},
	}
	return s.show(req, page.View{Name: "refund", Title: "Money given back", Status: statusOf(refusal), Data: d})
}

func (s *Server) refundPayment(req *request) error {
	record, err := s.Billing.RefundPayment(req.Context(), req.Actor, req.id, billing.ReadRefund(req.form("amount")))
	if refused(err) {
		return s.refundFormPage(req, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	path := "/payments"
	if record.InvoiceStatus != "" {
		path = invoicePath(record.InvoiceID)
	}
	return req.done(path, "The refund was recorded.")
}

func (s *Server) undoPayment(req *request) error {
	record, err := s.Billing.FindPayment(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	out, err := s.Billing.UndoPayment(req.Context(), req.Actor, req.id)
	switch {
	case err != nil:
		return req.complain(invoicePath(record.InvoiceID), err)
	case out.MovedBack:
		return req.done(invoicePath(record.InvoiceID), "The payment was undone, and the due date moved back.")
	}
	return req.done(invoicePath(record.InvoiceID), "The payment was undone.")
}

// againForm is the form of money that came for a paid invoice.
type againForm struct {
	Form    *page.Form
	Invoice billing.Invoice
	Means   []page.Option
}

func (s *Server) againPage(req *request) error {
	invoice, err := s.Billing.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.againFormPage(req, invoice, page.NewForm("amount", invoice.Amount.BR()[len("R$ "):], "paid_via", "pix"), nil)
}

func (s *Server) againFormPage(req *request, invoice billing.Invoice, form *page.Form, refusal error) error {
	return s.show(req, page.View{
		Name: "again", Title: "Register as credit", Status: statusOf(refusal),
		Data: againForm{form, invoice, means(req)},
	})
}

func (s *Server) receiveAgain(req *request) error {
	_, err := s.Billing.ReceiveAgain(req.Context(), req.Actor, req.id, billing.ReadAgain(req.form("amount")))
	if refused(err) {
		invoice, failed := s.Billing.Find(req.Context(), req.Actor, req.id)
		if failed != nil {
			return failed
		}
		return s.againFormPage(req, invoice, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	return req.done(invoicePath(req.id), "The money is the customer's credit.")
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
	return []page.Option{
		{Value: "keep", Label: req.lang.T("still owed")},
		{Value: "paid", Label: req.lang.T("paid with the renewal")},
		{Value: "cancelled", Label: req.lang.T("cancelled")},
	}
}

// means are how money comes that a person reports.
func means(req *request) []page.Option {
	list := make([]page.Option, len(billing.HandMeans))
	for n, via := range billing.HandMeans {
		list[n] = page.Option{Value: via, Label: word(req.lang, via)}
	}
	return list
}
