package panel

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// invoiceWork plans an action over invoices.
func (s *Server) invoiceWork(req *request, action string, chosen picks) (*work, error) {
	list, err := s.invoicesOf(req, chosen, limitOf(action))
	if err != nil {
		return nil, err
	}
	switch action {
	case "pay":
		return s.payWork(req, list), nil
	case "cancel":
		return s.withdrawWork(req, list), nil
	}
	return nil, fault.NotFound("page")
}

func (s *Server) payWork(req *request, list []billing.Invoice) *work {
	job := &work{
		title: "Mark %d invoices as paid?", button: "Mark %d invoices as paid", said: "Invoices paid: %d.", amount: "You received",
	}
	job.page.Form = page.NewForm("paid_at", req.today.String(), "paid_via", billing.Manual)
	job.page.Choices = means(req)
	form := map[string]string{"status": billing.Paid.String()}
	for _, name := range []string{"paid_at", "paid_via", "note"} {
		if value := req.PostFormValue(name); value != "" {
			form[name] = value
		}
	}
	renews := 0
	for _, invoice := range list {
		item := s.invoiceItem(req, invoice, form)
		if item.refusal == "" && invoice.Generated {
			renews++
		}
		job.list = append(job.list, item)
	}
	if req.Actor.Company.Settings.RenewOnPayment {
		job.page.fact(req.lang, "Customers who are renewed", req.lang.T("up to %d", renews))
	}
	return job
}

func (s *Server) withdrawWork(req *request, list []billing.Invoice) *work {
	job := &work{
		title: "Cancel %d invoices?", button: "Cancel %d invoices", said: "Invoices cancelled: %d.", danger: true,
		amount: "No longer owed",
	}
	form := map[string]string{"status": billing.Cancelled.String()}
	for _, invoice := range list {
		job.list = append(job.list, s.invoiceItem(req, invoice, form))
	}
	job.page.effect(req.lang, "They are no longer owed. Each can be opened again.")
	return job
}

// invoiceItem changes the status of one invoice that is open.
func (s *Server) invoiceItem(req *request, invoice billing.Invoice, form map[string]string) one {
	due := invoice.PayableOn(req.Actor.Company, req.today)
	item := one{
		amount: due.Rest,
		row:    bulkRow{Name: invoice.Customer.Name, Before: page.FormatDate(invoice.DueOn), Amount: due.Rest.BR()},
	}
	if invoice.Status != billing.Open {
		item.refusal = "is not open any more"
	}
	item.act = func(ctx context.Context, actor account.Actor) error {
		_, err := s.Billing.SetStatus(ctx, actor, invoice.ID, billing.ReadStatusChange(input.FromStrings(form)))
		return err
	}
	return item
}
