package api

import (
	"context"
	"math"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/web"
)

func (s *Server) listCustomers(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	p, f := q.Page(), customer.ReadFilter(q)
	limit, _ := q.Int("invoices_limit", 0, math.MaxInt32).Get()
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Customers.List(ctx, c.actor, f, p)
	if err != nil || !q.Sent("invoices_limit") {
		return page(c, p, total, web.List(list, c.writeCustomer)), err
	}
	ids := idsOf(list, func(r *customer.Customer) int64 { return r.ID })
	invoices, err := s.Billing.Latest(ctx, c.actor, ids, limit)
	return page(c, p, total, web.List(list, c.withInvoices(invoices))), err
}

func (s *Server) createCustomer(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	made, err := s.Customers.Create(ctx, c.actor, customer.ReadNew(form))
	return c.customer(made), err
}

func (s *Server) readCustomer(ctx context.Context, c *call) (web.Answer, error) {
	found, err := s.Customers.Find(ctx, c.actor, c.id)
	return c.customer(found), err
}

func (s *Server) updateCustomer(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	changed, err := s.Customers.Update(ctx, c.actor, c.id, customer.ReadChanges(form))
	return c.customer(changed), err
}

func (s *Server) deleteCustomer(ctx context.Context, c *call) (web.Answer, error) {
	err := s.Customers.Delete(ctx, c.actor, c.id)
	return deleted(c.id, "customer"), err
}

func deleted(id int64, what string) web.Answer {
	return web.Answer{Message: what + " deleted", Data: web.JSON(struct {
		ID      int64 `json:"id"`
		Deleted bool  `json:"deleted"`
	}{id, true})}
}

func (s *Server) renewCustomer(ctx context.Context, c *call) (web.Answer, error) {
	if err := c.noBody(); err != nil {
		return web.Answer{}, err
	}
	q := c.query()
	invoice := q.Choice("invoice", "keep", "paid", "cancelled")
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	r, err := s.Billing.Renew(ctx, c.actor, c.id, billing.RenewalByHand{Periods: 1, Invoice: account.RenewInvoice(invoice.Value)})
	return web.Answer{Data: web.One(func(o *web.Object) {
		c.writeCustomer(o, &r.Customer)
		o.Date("previous_due_date", r.Previous)
	})}, err
}

func (c *call) customer(record customer.Customer) web.Answer {
	return web.Answer{Data: web.One(func(o *web.Object) { c.writeCustomer(o, &record) })}
}

// writeCustomer writes the fields of a customer's record.
func (c *call) writeCustomer(o *web.Object, r *customer.Customer) {
	zone := c.actor.Company.Zone
	o.Int("id", r.ID)
	o.String("uuid", r.UUID)
	o.String("name", r.Name)
	o.Text("whatsapp", r.Whatsapp)
	o.Text("email", r.Email)
	o.Text("usuario", r.Usuario)
	o.Date("data_de_vencimento", r.DueOn)
	o.String("status", string(r.Status(c.today)))
	writePlanRef(o, "plan", r.Plan)
	writeRef(o, "product", r.Product.ID, r.Product.Name)
	o.Text("notes", r.Notes)
	o.Text("external_id", r.ExternalID)
	o.Text("cpf_cnpj", r.CpfCnpj)
	writeAddress(o, "address", &r.Address)
	if r.OwnPrice.Own {
		o.Money("price", r.OwnPrice.Amount)
	} else {
		o.Null("price")
	}
	writeCustom(o, "custom", r.Custom)
	o.Time("cancelled_at", r.CancelledAt, zone)
	o.Text("cancel_reason", r.CancelReason)
	o.Time("created_at", r.CreatedAt, r.CreatedZone())
	o.Time("updated_at", r.UpdatedAt, zone)
}

// writeAddress writes the parts of an address; null when there is none.
func writeAddress(o *web.Object, name string, a *address.Address) {
	if a.IsZero() {
		o.Null(name)
		return
	}
	o.Object(name, func(o *web.Object) {
		o.Text("cep", a.CEP)
		o.Text("street", a.Street)
		o.Text("number", a.Number)
		o.Text("complement", a.Complement)
		o.Text("district", a.District)
		o.Text("city", a.City)
		o.Text("state", a.State)
	})
}

// writeCustom hands the company's own fields through as they are stored.
func writeCustom(o *web.Object, name string, c customer.Custom) {
	if c == "" {
		o.Null(name)
		return
	}
	o.Data(name, func(b []byte) []byte { return append(b, c...) })
}

// writePlanRef writes the plan of a customer or an invoice; null when it has
// none.
func writePlanRef(o *web.Object, name string, p customer.Plan) {
	if p.ID == 0 {
		o.Null(name)
		return
	}
	o.Object(name, func(o *web.Object) {
		o.Int("id", p.ID)
		o.String("name", p.Name)
		o.Money("value", p.Value)
	})
}

// writeRef writes which record of another kind this one names; null when it
// names none.
func writeRef(o *web.Object, field string, id int64, name string) {
	if id == 0 {
		o.Null(field)
		return
	}
	o.Object(field, func(o *web.Object) {
		o.Int("id", id)
		o.String("name", name)
	})
}
