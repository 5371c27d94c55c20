package panel

import (
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

func (s *Server) invoices(q *request) error {
	in := q.query()
	p, f := in.Page(), billing.ReadFilter(in)
	d := invoicesData{Form: queryForm(q), Today: q.today}
	if err := in.Err(); err != nil {
		d.Form.Fail(err)
		f = billing.Filter{}
	}
	if f.CustomerID != 0 {
		c, err := s.Customers.Find(q.Context(), q.Actor, f.CustomerID)
		if err != nil {
			return err
		}
		d.Of = &c
	}
	list, total, err := s.Billing.List(q.Context(), q.Actor, f, p)
	if err != nil {
		return err
	}
	d.List, d.Pager, d.Filtered = list, page.NewPager(q.URL, p, total), f != (billing.Filter{})
	d.Statuses = []page.Option{{Value: "", Label: q.lang.T("All")}}
	for _, status := range billing.Statuses {
		d.Statuses = append(d.Statuses, page.Option{Value: status.String(), Label: word(q.lang, status.String())})
	}
	return s.show(q, page.View{Name: "invoices", Title: "Invoices", Data: d})
}

type invoiceData struct {
	Invoice  billing.Invoice
	Customer customer.Customer
	Form     *page.Form
	Overdue  bool
	CanUndo  bool // it was paid by hand
	Via      string
	Renews   bool // the company renews on payment
	Today    civil.Date
	billed
}

func (s *Server) invoice(q *request) error { return s.invoicePage(q, page.NewForm(), nil) }

func (s *Server) invoicePage(q *request, form *page.Form, refusal error) error {
	i, err := s.Billing.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	c, err := s.Customers.Find(q.Context(), q.Actor, i.Customer.ID)
	if err != nil {
		return err
	}
	paying, err := s.billed(q, i, c)
	if err != nil {
		return err
	}
	return s.show(q, page.View{Name: "invoice", Title: "Invoice", Status: statusOf(refusal), Data: invoiceData{
		Invoice: i, Customer: c, Form: form, Overdue: i.Overdue(q.today), Via: s.through(q, i.PaidVia), Today: q.today, billed: paying,
		CanUndo: i.Status == billing.Paid && i.PaidVia == billing.Manual, Renews: q.Actor.Company.Settings.RenewOnPayment,
	}})
}

func (s *Server) setInvoiceStatus(q *request) error {
	path := q.back("/invoices/" + strconv.FormatInt(q.id, 10))
	out, err := s.Billing.SetStatus(q.Context(), q.Actor, q.id, billing.ReadStatusChange(q.form()))
	if refused(err) {
		return s.invoicePage(q, page.Sent(q.Request, err), err)
	}
	switch {
	case err != nil:
		return err
	case out.Renewed:
		return q.done(path, "The invoice is paid, and the customer renewed.")
	case out.MovedBack:
		return q.done(path, "The payment was undone, and the due date moved back.")
	}
	return q.done(path, statusSaid[out.Status])
}

var statusSaid = map[billing.Status]string{
	billing.Paid: "The invoice is paid.", billing.Open: "The invoice is open again.", billing.Cancelled: "The invoice is cancelled.",
}

type invoiceForm struct {
	Form     *page.Form
	Customer customer.Customer
}

func (s *Server) newInvoice(q *request) error {
	c, err := s.Customers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	amount := ""
	if c.Plan.Value > 0 {
		amount = c.Plan.Value.BR()[len("R$ "):]
	}
	return s.show(q, page.View{Name: "invoice_form", Title: "Extra invoice", Data: invoiceForm{page.NewForm("amount", amount, "due", q.today.String()), c}})
}

func (s *Server) createInvoice(q *request) error {
	i, err := s.Billing.CreateExtra(q.Context(), q.Actor, q.id, billing.ReadExtra(q.form("amount")))
	if refused(err) {
		c, failed := s.Customers.Find(q.Context(), q.Actor, q.id)
		if failed != nil {
			return failed
		}
		return s.show(q, page.View{Name: "invoice_form", Title: "Extra invoice", Status: statusOf(err), Data: invoiceForm{page.Sent(q.Request, err), c}})
	}
	if err != nil {
		return err
	}
	return q.done("/invoices/"+strconv.FormatInt(i.ID, 10), "The invoice was made.")
}
