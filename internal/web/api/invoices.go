package api

import (
	"context"

	"carteira/internal/billing"
	"carteira/internal/dashboard"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web"
)

func (s *Server) listInvoices(ctx context.Context, call *call) (web.Answer, error) {
	query := call.query()
	return s.invoicePage(ctx, call, query, billing.ReadQuery(query, call.actor.Company.Zone))
}

func (s *Server) listInvoicesOfCustomer(ctx context.Context, call *call) (web.Answer, error) {
	query := call.query()
	asked := billing.ReadQuery(query, call.actor.Company.Zone)
	asked.Filter.CustomerID = call.id
	return s.invoicePage(ctx, call, query, asked)
}

// invoicePage looks at the parameters before it looks for the customer, as other
// operations do: a misspelt one is named whether the record is there or not.
func (s *Server) invoicePage(ctx context.Context, call *call, query *input.Form, asked billing.Query) (web.Answer, error) {
	paging := query.Page()
	if err := query.Err(); err != nil {
		return web.Answer{}, err
	}
	if call.id != 0 {
		if _, err := s.Customers.Find(ctx, call.actor, call.id); err != nil {
			return web.Answer{}, err
		}
	}
	list, total, err := s.Billing.Sorted(ctx, call.actor, asked, paging)
	if err == nil {
		err = s.payPages(ctx, call, list)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return page(call, paging, total, web.List(list, call.writeInvoice)), nil
}

func (s *Server) readInvoice(ctx context.Context, call *call) (web.Answer, error) {
	invoice, err := s.Billing.Find(ctx, call.actor, call.id)
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, call, invoice, nil)
}

func (s *Server) setInvoiceStatus(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	out, err := s.Billing.SetStatus(ctx, call.actor, call.id, billing.ReadStatusChange(form))
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, call, out.Invoice, func(object *web.Object) {
		object.Bool("renewed", out.Renewed)
		object.Text("renewal_problem", out.RenewalProblem)
		object.Bool("due_date_moved_back", out.MovedBack)
	})
}

func (s *Server) createInvoice(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	customerID, draft := billing.ReadNewInvoice(form)
	if customerID == 0 { // every failing field is reported at once
		return web.Answer{}, draft.Problems.Err()
	}
	made, err := s.Billing.Create(ctx, call.actor, customerID, draft)
	if fault.KindOf(err) == fault.KindNotFound {
		err = fault.Field("customer_id", "does not exist")
	}
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, call, made, nil)
}

func (s *Server) editInvoice(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	changed, err := s.Billing.Edit(ctx, call.actor, call.id, billing.ReadEdit(form))
	if err != nil {
		return web.Answer{}, err
	}
	return s.wholeInvoice(ctx, call, changed, nil)
}

// wholeInvoice is an invoice with its customer, plan and product.
func (s *Server) wholeInvoice(
	ctx context.Context, call *call, invoice billing.Invoice, more func(*web.Object),
) (web.Answer, error) {
	owner, err := s.Customers.Find(ctx, call.actor, invoice.Customer.ID)
	if err == nil {
		err = s.payPages(ctx, call, []billing.Invoice{invoice})
	}
	return web.Answer{Data: web.One(func(object *web.Object) {
		call.writeInvoiceFields(object, &invoice)
		object.Object("customer", func(object *web.Object) { call.writeCustomer(object, &owner) })
		writeBought(object, &invoice)
		if more != nil {
			more(object)
		}
	})}, err
}

// payPages finds where the invoices of an answer can be paid.
func (s *Server) payPages(ctx context.Context, call *call, invoices []billing.Invoice) (err error) {
	call.payAt, err = s.Payments.PayPages(ctx, call.actor, invoices)
	return err
}

// writeBought writes the plan and the product that an invoice is for.
func writeBought(object *web.Object, invoice *billing.Invoice) {
	writePlanRef(object, "plan", invoice.Plan)
	writeRef(object, "product", invoice.Product.ID, invoice.Product.Name)
}

// writeInvoice writes an invoice's record as lists show it.
func (c *call) writeInvoice(object *web.Object, invoice *billing.Invoice) {
	c.writeInvoiceFields(object, invoice)
	object.Object("customer", func(object *web.Object) {
		object.Int("id", invoice.Customer.ID)
		object.String("uuid", invoice.Customer.UUID)
		object.String("name", invoice.Customer.Name)
	})
}

// writeInvoiceFields writes what every record of an invoice begins with.
func (c *call) writeInvoiceFields(object *web.Object, invoice *billing.Invoice) {
	object.Int("id", invoice.ID)
	object.String("status", invoice.Status.String())
	object.Money("total_amount", invoice.Amount)
	object.Text("description", invoice.Description)
	object.Date("due_date", invoice.DueOn)
	object.Bool("overdue", invoice.Overdue(c.today))
	object.Time("paid_at", invoice.PaidAt, invoice.PaidAt.Location())
	object.Text("paid_via", invoice.PaidVia)
	object.Money("amount_received", invoice.Received)
	due := invoice.PayableOn(c.actor.Company, c.today)
	object.Money("payable_amount", due.Rest)
	object.Money("late_fee", due.Fee)
	object.Money("late_interest", due.Interest)
	object.Money("discount", due.Discount)
	object.Text("period_unit", string(invoice.Period.Unit))
	if invoice.Period.Count == 0 {
		object.Null("period_count")
	} else {
		object.Int("period_count", int64(invoice.Period.Count))
	}
	object.Text("payment_link", c.payAt[invoice.ID])
	object.Time("created_at", invoice.CreatedAt, invoice.CreatedAt.Location())
	object.Time("updated_at", invoice.UpdatedAt, c.actor.Company.Zone)
}

func (s *Server) readDashboard(ctx context.Context, call *call) (web.Answer, error) {
	query := call.query()
	question := dashboard.Read(query)
	if err := query.Err(); err != nil {
		return web.Answer{}, err
	}
	month, err := s.Dashboard.Month(ctx, call.actor, question)
	return web.Answer{Data: web.JSON(month)}, err
}

func (s *Server) listPayments(ctx context.Context, call *call) (web.Answer, error) {
	payments, err := listed(ctx, call, billing.ReadPaymentFilter, s.Billing.Payments)
	if err != nil {
		return web.Answer{}, err
	}
	refunds, err := s.Billing.RefundsOf(ctx, call.actor, payments.list...)
	return payments.answer(func(object *web.Object, record *billing.PaymentRecord) {
		call.writePayment(object, record, refunds[record.ID])
	}), err
}

func (s *Server) readPayment(ctx context.Context, call *call) (web.Answer, error) {
	found, err := s.Billing.FindPayment(ctx, call.actor, call.id)
	return s.payment(ctx, call, found, err)
}

func (s *Server) refundPayment(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	refunded, err := s.Billing.RefundPayment(ctx, call.actor, call.id, billing.ReadRefund(form))
	return s.payment(ctx, call, refunded, err)
}

func (s *Server) undoPayment(ctx context.Context, call *call) (web.Answer, error) {
	if _, err := s.Billing.UndoPayment(ctx, call.actor, call.id); err != nil {
		return web.Answer{}, err
	}
	return s.readPayment(ctx, call)
}

func (s *Server) applyPayment(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	applied, err := s.Payments.DecidePayment(ctx, call.actor, payment.ReadApplication(form, call.id))
	return s.payment(ctx, call, applied, err)
}

func (s *Server) dismissPayment(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	dismissed, err := s.Payments.DecidePayment(ctx, call.actor, payment.ReadDismissal(form, call.id))
	return s.payment(ctx, call, dismissed, err)
}

// payment answers with a payment, unless there was an error.
func (s *Server) payment(ctx context.Context, call *call, record billing.PaymentRecord, err error) (web.Answer, error) {
	if err != nil {
		return web.Answer{}, err
	}
	refunds, err := s.Billing.RefundsOf(ctx, call.actor, record)
	return web.Answer{Data: web.One(func(object *web.Object) { call.writePayment(object, &record, refunds[record.ID]) })}, err
}

// writePayment writes the fields of a payment's record. The invoice is null, and
// the customer has no uuid, where they were deleted.
func (c *call) writePayment(object *web.Object, record *billing.PaymentRecord, refunds []billing.RefundRecord) {
	zone := c.actor.Company.Zone
	object.Int("id", record.ID)
	object.Money("amount", record.Amount)
	object.Money("refunded_amount", record.Refunded)
	object.Time("paid_at", record.PaidAt, record.PaidAt.Location()) // the day by which it counts, wherever the company moved
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
