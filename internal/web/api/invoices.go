package api

import (
	"context"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/dashboard"
	"carteira/internal/platform/fault"
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
	return page(c, p, total, web.List(list, c.writeInvoice)), nil
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
	return s.wholeInvoice(ctx, c, out.Invoice, func(o *web.Object) {
		o.Bool("renewed", out.Renewed)
		o.Text("renewal_problem", out.RenewalProblem)
		o.Bool("due_date_moved_back", out.MovedBack)
	})
}

func (s *Server) createInvoice(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	customerID, draft := billing.ReadNewInvoice(form)
	if customerID == 0 { // every failing field is reported at once
		return web.Answer{}, draft.Problems.Err()
	}
	made, err := s.Billing.Create(ctx, c.actor, customerID, draft)
	if fault.KindOf(err) == fault.KindNotFound {
		err = fault.Field("customer_id", "does not exist")
	}
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, c, made, nil)
}

func (s *Server) editInvoice(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	changed, err := s.Billing.Edit(ctx, c.actor, c.id, billing.ReadEdit(form))
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, c, changed, nil)
}

// wholeInvoice is an invoice with its customer, plan and product.
func (s *Server) wholeInvoice(ctx context.Context, c *call, i billing.Invoice, more func(*web.Object)) (web.Answer, error) {
	owner, err := s.Customers.Find(ctx, c.actor, i.Customer.ID)
	return web.Answer{Data: web.One(func(o *web.Object) {
		c.writeInvoiceFields(o, &i)
		o.Object("customer", func(o *web.Object) { c.writeCustomer(o, &owner) })
		writeBought(o, &i)
		if more != nil {
			more(o)
		}
	})}, err
}

// writeBought writes the plan and the product that an invoice is for.
func writeBought(o *web.Object, i *billing.Invoice) {
	writePlanRef(o, "plan", i.Plan)
	writeRef(o, "product", i.Product.ID, i.Product.Name)
}

// writeInvoice writes an invoice's record as lists show it.
func (c *call) writeInvoice(o *web.Object, i *billing.Invoice) {
	c.writeInvoiceFields(o, i)
	o.Object("customer", func(o *web.Object) {
		o.Int("id", i.Customer.ID)
		o.String("uuid", i.Customer.UUID)
		o.String("name", i.Customer.Name)
	})
}

// writeInvoiceFields writes what every record of an invoice begins with.
func (c *call) writeInvoiceFields(o *web.Object, i *billing.Invoice) {
	o.Int("id", i.ID)
	o.String("status", i.Status.String())
	o.Money("total_amount", i.Amount)
	o.Text("description", i.Description)
	o.Date("due_date", i.DueOn)
	o.Bool("overdue", i.Overdue(c.today))
	o.Time("paid_at", i.PaidAt, i.PaidAt.Location())
	o.Text("paid_via", i.PaidVia)
	o.Money("amount_received", i.Received)
	due := i.PayableOn(c.actor.Company, c.today)
	o.Money("payable_amount", due.Rest)
	o.Money("late_fee", due.Fee)
	o.Money("late_interest", due.Interest)
	o.Money("discount", due.Discount)
	o.Text("period_unit", string(i.Period.Unit))
	if i.Period.Count == 0 {
		o.Null("period_count")
	} else {
		o.Int("period_count", int64(i.Period.Count))
	}
	o.Time("created_at", i.CreatedAt, i.CreatedAt.Location())
}

// withInvoices is a customer's record with its newest invoices.
func (c *call) withInvoices(byCustomer map[int64][]billing.Invoice) func(*web.Object, *customer.Customer) {
	return func(o *web.Object, r *customer.Customer) {
		c.writeCustomer(o, r)
		web.Objects(o, "invoices", byCustomer[r.ID], c.writeInvoiceFields)
	}
}

func (s *Server) readDashboard(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	question := dashboard.Read(q)
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	m, err := s.Dashboard.Month(ctx, c.actor, question)
	return web.Answer{Data: web.JSON(m)}, err
}
