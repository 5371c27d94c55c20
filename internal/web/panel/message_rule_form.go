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
	Form      *page.Form
	Sides     []page.Option
	Plans     []page.Option
	Products  []page.Option
	Statuses  []page.Option
	Templates []page.Option
	Turns     []channelTurn
	Errors    []string // against the channels as a whole
	Action    string
	New       bool
	ID        int64
	Reach     int64 // how many customers it would reach today; of receipts, how many invoices were paid
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

func (s *Server) ruleForm(req *request, title string, form ruleForm, refusal error) error {
	basis, err := s.messageBasis(req)
	if err != nil {
		return err
	}
	t := req.lang.T
	form.Plans, form.Products = basis.plans, basis.products
	form.Sides = []page.Option{{Value: "before", Label: t("before the due date")}, {Value: "after", Label: t("after the due date")}}
	form.Statuses = []page.Option{{Value: "", Label: t("All")}}
	for _, status := range []customer.Status{customer.Active, customer.DueToday, customer.Expired} {
		form.Statuses = append(form.Statuses, page.Option{Value: string(status), Label: word(req.lang, string(status))})
	}
	for _, template := range basis.templates {
		form.Templates = append(form.Templates, page.Option{Value: idText(template.ID), Label: template.Name})
	}
	for i := range min(len(basis.channels), reminder.MaxChannels) {
		turn := channelTurn{Name: turnName(i), Number: i + 1, Options: []page.Option{{Value: "", Label: "—"}}}
		for _, channel := range basis.channels {
			turn.Options = append(turn.Options, page.Option{Value: idText(channel.ID), Label: channel.Name})
		}
		form.Turns = append(form.Turns, turn)
	}
	form.Errors = form.Form.Errors("channels")
	if form.Reach, err = s.reachOf(req, form.Form); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "messages_rule_form", Title: title, Status: statusOf(refusal), Data: form})
}

func (s *Server) newRule(req *request) error {
	channels, err := s.Reminders.Channels(req.Context(), req.Actor)
	if err != nil {
		return err
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
	return s.ruleForm(req, "New rule", ruleForm{Form: form, Action: "/messages/rules/new", New: true}, nil)
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
	if refused(err) {
		return s.ruleForm(
			req,
			"New rule",
			ruleForm{Form: page.Sent(req.Request, err), Action: "/messages/rules/new", New: true},
			err,
		)
	}
	switch {
	case err != nil:
		return err
	case rule.Active:
		return req.done("/messages", switchedOn(rule), rule.Name)
	}
	return req.done("/messages", "The rule %s was saved, and is off.", rule.Name)
}

func (s *Server) editRule(req *request) error {
	rule, err := s.Reminders.FindRule(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	days, side := rule.OffsetDays, "after"
	if days <= 0 {
		days, side = -days, "before"
	}
	pairs := []string{
		"name", rule.Name, "active", strconv.FormatBool(rule.Active), "on", string(rule.On), "offset_days",
		strconv.Itoa(days), "side", side, "hour", reminder.Clock(rule.Minute),
		"plan_id", idText(rule.PlanID), "product_id", idText(rule.ProductID), "status",
		string(rule.Status), "template_id", idText(rule.TemplateID),
	}
	for i, id := range rule.Channels {
		pairs = append(pairs, turnName(i), idText(id))
	}
	return s.ruleForm(
		req,
		"Edit rule",
		ruleForm{Form: page.NewForm(pairs...), Action: rulePath(rule.ID), ID: rule.ID},
		nil,
	)
}

func (s *Server) updateRule(req *request) error {
	rule, err := s.Reminders.UpdateRule(req.Context(), req.Actor, req.id, reminder.ReadRuleChanges(ruleInput(req)))
	if refused(err) {
		return s.ruleForm(
			req,
			"Edit rule",
			ruleForm{Form: page.Sent(req.Request, err), Action: rulePath(req.id), ID: req.id},
			err,
		)
	}
	if err != nil {
		return err
	}
	return req.done("/messages", "The rule %s was saved. What it has not sent yet is planned anew.", rule.Name)
}
