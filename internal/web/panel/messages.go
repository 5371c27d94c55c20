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
// some beside other things.
func (req *request) sends() bool { return req.Actor.May(account.FunctionReminders) }

type rulesData struct {
	List      []ruleRow
	Channels  bool // there is one
	Templates bool
	Quiet     reminder.Quiet
}

type ruleRow struct {
	reminder.Rule
	Sentence string
	Template reminder.Template
	Later    string // when it is sent instead, because its hour is a quiet one
}

func (s *Server) rules(req *request) error {
	b, err := s.messageBasis(req)
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
	d := rulesData{Channels: len(b.channels) > 0, Templates: len(b.templates) > 0, Quiet: settings.Quiet}
	for _, r := range list {
		row := ruleRow{Rule: r, Sentence: b.sentence(req.lang, r), Template: b.template(r.TemplateID)}
		if settings.Quiet.Covers(r.Minute) {
			row.Later = reminder.Clock(settings.Quiet.To)
		}
		d.List = append(d.List, row)
	}
	return s.show(req, page.View{Name: "messages_rules", Title: "Messages", Data: d})
}

// messageBasis is what rules are made of.
type messageBasis struct {
	channels        []reminder.Channel
	templates       []reminder.Template
	plans, products []page.Option // the first is none in particular
}

func (s *Server) messageBasis(req *request) (b messageBasis, err error) {
	if b.channels, err = s.Reminders.Channels(req.Context(), req.Actor); err != nil {
		return b, err
	}
	if b.templates, err = s.Reminders.Templates(req.Context(), req.Actor); err != nil {
		return b, err
	}
	b.plans, b.products, err = s.choices(req, true)
	return b, err
}

func (b messageBasis) template(id int64) reminder.Template {
	i := slices.IndexFunc(b.templates, func(t reminder.Template) bool { return t.ID == id })
	if i < 0 {
		return reminder.Template{}
	}
	return b.templates[i]
}

func (b messageBasis) channel(id int64) string {
	i := slices.IndexFunc(b.channels, func(c reminder.Channel) bool { return c.ID == id })
	if i < 0 {
		return "?"
	}
	return b.channels[i].Name
}

// sentence tells a rule as a person would.
func (b messageBasis) sentence(l page.Lang, r reminder.Rule) string {
	return l.T("%s, at %s, through %s, for %s.", ruleDay(l, r), reminder.Clock(r.Minute), b.through(l, r), b.whom(l, r))
}

func ruleDay(l page.Lang, r reminder.Rule) string {
	switch n := r.OffsetDays; {
	case n == 0:
		return l.T("On the due date")
	case n == -1:
		return l.T("1 day before the due date")
	case n == 1:
		return l.T("1 day after the due date")
	case n < 0:
		return l.T("%d days before the due date", -n)
	default:
		return l.T("%d days after the due date", n)
	}
}

func (b messageBasis) through(l page.Lang, r reminder.Rule) string {
	names := make([]string, len(r.Channels))
	for i, id := range r.Channels {
		names[i] = b.channel(id)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return l.T("%s (where that fails, %s)", names[0], strings.Join(names[1:], ", "))
}

func (b messageBasis) whom(l page.Lang, r reminder.Rule) string {
	plan, product := optionLabel(b.plans, r.PlanID), optionLabel(b.products, r.ProductID)
	var who string
	switch {
	case plan != "" && product != "":
		who = l.T("customers of the plan %s and the product %s", plan, product)
	case plan != "":
		who = l.T("customers of the plan %s", plan)
	case product != "":
		who = l.T("customers of the product %s", product)
	case r.Status != "":
		who = l.T("customers")
	default:
		return l.T("every customer")
	}
	if r.Status != "" {
		return l.T("%s whose status is %s", who, word(l, string(r.Status)))
	}
	return who
}

// optionLabel names what an id stands for, without the price that may stand
// behind it.
func optionLabel(options []page.Option, id int64) string {
	for _, o := range options {
		if id != 0 && o.Value == idText(id) {
			name, _, _ := strings.Cut(o.Label, " · ")
			return name
		}
	}
	return ""
}

func rulePath(id int64) string { return "/messages/rules/" + idText(id) }

// switchRule turns a rule on or off.
func (s *Server) switchRule(req *request) error {
	r, err := s.Reminders.UpdateRule(req.Context(), req.Actor, req.id, reminder.RuleDraft{
		Active: input.FromStrings(map[string]string{"active": req.PostFormValue("active")}).Bool("active"),
	})
	switch {
	case err != nil:
		return req.complain("/messages", err)
	case r.Active:
		return req.done("/messages", "The rule %s is on. What it will send in the next days shows in the log in a moment.", r.Name)
	}
	return req.done("/messages", "The rule %s is off. What it had scheduled is not sent.", r.Name)
}

func (s *Server) askDeleteRule(req *request) error {
	r, err := s.Reminders.FindRule(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Delete the rule %s?", Args: []any{r.Name}, Danger: true, Button: "Delete rule",
		Back: "/messages", Action: rulePath(r.ID) + "/delete",
		Effects: []string{"What it had scheduled is not sent.", "What it has sent stays in the log.", "This cannot be undone."},
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
		return s.show(req, page.View{Name: "messages_quiet", Title: "Quiet hours", Status: statusOf(err), Data: page.Sent(req.Request, err)})
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
