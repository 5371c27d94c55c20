package panel

import (
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

// sends reports whether the company's plan has messages, for pages that show
// some among other things.
func (req *request) sends() bool {
	return req.Actor.May(account.FunctionReminders)
}

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

func (s *Server) rules(req *request) error {
	basis, err := s.messageBasis(req)
	if err != nil {
		return err
	}
	list, err := s.Reminders.Rules(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	settings, err := s.Reminders.Settings(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	data := rulesData{Channels: len(basis.channels) > 0, Templates: len(basis.templates) > 0, Quiet: settings.Quiet}
	for _, rule := range list {
		row := ruleRow{
			Rule:     rule,
			Sentence: basis.sentence(req.lang, rule),
			Template: basis.template(rule.TemplateID),
		}
		if rule.On == reminder.OnDue && settings.Quiet.Covers(rule.Minute) {
			row.Later = reminder.Clock(settings.Quiet.To)
		}
		row.Reach, err = s.reachedToday(req, rule)
		if err != nil {
			return err
		}
		data.List = append(data.List, row)
	}
	data.Missing = reminder.LacksUsual(list)
	return s.show(req, page.View{Name: "messages_rules", Title: "Messages", Data: data})
}

// messageBasis is what rules are made of.
type messageBasis struct {
	channels        []reminder.Channel
	templates       []reminder.Template
	plans, products []page.Option // the first is none in particular
}

func (s *Server) messageBasis(req *request) (basis messageBasis, err error) {
	if basis.channels, err = s.Reminders.Channels(req.Context(), req.Actor); err != nil {
		return basis, err
	}
	if basis.templates, err = s.Reminders.Templates(req.Context(), req.Actor); err != nil {
		return basis, err
	}
	basis.plans, basis.products, err = s.choices(req, true)
	return basis, err
}

func (b messageBasis) template(id int64) reminder.Template {
	i := slices.IndexFunc(b.templates, func(template reminder.Template) bool {
		return template.ID == id
	})
	if i < 0 {
		return reminder.Template{}
	}
	return b.templates[i]
}

func (b messageBasis) channel(id int64) string {
	i := slices.IndexFunc(b.channels, func(channel reminder.Channel) bool {
		return channel.ID == id
	})
	if i < 0 {
		return "?"
	}
	return b.channels[i].Name
}

// sentence describes a rule as a person would.
func (b messageBasis) sentence(lang page.Lang, rule reminder.Rule) string {
	if rule.On == reminder.OnPaid {
		return lang.T("When an invoice is paid, through %s, for %s.", b.through(lang, rule), b.whom(lang, rule))
	}
	return lang.T(
		"%s, at %s, through %s, for %s.",
		ruleDay(lang, rule),
		reminder.Clock(rule.Minute),
		b.through(lang, rule),
		b.whom(lang, rule),
	)
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
		return lang.T("%s whose status is %s", who, word(lang, string(rule.Status)))
	}
	return who
}

// optionLabel is the name of an id, without the price that may follow it.
func optionLabel(options []page.Option, id int64) string {
	for _, option := range options {
		if id != 0 && option.Value == idText(id) {
			name, _, _ := strings.Cut(option.Label, " · ")
			return name
		}
	}
	return ""
}

func rulePath(id int64) string { return "/messages/rules/" + idText(id) }

// switchedOn is what a person reads of a rule that is on from now.
func switchedOn(rule reminder.Rule) string {
	if rule.On == reminder.OnPaid {
		return "The rule %s is on. It sends a receipt for each invoice that is paid from now on."
	}
	return "The rule %s is on. What it will send in the next days shows in the log in a moment."
}

// switchRule turns a rule on or off.
func (s *Server) switchRule(req *request) error {
	rule, err := s.Reminders.UpdateRule(req.Context(), req.Actor, req.id, reminder.RuleDraft{
		Active: input.FromStrings(map[string]string{"active": req.PostFormValue("active")}).Bool("active"),
	})
	switch {
	case err != nil:
		return req.complain("/messages", err)
	case rule.Active:
		return req.done("/messages", switchedOn(rule), rule.Name)
	}
	return req.done("/messages", "The rule %s is off. What it had scheduled is not sent.", rule.Name)
}

func (s *Server) askDeleteRule(req *request) error {
	rule, err := s.Reminders.FindRule(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Delete the rule %s?",
		Args:     []any{rule.Name},
		Danger:   true,
		Button:   "Delete rule",
		Back:     "/messages",
		Action:   rulePath(rule.ID) + "/delete",
		Effects:  []string{"What it had scheduled is not sent.", "What it has sent stays in the log.", "This cannot be undone."},
	})
}

func (s *Server) deleteRule(req *request) error {
	if err := s.Reminders.DeleteRule(req.Context(), req.Actor, req.id); err != nil {
		return req.complain("/messages", err)
	}
	return req.done("/messages", "The rule was deleted.")
}

func (s *Server) quiet(req *request) error {
	settings, err := s.Reminders.Settings(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	form := page.NewForm("quiet_from", reminder.Clock(settings.Quiet.From), "quiet_to", reminder.Clock(settings.Quiet.To))
	return s.show(req, page.View{Name: "messages_quiet", Title: "Quiet hours", Data: form})
}

func (s *Server) saveQuiet(req *request) error {
	settings, err := s.Reminders.SetSettings(req.Context(), req.Actor, reminder.ReadSettings(req.form()))
	if refused(err) {
		return s.show(req, page.View{
			Name:   "messages_quiet",
			Title:  "Quiet hours",
			Status: statusOf(err),
			Data:   page.Sent(req.Request, err),
		})
	}
	if err != nil {
		return err
	}
	if settings.Quiet.From == settings.Quiet.To {
		return req.done("/messages/quiet", "There are no quiet hours: rules send at their own hour, whatever it is.")
	}
	return req.done("/messages/quiet", "From %s to %s nothing is sent.",
		reminder.Clock(settings.Quiet.From), reminder.Clock(settings.Quiet.To))
}
