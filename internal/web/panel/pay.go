package panel

import (
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
)

// payData is the one form for money that came, however it did.
type payData struct {
	Invoice     billing.Invoice
	Due         billing.Payable
	Form        *page.Form
	Means       []page.Option
	Less        []page.Option // what less money than is to pay may mean
	ByHand      bool          // a PIX code of the company's own key is out
	Renews      bool
	Back, Today string
	Open        bool // all fields are in sight, since one is wrong
}

// payPage asks how much came, how and when; lists open it as a dialog.
func (s *Server) payPage(req *request, invoice billing.Invoice) error {
	back := page.LocalPath(req.URL.Query().Get("back"))
	switch query := req.URL.Query(); {
	case query.Has("list"): // it was asked for in the list of invoices
		back = page.LocalPath("/invoices?" + query.Get("list"))
	case !query.Has("back"):
		back = invoicePath(invoice.ID)
	}
	if invoice.Status != billing.Open { // paid or cancelled meanwhile
		return req.goOn(invoicePath(invoice.ID))
	}
	return s.showPay(req, invoice, nil, back)
}

// receivedFrom asks about money of a customer, for the invoice that is owed the
// longest; who owes nothing has a record to look at.
func (s *Server) receivedFrom(req *request) error {
	record, invoice, found := s.owed(req)
	if !found {
		return req.done(customerPath(record.ID), "%s has no open invoice.", record.Name)
	}
	back := page.LocalPath(req.URL.Query().Get("back"))
	return s.showPay(req, invoice, nil, back)
}

func (s *Server) showPay(req *request, invoice billing.Invoice, refusal error, back string) error {
	due := invoice.PayableOn(req.Actor.Company, req.today)
	day := req.today
	if said, err := civil.Parse(req.URL.Query().Get("on")); err == nil && said.Before(day) { // the day of the payer's proof
		day = said
	}
	form := page.NewForm("amount", decimal(due.Rest), "paid_via", "pix", "paid_at", day.String())
	if refusal != nil {
		form = page.Sent(req.Request, inWords(refusal))
	}
	return s.showForm(req, "pay", "Register a payment", refusal, payData{
		Invoice: invoice, Due: due, Form: form, Means: means(req), Less: append(differences(req), writtenOff(req)),
		ByHand: s.ownCode(req, invoice),
		Renews: invoice.Generated && req.Actor.Company.Settings.RenewOnPayment, Back: back, Today: req.today.String(), Open: refusal != nil,
	})
}

// inWords says of money that is less than was to pay what the form asks, where the
// API names the values of a field.
func inWords(refusal error) error {
	if len(fault.FieldsOf(refusal).Get("difference")) == 0 {
		return refusal
	}
	return fault.Field("difference", "less came than is to pay: choose whether the rest is still to come or is a discount")
}

// ownCode reports whether the last charge of an invoice is a code of the
// company's own key: only a person reports its payment.
func (s *Server) ownCode(req *request, invoice billing.Invoice) bool {
	if !req.Actor.May(payments) {
		return false
	}
	attempts := readOf(req, s.Payments.Attempts, invoice.ID)
	return len(attempts) > 0 && attempts[0].Manual
}

// registerPayment records money that a person reports. With the id that a bank
// gave it, it is known again when it is reported twice.
func (s *Server) registerPayment(req *request) error {
	back, actor := req.back(invoicePath(req.id)), req.batch()
	var out billing.Outcome
	var err error
	if req.PostFormValue("payment_id") != "" && req.Actor.May(payments) {
		out, err = s.Payments.ConfirmByHand(req.Context(), actor, payment.ReadConfirmation(req.form("amount"), req.id))
	} else {
		req.PostForm.Del("payment_id")
		req.PostForm.Set("status", billing.Paid.String())
		out, err = s.Billing.SetStatus(req.Context(), actor, req.id, billing.ReadStatusChange(req.form("amount")))
	}
	if refused(err) {
		return s.refusePayment(req, err, back)
	}
	if err != nil {
		return err
	}
	return req.doneUndo(actor.Batch, back, paidText(out), out.Customer.Name)
}

// refusePayment shows the form again, with what is wrong.
func (s *Server) refusePayment(req *request, refusal error, back string) error {
	return s.showPay(req, readOf(req, s.Billing.Find, req.id), refusal, back)
}

func paidText(out billing.Outcome) string {
	switch {
	case out.Renewed:
		return "%s: the invoice is paid, and the customer renewed."
	case out.Status == billing.Open:
		return "%s: a part was received; the invoice is still open."
	}
	return "%s: the invoice is paid."
}

// receiptData is what a paid invoice looks like on paper.
type receiptData struct {
	Invoice    billing.Invoice
	Customer   customer.Customer
	TaxID, Via string
	Due        billing.Payable

	CompanyTaxID string
	Slip         slip // how it is paid, while it is open
}

// receipt shows an invoice as it is on paper: a receipt once it is paid.
func (s *Server) receipt(req *request, invoice billing.Invoice) error {
	record := readOf(req, s.Customers.Find, invoice.Customer.ID)
	title := either(invoice.Status == billing.Paid, "Receipt", "Invoice")
	return s.show(req, page.View{Name: "receipt", Title: title, Data: receiptData{
		Invoice: invoice, Customer: record, TaxID: taxid.Format(record.CpfCnpj), Via: s.through(req, invoice.PaidVia),
		Due: invoice.PayableOn(req.Actor.Company, req.today), CompanyTaxID: taxid.Format(req.Actor.Company.CpfCnpj),
		Slip: s.slip(req, invoice, record),
	}})
}
