package api

import (
	"context"
	"math"

	"carteira/internal/customer"
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
		return page(c, p, total, web.List(list, c.appendCustomer)), err
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
	r, err := s.Customers.Renew(ctx, c.actor, c.id)
	return web.Answer{Data: func(b []byte) []byte {
		b = c.appendCustomer(b, &r.Customer)
		b = append(b[:len(b)-1], `,"previous_due_date":`...)
		return append(web.AppendDate(b, r.Previous), '}')
	}}, err
}

func (c *call) customer(record customer.Customer) web.Answer {
	return web.Answer{Data: func(b []byte) []byte { return c.appendCustomer(b, &record) }}
}

// appendCustomer writes a customer's record.
func (c *call) appendCustomer(b []byte, r *customer.Customer) []byte {
	zone := c.actor.Company.Zone
	b = web.AppendInt(append(b, `{"id":`...), r.ID)
	b = web.AppendString(append(b, `,"uuid":`...), r.UUID)
	b = web.AppendString(append(b, `,"name":`...), r.Name)
	b = web.AppendText(append(b, `,"whatsapp":`...), r.Whatsapp)
	b = web.AppendText(append(b, `,"email":`...), r.Email)
	b = web.AppendText(append(b, `,"usuario":`...), r.Usuario)
	b = web.AppendDate(append(b, `,"data_de_vencimento":`...), r.DueOn)
	b = web.AppendString(append(b, `,"status":`...), string(r.Status(c.today)))
	b = appendPlanRef(append(b, `,"plan":`...), r.Plan)
	b = appendRef(append(b, `,"product":`...), r.Product.ID, r.Product.Name)
	b = web.AppendText(append(b, `,"notes":`...), r.Notes)
	b = web.AppendText(append(b, `,"external_id":`...), r.ExternalID)
	b = web.AppendTime(append(b, `,"created_at":`...), r.CreatedAt, zone)
	b = web.AppendTime(append(b, `,"updated_at":`...), r.UpdatedAt, zone)
	return append(b, '}')
}

func appendPlanRef(b []byte, p customer.Plan) []byte {
	if p.ID == 0 {
		return append(b, "null"...)
	}
	b = web.AppendInt(append(b, `{"id":`...), p.ID)
	b = web.AppendString(append(b, `,"name":`...), p.Name)
	b = p.Value.Append(append(b, `,"value":"`...))
	return append(b, `"}`...)
}

func appendRef(b []byte, id int64, name string) []byte {
	if id == 0 {
		return append(b, "null"...)
	}
	b = web.AppendInt(append(b, `{"id":`...), id)
	b = web.AppendString(append(b, `,"name":`...), name)
	return append(b, '}')
}
