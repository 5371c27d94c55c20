package api

import (
	"context"

	"carteira/internal/billing"
	"carteira/internal/web"
)

func (s *Server) listPayments(ctx context.Context, call *call) (web.Answer, error) {
	query := call.query()
	paging, filter := query.Page(), billing.ReadPaymentFilter(query)
	if err := query.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Billing.Payments(ctx, call.actor, filter, paging)
	if err != nil {
		return web.Answer{}, err
	}
	refunds, err := s.Billing.RefundsOf(ctx, call.actor, list...)
	return page(call, paging, total, web.List(list, func(object *web.Object, record *billing.PaymentRecord) {
		call.writePayment(object, record, refunds[record.ID])
	})), err
}

func (s *Server) readPayment(ctx context.Context, call *call) (web.Answer, error) {
	found, err := s.Billing.FindPayment(ctx, call.actor, call.id)
	return s.payment(ctx, call, found, err)
}

func (s *Server) refundPayment(ctx context.Context, call *call) (web.Answer, error) {
	form, err := call.form()
	if err != nil {
		return web.Answer{}, err
	}
	refunded, err := s.Billing.RefundPayment(ctx, call.actor, call.id, billing.ReadRefund(form))
	return s.payment(ctx, call, refunded, err)
}

func (s *Server) undoPayment(ctx context.Context, call *call) (web.Answer, error) {
	if err := call.noBody(); err != nil {
		return web.Answer{}, err
	}
	if _, err := s.Billing.UndoPayment(ctx, call.actor, call.id); err != nil {
		return web.Answer{}, err
	}
	return s.readPayment(ctx, call)
}

// payment answers with a payment, unless there was an error.
func (s *Server) payment(ctx context.Context, call *call, record billing.PaymentRecord, err error) (web.Answer, error) {
	if err != nil {
		return web.Answer{}, err
	}
	refunds, err := s.Billing.RefundsOf(ctx, call.actor, record)
	return web.Answer{Data: web.One(func(object *web.Object) {
		call.writePayment(object, &record, refunds[record.ID])
	})}, err
}

// writePayment writes the fields of a payment's record. The invoice is null, and
// the customer has no uuid, where they were deleted.
func (c *call) writePayment(object *web.Object, record *billing.PaymentRecord, refunds []billing.RefundRecord) {
	zone := c.actor.Company.Zone
	object.Int("id", record.ID)
	object.Money("amount", record.Amount)
	object.Money("refunded_amount", record.Refunded)
	object.Time("paid_at", record.PaidAt, zone)
	object.Time("received_at", record.ReceivedAt, zone)
	object.String("paid_via", record.Via)
	object.String("status", string(record.Status))
	object.Text("note", record.Note)
	object.Data("refunds", web.List(refunds, func(object *web.Object, refund *billing.RefundRecord) {
		object.Int("id", refund.ID)
		object.Money("amount", refund.Amount)
		object.Date("refunded_on", refund.On)
		object.Text("by", refund.By)
		object.Text("note", refund.Note)
	}))
	if record.InvoiceStatus == "" {
		object.Null("invoice")
	} else {
		object.Object("invoice", func(object *web.Object) {
			object.Int("id", record.InvoiceID)
			object.String("status", record.InvoiceStatus.String())
			object.Money("total_amount", record.InvoiceAmount)
		})
	}
	object.Object("customer", func(object *web.Object) {
		object.Int("id", record.CustomerID)
		object.Text("uuid", record.CustomerUUID)
		object.String("name", record.CustomerName)
	})
}
