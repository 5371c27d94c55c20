package panel

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
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

// customersOf reads the customers of picks, as long as they are not too many.
func (s *Server) customersOf(req *kit.Request, chosen kit.Picks, limit int) ([]customer.Customer, error) {
	return kit.Picked(req, chosen, limit, readCustomers, s.Customers.Find, s.Customers.Walk)
}

// limitOf is how many records an action may be for.
func limitOf(action string) int {
	if action == "remind" {
		return reminder.MaxRound
	}
	return kit.MaxPicked
}

// roundPage is what will happen when a reminder is sent to many.
type roundPage struct {
	kit.BulkPage
	Round roundPlan
}

type roundPlan struct {
	Plan                reminder.RoundPlan
	Channels, Templates []page.Option
	Quiet               string // when the quiet hours end, if it is one now
	NoChannel, Owner    bool
}

// remindMany sends a reminder to the chosen customers, through a connected
// channel: it first shows who will get it, and then its progress.
func (s *Server) remindMany(req *kit.Request, path string) error {
	back := req.Back(path)
	chosen, err := kit.ReadPicks(req)
	if err != nil {
		return req.Complain(back, err)
	}
	if !req.Sends() {
		return req.Complain(back, fault.Forbidden("messages are not in your plan"))
	}
	draft, err := s.roundDraft(req, path, chosen)
	if err != nil {
		return req.Complain(back, err)
	}
	view := &roundPage{BulkPage: kit.BulkPage{Picks: chosen, Action: "remind", Path: path, Back: back}}
	view.Round.Owner = kit.Allows(req.User.Role, owner)
	if s.roundChoices(req, view, &draft); req.Failed != nil {
		return req.Failed
	}
	if view.Round.NoChannel && req.Actor.May(payments) {
		return req.GoOn(queuePath(path, chosen))
	}
	if view.Round.NoChannel {
		return s.showRound(req, view)
	}
	if view.Round.Plan, err = s.Reminders.PlanRound(req.Context(), req.Actor, draft); err != nil {
		return req.Complain(back, err)
	}
	reached := view.Round.Plan.Reached
	if req.PostFormValue("sure") == "" || req.PostFormValue("agreed") != strconv.Itoa(reached) {
		return s.showRound(req, view)
	}
	round, err := s.Reminders.SendRound(req.Context(), req.Actor, draft)
	if err != nil {
		return req.Complain(back, err)
	}
	return req.GoOn("/messages/rounds/" + kit.IDText(round.ID) + "?back=" + url.QueryEscape(back))
}

// roundDraft is the reminder with its customers.
func (s *Server) roundDraft(req *kit.Request, path string, chosen kit.Picks) (draft reminder.RoundDraft, err error) {
	draft.TemplateID, _ = strconv.ParseInt(req.PostFormValue("template_id"), 10, 64)
	if id, err := strconv.ParseInt(req.PostFormValue("channel"), 10, 64); err == nil {
		draft.Channels = []int64{id}
	}
	if path == "/invoices" {
		list, err := s.invoicesOf(req, chosen, limitOf("remind"))
		for _, invoice := range list {
			draft.Invoices = append(draft.Invoices, invoice.ID)
		}
		return draft, err
	}
	list, err := s.customersOf(req, chosen, limitOf("remind"))
	for _, record := range list {
		draft.Customers = append(draft.Customers, record.ID)
	}
	return draft, err
}

// roundChoices offers channels and words, and chooses where nothing was chosen.
func (s *Server) roundChoices(req *kit.Request, view *roundPage, draft *reminder.RoundDraft) {
	basis := s.messageBasis(req)
	active := slices.DeleteFunc(basis.channels, func(channel reminder.Channel) bool { return !channel.Active })
	if len(active) > 0 && len(draft.Channels) == 0 {
		draft.Channels = []int64{active[0].ID}
	}
	view.Round.Channels = kit.NamedOptions(active, channelName)
	view.Round.Templates = kit.NamedOptions(basis.templates, templateName, req.Option("0", "The usual words"))
	view.Round.NoChannel = len(active) == 0
	if draft.Link = s.canPayByLink(req); view.Round.NoChannel {
		return
	}
	view.Form = page.NewForm("channel", kit.IDText(draft.Channels[0]), "template_id", strconv.FormatInt(draft.TemplateID, 10))
	settings, now := kit.Read(req, s.Reminders.Settings), s.DB.Now().In(req.Actor.Company.Zone)
	if settings.Quiet.Covers(now.Hour()*60 + now.Minute()) {
		view.Round.Quiet = settings.Quiet.String()
	}
}

// canPayByLink reports whether a payment page would have something to offer.
func (s *Server) canPayByLink(req *kit.Request) (found bool) {
	if req.Actor.May(payments) {
		_, found = s.gateway(req)
	}
	return found
}

func (s *Server) showRound(req *kit.Request, view *roundPage) error {
	plan := view.Round.Plan
	view.Count = plan.Reached
	view.Title, view.Button = req.Lang.T("Send a reminder to %d customers?", view.Count), req.Lang.T("Send %d reminders now", view.Count)
	if view.Form == nil {
		view.Form = page.NewForm()
	}
	if view.Count > 0 {
		view.Fact(req.Lang, "Open in total", plan.Amount.BR())
	}
	for _, out := range plan.LeftOut {
		view.Facts = append(view.Facts, kit.Fact{Label: req.Lang.T("Left out: %d", out.Count), Value: reasons(req.Lang, out.Reason)})
	}
	if req.PostFormValue("sure") != "" {
		view.Form.Fail(fault.New(fault.KindConflict, "the list changed meanwhile; look at it again"))
	}
	return req.Show("bulk", view.Title, view)
}

// invoiceWork plans an action over invoices.
func (s *Server) invoiceWork(req *kit.Request, action string, chosen kit.Picks) (*kit.Work, error) {
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

func (s *Server) payWork(req *kit.Request, list []billing.Invoice) *kit.Work {
	job := &kit.Work{
		Title: "Mark %d invoices as paid?", Button: "Mark %d invoices as paid", Said: "Invoices paid: %d.", Amount: "You received",
	}
	job.Page.Form = page.NewForm("paid_at", req.Today.String(), "paid_via", "pix")
	job.Page.Choices = means(req)
	form := map[string]string{"status": billing.Paid.String()}
	for _, name := range []string{"paid_at", "paid_via", "note"} {
		if value := req.PostFormValue(name); value != "" {
			form[name] = value
		}
	}
	renews := 0
	for _, invoice := range list {
		item := s.invoiceItem(req, invoice, form)
		if item.Refusal == "" && invoice.Generated {
			renews++
		}
		job.List = append(job.List, item)
	}
	if req.Actor.Company.Settings.RenewOnPayment {
		job.Page.Fact(req.Lang, "Customers who are renewed", req.Lang.T("up to %d", renews))
	}
	return job
}

func (s *Server) withdrawWork(req *kit.Request, list []billing.Invoice) *kit.Work {
	job := &kit.Work{
		Title: "Cancel %d invoices?", Button: "Cancel %d invoices", Said: "Invoices cancelled: %d.", Danger: true,
		Amount: "No longer owed",
	}
	form := map[string]string{"status": billing.Cancelled.String()}
	for _, invoice := range list {
		item := s.invoiceItem(req, invoice, form)
		if item.Refusal == "" && invoice.Received > 0 {
			item.Refusal = "money came for it: cancel it on its own page"
		}
		job.List = append(job.List, item)
	}
	job.Page.Effect(req.Lang, "They are no longer owed. Each can be opened again.")
	return job
}

// invoiceItem changes the status of one invoice that is open.
func (s *Server) invoiceItem(req *kit.Request, invoice billing.Invoice, form map[string]string) kit.Item {
	due := invoice.PayableOn(req.Actor.Company, req.Today)
	item := kit.Item{
		Amount: due.Rest,
		Row:    kit.BulkRow{Name: invoice.Customer.Name, Before: page.FormatDate(invoice.DueOn), Amount: due.Rest.BR()},
	}
	if invoice.Status != billing.Open {
		item.Refusal = "is not open any more"
	}
	item.Act = func(ctx context.Context, actor account.Actor) error {
		_, err := s.Billing.SetStatus(ctx, actor, invoice.ID, billing.ReadStatusChange(input.FromStrings(form)))
		return err
	}
	return item
}
