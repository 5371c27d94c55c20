package api

import (
	"context"

	"carteira/internal/billing"
	"carteira/internal/web"
)

func (s *Server) listPayments(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	p, f := q.Page(), billing.ReadPaymentFilter(q)
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Billing.Payments(ctx, c.actor, f, p)
	return page(c, p, total, web.List(list, c.writePayment)), err
}

func (s *Server) readPayment(ctx context.Context, c *call) (web.Answer, error) {
	found, err := s.Billing.FindPayment(ctx, c.actor, c.id)
	return c.payment(found), err
}

func (s *Server) refundPayment(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	refunded, err := s.Billing.RefundPayment(ctx, c.actor, c.id, billing.ReadRefund(form))
	return c.payment(refunded), err
}

func (c *call) payment(record billing.PaymentRecord) web.Answer {
	return web.Answer{Data: web.One(func(o *web.Object) { c.writePayment(o, &record) })}
}

// writePayment writes the fields of a payment's record. The invoice is null, and
// the customer has no uuid, where they were deleted.
func (c *call) writePayment(o *web.Object, p *billing.PaymentRecord) {
	zone := c.actor.Company.Zone
	o.Int("id", p.ID)
	o.Money("amount", p.Amount)
	o.Money("refunded_amount", p.Refunded)
	o.Time("paid_at", p.PaidAt, zone)
	o.Time("received_at", p.ReceivedAt, zone)
	o.String("paid_via", p.Via)
	o.String("status", string(p.Status))
	o.Text("note", p.Note)
	if p.InvoiceStatus == "" {
		o.Null("invoice")
	} else {
		o.Object("invoice", func(o *web.Object) {
			o.Int("id", p.InvoiceID)
			o.String("status", p.InvoiceStatus.String())
			o.Money("total_amount", p.InvoiceAmount)
		})
	}
	o.Object("customer", func(o *web.Object) {
		o.Int("id", p.CustomerID)
		o.Text("uuid", p.CustomerUUID)
		o.String("name", p.CustomerName)
	})
}
