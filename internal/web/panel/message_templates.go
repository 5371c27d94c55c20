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

func (s *Server) templates(req *request) error {
	list, err := s.Reminders.Templates(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	rules, err := s.Reminders.Rules(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	var data templatesData
	for _, template := range list {
		row := templateRow{Template: template}
		for _, rule := range rules {
			if rule.TemplateID == template.ID {
				row.Rules = append(row.Rules, rule)
			}
		}
		data.List = append(data.List, row)
	}
	return s.show(req, page.View{Name: "messages_templates", Title: "Templates", Data: data})
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

func (s *Server) templateForm(req *request, title string, form templateForm, refusal error) error {
	for _, variable := range reminder.Variables {
		row := variableRow{Name: "{" + variable.Name + "}", Help: variable.Help, Sample: variable.Sample}
		if req.lang == page.Portuguese {
			row.Name = "{" + variable.Local + "}"
		}
		form.Variables = append(form.Variables, row)
	}
	form.Approved = form.Form.Value("whatsapp_name") != "" ||
		slices.ContainsFunc([]string{"name", "params", "header", "button"}, func(field string) bool {
			return len(form.Form.Errors("whatsapp_"+field)) > 0
		})
	return s.show(req, page.View{Name: "messages_template_form", Title: title, Status: statusOf(refusal), Data: form})
}

func templatePath(id int64) string {
	return "/messages/templates/" + idText(id)
}

func (s *Server) newTemplate(req *request) error {
	return s.templateForm(
		req,
		"New template",
		templateForm{Form: page.NewForm(), Action: "/messages/templates/new", New: true},
		nil,
	)
}

func (s *Server) createTemplate(req *request) error {
	template, err := s.Reminders.CreateTemplate(req.Context(), req.Actor, reminder.ReadNewTemplate(req.form()))
	if refused(err) {
		return s.templateForm(req, "New template",
			templateForm{Form: page.Sent(req.Request, err), Action: "/messages/templates/new", New: true},
			err)
	}
	if err != nil {
		return err
	}
	return req.done("/messages/templates", "The template %s was saved.", template.Name)
}

func (s *Server) editTemplate(req *request) error {
	template, err := s.Reminders.FindTemplate(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	form := page.NewForm(
		"name", template.Name, "subject", template.Subject, "text", template.Text, "whatsapp_name",
		template.Approved.Name, "whatsapp_language", template.Approved.Language,
		"whatsapp_params", strings.Join(template.Approved.Params, "\n"),
		"whatsapp_header", template.Approved.Header, "whatsapp_button", template.Approved.Button)
	return s.templateForm(
		req,
		"Edit template",
		templateForm{Form: form, Action: templatePath(template.ID), ID: template.ID},
		nil,
	)
}

func (s *Server) updateTemplate(req *request) error {
	template, err := s.Reminders.UpdateTemplate(req.Context(), req.Actor, req.id, reminder.ReadTemplateChanges(req.form()))
	if refused(err) {
		return s.templateForm(req, "Edit template",
			templateForm{Form: page.Sent(req.Request, err), Action: templatePath(req.id), ID: req.id},
			err)
	}
	if err != nil {
		return err
	}
	return req.done(
		"/messages/templates",
		"The template %s was saved. Messages that are not sent yet have its new words.",
		template.Name,
	)
}

// previewTemplate shows the words as they stand in the form, saved or not, as
// one customer would get them.
func (s *Server) previewTemplate(req *request) error {
	form := templateForm{Form: page.Sent(req.Request, nil), Action: "/messages/templates/new", New: true}
	title := "New template"
	id, ok := input.FromStrings(map[string]string{"id": req.PostFormValue("template_id")}).ID("id").Get()
	if ok && id != 0 {
		if _, err := s.Reminders.FindTemplate(req.Context(), req.Actor, id); err != nil {
			return err
		}
		form.Action, form.New, form.ID, title = templatePath(id), false, id, "Edit template"
	}
	var err error
	if form.Preview, err = s.previewMatches(req); err != nil {
		return err
	}
	if form.Preview.Customer.ID == 0 {
		return s.templateForm(req, title, form, nil)
	}
	form.Preview.Preview, err = s.Reminders.Preview(req.Context(), req.Actor, reminder.PreviewRequest{
		CustomerID: form.Preview.Customer.ID, Draft: reminder.ReadTemplate(req.form()),
	})
	if refused(err) {
		form.Preview.Refused = true
		form.Form = page.Sent(req.Request, err)
		return s.templateForm(req, title, form, err)
	}
	if err != nil {
		return err
	}
	return s.templateForm(req, title, form, nil)
}

// previewMatches finds the customers that a search means, and the chosen one.
func (s *Server) previewMatches(req *request) (*templatePreview, error) {
	preview := &templatePreview{Search: req.PostFormValue("preview_search")}
	const shown = 6
	filters := []customer.Filter{customer.ReadFilter(input.FromStrings(map[string]string{"search": preview.Search}))}
	if preview.Search == "" { // those who have something to pay soon say most
		filters = []customer.Filter{{DueFrom: req.today, DueTo: req.today.AddDays(req.Actor.Company.Settings.LeadDays)}, {}}
	}
	for _, filter := range filters {
		var err error
		preview.Matches, _, err = s.Customers.List(req.Context(), req.Actor, filter, input.Page{
			Number: 1,
			Size:   shown,
		})
		if err != nil {
			return preview, err
		}
		if len(preview.Matches) > 0 {
			break
		}
	}
	if len(preview.Matches) == 0 {
		return preview, nil
	}
	preview.Customer = preview.Matches[0]
	chosen := slices.IndexFunc(preview.Matches, func(record customer.Customer) bool {
		return idText(record.ID) == req.PostFormValue("preview_customer")
	})
	if chosen >= 0 {
		preview.Customer = preview.Matches[chosen]
	}
	return preview, nil
}

func (s *Server) askDeleteTemplate(req *request) error {
	template, err := s.Reminders.FindTemplate(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Delete the template %s?",
		Args:     []any{template.Name},
		Danger:   true,
		Button:   "Delete template",
		Back:     "/messages/templates",
		Action:   templatePath(template.ID) + "/delete",
		Effects:  []string{"A template that a rule sends cannot be deleted.", "This cannot be undone."},
	})
}

func (s *Server) deleteTemplate(req *request) error {
	if err := s.Reminders.DeleteTemplate(req.Context(), req.Actor, req.id); err != nil {
		return req.complain("/messages/templates", err)
	}
	return req.done("/messages/templates", "The template was deleted.")
}
