package api

import (
	"context"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/dashboard"
	"carteira/internal/platform/input"
	"carteira/internal/web"
)

func (s *Server) listInvoices(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	return s.invoicePage(ctx, c, q, billing.ReadFilter(q))
}

func (s *Server) listInvoicesOfCustomer(ctx context.Context, c *call) (web.Answer, error) {
	if _, err := s.Customers.Find(ctx, c.actor, c.id); err != nil {
		return web.Answer{}, err
	}
	q := c.query()
	f := billing.ReadFilter(q)
	f.CustomerID = c.id
	return s.invoicePage(ctx, c, q, f)
}

func (s *Server) invoicePage(ctx context.Context, c *call, q *input.Form, f billing.Filter) (web.Answer, error) {
	p := q.Page()
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Billing.List(ctx, c.actor, f, p)
	if err != nil {
		return web.Answer{}, err
	}
	return page(c, p, total, web.List(list, c.appendInvoice)), nil
}

func (s *Server) readInvoice(ctx context.Context, c *call) (web.Answer, error) {
	i, err := s.Billing.Find(ctx, c.actor, c.id)
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, c, i, nil)
}

func (s *Server) setInvoiceStatus(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	out, err := s.Billing.SetStatus(ctx, c.actor, c.id, billing.ReadStatusChange(form))
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, c, out.Invoice, func(b []byte) []byte {
		b = web.AppendBool(append(b, `,"renewed":`...), out.Renewed)
		return web.AppendBool(append(b, `,"due_date_moved_back":`...), out.MovedBack)
	})
}

// wholeInvoice is an invoice with its customer, plan and product.
func (s *Server) wholeInvoice(ctx context.Context, c *call, i billing.Invoice, more web.Data) (web.Answer, error) {
	owner, err := s.Customers.Find(ctx, c.actor, i.Customer.ID)
	return web.Answer{Data: func(b []byte) []byte {
		b = c.appendInvoiceFields(b, &i)
		b = c.appendCustomer(append(b, `,"customer":`...), &owner)
		b = appendPlanRef(append(b, `,"plan":`...), i.Plan)
		b = appendRef(append(b, `,"product":`...), i.Product.ID, i.Product.Name)
		if more != nil {
			b = more(b)
		}
		return append(b, '}')
	}}, err
}

// appendInvoice writes an invoice's record as lists show it.
func (c *call) appendInvoice(b []byte, i *billing.Invoice) []byte {
	b = c.appendInvoiceFields(b, i)
	b = web.AppendInt(append(b, `,"customer":{"id":`...), i.Customer.ID)
	b = web.AppendString(append(b, `,"uuid":`...), i.Customer.UUID)
	b = web.AppendString(append(b, `,"name":`...), i.Customer.Name)
	return append(b, `}}`...)
}

// appendInvoiceFields leaves the object open.
func (c *call) appendInvoiceFields(b []byte, i *billing.Invoice) []byte {
	zone := c.actor.Company.Zone
	b = web.AppendInt(append(b, `{"id":`...), i.ID)
	b = web.AppendString(append(b, `,"status":`...), i.Status.String())
	b = i.Amount.Append(append(b, `,"total_amount":"`...))
	b = web.AppendText(append(b, `","description":`...), i.Description)
	b = web.AppendDate(append(b, `,"due_date":`...), i.DueOn)
	b = web.AppendBool(append(b, `,"overdue":`...), i.Overdue(c.today))
	b = web.AppendTime(append(b, `,"paid_at":`...), i.PaidAt, zone)
	b = web.AppendText(append(b, `,"paid_via":`...), i.PaidVia)
	return web.AppendTime(append(b, `,"created_at":`...), i.CreatedAt, zone)
}

// withInvoices is a customer's record with its newest invoices.
func (c *call) withInvoices(byCustomer map[int64][]billing.Invoice) func([]byte, *customer.Customer) []byte {
	return func(b []byte, r *customer.Customer) []byte {
		b = c.appendCustomer(b, r)
		b = append(b[:len(b)-1], `,"invoices":[`...)
		for n, i := range byCustomer[r.ID] {
			if n > 0 {
				b = append(b, ',')
			}
			b = append(c.appendInvoiceFields(b, &i), '}')
		}
		return append(b, `]}`...)
	}
}

func (s *Server) readDashboard(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	first := dashboard.ReadMonth(q)
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	m, err := s.Dashboard.Month(ctx, c.actor, first)
	return web.Answer{Data: web.JSON(m)}, err
}
