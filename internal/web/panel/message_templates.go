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
	var data templatesData
	rules := read(req, s.Reminders.Rules)
	for _, template := range read(req, s.Reminders.Templates) {
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
	recordForm
	Variables []variableRow
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

// templateForm is the form of a template, or of a new one.
func (s *Server) templateForm(req *request, form *page.Form, refusal error) error {
	if form == nil {
		var template reminder.Template
		if req.id != 0 {
			template = readOf(req, s.Reminders.FindTemplate, req.id)
		}
		form = page.NewForm("name", template.Name, "subject", template.Subject, "text", template.Text,
			"whatsapp_name", template.Approved.Name, "whatsapp_language", template.Approved.Language,
			"whatsapp_params", strings.Join(template.Approved.Params, "\n"),
			"whatsapp_header", template.Approved.Header, "whatsapp_button", template.Approved.Button)
	}
	return s.templatePage(req, templateForm{recordForm: req.recordForm(templatesPath, form)}, refusal)
}

func (s *Server) templatePage(req *request, data templateForm, refusal error) error {
	for _, variable := range reminder.Variables {
		row := variableRow{Name: "{" + variable.Name + "}", Help: variable.Help, Sample: variable.Sample}
		if req.lang == page.Portuguese {
			row.Name = "{" + variable.Local + "}"
		}
		data.Variables = append(data.Variables, row)
	}
	data.Approved = data.Form.Value("whatsapp_name") != "" ||
		slices.ContainsFunc([]string{"name", "params", "header", "button"}, func(field string) bool {
			return len(data.Form.Errors("whatsapp_"+field)) > 0
		})
	return s.showForm(req, "messages_template_form", data.title("New template", "Edit template"), refusal, data)
}

const templatesPath = "/messages/templates"

func templatePath(id int64) string { return templatesPath + "/" + idText(id) }

func (s *Server) createTemplate(req *request) error {
	template, err := s.Reminders.CreateTemplate(req.Context(), req.Actor, reminder.ReadNewTemplate(req.form()))
	return req.sent(err, s.templateForm, templatesPath, "The template %s was saved.", template.Name)
}

func (s *Server) updateTemplate(req *request) error {
	template, err := s.Reminders.UpdateTemplate(req.Context(), req.Actor, req.id, reminder.ReadTemplateChanges(req.form()))
	return req.sent(err, s.templateForm, templatesPath,
		"The template %s was saved. Messages that are not sent yet have its new words.", template.Name)
}

// previewTemplate shows the words as they stand in the form, saved or not, as
// one customer would get them.
func (s *Server) previewTemplate(req *request) error {
	id, _ := input.FromStrings(map[string]string{"id": req.PostFormValue("template_id")}).ID("id").Get()
	data := templateForm{recordForm: recordForm{Action: templatesPath + "/new", New: true}}
	if id != 0 {
		readOf(req, s.Reminders.FindTemplate, id)
		data.recordForm = recordForm{Action: templatePath(id), ID: id}
	}
	var err error
	if data.Preview = s.previewMatches(req); data.Preview.Customer.ID != 0 {
		data.Preview.Preview, err = s.Reminders.Preview(req.Context(), req.Actor, reminder.PreviewRequest{
			CustomerID: data.Preview.Customer.ID, Draft: reminder.ReadTemplate(req.form()),
		})
	}
	if err != nil && !refused(err) {
		return err
	}
	data.Form, data.Preview.Refused = page.Sent(req.Request, err), err != nil
	return s.templatePage(req, data, err)
}

// previewMatches finds the customers that a search means, and the chosen one.
func (s *Server) previewMatches(req *request) *templatePreview {
	preview := &templatePreview{Search: req.PostFormValue("preview_search")}
	const shown = 6
	filters := []customer.Filter{customer.ReadFilter(input.FromStrings(map[string]string{"search": preview.Search}))}
	if preview.Search == "" { // those who have something to pay soon say most
		filters = []customer.Filter{{DueFrom: req.today, DueTo: req.today.AddDays(req.Actor.Company.Settings.LeadDays)}, {}}
	}
	for _, filter := range filters {
		var err error
		preview.Matches, _, err = s.Customers.List(req.Context(), req.Actor, filter, input.Page{Number: 1, Size: shown})
		req.note(err)
		if len(preview.Matches) > 0 {
			preview.Customer = preview.Matches[0]
			break
		}
	}
	for _, record := range preview.Matches {
		if idText(record.ID) == req.PostFormValue("preview_customer") {
			preview.Customer = record
		}
	}
	return preview
}
