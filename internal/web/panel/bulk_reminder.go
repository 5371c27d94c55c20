package panel

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

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

type roundData struct {
	Round                        reminder.Round
	Percent                      int64
	Back                         string
	Sent, Doubt, Failed, Skipped int64
}

// round shows how far a reminder to many is.
func (s *Server) round(req *kit.Request, round reminder.Round) error {
	data := roundData{
		Round: round, Back: page.LocalPath(req.URL.Query().Get("back")), Percent: 100,
		Sent: round.Counts[reminder.Sent], Doubt: round.Counts[reminder.Unknown],
		Failed: round.Counts[reminder.Failed], Skipped: round.Counts[reminder.Skipped],
	}
	if total := round.Total(); total > 0 {
		data.Percent = 100 * (total - round.Waiting()) / total
	}
	return req.Show("messages_round", "Reminders", data)
}

// turnOnUsual turns the usual set of rules on, in one click.
func (s *Server) turnOnUsual(req *kit.Request) error {
	draft := reminder.UsualDraft{Link: s.canPayByLink(req)}
	for _, channel := range kit.Read(req, s.Reminders.Channels) {
		if channel.Active && len(draft.Channels) < reminder.MaxChannels {
			draft.Channels = append(draft.Channels, channel.ID)
		}
	}
	if req.Failed != nil {
		return req.Failed
	}
	made, err := s.Reminders.TurnOnUsual(req.Context(), req.Actor, draft)
	return req.Did(err, "/messages", "Rules turned on: %d.", made)
}

// reachedToday is how many customers a rule for some days after the due date, or
// before it, would reach today; of one that sends receipts, how many invoices were
// paid today. Counters know it.
func (s *Server) reachedToday(req *kit.Request, rule reminder.Rule) int64 {
	first := input.Page{Number: 1, Size: 1}
	if rule.On == reminder.OnPaid {
		_, total, err := s.Billing.List(req.Context(), req.Actor, billing.Filter{
			Status: billing.Paid, PaidFrom: req.Today, PaidTo: req.Today, PlanID: rule.PlanID, ProductID: rule.ProductID,
		}, first)
		req.Note(err)
		return total
	}
	day := req.Today.AddDays(-rule.OffsetDays)
	filter := customer.Filter{
		Status: customer.DueToday, DueFrom: day, DueTo: day, PlanID: rule.PlanID, ProductID: rule.ProductID,
	}
	if rule.OffsetDays < 0 {
		filter.Status = customer.Active
	}
	if rule.OffsetDays > 0 {
		filter.Status = customer.Expired
	}
	_, total, err := s.Customers.List(req.Context(), req.Actor, filter, first)
	req.Note(err)
	return total
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
