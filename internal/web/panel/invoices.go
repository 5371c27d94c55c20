package panel

import (
	"slices"
	"strconv"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/web/page"
)

type invoicesData struct {
	Form     *page.Form
	List     []billing.Invoice
	Pager    page.Pager
	Statuses []page.Option
	Filtered bool
	Today    civil.Date
	Of       *customer.Customer // whose invoices they are, when filtered so
}

func (s *Server) invoices(req *request) error {
	in := req.query()
	p, f := in.Page(), billing.ReadFilter(in)
	d := invoicesData{Form: queryForm(req), Today: req.today}
	if err := in.Err(); err != nil {
		d.Form.Fail(err)
		f = billing.Filter{}
	}
	if f.CustomerID != 0 {
		c, err := s.Customers.Find(req.Context(), req.Actor, f.CustomerID)
		if err != nil {
			return err
		}
		d.Of = &c
	}
	list, total, err := s.Billing.List(req.Context(), req.Actor, f, p)
	if err != nil {
		return err
	}
	d.List, d.Pager, d.Filtered = list, page.NewPager(req.URL, p, total), f != (billing.Filter{})
	d.Statuses = []page.Option{{Value: "", Label: req.lang.T("All")}}
	for _, status := range billing.Statuses {
		d.Statuses = append(d.Statuses, page.Option{Value: status.String(), Label: word(req.lang, status.String())})
	}
	return s.show(req, page.View{Name: "invoices", Title: "Invoices", Data: d})
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
	billed
}

func (s *Server) invoice(req *request) error { return s.invoicePage(req, page.NewForm(), nil) }

func (s *Server) invoicePage(req *request, form *page.Form, refusal error) error {
	i, err := s.Billing.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	c, err := s.Customers.Find(req.Context(), req.Actor, i.Customer.ID)
	if err != nil {
		return err
	}
	paying, err := s.billed(req, i, c)
	if err != nil {
		return err
	}
	return s.show(req, page.View{Name: "invoice", Title: "Invoice", Status: statusOf(refusal), Data: invoiceData{
		Invoice: i, Due: i.PayableOn(req.Actor.Company, req.today), Customer: c, Form: form, Overdue: i.Overdue(req.today),
		Via: s.through(req, i.PaidVia), Today: req.today, billed: paying,
		Means: means(req), Less: differences(req), Again: reissuable(i, c),
		CanUndo: i.Status == billing.Paid && !i.Superseded && slices.Contains(billing.HandMeans, i.PaidVia),
		Renews:  req.Actor.Company.Settings.RenewOnPayment,
	}})
}

func (s *Server) setInvoiceStatus(req *request) error {
	path := req.back("/invoices/" + strconv.FormatInt(req.id, 10))
	out, err := s.Billing.SetStatus(req.Context(), req.Actor, req.id, billing.ReadStatusChange(req.form("amount")))
	if refused(err) {
		return s.invoicePage(req, page.Sent(req.Request, err), err)
	}
	switch {
	case err != nil:
		return err
	case out.Renewed:
		return req.done(path, "The invoice is paid, and the customer renewed.")
	case out.MovedBack:
		return req.done(path, "The payment was undone, and the due date moved back.")
	}
	if out.Status == billing.Open && out.Received > 0 {
		return req.done(path, "A part was received; the invoice is still open.")
	}
	return req.done(path, statusSaid[out.Status])
}

var statusSaid = map[billing.Status]string{
	billing.Paid: "The invoice is paid.", billing.Open: "The invoice is open again.", billing.Cancelled: "The invoice is cancelled.",
}

type invoiceForm struct {
	Form     *page.Form
	Customer customer.Customer
}

func (s *Server) newInvoice(req *request) error {
	c, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	amount := ""
	if c.Price() > 0 {
		amount = c.Price().BR()[len("R$ "):]
	}
	return s.show(req, page.View{
		Name: "invoice_form", Title: "Extra invoice",
		Data: invoiceForm{page.NewForm("amount", amount, "due", req.today.String()), c},
	})
}

func (s *Server) createInvoice(req *request) error {
	i, err := s.Billing.CreateExtra(req.Context(), req.Actor, req.id, billing.ReadExtra(req.form("amount")))
	if refused(err) {
		c, failed := s.Customers.Find(req.Context(), req.Actor, req.id)
		if failed != nil {
			return failed
		}
		return s.show(req, page.View{
			Name: "invoice_form", Title: "Extra invoice", Status: statusOf(err),
			Data: invoiceForm{page.Sent(req.Request, err), c},
		})
	}
	if err != nil {
		return err
	}
	return req.done("/invoices/"+strconv.FormatInt(i.ID, 10), "The invoice was made.")
}
