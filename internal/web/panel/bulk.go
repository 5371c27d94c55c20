package panel

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// bulk is what is done with many records of a list: a reminder is sent to their
// customers, or plan says what each is changed to.
func (s *Server) bulk(path string, plan planner) handler {
	return func(req *request) error {
		if req.PostFormValue("action") == "remind" {
			return s.remindMany(req, path)
		}
		return s.carryOut(req, path, plan)
	}
}

// customerWork plans an action over customers.
func (s *Server) customerWork(req *request, action string, chosen picks) (*work, error) {
	list, err := s.customersOf(req, chosen, limitOf(action))
	if err != nil {
		return nil, err
	}
	switch action {
	case "renew":
		return s.renewWork(req, list), nil
	case "plan":
		return s.planWork(req, list), req.failed
	case "cancel":
		return s.cancelWork(req, list), nil
	case "delete":
		return s.deleteWork(req, list), nil
	}
	return nil, fault.NotFound("page")
}

// customerItems are customers, each with what is done with it.
func customerItems(list []customer.Customer, act func(context.Context, account.Actor, int64) error) []one {
	items := make([]one, len(list))
	for n, record := range list {
		items[n] = one{
			amount: record.Price(), row: bulkRow{Name: record.Name, Before: page.FormatDate(record.DueOn), Amount: record.Price().BR()},
			act: func(ctx context.Context, actor account.Actor) error { return act(ctx, actor, record.ID) },
		}
	}
	return items
}

// updateTo changes a customer.
func (s *Server) updateTo(draft customer.Draft) func(context.Context, account.Actor, int64) error {
	return func(ctx context.Context, actor account.Actor, id int64) error {
		_, err := s.Customers.Update(ctx, actor, id, draft)
		return err
	}
}

func (s *Server) renewWork(req *request, list []customer.Customer) *work {
	job := &work{
		title: "Renew %d customers?", button: "Renew %d customers", said: "Customers renewed: %d.", amount: "Together",
	}
	hand := billing.ReadRenewal(req.form())
	job.page.Form = page.NewForm("invoice", string(req.Actor.Company.Settings.RenewInvoice))
	job.page.Choices = renewChoices(req)
	var first, last civil.Date
	job.list = customerItems(list, func(ctx context.Context, actor account.Actor, id int64) error {
		_, err := s.Billing.Renew(ctx, actor, id, hand)
		return err
	})
	for n, record := range list {
		renewal, err := renewalOf(req, record)
		if err != nil {
			job.list[n].refusal = reasonOf(err)
			continue
		}
		job.list[n].row.After = page.FormatDate(renewal.DueOn)
		first, last = span(first, last, renewal.DueOn)
	}
	if !first.IsZero() {
		job.page.fact(req.lang, "New due dates", req.lang.T("from %s to %s", page.FormatDate(first), page.FormatDate(last)))
	}
	return job
}

func span(first, last, day civil.Date) (from, to civil.Date) {
	if first.IsZero() || day.Before(first) {
		first = day
	}
	if day.After(last) {
		last = day
	}
	return first, last
}

// renewalOf is what renewing a customer would come to.
func renewalOf(req *request, record customer.Customer) (customer.Renewal, error) {
	if err := customer.CanRenew(record); err != nil {
		return customer.Renewal{}, err
	}
	return customer.PrepareExtension(req.Actor, record, customer.Extension{Period: record.Period(), On: req.today})
}

func (s *Server) planWork(req *request, list []customer.Customer) *work {
	job := &work{title: "Change the plan of %d customers?", button: "Change %d customers", said: "Customers moved to the plan: %d."}
	plans, _ := s.choices(req, false)
	job.page.Plans = plans[1:] // none is no plan to move to
	chosen := req.PostFormValue("bulk_plan_id")
	job.page.Form = page.NewForm("bulk_plan_id", chosen)
	draft := customer.ReadChanges(input.FromStrings(map[string]string{"plan_id": chosen}))
	job.list = customerItems(list, s.updateTo(draft))
	for n, record := range list {
		job.list[n].row.Before = record.Plan.Name
	}
	job.page.effect(req.lang, "The due dates stay as they are.", "Open invoices take the price of the new plan, unless somebody edited them.")
	return job
}

func (s *Server) cancelWork(req *request, list []customer.Customer) *work {
	job := &work{
		title: "Cancel %d customers?", button: "Cancel %d customers", said: "Customers cancelled: %d.", danger: true,
		amount: "They paid together",
	}
	draft := customer.ReadChanges(input.FromStrings(map[string]string{
		"cancelled": "true", "cancel_reason": req.PostFormValue("cancel_reason"),
		"keep_invoices": boolText(req.PostFormValue("forgive") != "true"),
	}))
	job.list = customerItems(list, s.updateTo(draft))
	for n, record := range list {
		if record.IsCancelled() {
			job.list[n].refusal = "the customer is cancelled"
		}
	}
	job.page.effect(req.lang,
		"No invoices and no messages from now on. What was paid stays in the numbers, and the customer can be reactivated.")
	return job
}

func (s *Server) deleteWork(req *request, list []customer.Customer) *work {
	job := &work{title: "Delete %d customers?", button: "Delete %d customers", said: "Customers deleted: %d.", danger: true, final: true}
	job.list = customerItems(list, s.Customers.Delete)
	job.page.effect(req.lang, "Its invoices are deleted too. The numbers of past months stay.",
		"Messages that are scheduled for it are not sent.", "This cannot be undone.")
	return job
}
