package panel

import (
	"maps"
	"strconv"
	"strings"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

type rulesData struct {
	List      []ruleRow
	Channels  bool // there is one
	Templates bool
	Quiet     reminder.Quiet
	Missing   bool // the company lacks a rule of the usual set
}

type ruleRow struct {
	reminder.Rule
	Sentence string
	Template reminder.Template
	Later    string // when it is sent instead, because its hour is a quiet one
	Reach    int64  // how many customers it is for today; of receipts, how many invoices
}

// Receipts reports whether the rule sends receipts.
func (r ruleRow) Receipts() bool { return r.On == reminder.OnPaid }

func (s *Server) rules(req *kit.Request) error {
	basis, list, settings := s.messageBasis(req), kit.Read(req, s.Reminders.Rules), kit.Read(req, s.Reminders.Settings)
	data := rulesData{Channels: len(basis.channels) > 0, Templates: len(basis.templates) > 0, Quiet: settings.Quiet}
	for _, rule := range list {
		row := ruleRow{Rule: rule, Sentence: basis.sentence(req.Lang, rule), Template: basis.template(rule.TemplateID)}
		if rule.On == reminder.OnDue && settings.Quiet.Covers(rule.Minute) {
			row.Later = reminder.Clock(settings.Quiet.To)
		}
		row.Reach = s.reachedToday(req, rule)
		data.List = append(data.List, row)
	}
	data.Missing = reminder.LacksUsual(list)
	return req.Show("messages_rules", "Messages", data)
}

// messageBasis is what rules are made of.
type messageBasis struct {
	channels        []reminder.Channel
	templates       []reminder.Template
	plans, products []page.Option // the first is none in particular
}

func (s *Server) messageBasis(req *kit.Request) messageBasis {
	plans, products := s.Choices(req, true)
	return messageBasis{kit.Read(req, s.Reminders.Channels), kit.Read(req, s.Reminders.Templates), plans, products}
}

func (b messageBasis) template(id int64) (found reminder.Template) {
	for _, template := range b.templates {
		if template.ID == id {
			found = template
		}
	}
	return found
}

func (b messageBasis) channel(id int64) string {
	for _, channel := range b.channels {
		if channel.ID == id {
			return channel.Name
		}
	}
	return "?"
}

// sentence describes a rule as a person would.
func (b messageBasis) sentence(lang page.Lang, rule reminder.Rule) string {
	if rule.On == reminder.OnPaid {
		return lang.T("When an invoice is paid, through %s, for %s.", b.through(lang, rule), b.whom(lang, rule))
	}
	return lang.T("%s, at %s, through %s, for %s.",
		ruleDay(lang, rule), reminder.Clock(rule.Minute), b.through(lang, rule), b.whom(lang, rule))
}

func ruleDay(lang page.Lang, rule reminder.Rule) string {
	switch offsetDays := rule.OffsetDays; {
	case offsetDays == 0:
		return lang.T("On the due date")
	case offsetDays == -1:
		return lang.T("1 day before the due date")
	case offsetDays == 1:
		return lang.T("1 day after the due date")
	case offsetDays < 0:
		return lang.T("%d days before the due date", -offsetDays)
	default:
		return lang.T("%d days after the due date", offsetDays)
	}
}

func (b messageBasis) through(lang page.Lang, rule reminder.Rule) string {
	names := make([]string, len(rule.Channels))
	for i, id := range rule.Channels {
		names[i] = b.channel(id)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return lang.T("%s (where that fails, %s)", names[0], strings.Join(names[1:], ", "))
}

func (b messageBasis) whom(lang page.Lang, rule reminder.Rule) string {
	plan, product := optionLabel(b.plans, rule.PlanID), optionLabel(b.products, rule.ProductID)
	var who string
	switch {
	case plan != "" && product != "":
		who = lang.T("customers of the plan %s and the product %s", plan, product)
	case plan != "":
		who = lang.T("customers of the plan %s", plan)
	case product != "":
		who = lang.T("customers of the product %s", product)
	case rule.Status != "":
		who = lang.T("customers")
	default:
		return lang.T("every customer")
	}
	if rule.Status != "" {
		return lang.T("%s whose status is %s", who, kit.Word(lang, string(rule.Status)))
	}
	return who
}

// optionLabel is the name of an id, without the price that may follow it.
func optionLabel(options []page.Option, id int64) string {
	for _, option := range options {
		if id != 0 && option.Value == kit.IDText(id) {
			name, _, _ := strings.Cut(option.Label, " · ")
			return name
		}
	}
	return ""
}

// switchedOn is what a person reads of a rule that is on from now.
func switchedOn(rule reminder.Rule) string {
	return kit.Either(rule.On == reminder.OnPaid, "The rule %s is on. It sends a receipt for each invoice that is paid from now on.",
		"The rule %s is on. What it will send in the next days shows in the log in a moment.")
}

// switchRule turns a rule on or off.
func (s *Server) switchRule(req *kit.Request) error {
	rule, err := s.Reminders.UpdateRule(req.Context(), req.Actor, req.ID, reminder.RuleDraft{Active: req.ReadActive()})
	said := kit.Either(rule.Active, switchedOn(rule), "The rule %s is off. What it had scheduled is not sent.")
	return req.Did(err, "/messages", said, rule.Name)
}

func (s *Server) quietForm(req *kit.Request, form *page.Form, refusal error) error {
	if form == nil {
		settings := kit.Read(req, s.Reminders.Settings)
		form = page.NewForm("quiet_from", reminder.Clock(settings.Quiet.From), "quiet_to", reminder.Clock(settings.Quiet.To))
	}
	return req.ShowForm("messages_quiet", "Quiet hours", refusal, form)
}

func (s *Server) saveQuiet(req *kit.Request) error {
	settings, err := s.Reminders.SetSettings(req.Context(), req.Actor, reminder.ReadSettings(req.Input()))
	quiet := settings.Quiet
	if quiet.From == quiet.To {
		return req.Sent(err, s.quietForm, "/messages/quiet", "There are no quiet hours: rules send at their own hour, whatever it is.")
	}
	return req.Sent(err, s.quietForm, "/messages/quiet", "From %s to %s nothing is sent.",
		reminder.Clock(quiet.From), reminder.Clock(quiet.To))
}

type ruleForm struct {
	kit.RecordForm
	Sides, Plans, Products, Statuses, Templates []page.Option

	Turns  []channelTurn
	Errors []string // against the channels as a whole
	Reach  int64    // how many customers it would reach today; of receipts, how many invoices were paid
}

// Receipts reports whether the rule sends receipts, which have no day of their own.
func (f ruleForm) Receipts() bool { return f.Form.Value("on") == string(reminder.OnPaid) }

// channelTurn is a choice of a channel: the first, or the one to fall back on.
type channelTurn struct {
	Name    string
	Number  int
	Options []page.Option
}

func turnName(i int) string { return "channel_" + strconv.Itoa(i+1) }

func (s *Server) ruleForm(req *kit.Request, form *page.Form, refusal error) error {
	basis := s.messageBasis(req)
	if form == nil {
		form = s.ruleValues(req, basis.channels)
	}
	data := ruleForm{RecordForm: req.RecordForm("/messages/rules", form), Plans: basis.plans, Products: basis.products}
	data.Sides = req.Options("before", "before the due date", "after", "after the due date")
	statuses := []customer.Status{customer.Active, customer.DueToday, customer.Expired}
	data.Statuses = kit.WordOptions(req, statuses, nil, req.Option("", "All"))
	data.Templates = kit.NamedOptions(basis.templates, templateName)
	channels := kit.NamedOptions(basis.channels, channelName, page.Option{Label: "—"})
	for i := range min(len(basis.channels), reminder.MaxChannels) {
		data.Turns = append(data.Turns, channelTurn{Name: turnName(i), Number: i + 1, Options: channels})
	}
	data.Errors, data.Reach = form.Errors("channels"), s.reachOf(req, form)
	return req.ShowForm("messages_rule_form", data.Title("New rule", "Edit rule"), refusal, data)
}

// ruleValues is the form of a rule as it is, or of a new one.
func (s *Server) ruleValues(req *kit.Request, channels []reminder.Channel) *page.Form {
	if req.ID != 0 {
		return shownRule(kit.ReadOf(req, s.Reminders.FindRule, req.ID))
	}
	query := req.URL.Query()
	form := kit.QueryForm(req)
	if !query.Has("offset_days") && !query.Has("template_id") { // the form does not count the customers
		pairs := []string{
			"on", query.Get("on"), "offset_days", "3", "side", "before", "hour", "09:00", "active", "true",
		}
		if len(channels) > 0 {
			pairs = append(pairs, turnName(0), kit.IDText(channels[0].ID))
		}
		form = page.NewForm(pairs...)
	}
	return form
}

// reachOf is how many customers the rule of a form would reach today; none when
// the form does not say.
func (s *Server) reachOf(req *kit.Request, form *page.Form) int64 {
	rule := reminder.Rule{On: reminder.Occasion(form.Value("on"))}
	rule.PlanID, _ = strconv.ParseInt(form.Value("plan_id"), 10, 64)
	rule.ProductID, _ = strconv.ParseInt(form.Value("product_id"), 10, 64)
	if rule.On == reminder.OnPaid {
		return s.reachedToday(req, rule)
	}
	days, err := strconv.Atoi(strings.TrimSpace(form.Value("offset_days")))
	if err != nil || days > 366 || days < -366 {
		return 0 // the form shows it when it is sent
	}
	if form.Value("side") == "before" {
		days = -days
	}
	rule.OffsetDays = days
	return s.reachedToday(req, rule)
}

// ruleInput is the form of a rule as the room reads it: days and side become an
// offset, the choices of channels a list.
func ruleInput(req *kit.Request) *input.Form {
	values := make(map[string][]string, len(req.PostForm)+1)
	maps.Copy(values, req.PostForm)
	days := strings.TrimSpace(req.PostFormValue("offset_days"))
	if days != "" && req.PostFormValue("side") == "before" {
		values["offset_days"] = []string{"-" + strings.TrimPrefix(days, "-")}
	}
	values["channels"] = nil
	for i := range reminder.MaxChannels {
		values["channels"] = append(values["channels"], req.PostForm[turnName(i)]...)
	}
	return input.FromForm(values, "channels")
}

func (s *Server) createRule(req *kit.Request) error {
	rule, err := s.Reminders.CreateRule(req.Context(), req.Actor, reminder.ReadNewRule(ruleInput(req)))
	said := kit.Either(rule.Active, switchedOn(rule), "The rule %s was saved, and is off.")
	return req.Sent(err, s.ruleForm, "/messages", said, rule.Name)
}

func shownRule(rule reminder.Rule) *page.Form {
	days, side := rule.OffsetDays, "after"
	if days <= 0 {
		days, side = -days, "before"
	}
	form := page.NewForm("name", rule.Name, "active", kit.BoolText(rule.Active), "on", string(rule.On),
		"offset_days", strconv.Itoa(days), "side", side, "hour", reminder.Clock(rule.Minute), "plan_id", kit.IDText(rule.PlanID),
		"product_id", kit.IDText(rule.ProductID), "status", string(rule.Status), "template_id", kit.IDText(rule.TemplateID))
	for i, id := range rule.Channels {
		form.Set(turnName(i), kit.IDText(id))
	}
	return form
}

func (s *Server) updateRule(req *kit.Request) error {
	rule, err := s.Reminders.UpdateRule(req.Context(), req.Actor, req.ID, reminder.ReadRuleChanges(ruleInput(req)))
	return req.Sent(err, s.ruleForm, "/messages", "The rule %s was saved. What it has not sent yet is planned anew.", rule.Name)
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
		_, total := kit.ReadPage(req, s.Billing.List, billing.Filter{
			Status: billing.Paid, PaidFrom: req.Today, PaidTo: req.Today, PlanID: rule.PlanID, ProductID: rule.ProductID,
		}, first)
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
	_, total := kit.ReadPage(req, s.Customers.List, filter, first)
	return total
}
