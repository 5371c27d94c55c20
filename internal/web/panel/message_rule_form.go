package panel

import (
	"maps"
	"strconv"
	"strings"

	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

type ruleForm struct {
	recordForm
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

func (s *Server) ruleForm(req *request, form *page.Form, refusal error) error {
	basis, err := s.messageBasis(req)
	if err != nil {
		return err
	}
	if form == nil {
		if form, err = s.ruleValues(req, basis.channels); err != nil {
			return err
		}
	}
	data := ruleForm{recordForm: req.recordForm("/messages/rules", form), Plans: basis.plans, Products: basis.products}
	data.Sides = []page.Option{req.option("before", "before the due date"), req.option("after", "after the due date")}
	statuses := []customer.Status{customer.Active, customer.DueToday, customer.Expired}
	data.Statuses = optionsOf(statuses, func(status customer.Status) page.Option {
		return page.Option{Value: string(status), Label: word(req.lang, string(status))}
	}, req.option("", "All"))
	data.Templates = optionsOf(basis.templates, templateOption)
	channels := optionsOf(basis.channels, channelOption, page.Option{Label: "—"})
	for i := range min(len(basis.channels), reminder.MaxChannels) {
		data.Turns = append(data.Turns, channelTurn{Name: turnName(i), Number: i + 1, Options: channels})
	}
	data.Errors = form.Errors("channels")
	if data.Reach, err = s.reachOf(req, form); err != nil {
		return err
	}
	return s.showForm(req, "messages_rule_form", data.title("New rule", "Edit rule"), refusal, data)
}

func templateOption(template reminder.Template) page.Option {
	return page.Option{Value: idText(template.ID), Label: template.Name}
}

func channelOption(channel reminder.Channel) page.Option {
	return page.Option{Value: idText(channel.ID), Label: channel.Name}
}

// ruleValues is the form of a rule as it is, or of a new one.
func (s *Server) ruleValues(req *request, channels []reminder.Channel) (*page.Form, error) {
	if req.id != 0 {
		rule, err := s.Reminders.FindRule(req.Context(), req.Actor, req.id)
		return shownRule(rule), err
	}
	query := req.URL.Query()
	form := queryForm(req)
	if !query.Has("offset_days") && !query.Has("template_id") { // the form does not count the customers
		pairs := []string{
			"on", query.Get("on"), "offset_days", "3", "side", "before", "hour", "09:00", "active", "true",
		}
		if len(channels) > 0 {
			pairs = append(pairs, turnName(0), idText(channels[0].ID))
		}
		form = page.NewForm(pairs...)
	}
	return form, nil
}

// reachOf is how many customers the rule of a form would reach today; none when
// the form does not say.
func (s *Server) reachOf(req *request, form *page.Form) (int64, error) {
	rule := reminder.Rule{On: reminder.Occasion(form.Value("on"))}
	rule.PlanID, _ = strconv.ParseInt(form.Value("plan_id"), 10, 64)
	rule.ProductID, _ = strconv.ParseInt(form.Value("product_id"), 10, 64)
	if rule.On == reminder.OnPaid {
		return s.reachedToday(req, rule)
	}
	days, err := strconv.Atoi(strings.TrimSpace(form.Value("offset_days")))
	if err != nil || days > 366 || days < -366 {
		return 0, nil //nolint:nilerr // the form shows it when it is sent
	}
	if form.Value("side") == "before" {
		days = -days
	}
	rule.OffsetDays = days
	return s.reachedToday(req, rule)
}

// ruleInput is the form of a rule as the room reads it: days and side become an
// offset, the choices of channels a list.
func ruleInput(req *request) *input.Form {
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

func (s *Server) createRule(req *request) error {
	rule, err := s.Reminders.CreateRule(req.Context(), req.Actor, reminder.ReadNewRule(ruleInput(req)))
	if rule.Active {
		return req.sent(err, s.ruleForm, "/messages", switchedOn(rule), rule.Name)
	}
	return req.sent(err, s.ruleForm, "/messages", "The rule %s was saved, and is off.", rule.Name)
}

func shownRule(rule reminder.Rule) *page.Form {
	days, side := rule.OffsetDays, "after"
	if days <= 0 {
		days, side = -days, "before"
	}
	form := page.NewForm("name", rule.Name, "active", boolText(rule.Active), "on", string(rule.On),
		"offset_days", strconv.Itoa(days), "side", side, "hour", reminder.Clock(rule.Minute), "plan_id", idText(rule.PlanID),
		"product_id", idText(rule.ProductID), "status", string(rule.Status), "template_id", idText(rule.TemplateID))
	for i, id := range rule.Channels {
		form.Set(turnName(i), idText(id))
	}
	return form
}

func (s *Server) updateRule(req *request) error {
	rule, err := s.Reminders.UpdateRule(req.Context(), req.Actor, req.id, reminder.ReadRuleChanges(ruleInput(req)))
	return req.sent(err, s.ruleForm, "/messages", "The rule %s was saved. What it has not sent yet is planned anew.", rule.Name)
}
