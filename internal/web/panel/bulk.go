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
	"carteira/internal/web/panel/kit"
)

// bulk is what is done with many records of a list: a reminder is sent to their
// customers, or plan says what each is changed to.
func (s *Server) bulk(path string, plan kit.Planner) kit.Handler {
	return func(req *kit.Request) error {
		if req.PostFormValue("action") == "remind" {
			return s.remindMany(req, path)
		}
		return s.CarryOut(req, path, plan)
	}
}

// customerWork plans an action over customers.
func (s *Server) customerWork(req *kit.Request, action string, chosen kit.Picks) (*kit.Work, error) {
	list, err := s.customersOf(req, chosen, limitOf(action))
	if err != nil {
		return nil, err
	}
	switch action {
	case "renew":
		return s.renewWork(req, list), nil
	case "plan":
		return s.planWork(req, list), req.Failed
	case "cancel":
		return s.cancelWork(req, list), nil
	case "delete":
		return s.deleteWork(req, list), nil
	}
	return nil, fault.NotFound("page")
}

// customerItems are customers, each with what is done with it.
func customerItems(list []customer.Customer, act func(context.Context, account.Actor, int64) error) []kit.Item {
	items := make([]kit.Item, len(list))
	for n, record := range list {
		items[n] = kit.Item{
			Amount: record.Price(), Row: kit.BulkRow{Name: record.Name, Before: page.FormatDate(record.DueOn), Amount: record.Price().BR()},
			Act: func(ctx context.Context, actor account.Actor) error { return act(ctx, actor, record.ID) },
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

func (s *Server) renewWork(req *kit.Request, list []customer.Customer) *kit.Work {
	job := &kit.Work{
		Title: "Renew %d customers?", Button: "Renew %d customers", Said: "Customers renewed: %d.", Amount: "Together",
	}
	hand := billing.ReadRenewal(req.Input())
	job.Page.Form = page.NewForm("invoice", string(req.Actor.Company.Settings.RenewInvoice))
	job.Page.Choices = kit.RenewChoices(req)
	var first, last civil.Date
	job.List = customerItems(list, func(ctx context.Context, actor account.Actor, id int64) error {
		_, err := s.Billing.Renew(ctx, actor, id, hand)
		return err
	})
	for n, record := range list {
		renewal, err := renewalOf(req, record)
		if err != nil {
			job.List[n].Refusal = kit.ReasonOf(err)
			continue
		}
		job.List[n].Row.After = page.FormatDate(renewal.DueOn)
		first, last = span(first, last, renewal.DueOn)
	}
	if !first.IsZero() {
		job.Page.Fact(req.Lang, "New due dates", req.Lang.T("from %s to %s", page.FormatDate(first), page.FormatDate(last)))
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
func renewalOf(req *kit.Request, record customer.Customer) (customer.Renewal, error) {
	if err := customer.CanRenew(record); err != nil {
		return customer.Renewal{}, err
	}
	return customer.PrepareExtension(req.Actor, record, customer.Extension{Period: record.Period(), On: req.Today})
}

func (s *Server) planWork(req *kit.Request, list []customer.Customer) *kit.Work {
	job := &kit.Work{Title: "Change the plan of %d customers?", Button: "Change %d customers", Said: "Customers moved to the plan: %d."}
	plans, _ := s.Choices(req, false)
	job.Page.Plans = plans[1:] // none is no plan to move to
	chosen := req.PostFormValue("bulk_plan_id")
	job.Page.Form = page.NewForm("bulk_plan_id", chosen)
	draft := customer.ReadChanges(input.FromStrings(map[string]string{"plan_id": chosen}))
	job.List = customerItems(list, s.updateTo(draft))
	for n, record := range list {
		job.List[n].Row.Before = record.Plan.Name
	}
	job.Page.Effect(req.Lang, "The due dates stay as they are.", "Open invoices take the price of the new plan, unless somebody edited them.")
	return job
}

func (s *Server) cancelWork(req *kit.Request, list []customer.Customer) *kit.Work {
	job := &kit.Work{
		Title: "Cancel %d customers?", Button: "Cancel %d customers", Said: "Customers cancelled: %d.", Danger: true,
		Amount: "They paid together",
	}
	draft := customer.ReadChanges(input.FromStrings(map[string]string{
		"cancelled": "true", "cancel_reason": req.PostFormValue("cancel_reason"),
		"keep_invoices": kit.BoolText(req.PostFormValue("forgive") != "true"),
	}))
	job.List = customerItems(list, s.updateTo(draft))
	for n, record := range list {
		if record.IsCancelled() {
			job.List[n].Refusal = "the customer is cancelled"
		}
	}
	job.Page.Effect(req.Lang,
		"No invoices and no messages from now on. What was paid stays in the numbers, and the customer can be reactivated.")
	return job
}

func (s *Server) deleteWork(req *kit.Request, list []customer.Customer) *kit.Work {
	job := &kit.Work{Title: "Delete %d customers?", Button: "Delete %d customers", Said: "Customers deleted: %d.", Danger: true, Final: true}
	job.List = customerItems(list, s.Customers.Delete)
	job.Page.Effect(req.Lang, "Its invoices are deleted too. The numbers of past months stay.",
		"Messages that are scheduled for it are not sent.", "This cannot be undone.")
	return job
}
