package panel

import (
	"slices"
	"strings"

	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

type templatesData struct{ List []templateRow }

type templateRow struct {
	reminder.Template
	Rules []reminder.Rule // that send it
}

func (s *Server) templates(q *request) error {
	list, err := s.Reminders.Templates(q.Context(), q.Actor)
	if err != nil {
		return err
	}
	rules, err := s.Reminders.Rules(q.Context(), q.Actor)
	if err != nil {
		return err
	}
	var d templatesData
	for _, t := range list {
		row := templateRow{Template: t}
		for _, r := range rules {
			if r.TemplateID == t.ID {
				row.Rules = append(row.Rules, r)
			}
		}
		d.List = append(d.List, row)
	}
	return s.show(q, page.View{Name: "messages_templates", Title: "Templates", Data: d})
}

type templateForm struct {
	Form      *page.Form
	Variables []variableRow
	Action    string
	New       bool
	ID        int64
	Approved  bool // the part for Meta is open
	Preview   *templatePreview
}

type variableRow struct {
	Name, Help, Sample string
}

// templatePreview is a template as a customer would get it, and who else it
// could be shown for.
type templatePreview struct {
	reminder.Preview
	Customer customer.Customer
	Matches  []customer.Customer
	Search   string
	Refused  bool // the words have to be put right first
}

func (s *Server) templateForm(q *request, title string, d templateForm, refusal error) error {
	for _, v := range reminder.Variables {
		row := variableRow{Name: "{" + v.Name + "}", Help: v.Help, Sample: v.Sample}
		if q.lang == page.Portuguese {
			row.Name = "{" + v.Local + "}"
		}
		d.Variables = append(d.Variables, row)
	}
	d.Approved = d.Form.Value("whatsapp_name") != "" || len(d.Form.Errors("whatsapp_name"))+len(d.Form.Errors("whatsapp_params")) > 0
	return s.show(q, page.View{Name: "messages_template_form", Title: title, Status: statusOf(refusal), Data: d})
}

func templatePath(id int64) string { return "/messages/templates/" + idText(id) }

func (s *Server) newTemplate(q *request) error {
	return s.templateForm(q, "New template", templateForm{Form: page.NewForm(), Action: "/messages/templates/new", New: true}, nil)
}

func (s *Server) createTemplate(q *request) error {
	t, err := s.Reminders.CreateTemplate(q.Context(), q.Actor, q.form())
	if refused(err) {
		return s.templateForm(q, "New template", templateForm{Form: page.Sent(q.Request, err), Action: "/messages/templates/new", New: true}, err)
	}
	if err != nil {
		return err
	}
	return q.done("/messages/templates", "The template %s was saved.", t.Name)
}

func (s *Server) editTemplate(q *request) error {
	t, err := s.Reminders.FindTemplate(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	form := page.NewForm(
		"name", t.Name, "subject", t.Subject, "text", t.Text, "whatsapp_name", t.Approved.Name, "whatsapp_language", t.Approved.Language,
		"whatsapp_params", strings.Join(t.Approved.Params, "\n"))
	return s.templateForm(q, "Edit template", templateForm{Form: form, Action: templatePath(t.ID), ID: t.ID}, nil)
}

func (s *Server) updateTemplate(q *request) error {
	t, err := s.Reminders.UpdateTemplate(q.Context(), q.Actor, q.id, q.form())
	if refused(err) {
		return s.templateForm(q, "Edit template", templateForm{Form: page.Sent(q.Request, err), Action: templatePath(q.id), ID: q.id}, err)
	}
	if err != nil {
		return err
	}
	return q.done("/messages/templates", "The template %s was saved. Messages that are not sent yet have its new words.", t.Name)
}

// previewTemplate shows the words as they stand in the form, saved or not, as
// one customer would get them.
func (s *Server) previewTemplate(q *request) error {
	d := templateForm{Form: page.Sent(q.Request, nil), Action: "/messages/templates/new", New: true}
	title := "New template"
	if id, ok := input.FromStrings(map[string]string{"id": q.PostFormValue("template_id")}).ID("id").Get(); ok && id != 0 {
		if _, err := s.Reminders.FindTemplate(q.Context(), q.Actor, id); err != nil {
			return err
		}
		d.Action, d.New, d.ID, title = templatePath(id), false, id, "Edit template"
	}
	var err error
	if d.Preview, err = s.previewMatches(q); err != nil {
		return err
	}
	if d.Preview.Customer.ID == 0 {
		return s.templateForm(q, title, d, nil)
	}
	d.Preview.Preview, err = s.Reminders.Preview(q.Context(), q.Actor, 0, d.Preview.Customer.ID, q.form())
	if refused(err) {
		d.Preview.Refused = true
		d.Form = page.Sent(q.Request, err)
		return s.templateForm(q, title, d, err)
	}
	if err != nil {
		return err
	}
	return s.templateForm(q, title, d, nil)
}

// previewMatches finds the customers whom a search means, and which of them is
// the one.
func (s *Server) previewMatches(q *request) (*templatePreview, error) {
	p := &templatePreview{Search: q.PostFormValue("preview_search")}
	const shown = 6
	filters := []customer.Filter{customer.ReadFilter(input.FromStrings(map[string]string{"search": p.Search}))}
	if p.Search == "" { // those who have something to pay soon say most
		filters = []customer.Filter{{DueFrom: q.today, DueTo: q.today.AddDays(q.Actor.Company.Settings.LeadDays)}, {}}
	}
	for _, f := range filters {
		var err error
		if p.Matches, _, err = s.Customers.List(q.Context(), q.Actor, f, input.Page{Number: 1, Size: shown}); err != nil {
			return p, err
		}
		if len(p.Matches) > 0 {
			break
		}
	}
	if len(p.Matches) == 0 {
		return p, nil
	}
	p.Customer = p.Matches[0]
	chosen := slices.IndexFunc(p.Matches, func(c customer.Customer) bool { return idText(c.ID) == q.PostFormValue("preview_customer") })
	if chosen >= 0 {
		p.Customer = p.Matches[chosen]
	}
	return p, nil
}

func (s *Server) askDeleteTemplate(q *request) error {
	t, err := s.Reminders.FindTemplate(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.ask(q, page.Confirm{
		Question: "Delete the template %s?", Args: []any{t.Name}, Danger: true, Button: "Delete template", Back: "/messages/templates",
		Action: templatePath(t.ID) + "/delete", Effects: []string{"A template that a rule sends cannot be deleted.", "This cannot be undone."},
	})
}

func (s *Server) deleteTemplate(q *request) error {
	if err := s.Reminders.DeleteTemplate(q.Context(), q.Actor, q.id); err != nil {
		return q.complain("/messages/templates", err)
	}
	return q.done("/messages/templates", "The template was deleted.")
}
